"""Questions to a cluster about growth: how many more pods fit, and which nodes to add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from planner.api.arguments import one_of, require_at_least, require_time
from planner.api.loaded import Loaded
from planner.api.names import require_nodes
from planner.errors import UsageError

if TYPE_CHECKING:
    from planner.api.capacity import Capacity
    from planner.api.load import Source
    from planner.api.node_plan import NodePlan
    from planner.api.profiles import Configuration
    from planner.capacity import Found
    from planner.capacity.survive import Failure
    from planner.cluster import Cluster
    from planner.pools import Objective
    from planner.pools.find import Zones
    from planner.scenario.changes import Manner
    from planner.scheduler.profile import Profile
    from planner_models.capacity import CapacityCost
    from planner_models.drain import Survive
    from planner_models.selectors import LabelSelector


class Growth(Loaded):
    """What a cluster can be asked about more pods and more nodes."""

    def capacity(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        pods: Source | Iterable[Source] = (),
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        moves: int | str | None = None,
        survive: str | None = None,
        manner: str = "removed",
        up_to: int = 10_000,
        by: str | None = None,
        pools: Source | Iterable[Source] = (),
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Capacity:
        """How many more pods fit, and what stops the next one.

        Of workloads that exist, each alone; `pods` are files with pods that don't exist yet,
        counted together as a mix in the ratio of their replicas. `moves` asks what so many moves
        of other pods would add, or as many as it takes (`any`, by default of one workload only),
        `survive` for the number that stands the loss of any `zone` (the default) or `node`, whose
        nodes are `manner`. `by` says by which domains pods are shown: `zone`, `node`, `pool` or a
        label. With `pools`, as for `scale_up`, the answer for one workload says what nodes for as
        many pods cost without any move.
        """
        from planner.api.capacity import (
            MANNERS,
            SURVIVE,
            Capacity,
            moves_of,
            new_pods,
            workloads_of,
        )
        from planner.api.losses import topology_key
        from planner.api.profiles import default_scheduler
        from planner.capacity import CapacityOptions, capacity, demand_of, ready
        from planner.documents.capacity import capacity_document

        require_time(time_limit)
        require_at_least("up_to", up_to, 1)
        require_nodes(self.snapshot)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("capacity", targets, namespace, all_namespaces, selector)
        failure = one_of("survive", survive or "zone", SURVIVE)
        key = None if by is None else topology_key(self.snapshot, by)
        cluster, left_out = ready(self.snapshot, profile)
        others: tuple[str, ...] = ()
        if pods:
            cluster, mix = new_pods(cluster, pods, None)
            questions = [mix]
        else:
            refs, others = workloads_of(self.snapshot, chosen.pods)
            questions = [[demand_of(cluster, ref)] for ref in refs]
        single = len(questions) == 1
        options = CapacityOptions(
            up_to=up_to,
            moves=moves_of(moves, default=None if single else 0),
            survive=None if failure == "none" else cast("Failure", failure),
            manner=cast("Manner", one_of("manner", manner, MANNERS)),
            time_limit=time_limit,
        )
        lines = [capacity(cluster, demands, profile, options) for demands in questions]
        if pools and not single:
            raise UsageError(
                f"`pools` is about one workload, and these are {len(questions)}",
                help="name one: deploy/web",
            )
        found = capacity_document(
            cluster,
            lines,
            options,
            cost=self._new_nodes(cluster, lines[0], pools, profile, time_limit) if pools else (),
            left_out=left_out,
            not_counted=others if not single else (),
            topology_key=key,
        )
        return Capacity.of(found, self._origin("capacity", chosen.arguments))

    def _new_nodes(
        self,
        cluster: Cluster,
        line: Found,
        pools: Source | Iterable[Source],
        profile: Profile,
        time_limit: float,
    ) -> tuple[CapacityCost, ...]:
        from planner.api.node_plan import pool_input_of
        from planner.capacity.new_nodes import new_nodes
        from planner.documents.node_plan import nodes_to_add
        from planner.pools import ScaleUpOptions, objective_of, offers_of, unit_of
        from planner_models.capacity import CapacityCost

        given = pool_input_of(pools, self.snapshot.nodes).pools
        saved = objective_of(given, None)
        options = ScaleUpOptions(time_limit=time_limit)
        found = new_nodes(cluster, line, offers_of(given, saved), profile, options)
        told = nodes_to_add(found.found, saved, unit_of(given, saved))
        return (CapacityCost(count=found.count, moves=found.moves, nodes=told),)

    def scale_up(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        pools: Source | Iterable[Source] = (),
        objective: str | None = None,
        keep_rollouts: bool = True,
        survive: str = "none",
        zones: str = "used",
        moves: int | None = None,
        batches: int = 1,
        seeds: int = 6,
        compare: bool = True,
        time_limit: float = 60.0,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> NodePlan:
        """The cheapest nodes to add for the pods that wait.

        `pools` are files with Node objects as templates, MachineDeployments of cluster-api, or
        NodePools of Karpenter with a table of instance types. `objective` says what is saved:
        `price`, `nodes` or `cpu`. Nodes count only if kube-scheduler fills them by itself under all
        tie `seeds`; with `keep_rollouts` no rollout may get stuck by them that completes today, and
        nobody may wait if any single zone or node fails that `survive` names. With `zones="given"`
        every zone of the pools gets a node: spread rules count only zones that have one.
        With `moves`, up to so many running pods may be evicted, too, if that saves nodes: the
        answer has them in waves that budgets allow. Without, it says if 1 to 10 moves would save
        something; 0 looks for none. With `batches`, nodes may come in up to so many batches, each
        when kube-scheduler has filled the one before, if that costs less than all at once.
        `compare` adds what Karpenter and cluster-autoscaler would do, by their published rules.
        """
        from planner.api.node_plan import OBJECTIVES, SURVIVED, ZONES, NodePlan, pool_input_of
        from planner.api.profiles import default_scheduler
        from planner.documents.node_plan import node_plan
        from planner.pools import ScaleUpOptions, objective_of, offers_of, scale_up, unit_of
        from planner.pools.moves import instead, scale_up_with_moves
        from planner.pools.peers import baselines_of

        require_time(time_limit)
        require_at_least("seeds", seeds, 1)
        require_at_least("moves", moves, 0)
        require_at_least("batches", batches, 1)
        if moves and batches > 1:
            raise UsageError(
                "`moves` and `batches`: evictions are planned for nodes that come at once",
                help="ask for one of them",
            )
        require_nodes(self.snapshot)
        read = pool_input_of(pools, self.snapshot.nodes)
        given = read.pools
        asked = None if objective is None else one_of("objective", objective, OBJECTIVES)
        saved = objective_of(given, cast("Objective | None", asked))
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("scale-up", targets, namespace, all_namespaces, selector)
        options = ScaleUpOptions(
            seeds=seeds,
            keep_rollouts=keep_rollouts,
            survive=cast("Survive", one_of("survive", survive, SURVIVED)),
            zones=cast("Zones", one_of("zones", zones, ZONES)),
            time_limit=time_limit,
            batches=batches,
        )
        offers, unit = offers_of(given, saved), unit_of(given, saved)
        moved = remark = None
        if moves:
            moved = scale_up_with_moves(self.snapshot, chosen.pods, offers, profile, options, moves)
            found = moved.found
        else:
            found = scale_up(self.snapshot, chosen.pods, offers, profile, options)
            remark = instead(found, profile) if moves is None and not found.batches else None
        others = baselines_of(found, profile) if compare else ()
        plan = node_plan(found, saved, unit, read.notices, others, moved, remark)
        return NodePlan.of(plan, self._origin("scale-up", chosen.arguments))
