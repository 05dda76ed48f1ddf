"""Which pods a ReplicaSet deletes first, against the order that Kubernetes v1.36 documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.scenario.replica_set import (
    Candidate,
    Rank,
    as_stored,
    choices,
    deleted_first,
    deletion_cost,
    ranks,
)
from tests.objects import cluster_of, node, pod

NOW = 1_000_000_000
HOUR = 3600
PLAIN = Candidate(
    0, "a", assigned=True, phase="Running", ready=True, ready_since=NOW - HOUR, created=NOW - HOUR
)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        pytest.param(
            replace(PLAIN, assigned=False, phase="Pending", ready=False),
            replace(PLAIN, phase="Pending", ready=False, together=3, cost=-5),
            id="without-a-node",
        ),
        pytest.param(
            replace(PLAIN, phase="Pending", ready=False),
            replace(PLAIN, phase="Unknown", ready=False, cost=-5),
            id="pending-before-unknown",
        ),
        pytest.param(
            replace(PLAIN, phase="Unknown", ready=False),
            replace(PLAIN, ready=False, together=2),
            id="unknown-before-running",
        ),
        pytest.param(replace(PLAIN, ready=False), replace(PLAIN, cost=-5), id="not-ready"),
        pytest.param(
            replace(PLAIN, cost=10), replace(PLAIN, cost=100, together=5), id="lower-cost"
        ),
        pytest.param(
            replace(PLAIN, together=2),
            replace(PLAIN, together=1, ready_since=NOW),
            id="more-of-them-on-the-node",
        ),
        pytest.param(
            replace(PLAIN, ready_since=None), replace(PLAIN, ready_since=NOW), id="no-ready-time"
        ),
        pytest.param(
            replace(PLAIN, ready_since=NOW - 2 * HOUR),
            replace(PLAIN, ready_since=NOW - 5 * HOUR, restarts=9),
            id="ready-for-less-time",
        ),
        pytest.param(replace(PLAIN, restarts=9001), PLAIN, id="more-restarts"),
        pytest.param(
            replace(PLAIN, restarts=1),
            replace(PLAIN, sidecar_restarts=7),
            id="main-before-sidecars",
        ),
        pytest.param(replace(PLAIN, sidecar_restarts=1), PLAIN, id="more-restarts-of-sidecars"),
        pytest.param(
            replace(PLAIN, restarts=1, created=NOW - 700 * HOUR), PLAIN, id="restarts-before-age"
        ),
        pytest.param(
            replace(PLAIN, created=NOW), replace(PLAIN, created=NOW - 700 * HOUR), id="younger"
        ),
    ],
)
def test_goes_first(first: Candidate, other: Candidate) -> None:
    pair = [replace(other, pod=1, uid="0"), replace(first, pod=0, uid="9")]
    assert [each.pod for each in deleted_first(pair, 2, NOW)] == [0, 1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(PLAIN, PLAIN, id="all-the-same"),
        pytest.param(
            replace(PLAIN, ready_since=NOW - 5 * HOUR),
            replace(PLAIN, ready_since=NOW - 8 * HOUR),
            id="five-hours-and-eight",
        ),
        pytest.param(
            replace(PLAIN, ready_since=NOW - 5 * HOUR, restarts=9),
            replace(PLAIN, ready_since=NOW - 8 * HOUR),
            id="restarts-are-not-asked-then",
        ),
        pytest.param(
            replace(PLAIN, ready=False, created=NOW - 5 * HOUR),
            replace(PLAIN, ready=False, created=NOW - 8 * HOUR),
            id="the-same-for-their-age",
        ),
    ],
)
def test_either_may_go_first(one: Candidate, other: Candidate) -> None:
    pair = [replace(one, pod=0, uid="a"), replace(other, pod=1, uid="b")]
    drawn = {deleted_first(pair, 1, NOW, Random(seed))[0].pod for seed in range(1, 20)}
    assert drawn == {0, 1}
    assert [each.pod for each in deleted_first(pair, 1, NOW)] == [0], "without a draw by UID"


@pytest.mark.parametrize(
    ("text", "cost"),
    [("-1", -1), ("0", 0), ("100", 100), ("+1", 0), ("008", 0), ("1.5", 0), ("", 0),
     ("2147483647", 2147483647), ("2147483648", 0), ("-2147483648", -2147483648)],
)  # fmt: skip
def test_the_annotation_counts_where_it_is_a_number(text: str, cost: int) -> None:
    annotated = {"annotations": {"controller.kubernetes.io/pod-deletion-cost": text}}
    cluster = cluster_of(node("n1"), pod("p", "n1", metadata=annotated))
    assert deletion_cost(cluster.pods[0]) == cost


def test_what_a_pods_status_says_is_compared() -> None:
    stored = pod("p", "n1", metadata={"creationTimestamp": "2026-05-01T11:00:00Z"})
    stored["spec"]["initContainers"] = [{"name": "proxy", "restartPolicy": "Always"}]
    stored["status"] |= {
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-05-01T12:00:00Z"}
        ],
        "containerStatuses": [{"name": "a", "restartCount": 2}, {"name": "b", "restartCount": 5}],
        "initContainerStatuses": [{"name": "proxy", "restartCount": 3}],
    }
    found = as_stored(0, cluster_of(node("n1"), stored).pods[0])
    assert (found.ready, found.restarts, found.sidecar_restarts) == (True, 5, 3)
    assert found.ready_since is not None
    assert found.created is not None
    assert found.ready_since - found.created == HOUR


# Counting choices


def twelve() -> list[Candidate]:
    return [replace(PLAIN, pod=i, uid=str(i)) for i in range(12)]


def test_scaling_twelve_pods_in_three_zones_down_to_six_is_steady_in_216_of_924_choices() -> None:
    found = choices(twelve(), 6, NOW, lambda pod: pod % 3)
    assert found is not None
    assert found.total() == 924
    assert found[2, 2, 2] == 216
    assert sum(number for left, number in found.items() if 0 in left) == 84


def test_annotated_pods_leave_no_choice() -> None:
    pods = [replace(each, cost=-1) if each.pod < 6 else each for each in twelve()]
    assert choices(pods, 6, NOW, lambda pod: pod % 3) == Counter({(2, 2, 2): 1})


def test_choices_that_are_not_equally_likely_are_not_counted() -> None:
    """Equal ready times let restarts decide, different ones the UID: no order of all three."""
    pods = [
        replace(PLAIN, pod=0),
        replace(PLAIN, pod=1, restarts=1),
        replace(PLAIN, pod=2, ready_since=NOW - HOUR - 1),
    ]
    assert ranks(pods, NOW) == [Rank(tuple(pods), exact=False)]
    assert choices(pods, 1, NOW, lambda pod: pod) is None
    drawn = {deleted_first(pods, 1, NOW, Random(seed))[0].pod for seed in range(1, 40)}
    assert drawn == {1, 2}


def candidates() -> st.SearchStrategy[list[Candidate]]:
    one = st.builds(
        lambda assigned, ready, cost, together, since, restarts, created: Candidate(
            0, "", assigned, "Running" if assigned else "Pending", ready and assigned, cost,
            together, since, created, restarts,
        ),
        st.booleans(), st.booleans(), st.integers(-1, 1), st.integers(0, 2),
        st.sampled_from([None, NOW, NOW - HOUR, NOW - HOUR - 1, NOW - 9 * HOUR]),
        st.integers(0, 1),
        st.sampled_from([None, NOW, NOW - HOUR, NOW - HOUR - 1]),
    )  # fmt: skip
    return st.lists(one, min_size=1, max_size=7).map(
        lambda found: [replace(each, pod=i, uid=str(i)) for i, each in enumerate(found)]
    )


def before(one: Candidate, other: Candidate) -> bool:  # noqa: PLR0911  # one for each rule
    """Kubernetes' comparison of two pods, written out rule by rule."""
    if one.assigned != other.assigned:
        return not one.assigned
    if one.phase != other.phase:
        return one.phase == "Pending"
    if one.ready != other.ready:
        return not one.ready
    if one.cost != other.cost:
        return one.cost < other.cost
    if one.together != other.together:
        return one.together > other.together
    if one.ready and one.ready_since != other.ready_since:
        return younger(one.ready_since, other.ready_since, one, other)
    if one.restarts != other.restarts:
        return one.restarts > other.restarts
    if one.created != other.created:
        return younger(one.created, other.created, one, other)
    return False


