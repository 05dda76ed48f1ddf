"""`spread-key-partial`: nodes that lack the topologyKey of a hard constraint take no pod of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import JsonValue

from planner.checks.finding import COUNTED, Finding
from planner.checks.rule import per_workload
from planner.checks.subject import Subject
from planner.checks.workloads import CheckedWorkload
from planner.words import named_or_counted

ID = "spread-key-partial"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    spec, rules = subject.spec(workload), subject.node_rules
    usable = rules.affinity(spec) & rules.taints(spec.tolerations)
    for index, constraint in enumerate(spec.topology_spread_constraints):
        having = rules.labelled(constraint.topology_key)
        lacking = np.flatnonzero(usable & ~having).tolist()
        if not constraint.hard or not lacking or not (usable & having).any():
            continue
        names = [subject.samples.nodes[each].name for each in lacking]
        verb = "lacks" if len(names) == 1 else "lack"
        yield Finding(
            rule=ID,
            severity="warning",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}].topologyKey"),
            title=f"{named_or_counted(names, 'node')} {verb} {constraint.topology_key}",
            text=(
                f"{workload.name} could use {'it' if len(names) == 1 else 'them'}, but a node "
                f"without the key of a hard constraint takes none of its pods: "
                f"{int((usable & having).sum())} of {int(usable.sum())} nodes are left.",
            ),
            facts={"nodes": list[JsonValue](names)},
            proof=COUNTED,
        )
