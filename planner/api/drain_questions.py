"""Rounds (`rolling`) and the choice of nodes (`most`): what `Cluster.drain` takes beside nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from planner.api.arguments import one_of, require_at_least
from planner.api.selectors import label_selector
from planner.errors import UsageError
from planner_models.drain import DrainPlan, Survive
from planner_models.node import CONTROL_PLANE
from planner_models.selectors import LabelSelector

if TYPE_CHECKING:
    from planner.cluster import Cluster as Snapshot
    from planner.drain.most import MostOptions
    from planner.drain.options import DrainOptions
    from planner.drain.rolling import RollingOptions
    from planner.scheduler.profile import Profile
    from planner.solver.progress import Progress

SURVIVE: tuple[Survive, ...] = ("zone", "node", "none")


@dataclass(frozen=True)
class Asked:
    """The question: one drain, rounds, or which nodes."""

    rolling: bool = False
    nodes_at_once: int | None = None
    extra_nodes: int = 0
    round: int | None = None
    most: bool = False
    keep: str | LabelSelector | None = None
    survive: str = "none"
    price: str | float | os.PathLike[str] | None = None
    helps: bool | None = None

    def check(self) -> None:
        """What does not belong together is refused."""
        if self.rolling and self.most:
            raise UsageError("`rolling` takes all of the nodes, `most` chooses some: not both")
        rounds = {"nodes_at_once": self.nodes_at_once, "round": self.round}
        rounds["extra_nodes"] = self.extra_nodes or None
        _belong("rolling", self.rolling, rounds)
        survive = None if self.survive == "none" else self.survive
        _belong("most", self.most, {"keep": self.keep, "survive": survive, "price": self.price})
        require_at_least("nodes_at_once", self.nodes_at_once, 1)
        require_at_least("extra_nodes", self.extra_nodes, 0)
        require_at_least("round", self.round, 1)
        one_of("survive", self.survive, SURVIVE)


def _belong(name: str, asked: bool, others: Mapping[str, object]) -> None:
    given = [other for other, value in others.items() if value is not None]
    if given and not asked:
        raise UsageError(f"`{given[0]}` goes with `{name}`")


def answered(
    snapshot: Snapshot,
    options: DrainOptions,
    asked: Asked,
    profile: Profile,
    pod_selector: str | None,
    progress: Callable[[Progress], None] | None,
) -> tuple[DrainPlan, Snapshot]:
    """The document, and the cluster that its names are from: extra nodes are in it, too."""
    if asked.rolling:
        from planner.documents.drain_rounds import rolling_plan
        from planner.drain.rolling import find_rolling

        rounds = _rolling(asked)
        rolling = find_rolling(snapshot, options, rounds, profile)
        return rolling_plan(rolling, rounds, pod_selector), rolling.rolling.start
    if asked.most:
        from planner.documents.drain_most import most_plan
        from planner.drain.most import find_most

        most = find_most(snapshot, options, _most(snapshot, options, asked), profile)
        keep = None if asked.keep is None else str(asked.keep)
        return most_plan(most, keep, pod_selector), snapshot
    from planner.documents.drain_plan import drain_plan
    from planner.drain.find import find_drain

    found = find_drain(snapshot, options, profile, progress)
    return drain_plan(found, pod_selector, helps=asked.helps), snapshot


def _rolling(asked: Asked) -> RollingOptions:
    from planner.drain.rolling import RollingOptions

    return RollingOptions(asked.nodes_at_once, asked.extra_nodes, asked.round)


def _most(snapshot: Snapshot, options: DrainOptions, asked: Asked) -> MostOptions:
    from planner.drain.most import MostOptions

    keep = label_selector("keep", asked.keep)
    nodes = snapshot.nodes
    candidates = tuple(i for i in options.nodes if CONTROL_PLANE not in nodes[i].labels)
    if keep is not None:
        kept = [i for i, node in enumerate(snapshot.nodes) if keep.matches(node.labels)]
        if not kept:
            raise UsageError(f"no node has labels that `keep={asked.keep}` selects")
        candidates = tuple(node for node in candidates if node not in set(kept))
    survive = next(each for each in SURVIVE if each == asked.survive)
    counted = MostOptions(candidates, dict.fromkeys(range(len(snapshot.nodes)), 1), survive)
    if asked.price is None:
        return counted
    prices = _prices(snapshot, asked.price)
    unit = min((Decimal(1).scaleb(int(p.as_tuple().exponent)) for p in prices), default=Decimal(1))
    whole = {node: int(price / unit) for node, price in enumerate(prices)}
    return replace(counted, prices=whole, unit=unit)


def _prices(snapshot: Snapshot, price: str | float | os.PathLike[str]) -> list[Decimal]:
    from planner.sources.prices import price_of, prices_of, read_prices

    number = price_of(price)
    if number is not None:
        return [number] * len(snapshot.nodes)
    if isinstance(price, float | int):
        raise UsageError(f"`price` is {price:g}; it must be above 0")
    file = os.fspath(price)
    return prices_of(snapshot.nodes, read_prices(file), file)
