"""The `DrainPlan` document out of what was found and tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from planner.documents.eviction_waves import eviction_waves, planned_evictions, promised
from planner.documents.left_alone import assumed_to_return, driven_off, left_alone
from planner.drain.blocked import Obstacle, obstacles
from planner.drain.find import Drain
from planner.drain.helps import helps_for
from planner.drain.kubectl import KubectlRun, kubectl_runs, refuses
from planner.replay.trial_work import USUAL_SEEDS
from planner_models.drain import (
    BlockedPod,
    DrainBounds,
    DrainBudget,
    DrainEviction,
    DrainOptions,
    DrainPlan,
    DrainRound,
    KubectlDrain,
)
from planner_models.evictions import Convergence, EvictionWave
from planner_models.notice import Notice

FEW_PODS = 20_000
"""Up to so many pods changes are tried on copies without being asked to: each takes a drain."""


def drain_plan(
    found: Drain,
    pod_selector: str | None = None,
    *,
    helps: bool | None = None,
    kubectl: bool = True,
) -> DrainPlan:
    """The drain as it is shown and written; `helps` says whether changes are tried on copies.

    What `kubectl` would do stands beside it, unless nobody asks.
    """
    why = obstacles(found)
    tried = found.tried
    tries = len(found.given.pods) <= FEW_PODS if helps is None else helps
    return DrainPlan(
        nodes=tuple(found.start.nodes[node].name for node in found.aim.drained),
        options=_options(found, pod_selector),
        status=found.status,
        rounds=(_round(found),),
        evictions=tuple(_evictions(found)),
        leaving=found.leaving.number,
        bounds=_bounds(found),
        blocked=tuple(_blocked(found, why)),
        helps=helps_for(found, why) if tries else (),
        proof=tuple(_proof(found, why)),
        stays=left_alone(found.start, found.leaving.stays),
        budgets=tuple(_budgets(found)),
        kubectl=_kubectl(found) if kubectl else None,
        converges=tried.converges,
        checked_seeds=found.seeds,
        convergence=Convergence(
            seeds=found.seeds,
            gone=tried.seeds_reached(terminating=False),
            terminating=tried.seeds_reached(terminating=True),
        ),
        promised=promised(found, 0, everything=False),
        pods=len(found.given.pods),
        notices=(*_notices(found), *(() if tries else _not_tried(found))),
    )


def _options(found: Drain, pod_selector: str | None) -> DrainOptions:
    asked = found.options
    return DrainOptions(
        force=asked.force,
        delete_emptydir_data=asked.delete_emptydir_data,
        pod_selector=pod_selector,
        max_unavailable=asked.max_unavailable,
        seeds=asked.seeds,
        owners=tuple(sorted(asked.owners)) or None,
    )


# Waves


def _round(found: Drain) -> DrainRound:
    names = [found.start.nodes[node].name for node in found.aim.drained]
    waves = list(eviction_waves(found))
    lost = tuple(sorted(found.start.pods[pod].key for pod in found.leaving.lost))
    if lost and waves:
        together = tuple(sorted((*waves[0].evictions, *lost)))
        waves[0] = waves[0].model_copy(update={"evictions": together})
    elif lost:
        waves = [EvictionWave(number=1, evictions=lost, drain=tuple(names))]
    return DrainRound(nodes=tuple(names), waves=tuple(waves))


def _evictions(found: Drain) -> Iterator[DrainEviction]:
    """Pods that nobody makes anew go first: what budgets allow the others is counted without."""
    start = found.start
    for pod in sorted(found.leaving.lost, key=lambda pod: start.pods[pod].key):
        yield DrainEviction(
            pod=start.pods[pod].key,
            uid=start.pods[pod].uid,
            workload=start.workloads[int(start.group_of[pod])].short,
            node=start.nodes[start.node_of[pod]].name,
            wave=1,
            reason="nobody makes it anew",
            lost=True,
        )
    for _, eviction in planned_evictions(found):
        reason = f"{eviction.node} is to be emptied"
        yield DrainEviction(**dict(eviction) | {"reason": reason})


def _bounds(found: Drain) -> DrainBounds:
    """Each pod that leaves is evicted once; a budget lets only so many of its pods go at once."""
    each, waves = found.budgets.each, 1
    for number, pods in _by_budget(found, found.leaving.going).items():
        waves = max(waves, -(-pods // max(1, each[number].left)))
    return DrainBounds(evictions=found.leaving.number, waves=waves)


def _by_budget(found: Drain, pods: Sequence[int]) -> Counter[int]:
    """How many of these pods each budget is asked about."""
    budgets = found.budgets
    counts = Counter(number for pod in pods for number in budgets.of_pod(pod))
    return Counter({number: n for number, n in counts.items() if budgets.each[number].budget})


def _budgets(found: Drain) -> Iterator[DrainBudget]:
    most: Counter[int] = Counter()
    for wave in found.tried.waves:
        most |= _by_budget(found, wave.evictions)
    each = found.budgets.each
    for number in sorted(most, key=lambda number: each[number].name):
        budget = each[number]
        yield DrainBudget(budget=budget.name, down=most[number], allowed=budget.left)


# What stands in the way, and what kubectl does


def _blocked(found: Drain, why: Sequence[Obstacle]) -> Iterator[BlockedPod]:
    start = found.start
    for each in why:
        for pod in each.pods:
            yield BlockedPod(
                pod=start.pods[pod].key,
                node=start.nodes[start.node_of[pod]].name,
                workload=start.workloads[int(start.group_of[pod])].short,
                by=each.by,
                object=each.object,
                field=each.field,
                text=each.text,
                conflict=each.conflict,
                message=each.message,
                proven=each.proven,
            )


def _proof(found: Drain, why: Sequence[Obstacle]) -> Iterator[str]:
    budgets = {each.object for each in why if each.by in ("budgetNever", "severalBudgets")}
    if budgets:
        what = "the budget" if len(budgets) == 1 else "the budgets"
        yield f"no order of evictions satisfies {what}"
    if found.proof.stuck:
        yield found.proof.text


def _kubectl(found: Drain) -> KubectlDrain:
    leaving = found.leaving
    stops = refuses(leaving)
    if stops:
        return KubectlDrain(evicted=0, refuses=stops)
    runs = kubectl_runs(found.emptying)
    first = runs[0]
    return KubectlDrain(
        evicted=len(first.evicted) + len(leaving.lost),
        pending=_keys(found, first.pending),
        hanging=_keys(found, first.hanging),
        rounds=first.rounds,
        seeds=len(runs),
        agree=len({_ending(found, run) for run in runs}) == 1,
    )


def _keys(found: Drain, pods: Sequence[int]) -> tuple[str, ...]:
    return tuple(sorted(found.start.pods[pod].key for pod in pods))


def _ending(found: Drain, run: KubectlRun) -> tuple[object, ...]:
    """What a sentence says about a run."""
    group_of = found.start.group_of
    return (
        len(run.evicted),
        tuple(sorted(group_of[list(run.pending)].tolist())),
        tuple(sorted(group_of[list(run.hanging)].tolist())),
    )


def _not_tried(found: Drain) -> Iterator[Notice]:
    if found.status != "possible":
        text = "changes that might help were not tried on copies"
        yield Notice(code="helpsNotTried", text=f"{text}; --helps tries them")


def _notices(found: Drain) -> Iterator[Notice]:
    yield from found.given.notices
    yield from assumed_to_return(found.start, found.evicted)
    preempted = {pod for run in found.tried.runs for pod in run.preempted}
    yield from driven_off(found.aim.real, preempted)
    if found.options.seeds is None and found.seeds < USUAL_SEEDS:
        text = f"large plan: {found.seeds} of the usual {USUAL_SEEDS} tie seeds tried"
        yield Notice(code="fewerSeeds", text=f"{text}; --seeds {USUAL_SEEDS} tries all")
    ignored = found.profile.resolved.ignored
    if ignored:
        text = "plugins that planner can't model were left out, as asked"
        yield Notice(code="ignoredPlugins", text=text, objects=ignored)
