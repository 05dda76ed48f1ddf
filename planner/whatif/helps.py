"""What helps before a failure: the changes that `explain` proposes, for all replicas of a workload.

A change is judged by letting the same nodes fail once more, with pods where they are now; the
rollout that brings the change may place them anew. The same change of several workloads is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.cluster import PENDING
from planner.cluster.owners import WorkloadRef
from planner.explain.repairs import Case, spec_changes
from planner.explain.repairs.proposal import Proposal
from planner.explain.situation.rolled_out import rolled_out
from planner.replay.trial_work import affordable
from planner.scenario import LoseNodes, Manner, apply_changes, outcome, settle
from planner.whatif.course import Course, Loss, fails, missing, running
from planner.whatif.prepare import Prepared
from planner.whatif.why import Why

MOST_TRIED = 8
"""So many changes are made on a copy, those for the most pods first."""
MOST_SHOWN = 3
OF_NO_USE = frozenset(("addToleration", "addNodeAffinity", "nodeAffinityPolicy"))
"""A pod that tolerates a silent node is put there; and nobody knows before which nodes to avoid."""
Key = tuple[str, str]
"""Kind and text: the same change of several workloads."""


@dataclass(frozen=True, eq=False)
class Help:
    """One change of several workloads, and how many pods more run with it."""

    changes: Mapping[WorkloadRef, tuple[Case, Proposal]]
    runs: int


@dataclass(frozen=True)
class Helps:
    """The best changes, and how many others were not tried."""

    found: tuple[Help, ...] = ()
    not_tried: int = 0
    too_large: bool = False
    """Whether there was time for none."""


def helps_before(prepared: Prepared, loss: Loss, course: Course, why: Why) -> Helps:
    """Changes after which most pods run when the nodes fail; the cheapest first."""
    manner = _manner(course)
    if manner is None or not why.cases:
        return Helps()
    most = affordable(len(course.settled.changed.lost), len(prepared.given.nodes))
    if not most:
        return Helps(too_large=True)
    proposed = _proposed(why)
    tried = proposed[: min(MOST_TRIED, most)]
    before = running(course.outcome)
    found = []
    for changes in tried:
        edits = {ref: change.overlay.edits for ref, (_, change) in changes.items()}
        changed = rolled_out(prepared.cluster(), edits)
        again = outcome(fails(prepared, changed, loss, manner, 0), prepared.profile)
        found.append(Help(changes, running(again) - before))
    best = max((each.runs for each in found), default=0)
    chosen = sorted((each for each in found if each.runs == best > 0), key=_cost)
    return Helps(tuple(chosen[:MOST_SHOWN]), len(proposed) - len(tried))


def _manner(course: Course) -> Manner | None:
    return None if course.manner == "only" else course.manner


def _cost(each: Help) -> tuple[object, ...]:
    proposals = [proposal for _, proposal in each.changes.values()]
    return max(p.cost for p in proposals), len(proposals), proposals[0].text


def _proposed(why: Why) -> list[Mapping[WorkloadRef, tuple[Case, Proposal]]]:
    """Equal changes together, those for the most waiting pods first."""
    found: dict[Key, dict[WorkloadRef, tuple[Case, Proposal]]] = {}
    for ref, case in why.cases.items():
        for proposal in spec_changes(case):
            if proposal.kind not in OF_NO_USE:
                key = (proposal.kind, proposal.text.replace(ref.name, ""))
                found.setdefault(key, {}).setdefault(ref, (case, proposal))
    _join_kinds(found)
    waiting = {ref: len(pods) for ref, pods in why.course.waiting_pods().items()}

    def rank(key: Key) -> tuple[object, ...]:
        changes = found[key]
        return -sum(waiting[ref] for ref in changes), max(p.cost for _, p in changes.values()), key

    return [found[key] for key in sorted(found, key=rank)]


def _join_kinds(found: dict[Key, dict[WorkloadRef, tuple[Case, Proposal]]]) -> None:
    """Where workloads need the same kind of change in different places: for each of them its own.

    Of several changes of a workload the one of the most places counts.
    """
    for kind in {kind for kind, _ in found}:
        same = [changes for key, changes in found.items() if key[0] == kind]
        joined: dict[WorkloadRef, tuple[Case, Proposal]] = {}
        for changes in sorted(same, key=_places):
            joined |= changes
        if joined not in same:
            found[kind, ""] = joined


def _places(changes: Mapping[WorkloadRef, tuple[Case, Proposal]]) -> tuple[int, str]:
    _, first = next(iter(changes.values()))
    return len(first.overlay.edits), first.text


def missing_after_deleting(prepared: Prepared, loss: Loss, course: Course) -> int:
    """Pods that do not run when somebody has deleted the silent nodes.

    What was terminating on them is gone with them, so pods that waited for that are made now.
    """
    settled = course.settled
    held = [each.pod for each in settled.changed.lost if each.fate == "held"]
    silent = settled.cluster.with_placement(dict.fromkeys(held, PENDING))
    removed = apply_changes(silent, [LoseNodes(loss.nodes, "removed")])
    again = settle(removed, prepared.profile, preempt=prepared.preempt)
    then = running(outcome(again, prepared.profile))
    return missing(course.outcome) - (then - running(course.outcome))
