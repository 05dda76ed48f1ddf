"""What `Cluster.capacity` answers, and which pods it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from planner.api.answers import Answer
from planner.errors import UsageError
from planner_models import capacity
from planner_models.base import Document

if TYPE_CHECKING:
    from planner.api.load import Source
    from planner.capacity import Demand
    from planner.cluster import Cluster as Snapshot
    from planner.cluster.owners import WorkloadRef
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.sources.inventory import Inventory
    from planner_models.workload import Controller


class Capacity(capacity.Capacity, Answer):
    """How many more pods fit; `to_dataframe` has a row for each workload or mix."""

    _columns: ClassVar[tuple[str, ...]] = ("subject", "now", "best", "bound", "survive")

    @property
    def fits(self) -> bool:
        """Whether at least one more of everything that was asked for fits now."""
        return all(line.now.count for line in self.lines)

    @property
    def undecided(self) -> bool:
        """Whether more may fit with the moves that were allowed than were found."""
        return any(each.within is not None and each.within.status == "open" for each in self.lines)

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import capacity_table

        return capacity_table

    def _page(self) -> Page:
        from planner.report.html.capacity_page import capacity_page

        return capacity_page(self)

    def _rows(self) -> Sequence[Document]:
        return self.lines

    def _short(self) -> str:
        counts = (f"{line.subject[0].workload} {line.now.count}" for line in self.lines)
        return ", ".join(counts)


def moves_of(given: int | str | None, default: int | None) -> int | None:
    """How many moves: a number, or None for as many as it takes."""
    if given is None:
        return default
    if given == "any":
        return None
    if not str(given).isdecimal():
        raise UsageError(f"`moves` is {given!r}", help="a number of moves, 0 for none, or any")
    return int(given)


SURVIVE = ("zone", "node", "none")
MANNERS = ("removed", "unreachable")
SCALED = frozenset(("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"))


def workloads_of(
    snapshot: Snapshot, pods: Iterable[int]
) -> tuple[list[WorkloadRef], tuple[str, ...]]:
    """The workloads of these pods that have a number of replicas, and the others with a reason."""
    groups = {int(snapshot.group_of[pod]) for pod in pods}
    every = sorted({snapshot.workloads[group] for group in groups})
    known = snapshot.owners.controllers
    living = {ref for ref, each in known.items() if each.metadata.deletion_timestamp is None}
    counted = [ref for ref in every if ref.kind in SCALED and ref in living]
    others = [ref.short for ref in every if ref not in counted]
    reason = "no number of replicas to raise, not in the input, or being deleted"
    return counted, (f"{', '.join(others)}: {reason}",) if others else ()


def new_pods(
    snapshot: Snapshot, source: Source | Iterable[Source], max_input: int | str | None
) -> tuple[Snapshot, list[Demand]]:
    """Pods that do not exist yet, in the ratio of their replicas, and a cluster that knows them."""
    from planner.api.load import documents_of, read_options
    from planner.capacity import Demand
    from planner.cluster.owners import Owners
    from planner.sources.defaulting import with_priority
    from planner.sources.load import load_documents

    options = read_options(max_input, skip_invalid=False)
    given = load_documents(documents_of(source, options), options)
    found: dict[WorkloadRef, list[int]] = {}
    owners = Owners(_unscaled(given))
    for index, pod in enumerate(given.pods):
        found.setdefault(owners.workload_of(pod), []).append(index)
    if not found:
        raise UsageError("`pods`: there are no pods in it", help="Pods, Deployments or Jobs")
    demands = []
    for ref, indexes in found.items():
        pod = given.pods[indexes[0]]
        spec = with_priority(pod.spec, snapshot.priority_classes)
        demands.append(Demand(ref, msgspec.structs.replace(pod, spec=spec), len(indexes)))
    least = min(demand.ratio for demand in demands)
    if all(demand.ratio % least == 0 for demand in demands):
        demands = [Demand(d.ref, d.sample, d.ratio // least) for d in demands]
    return snapshot.with_owners(
        snapshot.owners.with_controllers(owners.controllers.values())
    ), demands


def _unscaled(given: Inventory) -> Iterator[Controller]:
    """The controllers of the input before they have any pods."""
    scaled: Sequence[Any] = (
        *given.deployments,
        *given.replica_sets,
        *given.stateful_sets,
        *given.replication_controllers,
    )
    for each in scaled:
        yield each.replace(spec=each.spec.replace(replicas=0))
    yield from given.jobs
