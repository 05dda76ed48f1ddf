"""A thousand member clusters: the work stays small, whatever it takes on the clock."""

from __future__ import annotations

from random import Random

from planner.documents.fleet_decision import fleet_decision
from planner.fleet.decision import decide
from planner.fleet.setting import Setting
from planner_models.fleet_decision import FleetDecision
from tests.fleet.fleet_objects import affinity, member, pick_n, preferred, setting_of, spread


def large(seed: int) -> Setting:
    random = Random(seed)
    members = []
    for index in range(1000):
        zone = random.randrange(24)
        labels = {
            "region": f"r{zone // 3}",
            "zone": f"z{zone}",
            "env": random.choice(("prod", "test", "dev")),
            "tier": random.choice(("gold", "tin")),
        }
        members.append(member(f"c{index:04}", labels))
    policy = pick_n(
        200,
        spread("region", 2),
        spread("zone", 1),
        spread("env", 3, "ScheduleAnyway"),
        affinity=affinity(preferences=[preferred(10, tier="gold")]),
    )
    return setting_of(policy, members)


def test_200_of_1000_clusters_under_three_constraints() -> None:
    decision = decide(large(1))
    assert decision.optimum is not None
    assert decision.optimum.proven
    assert decision.verdict == "fulfilled"
    assert decision.measures.excess == 0
    assert decision.optimum.measures.rank <= decision.measures.rank
    found: FleetDecision = fleet_decision(decision)
    assert len(found.picked) == 200
    assert len(found.rounds) == 200
    # Only the last round lists every candidate; a document has to stay readable.
    assert sum(len(each.candidates) for each in found.rounds) == 199 + 801
    assert found.rounds[0].left_out == 999
