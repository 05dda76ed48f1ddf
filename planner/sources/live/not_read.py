"""What an answer lacks when the user may not list every kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from planner.sources.errors import SourceError
from planner.sources.inventory import counted
from planner.sources.live.api import Api, ApiError
from planner.sources.live.kinds import (
    ADMISSION,
    BUDGETS,
    NAMESPACES,
    NUMBERS,
    PODS,
    SERVICES,
    VOLUMES,
    WORKLOADS,
    Kind,
)

if TYPE_CHECKING:
    from planner.sources.inventory import Inventory
    from planner_models.pod import Pod


def refused(api: Api, kind: Kind, error: ApiError) -> SourceError:
    """A kind without which nothing can be said: never an answer from one namespace alone."""
    if error.code == 429:
        return SourceError(
            f"{api.place} is too busy to list {kind.resource} (429)",
            detail=error.message,
            help="it was asked again for a minute; try later",
        )
    if error.code != 403:
        helping = "is it an API server of Kubernetes?" if error.code < 500 else "try again"
        return SourceError(
            f"{api.place} doesn't list {kind.resource} ({error.code})",
            detail=error.message,
            help=helping,
        )
    everywhere = " in all namespaces" if kind is PODS else ""
    return SourceError(
        f"you may not list {kind.resource}{everywhere}, and placement depends on them",
        detail=error.message,
        help="planner rbac > rbac.yaml is what an administrator would have to grant",
    )


def warning(forbidden: Sequence[Kind], inventory: Inventory, *, manifests: bool) -> str | None:
    """What is unknown without these kinds; None where that touches no pod of the cluster."""
    told = [(kinds, text) for kinds, text in _losses(forbidden, inventory, manifests) if kinds]
    if not told:
        return None
    names = [kind.resource for kinds, _ in told for kind in kinds]
    were = "kind was" if len(names) == 1 else "kinds were"
    head = f"{len(names)} {were} not read (forbidden): {', '.join(names)}"
    return "\n".join([head, *(f"  {text}" for _, text in told)])


def _losses(
    forbidden: Sequence[Kind], inventory: Inventory, manifests: bool
) -> Iterator[tuple[list[Kind], str]]:
    def missing(*kinds: Kind) -> list[Kind]:
        return [kind for kind in forbidden if kind in kinds]

    pods = inventory.pods
    yield missing(BUDGETS), "Which pods a disruption budget keeps from being evicted is unknown."
    if selecting := sum(map(_selects_namespaces, pods)):
        have = "has" if selecting == 1 else "have"
        yield (
            missing(NAMESPACES),
            f"{counted(selecting, 'pod')} {have} terms with a namespaceSelector; which namespaces "
            "they mean is unknown.",
        )
    yield missing(*WORKLOADS), "Workloads are named by their pods' owners."
    if any(not pod.spec.topology_spread_constraints for pod in pods):
        yield (
            missing(SERVICES),
            "How kube-scheduler spreads the pods of Services by default is unknown.",
        )
    if claiming := sum(map(_has_claims, pods)):
        have = "has" if claiming == 1 else "have"
        yield (
            missing(*VOLUMES),
            f"{counted(claiming, 'pod')} {have} claims; where their volumes are is unknown. "
            "Others are unaffected.",
        )
    yield missing(*NUMBERS), "How many pods quotas, autoscalers and CronJobs will allow is unknown."
    if manifests:
        yield missing(*ADMISSION), "Priorities and limits of new pods are unknown."


def _selects_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return any(
        term.namespace_selector is not None
        for rules in (affinity.pod_affinity, affinity.pod_anti_affinity)
        for term in (*rules.required, *(wish.pod_affinity_term for wish in rules.preferred))
    )


def _has_claims(pod: Pod) -> bool:
    return any(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None
        for volume in pod.volumes
    )
