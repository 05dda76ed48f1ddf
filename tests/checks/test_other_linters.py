"""What kube-linter and kube-score name about spread and budgets is named here, too.

The manifests are written anew from the cases of their tests: each bad one has to get a finding, and
the good ones beside it no error.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.manifests import budget, deployment, findings, spread
from tests.objects import HOSTNAME, Json, manifest, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
OTHERS = {"matchLabels": {"app": "other"}}


def apart(weight: int | None = None) -> Json:
    term: Json = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
    terms: Json = (
        {REQUIRED: [term]}
        if weight is None
        else {PREFERRED: [{"weight": weight, "podAffinityTerm": term}]}
    )
    return {"affinity": {"podAntiAffinity": terms}}


def guarded(**spec: Any) -> Json:
    return budget(unhealthyPodEvictionPolicy="AlwaysAllow", **spec)


BAD: dict[str, tuple[str, tuple[Json, ...]]] = {
    "kube-linter pdb-max-unavailable": (
        "pdb-blocks",
        (deployment(3, spread()), guarded(maxUnavailable=0)),
    ),
    "kube-linter pdb-max-unavailable in percent": (
        "pdb-blocks",
        (deployment(3, spread()), guarded(maxUnavailable="0%")),
    ),
    "kube-linter pdb-min-available": (
        "pdb-blocks",
        (deployment(3, spread()), guarded(minAvailable=3)),
    ),
    "kube-linter pdb-min-available in percent": (
        "pdb-blocks",
        (deployment(3, spread()), guarded(minAvailable="100%")),
    ),
    "kube-linter pdb-unhealthy-pod-eviction-policy": (
        "pdb-unhealthy-stuck",
        (deployment(3, spread()), budget(maxUnavailable=1)),
    ),
    "kube-linter no-anti-affinity": ("defaults-only", (deployment(3), guarded(maxUnavailable=1))),
    "kube-linter wrong topologyKey": (
        "spread-key-unknown",
        (deployment(3, spread("kubernetes.io/hostnam")), guarded(maxUnavailable=1)),
    ),
    "kube-score no budget for a Deployment": ("no-budget", (deployment(3, spread()),)),
    "kube-score no budget for a StatefulSet": (
        "no-budget",
        (workload("StatefulSet", "web", {"replicas": 3}),),
    ),
    "kube-score budget of other pods": (
        "pdb-selects-nothing",
        (deployment(3, spread()), guarded(selector=OTHERS, maxUnavailable=1)),
    ),
    "kube-score budget with a selector of nobody": (
        "pdb-selects-nothing",
        (guarded(selector=OTHERS, minAvailable=1),),
    ),
    "kube-score spread without a labelSelector": (
        "spread-no-selector",
        (deployment(3, spread(labelSelector=None)),),
    ),
    "kube-score spread with maxSkew 0": ("api-refuses", (deployment(3, spread(maxSkew=0)),)),
    "kube-score spread without a topologyKey": (
        "api-refuses",
        (deployment(3, spread(topologyKey="")),),
    ),
    "kube-score spread with another whenUnsatisfiable": (
        "api-refuses",
        (deployment(3, spread(whenUnsatisfiable="Sometimes")),),
    ),
    "kube-score anti-affinity missing on a StatefulSet": (
        "defaults-only",
        (workload("StatefulSet", "web", {"replicas": 3}),),
    ),
}
NODES_NEEDED = frozenset(("spread-key-unknown",))


@pytest.mark.parametrize("case", BAD)
def test_every_defect_that_they_name_is_named(case: str) -> None:
    rule, manifests = BAD[case]
    options = {} if rule in NODES_NEEDED else {"cluster": ()}
    assert rule in {each.rule for each in findings(*manifests, **options)}


GOOD: dict[str, tuple[Json, ...]] = {
    "kube-linter budget that allows one": (deployment(3, spread()), guarded(maxUnavailable=1)),
    "kube-linter budget in percent": (deployment(3, spread()), guarded(minAvailable="50%")),
    "kube-linter required anti-affinity": (deployment(2, apart()), guarded(maxUnavailable=1)),
    "kube-linter preferred anti-affinity": (deployment(3, apart(100)), guarded(maxUnavailable=1)),
    "kube-linter one replica": (deployment(1),),
    "kube-score budget by expression": (
        deployment(3, spread()),
        guarded(
            selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
            maxUnavailable=1,
        ),
    ),
    "kube-score one constraint": (deployment(3, spread()),),
    "kube-score two constraints": (
        deployment(
            3,
            {
                "topologySpreadConstraints": [
                    *spread()["topologySpreadConstraints"],
                    *spread(HOSTNAME, maxSkew=2)["topologySpreadConstraints"],
                ]
            },
        ),
    ),
    "kube-score a pod": (manifest("single"),),
}


@pytest.mark.parametrize("case", GOOD)
def test_none_of_their_good_examples_gets_an_error(case: str) -> None:
    assert not [each for each in findings(*GOOD[case]) if each.severity == "error"]
