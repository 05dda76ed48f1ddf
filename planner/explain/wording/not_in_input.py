"""Pods whose claims, volumes or classes are not in the input: nothing is proven about them.

kube-scheduler would refuse such a pod everywhere. But most of the time the objects exist, and
nobody asked kubectl for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from planner.cluster.missing_storage import DEFAULT, KINDS, missing_for
from planner.explain.rules.rule import Rule, of_type
from planner.explain.rules.volumes import VolumeRule
from planner.explain.situation.subject import Subject
from planner.explain.wording.hints import hints
from planner.words import conjoined
from planner_models.diagnosis import Diagnosis


def unknown_storage(subject: Subject, rules: Sequence[Rule], message: str) -> Diagnosis | None:
    """The diagnosis of a refused pod whose volumes can't be judged.

    None where they can be, and where rules that don't look at other pods refuse every node anyway.
    """
    volumes = of_type(rules, VolumeRule)
    missing = missing_for(subject.cluster.storage, subject.record) if volumes else {}
    others = without_volumes(rules)
    everywhere = np.ones(subject.nodes.total, np.bool_)
    refused, hopeless = np.zeros_like(everywhere), np.zeros_like(everywhere)
    for rule in others:
        refused |= rule.blocked
        hopeless |= rule.hopeless
    if not missing or hopeless.all():
        return None
    besides = [rule.sentence(everywhere, first=True) for rule in others] if refused.all() else []
    names = listed(missing)
    verb, it = ("is", "it") if sum(map(len, missing.values())) == 1 else ("are", "them")
    commands = conjoined([f"kubectl get {short} -A -o json" for short in missing])
    return Diagnosis(
        targets=(subject.key,),
        workloads=(subject.workload.short,),
        verdict="undecided",
        headline=f"{subject.headline} needs {names}, which {verb} not in the input",
        where=(f"{subject.key} {volumes[0].field}", str(volumes[0].where(everywhere))),
        narrative=(
            f"Without {it} nobody can say which nodes the volumes of {subject.name} reach. "
            f"Add {it} to the input: {commands}. If the cluster does not have {it} either, "
            f"the pod waits until somebody creates {it}.",
            *besides,
        ),
        hints=hints(subject, tuple(rules)),
        message=message,
        short=f"{names} not in the input",
        remedy="add to input",
    )


def without_volumes(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """What can be said for certain of a pod whose volumes are not known."""
    return tuple(rule for rule in rules if rule.kind != "volumes")


def listed(missing: Mapping[str, set[str]]) -> str:
    """`StorageClass fast`, `PersistentVolumeClaim default/data`."""
    return conjoined(
        [
            name if name == DEFAULT else f"{KINDS[short]} {name}"
            for short, names in missing.items()
            for name in sorted(names)
        ]
    )
