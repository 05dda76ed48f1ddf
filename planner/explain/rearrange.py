"""The fewest evictions that make room, or the proof that none do.

First counting arguments, then every single eviction, then all sequences of a small problem. What
is found is replayed by the verifier before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from models.diagnosis import Counting
from planner.cluster import GONE, Cluster
from planner.cluster.movability import DEFAULT_POLICY, MovePolicy
from planner.explain.branch import branch, feasible_nodes
from planner.explain.counting import Stage, certificate
from planner.explain.rules.node_resources_fit import CapacityRule
from planner.explain.rules.rule import Rule
from planner.explain.subject import Subject
from planner.explain.words import NAMED, conjoined, count_of
from planner.scheduler.profile import Profile
from planner.verify.replay import check_steps
from planner.verify.steps import Step

if TYPE_CHECKING:
    from planner.solver.problem import Problem

SMALL_CELLS, SMALL_PODS = 400, 48
"""Up to this many groups times nodes, and pods to decide about, all sequences are looked at."""
STATES = 60_000
MOST_CELLS = 20_000
"""Up to here the exact solver is asked."""
TRIES = 400
"""Single evictions that are tried in a large cluster."""
PAIR_NODES, PAIR_PODS = 40, 8
"""How many nodes, and pods of a node, are tried for two evictions."""
MANY = 5000
"""With more movable pods they are taken in the order of the input, not of their names."""
SECOND = 12
"""Nodes per order that are tried for a landing."""


@dataclass(frozen=True)
class Limits:
    """How far the search goes before it says `undecided`."""

    states: int = STATES
    tries: int = TRIES
    policy: MovePolicy = DEFAULT_POLICY


@dataclass(frozen=True, eq=False)
class Room:
    """What is known: steps that make room, a proof that nothing does, or neither."""

    steps: tuple[Step, ...] | None = None
    fewest: bool = False
    counting: Counting | None = None
    on_paper_only: bool = False
    placed: int = 0
    """The most of several pods that any sequence places, where all were searched."""

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return sum(step.action == "evict" for step in self.steps or ())


def make_room(subject: Subject, rules: Sequence[Rule], limits: Limits) -> Room:
    """For one pod; other waiting pods stay out of it."""
    stage = Stage(subject, tuple(rules), limits.policy)
    argument = certificate(stage)
    if argument is not None:
        return Room(counting=argument)
    if not stage.movable.any():
        text = "No eviction helps: no running pod may be moved."
        return Room(counting=Counting(kind="pinned", text=text, numbers={"movable": 0}))
    single = _single(stage, limits)
    if single is not None:
        return Room(steps=single, fewest=True)
    found = room_for(subject, (subject.pod,), limits)
    if found.steps is not None or found.counting is not None:
        return found
    pair = _pair(stage)
    return Room() if pair is None else Room(steps=pair)


def _single(stage: Stage, limits: Limits) -> tuple[Step, ...] | None:
    """One eviction, either pod landing first."""
    subject = stage.subject
    trial = _Trial(subject)
    for pod in _candidates(stage)[: limits.tries]:
        steps = trial.without(pod)
        if steps is not None and _holds(subject.cluster, subject.profile, steps):
            return steps
    return None


def _candidates(stage: Stage) -> list[int]:
    """One movable pod per group and node; first where its room alone would be enough."""
    cluster, state = stage.subject.cluster, stage.subject.state
    pods = np.flatnonzero(stage.movable)
    if len(pods) < MANY:
        pods = np.array(sorted(pods.tolist(), key=lambda i: cluster.pods[i].key), np.int64)
    cells = cluster.group_of[pods] * len(cluster.nodes) + state.node_of[pods]
    first = pods[np.sort(np.unique(cells, return_index=True)[1])]
    refused = np.zeros(len(cluster.nodes), np.int64)
    for rule in stage.rules:
        refused += rule.blocked
    refused[stage.never] += 100
    nodes = state.node_of[first]
    free = cluster.resources.allocatable[nodes] - state.used[nodes]
    wanted = state.requests[stage.subject.group.index]
    frees = free + state.requests[cluster.group_of[first]]
    short = ((wanted > 0) & (wanted > frees)).any(axis=1)
    own = cluster.group_of[first] == stage.subject.group.index
    order = np.lexsort((np.arange(len(first)), own, short, refused[nodes]))
    found: list[int] = first[order].tolist()
    return found


def _pair(stage: Stage) -> tuple[Step, ...] | None:
    """Two evictions from one node that is short of room only; in large clusters, a few nodes."""
    subject = stage.subject
    cluster, state = subject.cluster, subject.state
    rules = [rule for rule in stage.rules if isinstance(rule, CapacityRule)]
    if not rules:
        return None
    others = np.zeros(len(cluster.nodes), np.bool_)
    for rule in stage.rules:
        if rule is not rules[0]:
            others |= rule.blocked
    trial = _Trial(subject)
    for node in np.flatnonzero(rules[0].blocked & ~others & ~stage.never).tolist()[:PAIR_NODES]:
        here = np.flatnonzero(stage.movable & (state.node_of == node)).tolist()
        here.sort(key=lambda pod: -int(state.requests[cluster.group_of[pod]][0]))
        for pods in combinations(here[:PAIR_PODS], 2):
            steps = trial.without_both(pods, node)
            if steps is not None and _holds(cluster, subject.profile, steps):
                return steps
    return None


class _Trial:
    """Single evictions on one branch; each is undone before the next."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._state, self._scheduler = branch(subject)

    def without(self, pod: int) -> tuple[Step, ...] | None:
        """Steps that evict the pod and bind both, or None."""
        origin = int(self._state.node_of[pod])
        self._state.remove(pod)
        steps = self._landings(pod, origin)
        self._state.place(pod, origin)
        return steps

    def without_both(self, pods: tuple[int, int], node: int) -> tuple[Step, ...] | None:
        """Steps that evict both from their node, bind the target there and both elsewhere."""
        state, target = self._state, self._subject.pod
        steps = [Step.evict(pod, node) for pod in pods]
        for pod in pods:
            state.remove(pod)
        landed: list[int] = []
        if node in feasible_nodes(self._scheduler, target):
            for pod in (target, *pods):
                nodes = [node] if pod == target else feasible_nodes(self._scheduler, pod)
                if not nodes:
                    break
                state.place(pod, nodes[0])
                landed.append(pod)
                steps.append(Step.place(pod, nodes[0]))
        for pod in landed:
            state.remove(pod)
        for pod in pods:
            state.place(pod, node)
        return tuple(steps) if len(landed) == 3 else None

    def _landings(self, pod: int, origin: int) -> tuple[Step, ...] | None:
        target, state = self._subject.pod, self._state
        for first, second in ((target, pod), (pod, target)):
            for node in feasible_nodes(self._scheduler, first)[:SECOND]:
                state.place(first, node)
                landing = feasible_nodes(self._scheduler, second)
                state.remove(first)
                if landing:
                    return (
                        Step.evict(pod, origin),
                        Step.place(first, node),
                        Step.place(second, landing[0]),
                    )
        return None


