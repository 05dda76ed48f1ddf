"""Small fleets for property tests, drawn at random."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from planner.fleet.bindings import classify
from planner.fleet.setting import Setting
from planner_models.fleet_binding import PREVIOUS_STATE_ANNOTATION, ClusterResourceBinding
from tests.fleet.fleet_objects import (
    GPU,
    affinity,
    binding,
    member,
    pick_n,
    preferred,
    setting_of,
    spread,
)
from tests.objects import merged

NAMES = ("ash", "elm", "fir", "oak", "pine", "yew", "zelk")
PREVIOUS = {PREVIOUS_STATE_ANNOTATION: "Bound"}
PREFERENCES = [preferred(10, tier="gold"), preferred(-5, tier="tin")]


@st.composite
def fleets(draw: st.DrawFn) -> Setting:
    """Up to seven clusters, up to two constraints, labels missing here and there."""
    names = NAMES[: draw(st.integers(1, 7))]
    members = []
    for name in names:
        labels = {
            key: value
            for key, value in (
                ("region", draw(st.sampled_from(["east", "west", "north", None]))),
                ("env", draw(st.sampled_from(["prod", "test", None]))),
                ("tier", draw(st.sampled_from(["gold", "tin", None]))),
            )
            if value is not None
        }
        tainted = draw(st.integers(0, 5)) == 0
        members.append(member(name, labels, spec=GPU if tainted else {}))
    whens = st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])
    constraints = [
        spread(key, draw(st.integers(1, 3)), draw(whens))
        for key in draw(st.sampled_from([(), ("region",), ("env",), ("region", "env")]))
    ]
    policies = draw(st.lists(st.sampled_from([None, "crp-0", "crp-1"]), min_size=7, max_size=7))
    bindings = [
        binding(name, schedulingPolicySnapshotName=policy)
        for name, policy in zip(names, policies, strict=False)
        if policy is not None
    ]
    policy = pick_n(
        draw(st.integers(0, 8)), *constraints, affinity=affinity(preferences=PREFERENCES)
    )
    return setting_of(policy, members, bindings)


@st.composite
def tangled_fleets(draw: st.DrawFn) -> Setting:
    """The same with bindings in any state, several of one cluster among them."""
    setting = draw(fleets())
    names = [cluster.name for cluster in setting.clusters]
    states = st.sampled_from(["Bound", "Scheduled", "Unscheduled"])
    policies = st.sampled_from(["crp-0", "crp-1"])
    tangled = draw(st.lists(st.tuples(st.sampled_from(names), states, policies), max_size=9))
    bindings = [
        merged(
            binding(name, state, schedulingPolicySnapshotName=policy),
            {"metadata": {"name": f"crp-{name}-{number}", "annotations": PREVIOUS}},
        )
        for number, (name, state, policy) in enumerate(tangled)
    ]
    found = [ClusterResourceBinding.model_validate(each) for each in bindings]
    return replace(setting, bindings=classify(setting.placement, found, (), setting.clusters))
