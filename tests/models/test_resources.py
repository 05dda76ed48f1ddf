"""The scheduler's arithmetic over containers, against a naive reading of KEP 753 and KEP 2837."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_models.pod import PodSpec
from planner_models.resources import in_scheduler_units, is_pod_level

Amounts = dict[str, str]
NAMES = ("cpu", "memory", "hugepages-2Mi", "example.com/gpu")
UNITS = {"m": Fraction(1, 1000), "u": Fraction(1, 10**6), "": Fraction(1), "Ki": Fraction(1024)}


def exact(text: str) -> Fraction:
    """The amount as the API server stores it: rounded up to thousandths."""
    digits = text.rstrip("muKi")
    value = Fraction(digits) * UNITS[text[len(digits) :]]
    return Fraction(-(-value * 1000 // 1), 1000)


def ceiling(value: Fraction) -> int:
    return int(-(-value // 1))


def naive(spec: dict[str, object], defaults: Amounts) -> dict[str, int]:
    """Every moment of the pod's life, written out: one after the other init container, then all."""
    containers, inits = spec["containers"], spec["initContainers"]
    assert isinstance(containers, list)
    assert isinstance(inits, list)

    def request(container: dict[str, dict[str, Amounts]], name: str) -> Fraction:
        amounts = {**defaults, **container["resources"]["requests"]}
        return exact(amounts[name]) if name in amounts else Fraction(0)

    total: dict[str, Fraction] = {}
    for name in NAMES:
        sidecars = [c for c in inits if c["restartPolicy"] == "Always"]
        moments = [sum((request(c, name) for c in containers + sidecars), Fraction(0))]
        for place, init in enumerate(inits):
            before = [c for c in inits[:place] if c["restartPolicy"] == "Always"]
            moments.append(sum((request(c, name) for c in [*before, init]), Fraction(0)))
        total[name] = max(moments)
    for name, text in _of(spec, "resources", "requests").items():
        if is_pod_level(name):
            total[name] = exact(text)
    for name, text in _of(spec, "overhead").items():
        total[name] += exact(text)
    return {n: ceiling(v * 1000 if n == "cpu" else v) for n, v in total.items()}


def _of(spec: dict[str, object], *path: str) -> Amounts:
    value: object = spec
    for part in path:
        assert isinstance(value, dict)
        value = value[part]
    assert isinstance(value, dict)
    return value


quantities = st.builds("{}{}".format, st.integers(0, 5000), st.sampled_from(sorted(UNITS)))
amounts = st.dictionaries(st.sampled_from(NAMES), quantities)
containers = st.fixed_dictionaries({"resources": st.fixed_dictionaries({"requests": amounts})})
inits = st.fixed_dictionaries(
    {
        "resources": st.fixed_dictionaries({"requests": amounts}),
        "restartPolicy": st.sampled_from(["", "Always"]),
    }
)
specs = st.fixed_dictionaries(
    {
        "containers": st.lists(containers, min_size=1, max_size=3),
        "initContainers": st.lists(inits, max_size=4),
        "resources": st.fixed_dictionaries({"requests": amounts}),
        "overhead": amounts,
    }
)


@given(specs)
def test_requests_are_the_largest_moment_of_the_pods_life(spec: dict[str, object]) -> None:
    expected = naive(spec, {})
    found = PodSpec.model_validate(spec).requests
    assert {name: found.get(name, 0) for name in NAMES} == expected


@given(specs)
def test_silent_containers_count_with_defaults_when_scored(spec: dict[str, object]) -> None:
    known = PodSpec.model_validate(spec).requests
    defaults = {"cpu": "100m", "memory": "204800Ki"}
    if any(is_pod_level(name) for name in _of(spec, "resources", "requests")):
        defaults = {name: text for name, text in defaults.items() if name not in known}
    expected = naive(spec, defaults)
    found = PodSpec.model_validate(spec).non_zero_requests
    assert found == (expected["cpu"], expected["memory"])


def requests(**spec: object) -> dict[str, int]:
    return dict(PodSpec.model_validate(spec).requests)


def container(cpu: str, restart_policy: str = "") -> dict[str, object]:
    return {"resources": {"requests": {"cpu": cpu}}, "restartPolicy": restart_policy}


def test_containers_add_up_and_a_big_init_container_counts_alone() -> None:
    both = [container("100m"), container("200m")]
    assert requests(containers=both) == {"cpu": 300}
    assert requests(containers=both, initContainers=[container("1")]) == {"cpu": 1000}


def test_a_sidecar_runs_beside_the_containers_and_beside_later_init_containers() -> None:
    steps = [container("400m", "Always"), container("500m")]
    assert requests(containers=[container("100m")], initContainers=steps) == {"cpu": 900}
    assert requests(containers=[container("600m")], initContainers=steps) == {"cpu": 1000}


def test_restart_policy_always_means_nothing_on_a_main_container() -> None:
    assert requests(containers=[container("100m", "Always")]) == {"cpu": 100}


def test_pod_level_requests_win_and_overhead_comes_on_top() -> None:
    found = requests(
        containers=[container("100m")],
        resources={"requests": {"cpu": "2", "example.com/gpu": "1"}},
        overhead={"cpu": "50m"},
    )
    assert found == {"cpu": 2050}


def test_amounts_are_rounded_up_to_thousandths_before_they_are_added() -> None:
    assert requests(containers=[container("100u"), container("100u")]) == {"cpu": 2}


@pytest.mark.parametrize(
    ("requests_of_container", "expected"),
    [
        ({}, (100, 200 << 20)),
        ({"cpu": "0", "memory": "0"}, (0, 0)),
        ({"cpu": "1"}, (1000, 200 << 20)),
    ],
)
def test_an_explicit_zero_stays_zero_when_scored(
    requests_of_container: Amounts, expected: tuple[int, int]
) -> None:
    spec = {"containers": [{"resources": {"requests": requests_of_container}}]}
    assert PodSpec.model_validate(spec).non_zero_requests == expected


def test_scheduler_units_are_milli_cores_and_whole_units() -> None:
    assert in_scheduler_units({"cpu": 1_500_000, "memory": 1}) == {"cpu": 2, "memory": 1}
