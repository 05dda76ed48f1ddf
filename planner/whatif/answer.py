"""Everything that is worth saying about a change or a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from planner.replay.trial_work import affordable
from planner.scenario import outcome, returned
from planner.whatif.comes_back import ComesBack, comes_back
from planner.whatif.course import (
    Course,
    Loss,
    MannerName,
    Options,
    changing,
    failing,
    fails,
    missing,
)
from planner.whatif.deletion import Deletion, deletions
from planner.whatif.helps import Helps, helps_before, missing_after_deleting
from planner.whatif.prepare import Prepared
from planner.whatif.why import Why

Verdict = Literal["same", "worse", "undecided"]


@dataclass(frozen=True, eq=False)
class Answer:
    """What happens, manner by manner, and what can be done about it."""

    prepared: Prepared
    options: Options
    loss: Loss | None
    courses: tuple[Course, ...]
    why: Mapping[MannerName, Why] = field(default_factory=dict)
    helps: Helps = field(default_factory=Helps)
    worst: Course | None = None
    """The manner that the helping changes were judged in."""
    deleted: int | None = None
    """Pods that do not run when unreachable nodes were deleted, too."""
    back: ComesBack | None = None
    """What is more uneven than before when lost nodes are back, empty."""
    deletions: tuple[Deletion, ...] = ()
    """Which pods go where workloads are scaled down."""
    without: Mapping[MannerName, int] = field(default_factory=dict)
    """By manner: pods that would not run without the changes."""

    @property
    def verdict(self) -> Verdict:
        """Undecided if it is worse in some draws of ties only; chance must not break spread."""
        if any(each.worse == len(each.outcomes) for each in self.courses):
            return "worse"
        if any(each.steady < each.choices for each in self.deletions):
            return "worse"
        return "undecided" if any(each.worse for each in self.courses) else "same"


def what_if(prepared: Prepared, loss: Loss | None, options: Options) -> Answer:
    """What happens to the prepared cluster if these nodes fail; without any, what changes do."""
    courses = []
    if prepared.changed.facts or loss is None:
        courses.append(changing(prepared, options))
    if loss is not None:
        courses += [failing(prepared, loss, manner, options) for manner in options.manners]
    why = {each.manner: Why(each, prepared.profile) for each in courses}
    gone = deletions(prepared, options.topology_key)
    found = Answer(prepared, options, loss, tuple(courses), why, deletions=gone)
    return found if loss is None else _about_loss(found, loss)


def _about_loss(found: Answer, loss: Loss) -> Answer:
    prepared = found.prepared
    failures = [each for each in found.courses if each.manner != "only"]
    worst = max(failures, key=lambda each: each.missing[1])
    unreachable = next((each for each in failures if each.manner == "unreachable"), None)
    deleted = None
    if unreachable is not None and unreachable.missing[1] and _affordable(unreachable):
        deleted = missing_after_deleting(prepared, loss, unreachable)
    return Answer(
        prepared,
        found.options,
        loss,
        found.courses,
        found.why,
        helps=helps_before(prepared, loss, worst, found.why[worst.manner]),
        worst=worst,
        deleted=deleted,
        deletions=found.deletions,
        back=comes_back(prepared.cluster(), returned(failures[-1].settled), prepared.profile),
        without=_without(found, loss),
    )


def _affordable(course: Course) -> bool:
    """Whether there is time for one more run of the same size."""
    changed = course.settled.changed
    return affordable(len(changed.lost), len(changed.cluster.nodes)) > 0


def _without(found: Answer, loss: Loss) -> Mapping[MannerName, int]:
    """The same failure on the cluster without manifests that were applied."""
    prepared = found.prepared
    if not any(fact.kind == "apply" for fact in prepared.changed.facts):
        return {}
    plain, names = prepared.over(prepared.given), prepared.cluster().nodes
    index = prepared.given.node_index
    if any(names[node].name not in index for node in loss.nodes):
        return {}
    same = Loss(loss.name, loss.kind, tuple(index[names[node].name] for node in loss.nodes))
    numbers: dict[MannerName, int] = {}
    for manner in found.options.manners:
        settled = fails(plain, plain.cluster(), same, manner, 0)
        numbers[manner] = missing(outcome(settled, prepared.profile))
    return numbers
