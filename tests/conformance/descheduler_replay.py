"""Replaying a strategy of the descheduler on a recorded cluster.

The descheduler iterates over Go maps, so that its order, and sometimes its choice, is random. Ours
is by name; where the recorded runs differ in what they evict, ours has to be one of them. If it is
one that 40 runs happened to miss, other orders are tried.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.cluster import Cluster, build_cluster
from planner.descheduler.policy import StrategyRun, run_strategy, view_of
from planner.descheduler.strategies.limits import EvictionCount
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.descheduler_args import StrategyArgs
from planner_models.descheduler_evictor import DefaultEvictorArgs
from planner_models.descheduler_policy import parse_args
from tests.conformance.case import DeschedulerCase, Evictions, as_list
from tests.conformance.report import Comparison

ORDERS = 100
"""Orders to try before an outcome counts as one that the descheduler does not have."""


def replay_strategy(case: DeschedulerCase) -> Comparison:
    """Run the strategy once; compare the order where it is always the same, else the set."""
    texts = [text for objects in case.objects.values() for text in objects]
    document = RawDocument(file=case.id, data=as_list(texts), line=1)
    cluster = build_cluster(load_documents([document]))
    strategy = _strategy(case)
    result = Comparison(case.family, cases=1, pods=len(cluster.pods) + cluster.finished)
    want = case.expect
    got = evicted(strategy, cluster)
    low, high = want.count
    result.check(case.id, case.plugin, "count", min(max(len(got), low), high), len(got))
    if want.same_order:
        result.check(case.id, case.plugin, "evicted", got, list(want.evicted))
    elif want.same_set:
        result.check(case.id, case.plugin, "evicted", sorted(got), list(want.evicted))
    else:
        _one_of_several(case, strategy, cluster, result)
    return result


def evicted(strategy: StrategyRun, cluster: Cluster, seed: int = 0) -> list[str]:
    """The pods in the order of their evictions; the recorded runs had no limits and no budgets."""
    view = view_of(cluster, seed=seed)
    record = run_strategy(strategy, view, EvictionCount(), lambda _: None)
    return [eviction.pod.key for eviction in record.evictions]


def _strategy(case: DeschedulerCase) -> StrategyRun:
    args = parse_args(case.plugin, case.args)
    if not isinstance(args, StrategyArgs):
        raise TypeError(f"{case.plugin} is not a strategy")
    return StrategyRun(case.plugin, args, DefaultEvictorArgs.model_validate(case.evictor))


def _one_of_several(
    case: DeschedulerCase, strategy: StrategyRun, cluster: Cluster, result: Comparison
) -> None:
    outcomes = _sorted(case.expect)
    found = (sorted(evicted(strategy, cluster, seed)) for seed in range(ORDERS))
    got = next((each for each in found if each in outcomes), sorted(evicted(strategy, cluster)))
    nearest = got if got in outcomes else outcomes
    result.check(case.id, case.plugin, "evicted", got, nearest)


def _sorted(expect: Evictions) -> Sequence[Sequence[str]]:
    return [sorted(outcome) for outcome in expect.outcomes]
