"""Placements as users name them: `web`, `crp/web`, `rp/web`."""

from __future__ import annotations

from collections.abc import Sequence

from planner.api.arguments import meant
from planner.documents.fleet import placements
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner_models.fleet import ClusterResourcePlacement, Placement, ResourcePlacement

KINDS = {
    ClusterResourcePlacement: ("crp", "clusterresourceplacement", "clusterresourceplacements"),
    ResourcePlacement: ("rp", "resourceplacement", "resourceplacements"),
}
_KIND_OF: dict[str, type[Placement]] = {
    name: kind for kind, names in KINDS.items() for name in names
}


def require_fleet(inventory: Inventory) -> None:
    """Without member clusters or placements there is nothing to decide."""
    if not inventory.member_clusters:
        raise SourceError(
            "the input has no member clusters, so nothing can be picked",
            help="add: kubectl get memberclusters -o json",
        )
    if not placements(inventory):
        raise SourceError(
            "the input has no placement, so there is nothing to pick for",
            help="add: kubectl get crp,crb,csps -o json",
        )


def find_placements(
    inventory: Inventory, targets: Sequence[str], namespace: str | None
) -> tuple[Placement, ...]:
    """The placements that the targets name, in their order; without any, all there are."""
    every = placements(inventory)
    if not targets:
        return tuple(each for each in every if namespace is None or _inside(each, namespace))
    found = [_find(every, target, namespace or "default") for target in targets]
    return tuple({id(placement): placement for placement in found}.values())


def _inside(placement: Placement, namespace: str) -> bool:
    return isinstance(placement, ResourcePlacement) and placement.namespace == namespace


def _find(every: Sequence[Placement], target: str, namespace: str) -> Placement:
    """A bare name is a ClusterResourcePlacement's, or else a ResourcePlacement's."""
    word, slash, name = target.rpartition("/")
    kind = _KIND_OF.get(word.partition(".")[0].lower()) if slash else Placement
    if kind is None:
        raise UsageError(
            f'"{target}" names no kind of placement',
            help="crp/web, or rp/web with `namespace=NAMESPACE`",
        )
    for placement in every:
        here = isinstance(placement, ClusterResourcePlacement) or _inside(placement, namespace)
        if isinstance(placement, kind) and placement.name == name and here:
            return placement
    raise _unknown(every, kind, name, namespace)


def _unknown(
    every: Sequence[Placement], kind: type[Placement], name: str, namespace: str
) -> SourceError:
    candidates = [each for each in every if isinstance(each, kind)]
    for placement in candidates:
        if placement.name == name:
            where = placement.namespace
            return SourceError(
                f"there is no ResourcePlacement {name} in namespace {namespace}",
                help=f"it is in namespace {where}: `namespace={where}`",
            )
    names = [each.name for each in candidates]
    what = "placement" if kind is Placement else kind.__name__
    listed = f"there are: {', '.join(names[:6])}" if names else None
    return SourceError(f"there is no {what} {name}", help=meant(name, names) or listed)
