"""`planner drain --rolling`: the rounds that were asked for, or the choices there are, with bounds.

A small cluster is gone through in full: the fewest rounds, and every shape that none beats. In a
large one the rounds of one shape are planned, the first of them in full and the rest counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.cluster import Cluster
from planner.disruption.budgets import Allowance
from planner.disruption.node_lifecycle import with_condition_taints
from planner.drain.choices import Choice, Choices
from planner.drain.empty_nodes import EmptyingNodes, is_possible
from planner.drain.fewest_rounds import AtOnce, Fewest, fewest_rounds, most_at_once
from planner.drain.find import Drain, find_drain
from planner.drain.options import DrainOptions
from planner.drain.rounds import Rolling, Rounds, Shape
from planner.evictions.suggest import settled
from planner.replay.trial_work import BESIDE_NODES, TRIAL_WORK, USUAL_SEEDS
from planner.scheduler.profile import Profile

TABLE_WORK = 500_000
"""Evictions times nodes up to which all shapes are planned: some seconds for each."""
ROUND_EVICTIONS = 3_000
"""A round of a large cluster is no larger than this, unless somebody asks for it."""
FULL_WORK = 4_000_000
"""Evictions times nodes up to which all rounds of one shape are planned."""
WAYS = 4
"""So many ways to go through a round are tried under each seed."""
IN_FULL = 2
"""So many rounds of a large cluster are planned in full."""


@dataclass(frozen=True)
class RollingOptions:
    """The shape of rounds, if one was asked for, and the only round that is to be shown."""

    nodes_at_once: int | None = None
    extra_nodes: int = 0
    round: int | None = None

    @property
    def shape(self) -> Shape | None:
        """What was asked for; extra nodes alone stand for as many at once."""
        size = self.nodes_at_once or self.extra_nodes
        return Shape(size, self.extra_nodes) if size else None


@dataclass(frozen=True, eq=False)
class LaterRounds:
    """Rounds that were not planned: how many, of how many nodes, with what is on them by now."""

    rounds: int
    nodes: int
    evictions: int


@dataclass(frozen=True, eq=False)
class RollingDrain:
    """What was found; `blocked` is the drain of nodes that can't be emptied in any round."""

    given: Cluster
    profile: Profile
    options: DrainOptions
    rolling: Rolling
    at_once: AtOnce
    evictions: int
    """Pods on the nodes: each of them is evicted once, at least."""
    tightest: tuple[Allowance, int] | None
    """The budget that asks for most waves, and how many of its pods are on the nodes."""
    fewest: Fewest | None = None
    choices: tuple[Choice, ...] = ()
    later: LaterRounds | None = None
    blocked: Drain | None = None
    too_many: bool = False
    """Whether more nodes at once were asked for than can be empty together."""

    @property
    def rounds_at_least(self) -> int | None:
        """No fewer rounds do, without extra nodes."""
        most, number = self.at_once.most, len(self.options.nodes)
        if self.fewest is not None and self.fewest.proven:
            return len(self.fewest.rolling.rounds)
        return None if not most else -(-number // most)


def find_rolling(
    cluster: Cluster, options: DrainOptions, asked: RollingOptions, profile: Profile
) -> RollingDrain:
    """Rounds for all of the nodes."""
    start = settled(with_condition_taints(cluster), profile)
    return _Finding(start, options, asked, profile).run()


class _Finding:
    """One answer in the making."""

    def __init__(
        self, start: Cluster, options: DrainOptions, asked: RollingOptions, profile: Profile
    ) -> None:
        self._start = start
        self._options = options
        self._asked = asked
        self._profile = profile
        self._emptying = EmptyingNodes(start, profile, options)
        self._leaving = self._emptying.leaving(options.nodes)
        self._at_once = most_at_once(self._emptying, options.nodes)
        self._work = self._leaving.number * (len(start.nodes) + BESIDE_NODES)

    def run(self) -> RollingDrain:
        nodes, stuck = self._options.nodes, self._emptying.stuck
        never = tuple(node for node in nodes if node in stuck)
        if never:
            nothing = Rolling(Shape(1), self._start, (), nodes)
            return replace(self._found(nothing), blocked=self._alone(never))
        if self._asked.shape is None and self._work <= TABLE_WORK:
            return self._checked(self._all_shapes())
        return self._checked(self._one_shape(self._asked.shape or self._usual_shape()))

    def _all_shapes(self) -> RollingDrain:
        nodes = self._options.nodes
        fewest = fewest_rounds(self._emptying, nodes, self._at_once)
        found = replace(self._found(fewest.rolling), fewest=fewest)
        if not fewest.rolling.possible:
            return found
        choices = Choices(self._start, nodes, self._profile, self._options)
        return replace(found, choices=choices.unbeaten(fewest))

    def _one_shape(self, shape: Shape) -> RollingDrain:
        nodes = len(self._options.nodes)
        full = -(-nodes // shape.nodes_at_once)
        if self._asked.round is not None:
            full = min(full, self._asked.round)
        elif self._work > FULL_WORK:
            full = min(full, IN_FULL)
        options = self._options
        if options.seeds is None:
            work = self._work * min(full * shape.nodes_at_once, nodes) // nodes
            seeds = min(USUAL_SEEDS, TRIAL_WORK // (WAYS * max(1, work)))
            options = replace(options, seeds=max(1, seeds))
        steady = self._work <= FULL_WORK
        if (
            steady
            and not shape.extra_nodes
            and min(shape.nodes_at_once, nodes) > self._at_once.most
        ):
            nothing = Rolling(shape, self._start, (), options.nodes)
            return replace(self._found(nothing), too_many=True)
        rounds = Rounds(self._start, options.nodes, self._profile, options, steady=steady)
        rolling = rounds.plan(shape, full)
        return replace(self._found(rolling), later=self._later(rolling))

    def _usual_shape(self) -> Shape:
        nodes, pods = len(self._options.nodes), max(1, self._leaving.number)
        return Shape(max(1, min(self._at_once.most, nodes, ROUND_EVICTIONS * nodes // pods)))

    def _later(self, rolling: Rolling) -> LaterRounds | None:
        """What is left to do, counted where the last planned round has left the pods."""
        done = {node for each in rolling.rounds for node in each.aim.drained}
        names = (self._start.nodes[node].name for node in self._options.nodes)
        index = rolling.start.node_index
        left = [index[name] for name in names if index[name] not in done]
        if not left or not rolling.possible:
            return None
        after = EmptyingNodes(rolling.end, self._profile, self._options)
        number = -(-len(left) // rolling.shape.nodes_at_once)
        return LaterRounds(number, len(left), after.leaving(left).number)

    def _checked(self, found: RollingDrain) -> RollingDrain:
        """Where rounds fail, the first node that can't be emptied even alone says why."""
        for node in () if found.too_many else found.rolling.left:
            alone = self._alone((node,))
            if not is_possible(alone):
                return replace(found, blocked=alone)
        return found

    def _alone(self, nodes: Sequence[int]) -> Drain:
        options = replace(self._options, nodes=tuple(nodes))
        return find_drain(self._start, options, self._profile)

    def _found(self, rolling: Rolling) -> RollingDrain:
        budgets = self._emptying.budgets
        counts = Counter(n for pod in self._leaving.going for n in budgets.of_pod(pod))
        waves = {
            number: -(-pods // max(1, budgets.each[number].left))
            for number, pods in counts.items()
            if budgets.each[number].budget
        }
        tightest = max(waves, key=lambda number: (waves[number], -number), default=None)
        return RollingDrain(
            given=self._start,
            profile=self._profile,
            options=self._options,
            rolling=rolling,
            at_once=self._at_once,
            evictions=self._leaving.number,
            tightest=None if tightest is None else (budgets.each[tightest], counts[tightest]),
        )
