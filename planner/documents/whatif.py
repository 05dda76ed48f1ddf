"""`WhatIf`: what happens, manner by manner, as a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.cluster.spread import counted_key
from planner.documents.workload_changes import PINNED
from planner.replay.trial_work import USUAL_SEEDS
from planner.scenario import Outcome, Requested, WorkloadOutcome, timeline
from planner.scenario.lost_pods import LostPod
from planner.whatif import Answer, Course, Loss, Options, Prepared
from planner.whatif.deletion import Deletion
from planner.whatif.helps import Help
from planner.whatif.singles import Single, every_single, pairs_of
from planner.whatif.why import Held, Why
from planner.words import conjoined, count_of
from planner_models.node import ZONE
from planner_models.notice import Notice
from planner_models.whatif import (
    HitHardest,
    WhatIf,
    WhatIfChange,
    WhatIfComesBack,
    WhatIfDeletion,
    WhatIfHeld,
    WhatIfHelp,
    WhatIfLeft,
    WhatIfLoss,
    WhatIfManner,
    WhatIfMoment,
    WhatIfRequested,
    WhatIfSeeds,
    WhatIfSingle,
    WhatIfWorkload,
)

DEPENDENCIES = (
    "dependencies between workloads are not known: what needs a pod that waits or is down "
    "meanwhile may fail as well"
)


def what_if_document(found: Answer, applied: Sequence[str] = ()) -> WhatIf:
    """The document of one question."""
    first = found.courses[-1].outcome
    base = whatif_base(found.prepared, applied)
    return base.model_copy(
        update={
            "answer": found.verdict,
            "loss": None if found.loss is None else loss_document(found.prepared, found.loss),
            "topology_key": first.topology_key,
            "domains": first.domains,
            "manners": tuple(_manner(found, each) for each in found.courses),
            "helps": tuple(_helps(found)),
            "helps_not_tried": found.helps.not_tried,
            "helps_too_large": found.helps.too_large,
            "comes_back": _comes_back(found),
            "deletions": tuple(_deletion(found.prepared.given, each) for each in found.deletions),
            "notices": (*base.notices, *_notices(found)),
        }
    )


def whatif_base(prepared: Prepared, applied: Sequence[str]) -> WhatIf:
    """What is known before anything fails."""
    given = prepared.given
    running = (given.node_of >= 0) & ~given.terminating
    now = requested_now(prepared)
    return WhatIf(
        answer="same",
        nodes=len(given.nodes),
        pods=int(running.sum()),
        requested=requested(now),
        changes=tuple(
            WhatIfChange(kind=fact.kind, objects=fact.objects, text=fact.text)
            for fact in prepared.changed.facts
        ),
        applied=tuple(applied),
        topology_key=shown_key(given),
        notices=given.notices,
    )


def shown_key(cluster: Cluster) -> str:
    """The key whose domains tables show."""
    return counted_key(cluster) or ZONE


def requested_now(prepared: Prepared) -> Requested:
    """CPU that is requested before anything fails."""
    from planner.scenario.outcome import requested_cpu

    return requested_cpu(prepared.cluster(), frozenset())


def requested(found: Requested) -> WhatIfRequested:
    """The same as a document."""
    return WhatIfRequested(used=found.used, allocatable=found.allocatable)


def loss_document(prepared: Prepared, loss: Loss) -> WhatIfLoss:
    """Lost nodes by name."""
    cluster = prepared.cluster()
    topology = cluster.topology(shown_key(prepared.given))
    gone = frozenset(loss.nodes)
    return WhatIfLoss(
        name=loss.name,
        kind=loss.kind,
        nodes=tuple(cluster.nodes[node].name for node in loss.nodes),
        domains=tuple(
            name
            for index, name in enumerate(topology.domains)
            if gone.issuperset(topology.nodes_of(index).tolist())
        ),
    )


def _manner(found: Answer, course: Course) -> WhatIfManner:
    outcome, changed = course.outcome, course.settled.changed
    why = found.why[course.manner]
    pods = course.settled.cluster.pods
    zones = changed.zones
    return WhatIfManner(
        manner=course.manner,
        lost=outcome.lost,
        waiting=sum(max(0, each.waiting - each.waited) for each in outcome.workloads),
        unreplaced=sum(each.unreplaced for each in outcome.workloads),
        daemons=outcome.daemons,
        excess_before=outcome.over_the_limit[0],
        excess_after=outcome.over_the_limit[1],
        unmet_budgets=_new(outcome.unmet_budgets),
        requested=requested(outcome.cpu[1]),
        timeline=tuple(
            WhatIfMoment(seconds=each.seconds, event=each.event, zone=each.zone, count=each.count)
            for each in timeline(changed)
        ),
        seconds_between_nodes=max((each.seconds or 0 for each in zones), default=0) or None,
        workloads=tuple(_workloads(outcome, why)),
        held=tuple(_held(why.held)),
        left=tuple(_left(course.settled.cluster, changed.lost)),
        preempted=tuple(pods[pod].key for pod in course.settled.preempted),
        seeds=WhatIfSeeds(
            tried=len(course.outcomes),
            agree=course.agree,
            worse=course.worse,
            least=course.missing[0],
            most=course.missing[1],
        ),
        without_changes=found.without.get(course.manner),
    )


def _new(unmet: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...]:
    before, after = unmet
    return tuple(name for name in after if name not in before)


def name_of(ref: WorkloadRef) -> str:
    """`default/deploy/web`."""
    return f"{ref.namespace}/{ref.short}"


def _workloads(outcome: Outcome, why: Why) -> Iterator[WhatIfWorkload]:
    """Those whose pods belong to no node."""
    for each in outcome.workloads:
        if each.workload.kind not in PINNED:
            yield _workload(each, why)


def _workload(each: WorkloadOutcome, why: Why) -> WhatIfWorkload:
    return WhatIfWorkload(
        workload=name_of(each.workload),
        before=each.before,
        lost=each.lost,
        after=each.after,
        waited=each.waited,
        waiting=each.waiting,
        unreplaced=each.unreplaced,
        missing=each.missing,
        message=each.message,
        reason=why.reasons.get(each.workload, ""),
    )


def _held(every: Iterable[Held]) -> Iterator[WhatIfHeld]:
    """Constraints with the same numbers together."""
    found: dict[tuple[str, int, int, tuple[str, ...]], list[Held]] = defaultdict(list)
    for each in every:
        found[each.topology_key, each.constraint, each.max_skew, each.domains].append(each)
    for (key, constraint, skew, domains), same in found.items():
        yield WhatIfHeld(
            topology_key=key,
            constraint=constraint,
            max_skew=skew,
            domains=domains,
            workloads=tuple(name_of(each.workload) for each in same),
            min_domains=any(each.min_domains is not None for each in same),
        )


def _left(cluster: Cluster, lost: Sequence[LostPod]) -> Iterator[WhatIfLeft]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in lost:
        if each.fate not in ("replaced", "daemon"):
            found[each.fate, each.reason].append(cluster.pods[each.pod].key)
    for (fate, reason), pods in sorted(found.items()):
        yield WhatIfLeft.model_validate({"fate": fate, "reason": reason, "pods": tuple(pods)})


def _helps(found: Answer) -> Iterator[WhatIfHelp]:
    if found.worst is None or found.loss is None:
        return
    for each in found.helps.found:
        yield _help(found.worst, each)
    unreachable = next((each for each in found.courses if each.manner == "unreachable"), None)
    if found.deleted is None or unreachable is None:
        return
    if found.deleted < unreachable.missing[0]:
        names = loss_document(found.prepared, found.loss).nodes
        command = f"kubectl delete node {' '.join(map(quote, names))}"
        yield WhatIfHelp(
            kind="deleteNode",
            object=", ".join(names),
            cost=0,
            text=command,
            command=command,
            when="during",
            manner="unreachable",
            waiting_before=unreachable.missing[0],
            waiting_after=found.deleted,
        )


def _help(worst: Course, each: Help) -> WhatIfHelp:
    proposals = [proposal for _, proposal in each.changes.values()]
    commands = [proposal.command_for(case) for case, proposal in each.changes.values()]
    first = proposals[0]
    restarts = sum(proposal.restarts for proposal in proposals)
    before = worst.missing[0]
    return WhatIfHelp(
        kind=first.kind,
        object=", ".join(proposal.object for proposal in proposals),
        field=first.field,
        cost=max(proposal.cost for proposal in proposals),
        restarts=restarts,
        judged_for="rollout",
        text=_text(each),
        notes=(f"rolls out {count_of(restarts, 'pod')}",) if restarts else (),
        command=None if None in commands else " && ".join(each for each in commands if each),
        manner=worst.manner,
        waiting_before=before,
        waiting_after=max(0, before - each.runs),
    )


def _deletion(cluster: Cluster, each: Deletion) -> WhatIfDeletion:
    pods = len(each.down.candidates)
    return WhatIfDeletion(
        workload=name_of(each.down.workload),
        before=pods,
        after=pods - each.down.count,
        topology_key=each.topology_key,
        domains=each.domains,
        has_rule=each.has_rule,
        steady=each.steady,
        emptied=each.emptied,
        choices=each.choices,
        exact=each.exact,
        equal=each.equal,
        best=each.best,
        annotate=tuple(cluster.pods[pod].key for pod in each.annotate),
        cost=each.cost,
    )


def _text(each: Help) -> str:
    """The change that most workloads need; others with the names of who needs them."""
    alone = len(each.changes) == 1
    needed: dict[str, list[str]] = defaultdict(list)
    for ref, (_, proposal) in each.changes.items():
        text = proposal.text if alone else proposal.text.replace(f"{ref.name}: ", "")
        needed[text].append(ref.name)
    first, *others = sorted(needed, key=lambda text: -len(needed[text]))
    more = [f"{conjoined(needed[text])}: {text}" for text in others]
    return "; ".join((first, *more))


def _comes_back(found: Answer) -> WhatIfComesBack | None:
    if found.back is None:
        return None
    return WhatIfComesBack(
        excess=found.back.excess,
        workloads=found.back.workloads,
        moves=found.back.moves,
        excess_then=found.back.excess_then,
    )


def _notices(found: Answer) -> Iterator[Notice]:
    seeds = min(len(each.outcomes) for each in found.courses)
    if found.options.seeds is None and seeds < USUAL_SEEDS:
        text = f"large question: {seeds} of the usual {USUAL_SEEDS} tie seeds tried"
        yield Notice(code="fewerSeeds", text=f"{text}; --seeds {USUAL_SEEDS} tries all")
    if found.loss is not None:
        yield Notice(code="dependencies", text=DEPENDENCIES)


def each_document(
    prepared: Prepared, losses: Sequence[Loss], options: Options, *, pairs: bool
) -> WhatIf:
    """The document of many failures, each alone or two at once."""
    left_out = 0
    if pairs:
        cluster = prepared.cluster()
        here = cluster.node_of[cluster.node_of >= 0]
        pods = np.bincount(here, minlength=len(cluster.nodes))
        losses, left_out = pairs_of(losses, pods)
    found = every_single(prepared, losses, options)
    base = whatif_base(prepared, ())
    undecided = any(not each.agree and each.worst for each in found.found) or bool(found.not_tried)
    sure = any(each.agree and each.worst for each in found.found)
    answer = "worse" if sure else "undecided" if undecided else "same"
    return base.model_copy(
        update={
            "answer": answer,
            "singles": tuple(map(_single, found.found)),
            "pairs": pairs,
            "not_tried": len(found.not_tried) + left_out,
            "stopped": "interrupted" if found.interrupted else None,
            "notices": (*base.notices, Notice(code="dependencies", text=DEPENDENCIES)),
        }
    )


def _single(each: Single) -> WhatIfSingle:
    hit = each.hardest
    return WhatIfSingle(
        domain=each.loss.name,
        kind=each.loss.kind,
        pods_down=each.down,
        waiting=dict(each.missing),
        hardest=None
        if hit is None
        else HitHardest(workload=name_of(hit.workload), down=hit.down, of=hit.of),
        requested=requested(each.cpu),
        certified=not each.seeds,
        seeds=each.seeds,
        agree=each.agree,
    )
