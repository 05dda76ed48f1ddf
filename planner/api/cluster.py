"""A cluster as a Python program sees it: ask, and get a document that shows itself.

Every method imports what it needs when it is called: whoever only inspects never waits for the
solver. Pods, workloads and nodes are given by their names, options as keywords. Every question may
be about a part of the pods: targets, `namespace`, `all_namespaces` and `selector` mean the same
everywhere (`planner.api.selection`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from planner.api.arguments import input_arguments, one_of, require_at_least, require_time
from planner.api.live import require_budgets
from planner.api.names import find_node, require_nodes
from planner.api.plans import Plans
from planner.errors import UsageError
from planner.report.emit import Origin
from planner.report.text.commands import Given

if TYPE_CHECKING:
    from planner.api.capacity import Capacity
    from planner.api.diagnosis import Diagnosis
    from planner.api.dump import DumpReport
    from planner.api.inspection import Inspection
    from planner.api.live import Live
    from planner.api.load import Source
    from planner.api.node_plan import NodePlan
    from planner.api.profiles import Configuration
    from planner.api.selection import Selection
    from planner.api.simulation import Simulation
    from planner.api.whatif import WhatIf
    from planner.capacity.survive import Failure
    from planner.cluster import Cluster as Snapshot
    from planner.pools import Objective
    from planner.scenario.changes import Manner
    from planner.sources.inventory import Inventory
    from planner.sources.read import RawDocument
    from planner_models.node import Node
    from planner_models.notice import Notice
    from planner_models.pod import Pod
    from planner_models.selectors import LabelSelector
    from planner_models.source import ClusterSource


@dataclass(frozen=True, eq=False, repr=False)
class Cluster(Plans):
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
    source: ClusterSource | None = None
    """Which cluster it is, and when it was read, as far as that is known."""
    live: Live | None = None
    """How it was read, if it is a running one."""
    namespace: str = "default"
    """Where targets are looked up that are given without one."""
    warnings: tuple[str, ...] = ()
    """What makes the reading of a running cluster less than complete."""

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
        return Inspection.of(found, self._origin("inspect", chosen.arguments))

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
        found = Simulation.of(document, self._origin("simulate", chosen.arguments))
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
        return Diagnosis.of(
            with_places(found, self.paths), self._origin("explain", chosen.arguments)
        )

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
        return Diagnosis.of(places, self._origin("explain", chosen.arguments))

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
        return Capacity.of(found, self._origin("capacity", chosen.arguments))

    def scale_up(  # noqa: PLR0913 - options are keywords
        self,
        *targets: str,
        pools: Source | Iterable[Source] = (),
        objective: str | None = None,
        keep_rollouts: bool = True,
        seeds: int = 6,
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
        tie `seeds`; with `keep_rollouts` no rollout may get stuck by them that completes today.
        """
        from planner.api.node_plan import OBJECTIVES, NodePlan, pool_input_of
        from planner.api.profiles import default_scheduler
        from planner.documents.node_plan import node_plan
        from planner.pools import ScaleUpOptions, objective_of, offers_of, scale_up, unit_of

        require_time(time_limit)
        require_at_least("seeds", seeds, 1)
        require_nodes(self.snapshot)
        read = pool_input_of(pools, self.snapshot.nodes)
        given = read.pools
        asked = None if objective is None else one_of("objective", objective, OBJECTIVES)
        saved = objective_of(given, cast("Objective | None", asked))
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        chosen = self._selection("scale-up", targets, namespace, all_namespaces, selector)
        options = ScaleUpOptions(seeds=seeds, keep_rollouts=keep_rollouts, time_limit=time_limit)
        found = scale_up(self.snapshot, chosen.pods, offers_of(given, saved), profile, options)
        plan = node_plan(found, saved, unit_of(given, saved), read.notices)
        return NodePlan.of(plan, self._origin("scale-up", chosen.arguments))

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
        scaled = replicas_of(snapshot, scale, namespace or self.namespace)
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
        origin = self._origin("whatif", () if namespace is None else ("-n", namespace))
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

    def dump(
        self,
        path: str | os.PathLike[str],
        *,
        anonymous: bool = False,
        names: str | None = None,
    ) -> DumpReport:
        """What planner reads of the objects, as a file that only its owner may read.

        It needs a cluster that was loaded with `keep_objects=True`. An `anonymous` one is for
        others: all names become numbers in their order, and the result is checked to behave like
        the cluster and to tell none of them. `names` is a file for the way back: `translate`.
        """
        from planner.api.dump import write_dump

        return write_dump(self, path, anonymous, names)

    def ages(self) -> tuple[str, ...]:
        """How old the dumps are that the cluster was read from, a sentence for each."""
        if not self.inventory.origins:
            return ()
        from planner.report.text.ages import ages

        return ages(self.inventory.origins, time.time())

    def _on(self, snapshot: Snapshot) -> Cluster:
        return replace(self, snapshot=snapshot)

    def _selection(
        self,
        command: str,
        targets: Sequence[str],
        namespace: str | None,
        all_namespaces: bool,
        selector: str | LabelSelector | None,
    ) -> Selection:
        from planner.api.selection import selection_of

        return selection_of(
            self.snapshot,
            command,
            targets,
            namespace,
            all_namespaces,
            selector,
            default=self.namespace,
        )

    def _require_budgets(self, command: str) -> None:
        require_budgets(() if self.source is None else self.source.not_read, command)

    def _origin(self, command: str, part: tuple[str, ...]) -> Origin:
        """Where an answer comes from; `part` are the words that choose what it is about."""
        return Origin(
            f"planner {command}",
            self.paths,
            self.snapshot,
            given=Given(
                input_arguments(self.paths, self.example, self.live),
                part,
                namespace=self.namespace,
            ),
            source=self.source,
        )