def _holds(cluster: Cluster, profile: Profile, steps: Sequence[Step]) -> bool:
    """The verifier's word."""
    return check_steps(cluster, steps, profile).good


def room_for(subject: Subject, pods: Sequence[int], limits: Limits) -> Room:
    """Room for all these pods at once: all sequences if they are few, else the solver's word."""
    cluster, profile = subject.cluster, subject.profile
    movable = Stage(subject, (), limits.policy).movable
    groups = set(cluster.group_of[movable].tolist()) | set(cluster.group_of[list(pods)].tolist())
    cells, moving = len(groups) * len(cluster.nodes), int(movable.sum())
    if cells > MOST_CELLS:
        return Room()
    problem = _problem(cluster, pods, limits)
    if cells <= SMALL_CELLS and moving + len(pods) <= SMALL_PODS:
        room = _exhaustive(problem, profile, limits)
        if room is not None:
            return room
    from planner.explain.by_solver import fewest_moves

    answer = fewest_moves(problem, profile)
    if answer.steps is not None and _holds(cluster, profile, answer.steps):
        return Room(steps=answer.steps, fewest=answer.fewest)
    if not answer.proven_impossible:
        return Room()
    text = "No rearrangement helps: no final state that a sequence could reach has room."
    return Room(counting=Counting(kind="search", text=text))


