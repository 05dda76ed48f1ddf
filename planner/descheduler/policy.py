"""One run of the descheduler: all strategies of a policy, in its order, over one cluster.

The deschedule strategies of all profiles come first, then the balance strategies of all profiles.
Each one sees the pods that earlier ones evicted as terminating; they still use their room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.cluster import Cluster
from planner.cluster.times import latest
from planner.descheduler.strategies import STRATEGIES
from planner.descheduler.strategies.default_evictor import DefaultEvictor, ready_nodes
from planner.descheduler.strategies.framework import (
    Eviction,
    EvictionApi,
    Evictor,
    RefusedEviction,
    View,
)
from planner.descheduler.strategies.limits import EvictionCount, Limits
from planner.descheduler.strategies.node_fit import NodeFit
from planner.disruption.eviction_api import BudgetedEvictions
from planner_models.descheduler_args import StrategyArgs
from planner_models.descheduler_evictor import DefaultEvictorArgs
from planner_models.descheduler_policy import DeschedulerPolicy, DeschedulerProfile
from planner_models.pod import Pod


@dataclass(frozen=True, eq=False)
class PolicyRun:
    """The evictions in order, each pod once, and what budgets refused."""

    evictions: tuple[Eviction, ...] = ()
    refusals: tuple[RefusedEviction, ...] = ()


@dataclass(frozen=True)
class StrategyRun:
    """A strategy with its arguments and its guard's."""

    name: str
    args: StrategyArgs
    evictor: DefaultEvictorArgs


def view_of(
    cluster: Cluster, *, node_selector: str | None = None, now: int | None = None, seed: int = 0
) -> View:
    """The cluster as the descheduler sees it: its ready nodes. Without `now`, it is `latest`."""
    nodes = tuple(ready_nodes(cluster, node_selector).tolist())
    return View(cluster, nodes, latest(cluster) if now is None else now, seed=seed)


def run_strategy(
    strategy: StrategyRun, view: View, count: EvictionCount, api: EvictionApi
) -> Evictor:
    """Run one strategy; the evictor has the record. A pod may be named twice."""
    guard = DefaultEvictor(view, strategy.evictor, NodeFit(view))
    evictor = Evictor(strategy.name, view, guard, count, api)
    STRATEGIES[strategy.name](view, strategy.args, evictor)
    return evictor


def run_policy(
    cluster: Cluster,
    policy: DeschedulerPolicy,
    *,
    now: int | None = None,
    seed: int = 0,
    api: EvictionApi | None = None,
) -> PolicyRun:
    """What one run would evict. With fewer than two ready nodes the descheduler does nothing."""
    view = view_of(cluster, node_selector=policy.node_selector, now=now, seed=seed)
    if len(view.nodes) < 2:
        return PolicyRun()
    count = EvictionCount(Limits.of(policy))
    api = api or BudgetedEvictions(cluster)
    evictions: dict[Pod, Eviction] = {}
    refusals: dict[Pod, RefusedEviction] = {}
    for strategy in strategies(policy):
        seen = View(cluster, view.nodes, view.now, frozenset(evictions), seed)
        record = run_strategy(strategy, seen, count, api)
        for eviction in record.evictions:
            evictions.setdefault(eviction.pod, eviction)
        for refusal in record.refusals:
            refusals.setdefault(refusal.pod, refusal)
    return PolicyRun(tuple(evictions.values()), tuple(refusals.values()))


def strategies(policy: DeschedulerPolicy) -> Iterator[StrategyRun]:
    """The strategies of a policy in the order in which they run."""
    for profile in policy.profiles:
        yield from _configured(profile, profile.plugins.deschedule.enabled)
    for profile in policy.profiles:
        yield from _configured(profile, profile.plugins.balance.enabled)


def _configured(profile: DeschedulerProfile, names: tuple[str, ...]) -> Iterator[StrategyRun]:
    for name in names:
        args = profile.args_of(name)
        if isinstance(args, StrategyArgs):
            yield StrategyRun(name, args, profile.evictor)
