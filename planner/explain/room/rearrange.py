"""The fewest evictions that make room, or the proof that none do.

First counting arguments, then every single eviction, then all sequences of a small problem, then
pods that have to leave a node together, then the exact solver. What is found is replayed by the
verifier before anybody sees it. What is not decided says which limit was hit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.cluster import GONE, Cluster
from planner.cluster.topology import IntArray
from planner.disruption.movability import DEFAULT_POLICY, MovePolicy
from planner.explain.room.counting import certificate
from planner.explain.room.ending import ending_first, leaving, leaving_soon
from planner.explain.room.eviction_bounds import NEVER, evictions_at, evictions_for_one_more
from planner.explain.room.setting import Setting
from planner.explain.room.trials import Trial, candidates, openings
from planner.explain.rules import rules_of
from planner.explain.rules.rule import Rule
from planner.explain.situation.subject import Subject, subject_of
from planner.explain.situation.trial_state import feasible_nodes
from planner.replay.steps import Step
from planner.replay.verify import check_steps
from planner.scheduler.profile import Profile
from planner.words import NAMED, conjoined, count_of
from planner_models.diagnosis import Counting, Verdict

if TYPE_CHECKING:
    from planner.explain.room.by_solver import Answer
    from planner.solver.problem.problem import Problem

SMALL_CELLS, SMALL_PODS = 400, 48
"""Up to this many groups times nodes, and pods to decide about, all sequences are looked at."""
STATES = 60_000
MOST_CELLS = 20_000
"""Up to here the exact solver is asked."""
TRIES = 400
"""Single evictions that are tried in a large cluster."""
IN_TURN = 12
"""So many pods of a large cluster are given room one after the other."""


@dataclass(frozen=True)
class Limits:
    """How far the search goes before it says `undecided`."""

    states: int = STATES
    tries: int = TRIES
    cells: int = MOST_CELLS
    searched_cells: int = SMALL_CELLS
    policy: MovePolicy = DEFAULT_POLICY


@dataclass(frozen=True, eq=False)
class Room:
    """What is known: steps that make room, a proof that nothing does, or the limit that was hit."""

    steps: tuple[Step, ...] | None = None
    fewest: bool = False
    at_least: int = 0
    """No sequence needs fewer evictions."""
    counting: Counting | None = None
    on_paper_only: bool = False
    limit: str = ""
    """Why it is not known whether evictions help."""
    ending: tuple[int, ...] = ()
    """Terminating pods that have to end first."""
    evictions_then: int = 0
    """What it takes when they have ended."""

    @property
    def evictions(self) -> int:
        """How many pods are evicted."""
        return sum(step.action == "evict" for step in self.steps or ())

    @property
    def verdict(self) -> Verdict:
        """Of pods that no node takes as things are."""
        if self.steps is not None or self.ending:
            return "stuck"
        return "impossible" if self.counting is not None else "undecided"


def make_room(subject: Subject, rules: Sequence[Rule], limits: Limits) -> Room:
    """For one pod; other waiting pods stay out of it."""
    return _or_wait(
        subject,
        (subject.pod,),
        lambda: _evicting(subject, rules, limits),
        lambda later: make_room(later, rules_of(later), limits),
    )


def _or_wait(
    subject: Subject,
    pods: Sequence[int],
    evicting: Callable[[], Room],
    again: Callable[[Subject], Room],
) -> Room:
    """Nobody is evicted for pods that only have to wait until others have ended.

    Pods on nodes that don't answer may stay for long: evictions that help come before these. Where
    neither is enough, `again` asks once more about the cluster without the pods that end soon.
    """
    leave_soon = leaving_soon(subject)
    soon = ending_first(subject, pods, leave_soon)
    if soon:
        return Room(ending=soon)
    found = evicting()
    if found.steps is not None:
        return found
    ending = ending_first(subject, pods, leaving(subject))
    if ending or not leave_soon:
        return Room(ending=ending) if ending else found
    cluster = subject.state.snapshot().without(leave_soon)
    later = again(subject_of(cluster, subject.profile, subject.pod))
    if later.steps is None:
        return later
    return Room(ending=tuple(leave_soon), evictions_then=later.evictions)


def _evicting(subject: Subject, rules: Sequence[Rule], limits: Limits) -> Room:
    setting = Setting(subject, tuple(rules), limits.policy)
    argument = certificate(setting)
    if argument is not None:
        return Room(counting=argument)
    if not setting.movable.any():
        text = "No eviction helps: no running pod may be moved."
        return Room(counting=Counting(kind="pinned", text=text, numbers={"movable": 0}))
    least = evictions_at(setting)
    bound = max(int(least.min()), evictions_for_one_more(setting))
    bound = bound if bound < NEVER else 1
    if bound == 1:
        single, all_tried = _single(setting, limits)
        if single is not None:
            return Room(steps=single, fewest=True, at_least=1)
        bound = 2 if all_tried else 1
    found = _searched(subject, (subject.pod,), limits)
    if found is not None:
        return found
    opened = _opened(setting, least)
    if opened is not None:
        room = Room(steps=opened, at_least=bound)
        if room.evictions == bound:
            return replace(room, fewest=True)
    else:
        room = Room(at_least=bound)
    return _by_solver(subject, (subject.pod,), limits, room)


def _single(setting: Setting, limits: Limits) -> tuple[tuple[Step, ...] | None, bool]:
    """One eviction, either pod landing first; and whether every one of them was tried."""
    subject = setting.subject
    trial = Trial(subject)
    pods = candidates(setting)
    for pod in pods[: limits.tries]:
        steps = trial.without(pod)
        if steps is not None and _holds(subject.cluster, subject.profile, steps):
            return steps, True
    return None, trial.complete and len(pods) <= limits.tries


def _opened(setting: Setting, least: IntArray) -> tuple[Step, ...] | None:
    """Several evictions for one node that then takes the pod."""
    trial, subject = Trial(setting.subject), setting.subject
    for node, pods in openings(setting, least):
        steps = trial.without_all(pods, node)
        if steps is not None and _holds(subject.cluster, subject.profile, steps):
            return steps
    return None


def _holds(cluster: Cluster, profile: Profile, steps: Sequence[Step]) -> bool:
    """The verifier's word."""
    return check_steps(cluster, steps, profile).good


