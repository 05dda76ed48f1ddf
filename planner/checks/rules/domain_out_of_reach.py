"""`domain-out-of-reach`: a domain counts for a hard spread constraint but takes no pod.

Its count stays at 0, so the other domains take at most maxSkew pods each: nodes behind taints count
unless `nodeTaintsPolicy` honours them, cordoned ones likewise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.checks.changes import in_constraint
from planner.checks.finding import COUNTED, Finding, Idea
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.cluster.spread import hard_constraints_of
from planner.words import conjoined, count_of, short_key

ID = "domain-out-of-reach"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    spec, rules = subject.spec(workload), subject.node_rules
    usable = (
        rules.affinity(spec) & rules.taints(spec.tolerations) & rules.uncordoned(spec.tolerations)
    )
    group = subject.group(workload).index
    for constraint in hard_constraints_of(subject.samples, np.array([group])):
        carrier = next((each for each in constraint.carriers if each.group == group), None)
        if carrier is None or not carrier.self_match:
            continue
        topology, scope = constraint.scope.topology, constraint.scope
        reached = np.zeros(len(topology.domains), np.bool_)
        reached[topology.domain_of[usable & scope.eligible]] = True
        lost = np.flatnonzero(scope.domains & ~reached).tolist()
        left = int(np.count_nonzero(scope.domains & reached))
        most = left * constraint.constraint.max_skew
        if not lost or not left:
            continue
        key = short_key(constraint.constraint.topology_key)
        names = [topology.domains[each] for each in lost]
        shown = conjoined(names) if len(names) <= 3 else count_of(len(names), key)
        verb = "counts" if len(names) == 1 else "count"
        yield Finding(
            rule=ID,
            severity="warning" if most >= workload.most else "error",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{carrier.index}]"),
            title=f"{shown} {verb} for the {key} spread of {workload.name} and takes no pod",
            text=(
                f"With 0 pods there, no other {key} may have more than "
                f"{constraint.constraint.max_skew} (maxSkew): {most} of {workload.most} at most.",
            ),
            facts={"most": most, "replicas": workload.most},
            proof=COUNTED,
            ideas=(
                Idea(
                    "nodeTaintsPolicy: Honor",
                    in_constraint(workload, carrier.index, node_taints_policy="Honor"),
                ),
            ),
        )
