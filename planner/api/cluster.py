"""A cluster as a Python program sees it: ask, and get a document that shows itself.

Every method imports what it needs when it is called: whoever only inspects never waits for the
solver. Pods, workloads and nodes are given by their names, options as keywords. Every question may
be about a part of the pods: targets, `namespace`, `all_namespaces` and `selector` mean the same
everywhere (`planner.api.selection`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from planner.api.arguments import input_arguments, one_of, require_at_least, require_time
from planner.api.names import find_node, require_nodes
from planner.errors import UsageError
from planner.report.emit import Origin
from planner.report.text.commands import Given

if TYPE_CHECKING:
    from planner.api.capacity import Capacity
    from planner.api.diagnosis import Diagnosis
    from planner.api.drain_plan import DrainPlan
    from planner.api.eviction_plan import EvictionPlan, Policy
    from planner.api.inspection import Inspection
    from planner.api.load import Source
    from planner.api.plan import Plan
    from planner.api.profiles import Configuration
    from planner.api.selection import Selection
    from planner.api.simulation import Simulation
    from planner.api.whatif import WhatIf
    from planner.capacity.survive import Failure
    from planner.cluster import Cluster as Snapshot
    from planner.scenario.changes import Manner
    from planner.solver.progress import Progress
    from planner.sources.inventory import Inventory
    from planner.sources.read import RawDocument
    from planner_models.node import Node
    from planner_models.notice import Notice
    from planner_models.pod import Pod
    from planner_models.selectors import LabelSelector

PREFERENCES = ("balance", "pack", "none")
MOVE_COSTS = ("count", "priority")


@dataclass(frozen=True, eq=False, repr=False)
class Cluster:
    """Nodes, pods and workloads as they were read; `planner.load` makes it.

    `scheduler` is a KubeSchedulerConfiguration or its file wherever it is taken; without it, the
    one in the input counts, and then kube-scheduler's defaults. `ignored_plugins` are plugins of
    the configuration to go on without, though planner can't model them.
    """

    snapshot: Snapshot
    """What planner's own packages work on."""
    inventory: Inventory
    """The objects that were read."""
    paths: tuple[str, ...] = ()
    objects: tuple[RawDocument, ...] | None = None
    example: str | None = None

    def __repr__(self) -> str:
        return repr(self.snapshot)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from html import escape

        snapshot = self.snapshot
        kinds = sorted({ref.kind for ref in snapshot.workloads})
        counts = {"nodes": len(snapshot.nodes), "pods": len(snapshot.pods)}
        counts["pending"] = len(snapshot.pending)
        for kind in kinds:
            counts[kind] = len({ref for ref in snapshot.workloads if ref.kind == kind})
        cells = "".join(f"<th>{escape(name)}</th>" for name in counts)
        numbers = "".join(f"<td>{number:,}</td>" for number in counts.values())
        return f"<table><tr>{cells}</tr><tr>{numbers}</tr></table>"

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes by name, as Kubernetes objects."""
        return self.snapshot.nodes

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, as Kubernetes objects; those that have finished are left out."""
        return self.snapshot.pods

    @property
    def pending(self) -> tuple[Pod, ...]:
        """The pods without a node."""
        return tuple(self.snapshot.pods[index] for index in self.snapshot.pending.tolist())

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd in the input."""
        return self.snapshot.notices

    def inspect(
        self,
        *targets: str,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
    ) -> Inspection:
        """What is in the cluster, and which workloads are uneven.

        Of a part of the pods, workloads and spread are shown for these alone; nodes stay whole.
        """
        from planner.api.inspection import Inspection
        from planner.documents.inspection import inspect_cluster

        chosen = self._selection("inspect", targets, namespace, all_namespaces, selector)
        found = inspect_cluster(self.snapshot, None if chosen.everything else chosen.pods)
        return Inspection.of(found, self._origin("inspect", chosen))

    def simulate(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        seed: int = 0,
        preempt: bool = False,
        sampling: bool = False,
        node: str | None = None,
        details: bool = True,
        all_ties: bool = False,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Simulation:
        """What kube-scheduler does with the pending pods; of a part, with no other pending pod.

        Seed 0 takes the first of tied nodes by name, any other draws one. `preempt` carries
        preemption out, `sampling` looks at a part of the nodes. `details` has every verdict and
        score, only those of `node` if one is named; `all_ties` names every node that would do.
        """
        from planner.api.profiles import profiles_of
        from planner.api.simulation import Simulation
        from planner.documents.simulation import SimulationOptions, simulation_of

        require_nodes(self.snapshot)
        profiles = profiles_of(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("simulate", targets, namespace, all_namespaces, selector)
        options = SimulationOptions(
            seed=seed,
            preempt=preempt,
            sampling=sampling,
            details=details,
            all_ties=all_ties,
            node=None if node is None else find_node(self.snapshot, node),
        )
        pods = None if chosen.everything else chosen.asked
        document, final = simulation_of(self.snapshot, profiles, options, pods)
        found = Simulation.of(document, self._origin("simulate", chosen))
        found._after = replace(self, snapshot=final)
        return found

    def explain(  # noqa: PLR0913 - options are keywords
        self,
        target: str,
        *more: str,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        allow_bare_pods: bool = False,
        allow_jobs: bool = False,
        allow_owners: Iterable[str] = (),
        costs: Mapping[str, int] | None = None,
        states: int | None = None,
        cells: int | None = None,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Diagnosis:
        """Why pods can't run, and the cheapest changes that let them.

        A target is `web-1`, `pod/web-1` or `deploy/web`; several are judged together, and of a
        workload the pods that are pending. `costs` says
        what kinds of change cost (`{"addNode": 5}`). `states` and `cells` limit the search for
        evictions that make room.
        """
        from planner.api.diagnosis import Diagnosis, beside_messages, explain_options
        from planner.api.profiles import filtering_profiles, scheduler_of
        from planner.disruption.movability import MovePolicy
        from planner.documents.nothing_pending import nothing_pending
        from planner.explain.several_pods import explain_pods
        from planner.report.places import with_places

        policy = MovePolicy(
            bare_pods=allow_bare_pods, jobs=allow_jobs, owners=frozenset(allow_owners)
        )
        options = explain_options(policy, costs, states, cells)
        require_nodes(self.snapshot)
        profiles = filtering_profiles(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("explain", (target, *more), namespace, all_namespaces, selector)
        if not chosen.asked:
            found = nothing_pending(self.snapshot, chosen.pods)
        else:
            profile = scheduler_of(self.snapshot, chosen.asked, profiles)
            found = explain_pods(self.snapshot, chosen.asked, profile, options)
            found = beside_messages(found, self.snapshot, profiles, chosen.asked)
        return Diagnosis.of(with_places(found, self.paths), self._origin("explain", chosen))

    def explain_pending(  # noqa: PLR0913 - options are keywords
        self,
        *,
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        brief: bool = False,
        allow_bare_pods: bool = False,
        allow_jobs: bool = False,
        allow_owners: Iterable[str] = (),
        costs: Mapping[str, int] | None = None,
        states: int | None = None,
        cells: int | None = None,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Diagnosis:
        """The same for every workload with pending pods, the worst first, as `parts`.

        `brief` finds only what a row of a table shows.
        """
        from planner.api.diagnosis import Diagnosis, beside_messages, explain_options
        from planner.api.profiles import filtering_profiles
        from planner.disruption.movability import MovePolicy
        from planner.documents.nothing_pending import nothing_pending
        from planner.explain.several_pods import explain_workloads
        from planner.report.places import with_places

        policy = MovePolicy(
            bare_pods=allow_bare_pods, jobs=allow_jobs, owners=frozenset(allow_owners)
        )
        options = explain_options(policy, costs, states, cells)
        require_nodes(self.snapshot)
        profiles = filtering_profiles(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("explain", (), namespace, all_namespaces, selector)
        judged = replace(options, brief=brief)
        found = (
            explain_workloads(self.snapshot, chosen.asked, profiles[0], judged)
            if chosen.asked
            else nothing_pending(self.snapshot, ())
        )
        found = beside_messages(found, self.snapshot, profiles, chosen.asked)
        places = with_places(found, () if brief else self.paths)
        return Diagnosis.of(places, self._origin("explain", chosen))

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
        `preempt` lets lower priorities give way. Without `hops` no pod runs on a temporary node.
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
        staying = chosen.others
        words = tuple(spared)
        if words:
            named = self._selection("solve", words, namespace, all_namespaces, None)
            staying |= frozenset(named.pods)
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
                owners=frozenset(allow_owners),
            ),
            movable=label_selector("movable", movable),
            immovable=label_selector("immovable", immovable),
            spared=staying,
            max_unavailable=max_unavailable,
            surge=surge,
            hops=hops,
            time_limit=time_limit,
            seed=seed,
            workers=workers,
        )
        require_nodes(self.snapshot)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        snapshot, asked = self.snapshot, None
        if not chosen.everything:
            snapshot = snapshot.without(set(snapshot.pending.tolist()).difference(chosen.pods))
            asked = frozenset(chosen.pods)
        found = make_plan(snapshot, options, profile, progress, asked)
        return Plan.of(found, replace(self, snapshot=snapshot)._origin("solve", chosen))

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
        progress: Callable[[Progress], None] | None = None,
    ) -> EvictionPlan:
        """The fewest evictions after which kube-scheduler itself repairs what is broken.

        Of a part of the pods, only these are evicted, and the rules that others alone break are not
        told; kube-scheduler places whatever is pending, as it would.
        Goals are `spread`, `soft`, `utilization`, `consolidate`, and names of nodes to empty.
        `priority_threshold`, a number or a PriorityClass, leaves the pods from there on alone.
        `policy` is a DeschedulerPolicy or its file, to compare with; `like_descheduler` answers
        with what the descheduler would do, round after round.
        """
        from planner.api.eviction_plan import EvictionPlan, goals_of, policy_of, priority_of
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
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        named, nodes = goals_of(self.snapshot, goals)
        chosen = self._selection("evict", targets, namespace, all_namespaces, selector)
        movable = MovePolicy(
            bare_pods=allow_bare_pods,
            local_storage=allow_local_storage,
            jobs=allow_jobs,
            owners=frozenset(allow_owners),
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
        if like_descheduler:
            ours = find_evictions(self.snapshot, options, profile, progress)
            usual = "usual policy" if rules is None else "policy"
            file = os.fspath(policy) if isinstance(policy, str | os.PathLike) else usual
            document = descheduler_plan(self.snapshot, rules, file, ours)
        else:
            policies = () if rules is None else (rules,)
            document = make_eviction_plan(
                self.snapshot, options, profile, policies=policies, progress=progress
            )
        return EvictionPlan.of(document, self._origin("evict", chosen))

    def drain(  # noqa: PLR0913 - options are keywords
        self,
        *nodes: str,
        selector: str | LabelSelector | None = None,
        zone: str | None = None,
        all_nodes: bool = False,
        pod_selector: str | LabelSelector | None = None,
        force: bool = False,
        delete_emptydir_data: bool = False,
        allow_owners: Iterable[str] = (),
        max_unavailable: int | None = None,
        seeds: int | None = None,
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
        progress: Callable[[Progress], None] | None = None,
    ) -> DrainPlan:
        """Whether these nodes can be emptied, in which waves, and what stands in the way.

        Nodes are given by name, by their labels (`selector`), by zone, or all of them. As with
        `kubectl drain`, pods of DaemonSets and static pods stay; `pod_selector` chooses those that
        have to leave, `force` evicts pods that no controller makes anew, and
        `delete_emptydir_data` those with emptyDir volumes.
        """
        from planner.api.drain_plan import DrainPlan, nodes_of, selected_pods, words_of
        from planner.api.profiles import default_scheduler
        from planner.documents.drain_plan import drain_plan
        from planner.drain.find import find_drain
        from planner.drain.options import DrainOptions

        require_time(time_limit)
        require_at_least("seeds", seeds, 1)
        require_at_least("max_unavailable", max_unavailable, 1)
        require_nodes(self.snapshot)
        options = DrainOptions(
            nodes=nodes_of(self.snapshot, nodes, selector, zone, all_nodes),
            force=force,
            delete_emptydir_data=delete_emptydir_data,
            pods=selected_pods(self.snapshot, pod_selector),
            owners=frozenset(allow_owners),
            max_unavailable=max_unavailable,
            seeds=seeds,
            time_limit=time_limit,
        )
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        found = find_drain(self.snapshot, options, profile, progress)
        chosen = None if pod_selector is None else str(pod_selector)
        words = words_of(nodes, None if selector is None else str(selector), zone, all_nodes)
        given = Given(input_arguments(self.paths, self.example), words)
        origin = Origin("planner drain", self.paths, self.snapshot, given=given)
        return DrainPlan.of(drain_plan(found, chosen), origin)

    def capacity(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        pods: Source | Iterable[Source] = (),
        namespace: str | None = None,
        all_namespaces: bool = False,
        selector: str | LabelSelector | None = None,
        moves: bool | None = None,
        survive: str | None = None,
        manner: str = "removed",
        up_to: int = 10_000,
        time_limit: float = 60.0,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Capacity:
        """How many more pods fit, and what stops the next one.

        Of workloads that exist, each alone; `pods` are files with pods that don't exist yet,
        counted together as a mix in the ratio of their replicas. `moves` asks what moves of other
        pods would add (by default of one workload only), `survive` for the number that stands the
        loss of any `zone` (the default) or `node`, whose nodes are `manner`.
        """
        from planner.api.capacity import MANNERS, SURVIVE, Capacity, new_pods, workloads_of
        from planner.api.profiles import default_scheduler
        from planner.capacity import CapacityOptions, capacity, demand_of, ready
        from planner.documents.capacity import capacity_document

        require_time(time_limit)
        require_at_least("up_to", up_to, 1)
        require_nodes(self.snapshot)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("capacity", targets, namespace, all_namespaces, selector)
        failure = one_of("survive", survive or "zone", SURVIVE)
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
            moves=single if moves is None else moves,
            survive=None if failure == "none" else cast("Failure", failure),
            manner=cast("Manner", one_of("manner", manner, MANNERS)),
            time_limit=time_limit,
        )
        lines = [capacity(cluster, demands, profile, options) for demands in questions]
        found = capacity_document(
            cluster, lines, options, left_out=left_out, not_counted=others if not single else ()
        )
        return Capacity.of(found, self._origin("capacity", chosen))

    def whatif(  # noqa: PLR0913 - options are keywords
        self,
        *,
        lose: Sequence[str] = (),
        each: Sequence[str] = (),
        pairs: bool = False,
        manner: Literal["unreachable", "removed", "both"] = "both",
        cordon: Sequence[str] = (),
        scale: Iterable[str] = (),
        apply: Source | Iterable[Source] = (),
        add_nodes: Iterable[str] = (),
        preempt: bool = False,
        seeds: int | None = None,
        namespace: str | None = None,
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> WhatIf:
        """What happens by itself after changes and failures.

        `lose` names nodes that fail together: `node-1`, `zone/eu-1a`, `pool=spot`. They stop
        answering (`manner="unreachable"`), or are removed, too. `each` tries every `zone`, `node`
        or domain of another key alone, and with `pairs` every two of them at once.

        Before that manifests are applied, workloads scaled (`deploy/web=6`, in `namespace`), nodes
        like those of files added (`node.yaml=3`), nodes cordoned; and kube-scheduler acts on it,
        where `preempt` lets lower priorities give way.
        """
        from planner.api.losses import every_loss, node_indexes, nodes_of, replicas_of, together
        from planner.api.profiles import default_scheduler
        from planner.api.whatif import (
            NOTHING,
            WhatIf,
            added,
            applied,
            file_names,
            in_the_end,
            manners_of,
            raw_documents,
        )
        from planner.documents.whatif import each_document, shown_key, what_if_document
        from planner.scenario import Cordon, Scale
        from planner.whatif import Options, prepare, what_if

        manners = manners_of(manner)
        require_at_least("seeds", seeds, 1)
        require_nodes(self.snapshot)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        snapshot = self.snapshot
        scaled = replicas_of(snapshot, scale, namespace or "default")
        cordoned = node_indexes(nodes_of(snapshot, word, "cordon") for word in cordon)
        changes = (
            *applied(self, apply),
            *(Scale(ref, replicas) for ref, replicas in scaled),
            *added(add_nodes),
            *((Cordon(cordoned),) if cordoned else ()),
        )
        if each and lose:
            raise UsageError("`lose` and `each` are two questions", help="ask one after the other")
        if pairs and not each:
            raise UsageError("`pairs` needs `each`: pairs of what?", help="each=['node']")
        if not changes and not lose and not each:
            raise UsageError("what if nothing happens? Name a change or a failure", help=NOTHING)
        prepared = prepare(snapshot, changes, profile, preempt=preempt)
        options = Options(manners, seeds, shown_key(snapshot))
        part = () if namespace is None else ("-n", namespace)
        given = Given(input_arguments(self.paths, self.example), part)
        origin = Origin("planner whatif", self.paths, snapshot, given=given)
        if each:
            losses = [loss for key in each for loss in every_loss(prepared.cluster(), key)]
            return WhatIf.of(each_document(prepared, losses, options, pairs=pairs), origin)
        cluster = prepared.cluster()
        loss = together([nodes_of(cluster, word) for word in lose]) if lose else None
        found = what_if(prepared, loss, options)
        answer = WhatIf.of(what_if_document(found, file_names(apply)), origin)
        objects = None if self.objects is None else (*self.objects, *raw_documents(apply))
        ended = in_the_end(found.courses[-1].settled)
        answer._after = replace(self, snapshot=ended, objects=objects)
        return answer

    def write(self, path: str | os.PathLike[str]) -> None:
        """The objects as they were read, with pods where they are now, as JSON for kubectl."""
        from planner.report.cluster_file import write_cluster

        if self.objects is None:
            raise UsageError(
                "the objects of this cluster were not kept",
                help="load it with `keep_objects=True`",
            )
        write_cluster(os.fspath(path), self.objects, self.snapshot)

    def _selection(
        self,
        command: str,
        targets: Sequence[str],
        namespace: str | None,
        all_namespaces: bool,
        selector: str | LabelSelector | None,
    ) -> Selection:
        from planner.api.selection import selection_of

        return selection_of(self.snapshot, command, targets, namespace, all_namespaces, selector)

    def _origin(self, command: str, chosen: Selection) -> Origin:
        return Origin(
            f"planner {command}",
            self.paths,
            self.snapshot,
            given=Given(input_arguments(self.paths, self.example), chosen.arguments),
        )
