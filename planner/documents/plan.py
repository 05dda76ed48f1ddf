"""The `Plan` document out of what was decided and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.node_lifecycle import with_condition_taints
from planner.documents.broken_rules import Broken, broken_by, describe, reasons
from planner.documents.greedy_comparison import compare
from planner.documents.left_alone import (
    also_evicted,
    assumed_to_return,
    driven_off,
    left_alone,
    promised_nodes,
    protected_pods,
)
from planner.documents.part_of_pods import part_notice
from planner.documents.waves import wave_documents
from planner.documents.workload_changes import workload_changes
from planner.evictions.asked import among
from planner.explain.one_sentence import ShortExplainer
from planner.replay import total
from planner.scheduler.profile import Profile
from planner.scheduler.promised import with_promised
from planner.sequences.driving_off import plan_without_preemption, with_rebalance
from planner.sequences.outcome import PlanOutcome
from planner.sequences.scheduler_replay import ReplayedSeeds
from planner.sequences.value import PLACED
from planner.solver.problem.options import SolveOptions
from planner.solver.problem.solution import Level
from planner.solver.progress import Report, steady
from planner_models.notice import Notice
from planner_models.plan import (
    Alternative,
    Objective,
    Placement,
    Plan,
    PlanOptions,
    PlanStatistics,
    PlanVerification,
    SchedulerReplay,
    Unplaced,
    WorkloadChange,
)

PENDING_REASON = "it was pending"


def make_plan(
    cluster: Cluster,
    options: SolveOptions,
    profile: Profile,
    progress: Report | None = None,
    asked: frozenset[int] | None = None,
) -> Plan:
    """Decide, check, compare with what else could be done, and write it down.

    `asked` are the pods that the plan is about: rules that only others break are not told.
    """
    report, options = steady(progress), options.waited_for()
    now = with_promised(with_condition_taints(cluster), profile)
    outcome, replayed = plan_without_preemption(now, options, profile, report)
    other = with_rebalance(outcome, report)
    found = _document(outcome, other, replayed, asked)
    promised = tuple(promised_nodes(cluster, now))
    return found.model_copy(update={"notices": (*found.notices, *promised)}) if promised else found


def _alternatives(
    outcome: PlanOutcome, other: PlanOutcome | None, asked: frozenset[int] | None
) -> Iterator[Alternative]:
    """What `--rebalance` would reach, if that is proven to be its best."""
    if other is None or other.decision.status != "optimal":
        return
    moves = tuple(each for each in _placements(other, ()) if each.from_ is not None)
    yield Alternative(
        option="--rebalance",
        placed=len(outcome.changed.unplaced) - len(other.changed.unplaced),
        moved=len({step.pod for step in other.waves.steps if step.evicts}),
        excess=total(among(other.final.remaining, asked)),
        moves=moves,
    )


def _document(
    outcome: PlanOutcome,
    other: PlanOutcome | None,
    replayed: ReplayedSeeds | None,
    asked: frozenset[int] | None,
) -> Plan:
    """The plan as it is shown and written."""
    problem, decision, cluster = outcome.problem, outcome.decision, outcome.before
    short = ShortExplainer(outcome.after, outcome.judged)
    preempt, broken = problem.options.preempt, broken_by(outcome.after, outcome.broken)
    excess = total(among(outcome.violations_before, asked))
    remaining = among(outcome.final.remaining, asked)
    return Plan(
        status=decision.status,
        stopped=decision.stopped,
        options=plan_options(problem.options),
        objectives=tuple(map(_objective, decision.objectives)),
        placements=tuple(_placements(outcome, broken)),
        unplaced=tuple(_waiting(cluster, pod, short) for pod in _queue(outcome)),
        displaced=tuple(_displaced(outcome)),
        left_aside=tuple(_aside(cluster, *each) for each in sorted(problem.left_aside.items())),
        protected=tuple(protected_pods(outcome.after, problem.left_alone, remaining)),
        left_alone=left_alone(cluster, problem.left_alone),
        violations=tuple(describe(outcome.after, each) for each in remaining),
        broken=tuple(each.document for each in broken),
        workloads=tuple(_workloads(outcome, asked)),
        waves=tuple(wave_documents(cluster, outcome.waves, outcome.allowances)),
        evictions=outcome.steps.evictions,
        hops=sum(step.temporary for step in outcome.waves.steps),
        evictions_per_placed_pod=_each(outcome),
        on_paper_only=decision.on_paper_only,
        excess_before=excess,
        excess_after=total(remaining),
        greedy=compare(cluster, outcome.waiting, outcome.profile, excess, preempt=preempt),
        verification=_verification(outcome, replayed),
        alternatives=tuple(_alternatives(outcome, other, asked)),
        statistics=PlanStatistics(
            nodes=len(cluster.nodes),
            pods=len(cluster.pods),
            groups=len(cluster.groups),
            variables=decision.variables,
            cuts=decision.cuts,
        ),
        notices=tuple(_notices(outcome, replayed, asked)),
    )


def _workloads(outcome: PlanOutcome, asked: frozenset[int] | None) -> Iterator[WorkloadChange]:
    """Those that were asked about."""
    cluster = outcome.before
    changes = workload_changes(cluster, outcome.after, outcome.changed, outcome.allowances)
    groups = range(len(cluster.groups))
    if asked is not None:
        groups = np.unique(cluster.group_of[sorted(asked)]).tolist()
    shown = {(ref.namespace, ref.short) for ref in (cluster.workloads[group] for group in groups)}
    return (each for each in changes if (each.namespace, each.workload) in shown)


def _objective(level: Level) -> Objective:
    return Objective(
        name=level.name,
        value=level.value,
        bound=level.bound,
        direction="max" if level.kind == PLACED else "min",
    )


def plan_options(options: SolveOptions) -> PlanOptions:
    """What was asked for, as far as it shapes the plan."""
    return PlanOptions(
        rebalance=options.rebalance,
        relax=options.relax,
        preempt=options.preempt,
        prefer=options.prefer,
        max_moves=options.max_moves,
        move_cost=options.move_cost,
        time_limit=options.time_limit,
        seed=options.seed,
        workers=options.workers,
        allowed=also_evicted(options.policy),
    )


def _placements(outcome: PlanOutcome, broken: Iterable[Broken]) -> Iterator[Placement]:
    """In the order of the steps; a pod that ends where it was is no placement."""
    before, after = outcome.before, outcome.after
    because = reasons(outcome.violations_before)
    breaks: dict[int, list[str]] = {}
    for rule in broken:
        for pod in rule.pods:
            breaks.setdefault(pod, []).append(rule.name)
    landed = [step for step in outcome.waves.steps if step.lands]
    names = [node.name for node in before.nodes]
    pods = [step.pod for step in landed if not step.temporary]
    ways = zip(pods, before.node_of[pods].tolist(), after.node_of[pods].tolist(), strict=True)
    for pod, source, node in ways:
        if source == node:
            continue
        origin = names[source] if source >= 0 else None
        reason = PENDING_REASON if origin is None else because.get(pod)
        yield Placement(
            pod=before.pods[pod].key,
            workload=before.workloads[before.group_of[pod]].short,
            node=names[node],
            from_=origin,
            reason=f"makes room on {origin}" if reason is None else reason,
            breaks=tuple(dict.fromkeys(breaks.get(pod, ()))),
            synthesised=before.pods[pod].synthesised,
        )


def _queue(outcome: PlanOutcome) -> list[int]:
    """Unplaced pods by priority and then by workload, in the order of the input."""
    cluster = outcome.before
    seen: dict[WorkloadRef, int] = {}
    for pod in outcome.changed.unplaced:
        seen.setdefault(cluster.workloads[cluster.group_of[pod]], len(seen))
    return sorted(
        outcome.changed.unplaced,
        key=lambda pod: (
            -cluster.pods[pod].priority,
            seen[cluster.workloads[cluster.group_of[pod]]],
            pod,
        ),
    )


def _unplaced(cluster: Cluster, pod: int, diagnosis: str) -> Unplaced:
    workload = cluster.workloads[cluster.group_of[pod]].short
    return Unplaced(pod=cluster.pods[pod].key, workload=workload, diagnosis=diagnosis)


def _waiting(cluster: Cluster, pod: int, short: ShortExplainer) -> Unplaced:
    soon = short.finds_room_soon(pod) or None
    return _unplaced(cluster, pod, short.sentence(pod)).model_copy(update={"soon": soon})


def _each(outcome: PlanOutcome) -> float | None:
    """What a pod that was pending costs in evictions."""
    waited = sum(map(len, outcome.problem.waiting.values()))
    placed, evictions = waited - len(outcome.changed.unplaced), outcome.steps.evictions
    return round(evictions / placed, 2) if placed > 0 and evictions else None


def _aside(cluster: Cluster, pod: int, why: str) -> Unplaced:
    gated = bool(cluster.pods[pod].spec.scheduling_gates) and not cluster.pods[pod].terminating
    return _unplaced(cluster, pod, why).model_copy(update={"gated": gated or None})


def _displaced(outcome: PlanOutcome) -> Iterator[Unplaced]:
    cluster = outcome.before
    for pod in outcome.displaced:
        node = cluster.nodes[cluster.node_of[pod]].name
        priority = cluster.pods[pod].priority
        why = f"priority {priority} gives way on {node} to pods of higher priority"
        if cluster.groups[cluster.group_of[pod]].index in outcome.allowances.budgeted:
            why += "; a PodDisruptionBudget covers it"
        yield _unplaced(cluster, pod, why)


def _verification(outcome: PlanOutcome, replayed: ReplayedSeeds | None) -> PlanVerification:
    moves = any(step.evicts for step in outcome.waves.steps)
    return PlanVerification(
        steady=outcome.final.steady,
        admissible=outcome.steps.good,
        capacity=outcome.final.capacity,
        while_terminating=outcome.while_terminating,
        budgets=not outcome.waves.beyond if moves else None,
        doubts=outcome.steps.doubts,
        scheduler_replay=None
        if replayed is None
        else SchedulerReplay(seeds=replayed.seeds, agrees=replayed.agrees),
    )


def _notices(
    outcome: PlanOutcome, replayed: ReplayedSeeds | None, asked: frozenset[int] | None
) -> Iterable[Notice]:
    yield from outcome.before.notices
    if asked is not None:
        yield part_notice(outcome.before, asked, preempt=outcome.problem.options.preempt)
    steps = outcome.waves.steps
    evicted = (step.pod for step in steps if step.action in ("evict", "move"))
    yield from assumed_to_return(outcome.before, evicted)
    if replayed is not None:
        driven = {pod for victims in replayed.driven.values() for pod in victims}
        yield from driven_off(outcome.before, driven - set(outcome.displaced))
    for note in outcome.decision.notes:
        yield Notice(code="solverNote", text=note)
    if outcome.waves.beyond:
        yield Notice(
            code="budgetTooTight",
            text="the plan evicts pods whose budget allows no eviction now",
            objects=outcome.waves.beyond,
        )
    ignored = outcome.profile.resolved.ignored
    if ignored:
        text = "plugins that planner can't model were left out, as asked"
        yield Notice(code="ignoredPlugins", text=text, objects=ignored)
