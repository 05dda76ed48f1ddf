"""Other rules: the changes that `explain` proposes for the pods that have no place.

One change for all workloads that are stuck, where the same change helps each of them. It is judged
with the pods where they are; the rollout that brings it may place them anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps.carried_out import carried_out, outcome
from planner.explain.repairs import Case, spec_changes
from planner.explain.repairs.proposal import Proposal
from planner.explain.rules import rules_of
from planner.explain.situation.rolled_out import rolled_out
from planner.words import count_of
from planner_models.diagnosis import Repair

MOST = 4
"""So many changes are carried out, the cheapest first."""
Key = tuple[str, str]
"""Kind and text: the same change of several workloads."""


def propose(drain: Drain, obstacles: Sequence[Obstacle]) -> Iterator[Repair]:
    """If nothing but rules stands in the way."""
    subjects = [each.subject for each in obstacles if each.subject is not None]
    if not subjects or len(subjects) < len(obstacles):
        return
    cases = [Case(subject, rules_of(subject)) for subject in subjects]
    proposed = [_by_key(case) for case in cases]
    common = [key for key in proposed[0] if all(key in each for each in proposed)]
    common.sort(key=lambda key: sum(each[key].cost for each in proposed))
    for key in common[:MOST]:
        changes = [each[key] for each in proposed]
        edits = {s.workload: c.overlay.edits for s, c in zip(subjects, changes, strict=True)}
        found = carried_out(drain, rolled_out(drain.given, edits))
        if found is not None:
            yield _repair(cases, changes, found)


def _by_key(case: Case) -> Mapping[Key, Proposal]:
    found: dict[Key, Proposal] = {}
    for proposal in spec_changes(case):
        found.setdefault((proposal.kind, proposal.text), proposal)
    return found


def _repair(cases: Sequence[Case], changes: Sequence[Proposal], found: Drain) -> Repair:
    first = changes[0]
    restarts = sum(change.restarts for change in changes)
    commands = [change.command_for(case) for case, change in zip(cases, changes, strict=True)]
    return Repair(
        kind=first.kind,
        object=", ".join(dict.fromkeys(change.object for change in changes)),
        field=first.field,
        cost=max(change.cost for change in changes),
        restarts=restarts,
        judged_for="rollout",
        text=first.text,
        then=outcome(found),
        notes=(f"rolls out {count_of(restarts, 'pod')} first",),
        command=None if None in commands else " && ".join(each for each in commands if each),
    )