def younger(mine: int | None, theirs: int | None, one: Candidate, other: Candidate) -> bool:
    if mine is None or theirs is None:
        return mine is None
    scales = [(NOW - time) * 10**9 for time in (mine, theirs)]
    powers = [scale.bit_length() if scale > 0 else -1 for scale in scales]
    return powers[0] < powers[1] if powers[0] != powers[1] else one.uid < other.uid


@given(candidates(), st.integers(1, 1000))
def test_the_order_is_that_of_the_comparison_with_some_uids(
    pods: list[Candidate], seed: int
) -> None:
    """No pod comes behind one that goes later whatever the UIDs are."""
    order = deleted_first(pods, len(pods), NOW, Random(seed))
    for i, late in enumerate(order):
        for early in order[:i]:
            whatever = all(
                before(replace(late, uid=mine), replace(early, uid=theirs))
                for mine, theirs in (("0", "1"), ("1", "0"))
            )
            assert not whatever


@given(candidates(), st.data())
def test_counted_choices_are_those_of_all_uids(pods: list[Candidate], data: st.DataObject) -> None:
    """Every subset that the order may take, counted one by one."""
    count = data.draw(st.integers(0, len(pods)))
    found = choices(pods, count, NOW, lambda pod: pod % 2)
    if found is None:
        return
    expected: Counter[tuple[int, ...]] = Counter()
    for goes in combinations(pods, count):
        stays = [each for each in pods if each not in goes]
        if any(_always(late, early) for late in stays for early in goes):
            continue
        left = Counter(each.pod % 2 for each in stays)
        expected[tuple(left[d] for d in range(min(2, len(pods))))] += 1
    assert found == expected


def _always(one: Candidate, other: Candidate) -> bool:
    pairs = (("0", "1"), ("1", "0"))
    return all(before(replace(one, uid=a), replace(other, uid=b)) for a, b in pairs)