def room_for(subject: Subject, pods: Sequence[int], limits: Limits) -> Room:
    """Room for all these pods at once: all sequences if they are few, else the solver's word."""
    return _or_wait(
        subject,
        pods,
        lambda: _searched(subject, pods, limits) or _by_solver(subject, pods, limits, Room()),
        lambda later: room_for(later, pods, limits),
    )


def _cells(subject: Subject, pods: Sequence[int], limits: Limits) -> tuple[int, int]:
    """Groups times nodes to decide about, and pods."""
    cluster = subject.cluster
    movable = Setting(subject, (), limits.policy).movable
    groups = set(cluster.group_of[movable].tolist()) | set(cluster.group_of[list(pods)].tolist())
    return len(groups) * len(cluster.nodes), int(movable.sum()) + len(pods)


def _searched(subject: Subject, pods: Sequence[int], limits: Limits) -> Room | None:
    """By all sequences; None if the problem is too large for that."""
    cells, number = _cells(subject, pods, limits)
    if cells > limits.searched_cells or number > SMALL_PODS:
        return None
    return _exhaustive(_problem(subject.cluster, pods, limits), subject.profile, limits)


def _by_solver(subject: Subject, pods: Sequence[int], limits: Limits, known: Room) -> Room:
    """Better than what is known, a proof, or the limit that was hit."""
    cells, _ = _cells(subject, pods, limits)
    if cells > limits.cells and known.steps is not None:
        return known
    from planner.explain.room.by_solver import by_windows, fewest_evictions

    problem = _problem(subject.cluster, pods, limits)
    if cells > limits.cells:
        return _by_windows(subject, by_windows(problem, subject.profile), cells) or (
            _in_turn(subject, pods, limits) if len(pods) > 1 else _beyond(known, cells, limits)
        )
    most = known.evictions - 1 if known.steps is not None else None
    answer = fewest_evictions(problem, subject.profile, known.at_least, most)
    if answer.steps is not None and _holds(subject.cluster, subject.profile, answer.steps):
        fewest = answer.evictions <= answer.at_least
        return Room(steps=answer.steps, fewest=fewest, at_least=answer.at_least)
    if known.steps is not None:
        return replace(known, fewest=answer.none, at_least=answer.at_least)
    if answer.none:
        return _no_room(cells)
    return replace(known, limit=answer.limit)


