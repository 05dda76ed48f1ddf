"""The shapes of a rolling drain that none beats: few rounds, few extra nodes, few evictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from planner.cluster import Cluster
from planner.cluster.spread import counted_key
from planner.drain.fewest_rounds import Fewest
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.drain.rounds import Rolling, Rounds, Shape
from planner.scheduler.profile import Profile
from planner_models.drain import DrainStatus


@dataclass(frozen=True, eq=False)
class Choice:
    """One shape that was planned; `key` is set where all nodes of a domain go at once."""

    rolling: Rolling
    per_domain: int | None = None
    key: str | None = None
    status: DrainStatus = "possible"


class Choices:
    """The shapes for one cluster and its nodes, from the fewest rounds on."""

    def __init__(
        self, cluster: Cluster, nodes: Sequence[int], profile: Profile, options: DrainOptions
    ) -> None:
        self._rounds = Rounds(cluster, nodes, profile, options)
        self._cluster = cluster
        self._profile = profile
        self._options = options
        self._nodes = nodes
        self.key = counted_key(cluster)
        domain_of = None if self.key is None else cluster.topology(self.key).domain_of
        self._domains: dict[int, list[int]] = {}
        for node in nodes:
            domain = -1 if domain_of is None else int(domain_of[node])
            self._domains.setdefault(domain, []).append(node)

    def unbeaten(self, fewest: Fewest) -> tuple[Choice, ...]:
        """Possible shapes, fewest extra nodes first; then a whole domain at once, if it has any."""
        plans = [fewest.rolling]
        shapes = list(self._shapes(fewest))
        names = [f"{shape.nodes_at_once} nodes at once" for shape in shapes]
        plans += self._options.workers.in_order(planned, self._rounds, shapes, names)
        kept = _none_beats([plan for plan in plans if plan.possible])
        choices = [Choice(plan, self._per_domain(plan.shape.nodes_at_once)) for plan in kept]
        return (*choices, *self._domain_at_once())

    def _shapes(self, fewest: Fewest) -> Iterator[Shape]:
        sizes = list(self._sizes(fewest.rolling.shape.nodes_at_once))
        yield from (Shape(size) for size in sizes[1:])
        yield from (Shape(size, size) for size in reversed(sizes))
        if len(self._nodes) not in sizes:
            yield Shape(len(self._nodes), len(self._nodes))

    def _sizes(self, largest: int) -> Iterator[int]:
        """From the largest down by halves, in whole shares of each domain."""
        size, domains = largest, len(self._domains)
        while size:
            yield size
            size //= 2
            size -= size % domains if size >= domains else size - min(size, 1)

    def _per_domain(self, size: int) -> int | None:
        """How many nodes of each domain a round takes, if that is the same for all."""
        sizes = {len(nodes) for nodes in self._domains.values()}
        even = len(self._domains) > 1 and len(sizes) == 1 and size % len(self._domains) == 0
        return size // len(self._domains) if even else None

    def _domain_at_once(self) -> Iterator[Choice]:
        """A first domain that can't be emptied is proven so; about later ones nothing is known."""
        if len(self._domains) < 2:
            return
        sets = [nodes for _, nodes in sorted(self._domains.items())]
        options = replace(self._options, nodes=tuple(sets[0]))
        status = find_drain(self._cluster, options, self._profile).status
        plan = Rolling(Shape(max(map(len, sets))), self._cluster, (), tuple(self._nodes))
        if status == "possible":
            plan = self._rounds.plan_sets(sets)
            status = "possible" if plan.possible else "undecided"
        yield Choice(plan, key=self.key, status=status)


def planned(rounds: Rounds, shape: Shape) -> Rolling:
    """What a worker does: the rounds of one shape."""
    return rounds.plan(shape)


def _none_beats(plans: Iterable[Rolling]) -> list[Rolling]:
    """Plans that no other one is as good as in everything and better in something."""
    found: dict[tuple[int, int, int], Rolling] = {}
    for plan in plans:
        found.setdefault(_costs(plan), plan)
    costs = np.array(list(found), np.int64).reshape(-1, 3)
    kept = [
        plan
        for cost, plan in found.items()
        if not ((costs <= cost).all(axis=1) & (costs < cost).any(axis=1)).any()
    ]
    return sorted(kept, key=lambda plan: (plan.shape.extra_nodes > 0, _order(plan)))


def _costs(plan: Rolling) -> tuple[int, int, int]:
    return len(plan.rounds), plan.shape.extra_nodes, plan.evictions


def _order(plan: Rolling) -> tuple[int, int]:
    """Without extra nodes by rounds; with them, the fewest first."""
    return plan.shape.extra_nodes, len(plan.rounds)