def _problem(cluster: Cluster, pods: Sequence[int], limits: Limits) -> Problem:
    """Place these pods, moving whom may be moved; other waiting pods are out of it."""
    from planner.solver.options import SolveOptions
    from planner.solver.problem import build_problem

    chosen = frozenset(pods)
    others = [pod for pod in cluster.pending.tolist() if pod not in chosen]
    alone = cluster.with_placement(dict.fromkeys(others, GONE))
    options = SolveOptions(rebalance=True, policy=limits.policy)
    problem = build_problem(alone, options)
    # Evictions are what counts here: steadiness is nobody's aim.
    return replace(problem, options=replace(options, rebalance=False))


def _exhaustive(problem: Problem, profile: Profile, limits: Limits) -> Room | None:
    """By the evictions that they cost; None if the states were too many."""
    from planner.explain.by_solver import wanted
    from planner.planning.exhaustive import search

    found = search(problem, profile, state_limit=limits.states)
    placed = sum(found.value.placed)
    if placed == wanted(problem) and _holds(problem.cluster, profile, found.steps):
        return Room(steps=found.steps, fewest=found.complete, placed=placed)
    if not found.complete:
        return None
    numbers = {"states": found.states, "placed": placed}
    paper = _on_paper(problem)
    if paper:
        counting = Counting(kind="search", text=paper, numbers=dict(numbers))
        return Room(counting=counting, on_paper_only=True, placed=placed)
    text = "No rearrangement helps: all sequences of evictions and placements were searched."
    return Room(counting=Counting(kind="search", text=text, numbers=dict(numbers)), placed=placed)


def _on_paper(problem: Problem) -> str:
    """An arrangement that satisfies every rule, in words, if there is one."""
    from planner.explain.by_solver import on_paper

    counts = on_paper(problem)
    if counts is None:
        return ""
    cluster, mine = problem.cluster, frozenset(problem.waiting)
    per_node: dict[int, int] = {}
    for (group, node), count in (*counts.items(), *problem.fixed_all.items()):
        if group in mine and count:
            per_node[node] = per_node.get(node, 0) + count
    moves = sum(max(0, m - counts.get(cell, 0)) for cell, m in problem.current.items())
    places = [f"{count} on {cluster.nodes[n].name}" for n, count in sorted(per_node.items())]
    listed = conjoined(places) if len(places) <= NAMED else f"{len(places)} nodes"
    return (
        f"On paper only: {listed} would satisfy every rule ({count_of(moves, 'move')}), but no "
        "sequence of evictions and placements gets there; all of them were searched."
    )


def equally_good(subject: Subject, steps: Sequence[Step], movable: Sequence[int]) -> Iterator[int]:
    """Pods of the same group that could be evicted in the place of the only one."""
    evicted = [step.pod for step in steps if step.action == "evict"]
    if len(evicted) != 1:
        return
    trial = _Trial(subject)
    group = subject.cluster.group_of[evicted[0]]
    for pod in movable:
        if subject.cluster.group_of[pod] == group and trial.without(pod) is not None:
            yield pod


def landing_nodes(subject: Subject, steps: Sequence[Step]) -> dict[int, list[int]]:
    """For each landing of the steps, by its position: every node that takes the pod then."""
    state, scheduler = branch(subject)
    found: dict[int, list[int]] = {}
    for position, step in enumerate(steps):
        if step.action == "evict":
            state.remove(step.pod)
        else:
            found[position] = feasible_nodes(scheduler, step.pod)
            state.place(step.pod, step.node)
    return found
