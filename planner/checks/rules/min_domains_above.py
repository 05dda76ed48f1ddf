"""`min-domains-above`: fewer domains than minDomains, so each takes at most maxSkew pods.

kube-scheduler then takes the minimum as 0. It is an error if the replicas don't fit, a warning if
they do for now.
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
from planner.words import count_of, short_key

ID = "min-domains-above"


@per_workload
def find(subject: Subject, workload: CheckedWorkload) -> Iterator[Finding]:
    group = subject.group(workload).index
    for constraint in hard_constraints_of(subject.samples, np.array([group])):
        index = next((each.index for each in constraint.carriers if each.group == group), None)
        wanted = constraint.constraint.min_domains
        if index is None or wanted is None or not constraint.too_few_domains:
            continue
        domains = int(constraint.scope.domains.sum())
        skew, key = constraint.constraint.max_skew, short_key(constraint.constraint.topology_key)
        most = domains * skew
        fits = most >= workload.most
        yield Finding(
            rule=ID,
            severity="warning" if fits else "error",
            objects=(workload.object,),
            field=workload.field(f"topologySpreadConstraints[{index}].minDomains"),
            title=f"{workload.name} wants {count_of(wanted, key)} and there {_are(domains)}",
            text=(
                f"Below minDomains the smallest count is taken as 0: at most {skew} "
                f"{'pod' if skew == 1 else 'pods'} per {key}, {most} in all, of {workload.most}.",
            ),
            facts={"domains": domains, "minDomains": wanted, "most": most},
            proof=COUNTED,
            ideas=(
                Idea(
                    f"minDomains {wanted} -> {domains}",
                    in_constraint(workload, index, min_domains=domains),
                ),
            )
            if domains
            else (),
        )


def _are(domains: int) -> str:
    return "is 1" if domains == 1 else f"are {domains}"
