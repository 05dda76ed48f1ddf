"""Questions to a cluster whose answer is a plan: solve, evict and drain."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from planner.api.arguments import one_of, require_at_least, require_time, words
from planner.api.loaded import Loaded
from planner.api.names import require_nodes
from planner.errors import UsageError
from planner.solver.progress import steady

if TYPE_CHECKING:
    from planner.api.drain_plan import DrainPlan
    from planner.api.eviction_plan import EvictionPlan, Policy, RunPolicyOrFile
    from planner.api.plan import Plan
    from planner.api.profiles import Configuration
    from planner.solver.progress import Progress
    from planner.workers import Workers
    from planner_models.selectors import LabelSelector

PREFERENCES = ("balance", "pack", "none")
PATHS = (str, os.PathLike)
MOVE_COSTS = ("count", "priority")


class Plans(Loaded):
    """What a cluster can be asked to plan."""

    def solve(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        rebalance: bool = False,
        relax: bool = False,
        preempt: bool = False,
        prefer: Literal["balance", "pack", "none"] = "none",
        max_moves: int | None = None,
        move_cost: Literal["count", "priority"] = "count",
        movable: str | LabelSelector | None = None,
        immovable: str | LabelSelector | None = None,
        spared: Iterable[str] = (),
        allow_bare_pods: bool = False,
        allow_local_storage: bool = False,
        allow_jobs: bool = False,
        allow_owners: Iterable[str] = (),
        max_unavailable: int | None = None,
        surge: bool = False,
        hops: bool = True,
        time_limit: float = 60.0,
        seed: int = 0,
        workers: int = 1,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> Plan:
        """Where pods should go, all rules taken together, and in which steps.

        Of a part of the pods, only these get a node or move: other pending pods stay pending, other
        running pods stay where they are, and the rules that others alone break are not told.
        With `rebalance` running pods may move, as few as possible: those that the selector
        `movable` matches and `immovable` doesn't, and none of the pods and workloads that `spared`
        names in the namespace. Pods that would not come back as they are stay, too; `allow_jobs`
        and `allow_owners` (kinds, such as `StrimziPodSet`) widen that. `relax` breaks the least,
        `preempt` lets lower priorities give way, but none that is `spared`. Without `hops` no pod
        runs on a temporary node.
        `progress` is told how far the search is.
        """
        from planner.api.plan import Plan
        from planner.api.profiles import default_scheduler
        from planner.api.selectors import label_selector
        from planner.disruption.movability import MovePolicy
        from planner.documents.plan import make_plan
        from planner.solver.problem.options import SolveOptions

        require_time(time_limit)
        for name, number, least in (
            ("max_moves", max_moves, 0),
            ("max_unavailable", max_unavailable, 1),
            ("workers", workers, 1),
            ("seed", seed, 0),
        ):
            require_at_least(name, number, least)
        if max_moves is not None and not rebalance:
            raise UsageError(
                "`max_moves` limits what `rebalance` may move",
                help="without `rebalance` running pods stay; leave `max_moves` out",
            )
        one_of("prefer", prefer, PREFERENCES)
        one_of("move_cost", move_cost, MOVE_COSTS)
        chosen = self._selection("solve", targets, namespace, all_namespaces, selector)
        left_alone, named = words("spared", spared), frozenset[int]()
        if left_alone:
            named = frozenset(
                self._selection("solve", left_alone, namespace, all_namespaces, None).pods
            )
        options = SolveOptions(
            rebalance=rebalance,
            relax=relax,
            preempt=preempt,
            prefer=prefer,
            max_moves=max_moves,
            move_cost=move_cost,
            policy=MovePolicy(
                bare_pods=allow_bare_pods,
                local_storage=allow_local_storage,
                jobs=allow_jobs,
                owners=frozenset(words("allow_owners", allow_owners)),
            ),
            movable=label_selector("movable", movable),
            immovable=label_selector("immovable", immovable),
            spared=chosen.others | named,
            unyielding=named,
            max_unavailable=max_unavailable,
            surge=surge,
            hops=hops,
            time_limit=time_limit,
            seed=seed,
            workers=workers,
        )
        require_nodes(self.snapshot)
        if rebalance:
            self._require_budgets("solve --rebalance")
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        snapshot, asked = self.snapshot, None
        if not chosen.everything:
            snapshot = snapshot.without(set(snapshot.pending.tolist()).difference(chosen.pods))
            asked = frozenset(chosen.pods)
        found = make_plan(snapshot, options, profile, progress, asked)
        return Plan.of(found, self._on(snapshot)._origin("solve", chosen.arguments))

    def evict(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        goals: Iterable[str] = ("spread",),
        seeds: int | None = None,
        max_evictions: int | None = None,
        max_evictions_per_node: int | None = None,
        max_evictions_per_namespace: int | None = None,
        max_unavailable: int | None = None,
        allow_bare_pods: bool = False,
        allow_local_storage: bool = False,
        allow_jobs: bool = False,
        allow_owners: Iterable[str] = (),
        priority_threshold: int | str | None = None,
        policy: Policy = None,
        like_descheduler: bool = False,
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
        jobs: int | Workers | None = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> EvictionPlan:
        """The fewest evictions after which kube-scheduler itself repairs what is broken.

        Of a part of the pods, only these are evicted, and the rules that others alone break are not
        told; kube-scheduler places whatever is pending, as it would.
        Goals are `spread`, `soft`, `utilization`, `consolidate`, and names of nodes to empty.
        `priority_threshold`, a number or a PriorityClass, leaves the pods from there on alone.
        `policy` is a DeschedulerPolicy or its file, to compare with; `like_descheduler` answers
        with what the descheduler would do, round after round. `jobs` processes, or workers of
        `planner.start_workers`, try seeds side by side, with the same result.
        """
        from planner.api.eviction_plan import EvictionPlan, goals_of, policy_of, priority_of
        from planner.api.jobs import workers_for
        from planner.api.profiles import default_scheduler
        from planner.descheduler.strategies.limits import Limits
        from planner.disruption.movability import MovePolicy
        from planner.documents.eviction_plan import make_eviction_plan
        from planner.documents.like_descheduler import descheduler_plan
        from planner.evictions.protection import Protection
        from planner.evictions.suggest import find_evictions
        from planner.evictions.suggestion import EvictOptions

        require_time(time_limit)
        for name, number, least in (
            ("seeds", seeds, 1),
            ("max_evictions", max_evictions, 0),
            ("max_evictions_per_node", max_evictions_per_node, 0),
            ("max_evictions_per_namespace", max_evictions_per_namespace, 0),
            ("max_unavailable", max_unavailable, 1),
        ):
            require_at_least(name, number, least)
        require_nodes(self.snapshot)
        self._require_budgets("evict")
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        named, nodes = goals_of(self.snapshot, words("goals", goals))
        chosen = self._selection("evict", targets, namespace, all_namespaces, selector)
        movable = MovePolicy(
            bare_pods=allow_bare_pods,
            local_storage=allow_local_storage,
            jobs=allow_jobs,
            owners=frozenset(words("allow_owners", allow_owners)),
        )
        options = EvictOptions(
            goals=named,
            nodes=nodes,
            protection=Protection(
                movable,
                priority_of(self.snapshot, priority_threshold),
                None if chosen.everything else frozenset(chosen.pods),
            ),
            limits=Limits(max_evictions, max_evictions_per_node, max_evictions_per_namespace),
            seeds=seeds,
            max_unavailable=max_unavailable,
            time_limit=time_limit,
        )
        if like_descheduler and not chosen.everything:
            raise UsageError(
                "`like_descheduler` is about the whole cluster and goes without a part of the pods",
                help="a DeschedulerPolicy says which namespaces and labels its strategies look at: "
                "`policy=FILE`",
            )
        rules = policy_of(self.inventory, policy)
        with workers_for(jobs) as workers:
            options = replace(options, workers=workers)
            if like_descheduler:
                ours = find_evictions(self.snapshot, options, profile, steady(progress))
                usual = "usual policy" if rules is None else "policy"
                file = os.fspath(policy) if isinstance(policy, str | os.PathLike) else usual
                document = descheduler_plan(self.snapshot, rules, file, ours)
            else:
                policies = () if rules is None else (rules,)
                document = make_eviction_plan(
                    self.snapshot, options, profile, policies=policies, progress=steady(progress)
                )
        return EvictionPlan.of(document, self._origin("evict", chosen.arguments))

    def evict_under(  # noqa: PLR0913 - options are keywords
        self,
        run_policy: RunPolicyOrFile,
        *,
        ignored_strategies: Collection[str] = (),
        leave_alone: Collection[str] = (),
        cordons: bool = False,
        seeds: int | None = None,
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
        jobs: int | Workers | None = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> EvictionPlan:
        """What a round of `planner run` would evict under this policy, at this moment.

        The policy, a RunPolicy or a DeschedulerPolicy or the file of one, says goals, limits and
        whom to spare. `leave_alone` are workloads to spare beside them, `shop/deploy/api`.
        `ignored_strategies` of a DeschedulerPolicy don't count. `cordons` allows cordons where the
        policy doesn't.
        """
        from planner.api.eviction_plan import EvictionPlan, options_under
        from planner.api.jobs import workers_for
        from planner.api.profiles import default_scheduler
        from planner.documents.eviction_plan import eviction_plan
        from planner.evictions.suggest import find_evictions
        from planner.evictions.under_policy import terms_of
        from planner.run.policy import policy_in

        require_time(time_limit)
        require_at_least("seeds", seeds, 1)
        require_nodes(self.snapshot)
        self._require_budgets("evict")
        given = run_policy
        policy = policy_in(given, ignored_strategies) if isinstance(given, PATHS) else given
        terms = terms_of(
            self.snapshot,
            policy,
            ignored=ignored_strategies,
            leave_alone=leave_alone,
            cordons=cordons,
        )
        options = options_under(self.snapshot, terms, seeds, time_limit)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        with workers_for(jobs) as workers:
            tried = replace(options, workers=workers)
            found = find_evictions(self.snapshot, tried, profile, steady(progress))
        return EvictionPlan.of(eviction_plan(found), self._origin("evict", ()))

    def drain(  # noqa: PLR0913 - options are keywords
        self,
        *nodes: str,
        selector: str | LabelSelector | None = None,
        zone: str | None = None,
        all_nodes: bool = False,
        rolling: bool = False,
        nodes_at_once: int | None = None,
        extra_nodes: int = 0,
        round_number: int | None = None,
        most: bool = False,
        keep: str | LabelSelector | None = None,
        survive: str = "none",
        price: str | float | os.PathLike[str] | None = None,
        pod_selector: str | LabelSelector | None = None,
        force: bool = False,
        delete_emptydir_data: bool = False,
        allow_owners: Iterable[str] = (),
        max_unavailable: int | None = None,
        helps: bool | None = None,
        seeds: int | None = None,
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
        jobs: int | Workers | None = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> DrainPlan:
        """Whether these nodes can be emptied, in which waves, and what stands in the way.

        Nodes are given by name, by their labels (`selector`), by zone, or all of them. As with
        `kubectl drain`, pods of DaemonSets and static pods stay; `pod_selector` chooses those that
        have to leave, `force` evicts pods that no controller makes anew, and
        `delete_emptydir_data` those with emptyDir volumes. `helps` tries changes on copies where it
        is not possible; without it that is done in clusters of up to 20,000 pods.

        With `rolling` they are emptied in rounds and come back in between, `nodes_at_once` of them,
        with `extra_nodes` added before; `round_number` is planned in any case. With `most` those
        are chosen that are worth most: by `price` per hour, a number for all or a file, otherwise
        by their number. `keep` selects nodes that stay, `survive` says which single failure the
        rest has to stand: "zone", "node" or "none". `jobs` processes, or workers of
        `planner.start_workers`, try seeds and shapes of rounds side by side, with the same result.
        """
        from planner.api.drain_plan import DrainPlan, nodes_of, selected_pods, words_of
        from planner.api.drain_questions import Asked, answered
        from planner.api.jobs import workers_for
        from planner.api.profiles import default_scheduler
        from planner.drain.options import DrainOptions

        asked = Asked(
            rolling, nodes_at_once, extra_nodes, round_number, most, keep, survive, price, helps
        )
        asked.check()
        names = words("nodes", nodes)
        require_time(time_limit)
        require_at_least("seeds", seeds, 1)
        require_at_least("max_unavailable", max_unavailable, 1)
        require_nodes(self.snapshot)
        self._require_budgets("drain")
        options = DrainOptions(
            nodes=nodes_of(self.snapshot, names, selector, zone, all_nodes, most=most),
            force=force,
            delete_emptydir_data=delete_emptydir_data,
            pods=selected_pods(self.snapshot, pod_selector),
            owners=frozenset(words("allow_owners", allow_owners)),
            max_unavailable=max_unavailable,
            seeds=seeds,
            time_limit=time_limit,
        )
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        chosen = None if pod_selector is None else str(pod_selector)
        with workers_for(jobs) as workers:
            options = replace(options, workers=workers)
            told = steady(progress)
            document, shown = answered(self.snapshot, options, asked, profile, chosen, told)
        given = words_of(names, None if selector is None else str(selector), zone, all_nodes)
        return DrainPlan.of(document, self._on(shown)._origin("drain", given))
