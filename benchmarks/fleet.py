"""Picking a fifth of the member clusters under three constraints: Fleet's way and the optimum."""

from __future__ import annotations

from pathlib import Path
from random import Random

from benchmarks.case import Case, Measured, Stopwatch
from planner.fleet.optimum import Measures, find_optimum
from planner.fleet.optimum import measure as levels_of
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting, make_setting
from planner_models.fleet import ClusterResourcePlacement
from planner_models.member_cluster import MemberCluster

SHARE = 5


def large_fleet(seed: int, clusters: int, wanted: int) -> Setting:
    """Zones in regions, three environments, a hundred tiers of different weight."""
    random = Random(seed)
    members = []
    for index in range(clusters):
        zone = random.randrange(36)
        labels = {
            "region": f"region-{zone // 3}",
            "zone": f"zone-{zone}",
            "environment": random.choice(("prod", "test", "dev")),
            "tier": str(random.randrange(100)),
        }
        metadata = {"name": f"cluster-{index:05}", "labels": labels}
        members.append(MemberCluster.model_validate({"metadata": metadata}))
    preferences = [
        {
            "weight": random.randrange(1, 101),
            "preference": {"labelSelector": {"matchLabels": {"tier": str(tier)}}},
        }
        for tier in range(100)
    ]
    policy = {
        "placementType": "PickN",
        "numberOfClusters": wanted,
        "affinity": {
            "clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferences}
        },
        "topologySpreadConstraints": [
            {"topologyKey": "region", "maxSkew": 2},
            {"topologyKey": "zone", "maxSkew": 1},
            {"topologyKey": "environment", "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    }
    placement = {"metadata": {"name": "crp"}, "spec": {"policy": policy}}
    return make_setting(ClusterResourcePlacement.model_validate(placement), members)


def measure(case: Case, _cache: Path) -> Measured:
    """One pick; the optimum is timed without the greedy pick that it starts from."""
    clusters = case.integer("clusters")
    setting = large_fleet(case.seed, clusters, max(1, clusters // SHARE))
    with Stopwatch() as watch:
        picked = schedule(setting).picked
    greedy = levels_of(setting, picked)
    if case.method == "fleet":
        return Measured(watch.seconds, watch.cpu, _values(greedy, proven=False), _broken(greedy))
    with Stopwatch() as watch:
        found = find_optimum(setting, picked)
    best = levels_of(setting, found.picked)
    wrong = [*_broken(best)]
    if best != found.measures:
        wrong.append(f"says {found.measures}, is {best}")
    if best.rank > greedy.rank:
        wrong.append("worse than Fleet's own pick")
    values = _values(best, proven=found.proven)
    return Measured(watch.seconds, watch.cpu, values, tuple(wrong))


def _values(found: Measures, *, proven: bool) -> dict[str, int | bool]:
    return {"clusters_picked": found.clusters, "affinity": found.affinity, "proven": proven}


def _broken(found: Measures) -> tuple[str, ...]:
    return (f"hard constraints are broken by {found.excess}",) if found.excess else ()
