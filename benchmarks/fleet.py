"""Picking 200 of 1,000 member clusters under three constraints: Fleet's way and the optimum.

    python -m benchmarks.fleet [--clusters 1000] [--wanted 200] [--seeds 3]

Prints the seconds that each takes and what comes out; nothing is written.
"""

from __future__ import annotations

import argparse
import time
from random import Random

from models.fleet import ClusterResourcePlacement
from models.member_cluster import MemberCluster
from planner.fleet.measures import measure
from planner.fleet.optimum import find_optimum
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting, make_setting


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


def main() -> None:
    """One line per seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--wanted", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for seed in range(1, options.seeds + 1):
        setting = large_fleet(seed, options.clusters, options.wanted)
        start = time.perf_counter()
        picked = schedule(setting).picked
        middle = time.perf_counter()
        optimum = find_optimum(setting, picked)
        end = time.perf_counter()
        fleet = measure(setting, picked)
        print(
            f"seed {seed}: Fleet {middle - start:.2f} s, {fleet.clusters} clusters, affinity "
            f"{fleet.affinity}; optimum {end - middle:.2f} s, {optimum.measures.clusters} "
            f"clusters, affinity {optimum.measures.affinity}, "
            f"{'proven' if optimum.proven else 'not proven'}"
        )


if __name__ == "__main__":
    main()
