"""What `Cluster.drain` answers, and the nodes that it takes: names, labels, a zone, or all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from planner.api.answers import Answer
from planner.api.names import find_node
from planner.api.selectors import label_selector
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.words import conjoined
from planner_models import drain
from planner_models.base import Document
from planner_models.node import ZONE

if TYPE_CHECKING:
    from planner.cluster import Cluster as Snapshot
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner_models.selectors import LabelSelector


class DrainPlan(drain.DrainPlan, Answer):
    """Whether nodes can be emptied, and how; `to_dataframe` has a row for each eviction."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("round", "wave", "pod", "workload", "node", "expected_nodes", "lost"),
    )

    def only_wave(self, number: int) -> DrainPlan:
        """The part of the plan that is one wave, counted from 1 through all rounds."""
        every = [(each, wave) for each in self.rounds for wave in each.waves]
        if not 1 <= number <= len(every):
            raise UsageError(f"`wave={number}`: the plan has {len(every)}")
        chosen, wave = every[number - 1]
        part = chosen.model_copy(update={"waves": (wave,)})
        at = (self.rounds.index(chosen) + 1, wave.number)
        return self.model_copy(
            update={
                "part": number,
                "rounds": (part,),
                "evictions": tuple(e for e in self.evictions if (e.round, e.wave) == at),
            }
        )

    def only_round(self, number: int) -> DrainPlan:
        """The part of a rolling drain that is one round, counted from 1."""
        if not 1 <= number <= len(self.rounds):
            raise UsageError(f"`round={number}`: the plan has {len(self.rounds)}")
        return self.model_copy(
            update={
                "round": number,
                "evictions": tuple(each for each in self.evictions if each.round == number),
            }
        )

    def to_script(self) -> str:
        """A shell script that cordons the nodes and evicts the pods, wave by wave."""
        return self.to_text("script")

    def _own_text(self, output: str) -> str | None:
        from planner.report.scripts import drain_script

        return drain_script(self) if output == "script" else None

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import drain_table

        return drain_table

    def _page(self) -> Page:
        from planner.report.html.drain_page import drain_page

        return drain_page(self._snapshot, self)

    def _rows(self) -> Sequence[Document]:
        return self.evictions

    def _short(self) -> str:
        waves = sum(len(each.waves) for each in self.rounds)
        return f"{self.status}, {len(self.evictions)} evictions in {waves} waves"


def nodes_of(
    snapshot: Snapshot,
    names: Sequence[str],
    selector: str | LabelSelector | None,
    zone: str | None,
    every: bool,
    *,
    most: bool,
) -> tuple[int, ...]:
    """The nodes that were given, all ways of giving them taken together; each counts once.

    Whoever asks which nodes can go has all in mind, if none are given.
    """
    given = bool(names or selector is not None or zone is not None)
    every = every or (most and not given)
    if not (given or every):
        raise UsageError("drain needs nodes: names, -l SELECTOR, --zone, --all or --most")
    found = {find_node(snapshot, name) for name in names}
    wanted = label_selector("selector", selector)
    if wanted is not None:
        found |= _required(
            {i for i, node in enumerate(snapshot.nodes) if wanted.matches(node.labels)},
            f"no node has labels that `selector={selector}` selects",
            None,
        )
    if zone is not None:
        zones = snapshot.topology(ZONE)
        known = conjoined(sorted(zones.domains), "or") or "no value on any node"
        found |= _required(
            {i for i, node in enumerate(snapshot.nodes) if node.labels.get(ZONE) == zone},
            f"there is no zone {zone} to drain",
            f"{ZONE} is {known}",
        )
    return tuple(range(len(snapshot.nodes))) if every else tuple(sorted(found))


def _required(found: set[int], message: str, help_text: str | None) -> set[int]:
    if not found:
        raise SourceError(message, help=help_text)
    return found


def selected_pods(
    snapshot: Snapshot, selector: str | LabelSelector | None
) -> frozenset[int] | None:
    """The only pods that have to leave; None without a selector."""
    wanted = label_selector("pod_selector", selector)
    if wanted is None:
        return None
    return frozenset(i for i, pod in enumerate(snapshot.pods) if wanted.matches(pod.labels))


def words_of(
    names: Iterable[str], selector: str | None, zone: str | None, every: bool
) -> tuple[str, ...]:
    """The nodes as the command line names them."""
    return (
        *names,
        *(() if selector is None else ("-l", selector)),
        *(() if zone is None else ("--zone", zone)),
        *(("--all",) if every else ()),
    )
