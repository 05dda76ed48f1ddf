"""Attached volumes counted along, against counting them anew."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from planner.scheduler.volumes.attachments import Attachments
from planner.scheduler.volumes.claims import VolumeId
from tests.scheduler.volume_examples import (
    DRIVER,
    attachment,
    limit,
    node,
    state_of,
    volume,
)

NODES = 2
VOLUMES = [VolumeId(DRIVER, f"handle-of-v{i}") for i in range(4)]
some_volumes = st.frozensets(st.sampled_from(VOLUMES), max_size=3)
Pods = list[tuple[int, frozenset[VolumeId]]]


def too_many(
    wanted: frozenset[VolumeId], used: set[VolumeId], listed: set[VolumeId], most: int
) -> bool:
    """The rule for one node: only new volumes are looked at, listed ones count beside them."""
    new = wanted - used
    return bool(new) and len(used | listed) + len(new) > most


@given(
    st.lists(st.tuples(st.integers(0, NODES - 1), some_volumes), max_size=6),
    st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, 3)), max_size=4),
    st.lists(st.integers(0, 4), min_size=NODES, max_size=NODES),
    some_volumes,
    st.integers(0, 6),
)
def test_counts_agree_with_counting_anew_after_pods_left_and_in_a_what_if(
    pods: Pods,
    listed: set[tuple[int, int]],
    limits: list[int],
    wanted: frozenset[VolumeId],
    leaving: int,
) -> None:
    state = state_of(
        [node(f"n{i}") for i in range(NODES)],
        [],
        volumes=[volume(f"v{i}") for i in range(4)],
        csi_nodes=tuple(limit(f"n{i}", most) for i, most in enumerate(limits)),
        volume_attachments=tuple(attachment(f"n{n}", f"v{v}") for n, v in sorted(listed)),
    )
    attachments = Attachments(state.cluster)
    for on, volumes in pods:
        attachments.shift(volumes, on, 1)
    staying = pods[leaving:]
    attached = {n: {VOLUMES[v] for m, v in listed if m == n} for n in range(NODES)}

    def expected(on: int, there: Pods) -> bool:
        used = {v for at, volumes in there if at == on for v in volumes}
        return too_many(wanted, used, attached[on], limits[on])

    for on in range(NODES):
        away = Counter(v for at, volumes in pods[:leaving] if at == on for v in volumes)
        assert attachments.exceeded_at(on, wanted, away) == expected(on, staying)
    for on, volumes in pods[:leaving]:
        attachments.shift(volumes, on, -1)
    assert attachments.exceeded(wanted).tolist() == [expected(on, staying) for on in range(NODES)]