def _no_room(cells: int) -> Room:
    text = "No rearrangement helps: no final state that a sequence could reach has room."
    return Room(counting=Counting(kind="search", text=text, numbers={"cells": cells}))


def _by_windows(subject: Subject, answer: Answer, cells: int) -> Room | None:
    """What was found, or is proven, where only room decides in a large cluster."""
    if answer.steps is not None and _holds(subject.cluster, subject.profile, answer.steps):
        fewest = answer.evictions <= answer.at_least
        return Room(steps=answer.steps, fewest=fewest, at_least=answer.at_least)
    return _no_room(cells) if answer.none else None


def _beyond(known: Room, cells: int, limits: Limits) -> Room:
    """What was found by trying, in a cluster that is too large for the solver."""
    text = (
        f"{limits.tries} single evictions and sets of pods that would have to leave one node "
        f"together were tried; the {cells} pairs of workload and node are more than the "
        f"{limits.cells} that the solver is asked about (--cells)"
    )
    return replace(known, limit=text)


def _in_turn(subject: Subject, pods: Sequence[int], limits: Limits) -> Room:
    """Room for one pod after the other; nobody is evicted twice, and no new pod at all."""
    cluster, profile = subject.cluster, subject.profile
    steps: list[Step] = []
    if len(pods) > IN_TURN:
        text = f"more than {IN_TURN} pods are not given room one by one in a cluster of this size"
        return Room(limit=text)
    movable = Setting(subject, (), limits.policy).movable.copy()
    movable[list(pods)] = False
    at_least = 0
    for number, pod in enumerate(pods):
        mine = subject_of(cluster, profile, pod)
        nodes = feasible_nodes(mine.scheduler, pod)
        if nodes:
            new: tuple[Step, ...] = (Step.place(pod, nodes[0]),)
        else:
            mine.movable[limits.policy] = movable
            room = make_room(mine, rules_of(mine), limits)
            if room.ending:
                return Room(limit="some of them wait for terminating pods, and not all find room")
            if room.steps is None:
                return Room(limit=room.limit or "the pods before it hold the room of another one")
            new = room.steps
            # Later ones could have needed less, had those before them gone elsewhere.
            at_least = room.at_least if not number else at_least
        steps += new
        movable = movable.copy()
        movable[[step.pod for step in new]] = False
        landed = {step.pod: step.node for step in new if step.action == "place"}
        cluster = cluster.with_placement(landed)
    if not _holds(subject.cluster, profile, steps):
        return Room(limit="the steps for one pod after the other don't follow each other")
    room = Room(steps=tuple(steps), at_least=at_least)
    return replace(room, fewest=room.evictions == at_least)


def _problem(cluster: Cluster, pods: Sequence[int], limits: Limits) -> Problem:
    """Place these pods, moving whom may be moved; other waiting pods are out of it."""
    from planner.solver.problem.options import SolveOptions
    from planner.solver.problem.problem import build_problem

    chosen = frozenset(pods)
    others = [pod for pod in cluster.pending.tolist() if pod not in chosen]
    alone = cluster.with_placement(dict.fromkeys(others, GONE))
    options = SolveOptions(rebalance=True, policy=limits.policy)
    problem = build_problem(alone, options)
    # Evictions are what counts here: steadiness is nobody's aim.
    return replace(problem, options=replace(options, rebalance=False))


def _exhaustive(problem: Problem, profile: Profile, limits: Limits) -> Room | None:
    """By the evictions that they cost; None if the states were too many."""
    from planner.explain.room.by_solver import wanted
    from planner.sequences.exhaustive import search

    found = search(problem, profile, state_limit=limits.states)
    placed = sum(found.value.placed)
    if placed == wanted(problem) and _holds(problem.cluster, profile, found.steps):
        least = found.value.cost if found.complete else 1
        return Room(steps=found.steps, fewest=found.complete, at_least=least)
    if not found.complete:
        return None
    numbers = {"states": found.states, "placed": placed}
    paper = _on_paper(problem)
    if paper:
        counting = Counting(kind="search", text=paper, numbers=dict(numbers))
        return Room(counting=counting, on_paper_only=True)
    text = "No rearrangement helps: all sequences of evictions and placements were searched."
    return Room(counting=Counting(kind="search", text=text, numbers=dict(numbers)))


def _on_paper(problem: Problem) -> str:
    """An arrangement that satisfies every rule, in words, if there is one."""
    from planner.explain.room.by_solver import on_paper

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
