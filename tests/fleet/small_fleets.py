"""Small fleets for property tests, drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from planner.fleet.setting import Setting
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

NAMES = ("ash", "elm", "fir", "oak", "pine", "yew", "zelk")
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
