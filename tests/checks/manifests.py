"""Manifests to check, three nodes in two zones to try them on, and the findings."""

from __future__ import annotations

from typing import Any

from planner.checks import CheckOptions, Finding, check, manifests_of, subject_of
from planner.scheduler.profile import default_profile
from planner.sources.known_fields import unknown_fields
from planner.sources.load import load_documents
from planner.sources.options import ReadOptions
from tests.objects import ZONE, Json, document, node, template, workload

NODES = (node("n1", "a"), node("n2", "a"), node("n3", "b"))


def deployment(replicas: int = 3, spec: Json | None = None, **changes: Any) -> Json:
    return workload(
        "Deployment", "web", {"replicas": replicas, "template": template(spec=spec)}, **changes
    )


def spread(key: str = ZONE, labels: dict[str, str] | None = None, **fields: Any) -> Json:
    """A pod spec with one hard constraint over its own pods."""
    base = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels or {"app": "web"}},
    }
    constraint = {name: value for name, value in (base | fields).items() if value is not None}
    return {"topologySpreadConstraints": [constraint]}


def budget(name: str = "web", selector: Json | None = None, **spec: Any) -> Json:
    chosen = {"matchLabels": {"app": "web"}} if selector is None else selector
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": chosen, **spec},
    }


def findings(*manifests: Json, cluster: tuple[Json, ...] = NODES, **options: Any) -> list[Finding]:
    """What is found about the manifests on the nodes, every idea tried."""
    own = [document(each) for each in manifests]
    lenient = ReadOptions(skip_invalid=True)
    inventory = load_documents([*map(document, cluster), *own], lenient)
    unknown = (field for each in own for field in unknown_fields(each))
    given = manifests_of(load_documents(own, lenient), unknown)
    subject = subject_of(inventory, given, default_profile, CheckOptions(**options))
    return list(check(subject).findings)


def of_rule(rule: str, *manifests: Json, cluster: tuple[Json, ...] = NODES) -> list[Finding]:
    return findings(*manifests, cluster=cluster, only=frozenset((rule,)))
