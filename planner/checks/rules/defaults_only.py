"""`defaults-only`: replicas without a spread rule of their own.

kube-scheduler's defaults are soft (hostname maxSkew 3, zone maxSkew 5), and hold only for pods that
a Service, ReplicaSet or StatefulSet selects.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.finding import READ, Finding
from planner.checks.own_pods import own_pods
from planner.checks.rules.no_budget import SCALED
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import conjoined
from planner_models.node import ZONE

ID = "defaults-only"


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for all of them; on a cluster only those that really stand together."""
    found = [
        each
        for each in subject.workloads
        if each.ref.kind in SCALED and each.most > 1 and not _spread(subject, each)
        if ID not in each.silent and (not subject.has_nodes or _together(subject, each))
    ]
    if not found:
        return
    verb = "has" if len(found) == 1 else "have"
    where = "stand on one node or in one zone" if subject.has_nodes else "may stand on one node"
    yield Finding(
        rule=ID,
        severity="note",
        objects=tuple(each.object for each in found),
        field=found[0].field("topologySpreadConstraints"),
        title=f"{conjoined([each.name for each in found])} {verb} no spread rule",
        text=(
            f"All pods of a workload {where}. kube-scheduler's own defaults are soft, at most 3 "
            "apart by host and 5 by zone, and given up where other scores weigh more.",
        ),
        proof=READ,
    )


def _spread(subject: Subject, workload: CheckedWorkload) -> bool:
    spec = subject.spec(workload)
    apart = spec.affinity.pod_anti_affinity
    return bool(spec.topology_spread_constraints or apart.required or apart.preferred)


def _together(subject: Subject, workload: CheckedWorkload) -> bool:
    """Whether all of its pods run in the same zone or on the same node, and others are there."""
    cluster = subject.settled
    homes = cluster.node_of[own_pods(cluster, workload)]
    homes = homes[homes >= 0]
    if len(homes) < 2:
        return False
    zones = cluster.topology(ZONE)
    one_node = len(cluster.nodes) > 1 and len(np.unique(homes)) == 1
    one_zone = len(zones.domains) > 1 and len(np.unique(zones.domain_of[homes])) == 1
    return one_node or one_zone
