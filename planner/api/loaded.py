"""A cluster as it was read, and what every question about it needs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from planner.api.arguments import input_arguments, words
from planner.api.live import require_budgets
from planner.report.emit import Origin
from planner.report.text.commands import Given

if TYPE_CHECKING:
    from planner.api.live import Live
    from planner.api.selection import Selection
    from planner.cluster import Cluster as Snapshot
    from planner.sources.inventory import Inventory
    from planner.sources.read import RawDocument
    from planner_models.node import Node
    from planner_models.notice import Notice
    from planner_models.pod import Pod
    from planner_models.selectors import LabelSelector
    from planner_models.source import ClusterSource


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """The objects, the snapshot that is made of them, and where they come from."""

    snapshot: Snapshot
    """What planner's own packages work on."""
    inventory: Inventory
    """The objects that were read."""
    paths: tuple[str, ...] = ()
    objects: tuple[RawDocument, ...] | None = None
    example: str | None = None
    source: ClusterSource | None = None
    """Which cluster it is, and when it was read, as far as that is known."""
    live: Live | None = None
    """How it was read, if it is a running one."""
    namespace: str = "default"
    """Where targets are looked up that are given without one."""
    warnings: tuple[str, ...] = ()
    """What makes a reading less than complete, or was odd about one that was kept."""

    def __repr__(self) -> str:
        return repr(self.snapshot)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from html import escape

        snapshot = self.snapshot
        kinds = sorted({ref.kind for ref in snapshot.workloads})
        counts = {"nodes": len(snapshot.nodes), "pods": len(snapshot.pods)}
        counts["pending"] = len(snapshot.pending)
        for kind in kinds:
            counts[kind] = len({ref for ref in snapshot.workloads if ref.kind == kind})
        cells = "".join(f"<th>{escape(name)}</th>" for name in counts)
        numbers = "".join(f"<td>{number:,}</td>" for number in counts.values())
        return f"<table><tr>{cells}</tr><tr>{numbers}</tr></table>"

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes by name, as Kubernetes objects."""
        return self.snapshot.nodes

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, as Kubernetes objects; those that have finished are left out."""
        return self.snapshot.pods

    @property
    def pending(self) -> tuple[Pod, ...]:
        """The pods without a node."""
        return tuple(self.snapshot.pods[index] for index in self.snapshot.pending.tolist())

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd in the input."""
        return self.snapshot.notices

    def ages(self) -> tuple[str, ...]:
        """How old the dumps are that the cluster was read from, a sentence for each."""
        if not self.inventory.origins:
            return ()
        from planner.report.text.ages import ages

        return ages(self.inventory.origins, time.time())

    def _on(self, snapshot: Snapshot) -> Self:
        """The same cluster in another state."""
        return replace(self, snapshot=snapshot)

    def _selection(
        self,
        command: str,
        targets: Sequence[str],
        namespace: str | None,
        all_namespaces: bool,
        selector: str | LabelSelector | None,
    ) -> Selection:
        """The pods that a question is about."""
        from planner.api.selection import selection_of

        return selection_of(
            self.snapshot,
            command,
            words("targets", targets),
            namespace,
            all_namespaces,
            selector,
            default=self.namespace,
        )

    def _require_budgets(self, command: str) -> None:
        """Refuse to plan around budgets that could not be read."""
        require_budgets(() if self.source is None else self.source.not_read, command)

    def _origin(self, command: str, part: tuple[str, ...]) -> Origin:
        """Where an answer comes from; `part` are the words that choose what it is about."""
        return Origin(
            f"planner {command}",
            self.paths,
            self.snapshot,
            given=Given(
                input_arguments(self.paths, self.example, self.live),
                part,
                namespace=self.namespace,
            ),
            source=self.source,
        )
