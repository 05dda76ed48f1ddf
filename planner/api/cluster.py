"""A cluster as a Python program sees it: ask, and get a document that shows itself.

Every method imports what it needs when it is called: whoever only inspects never waits for the
solver. Pods, workloads and nodes are given by their names, options as keywords. Every question may
be about a part of the pods: targets, `namespace`, `all_namespaces` and `selector` mean the same
everywhere (`planner.api.selection`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from planner.api.arguments import require_at_least, words
from planner.api.explanations import Explanations
from planner.api.growth import Growth
from planner.api.names import find_node, require_nodes
from planner.api.plans import Plans
from planner.errors import UsageError

if TYPE_CHECKING:
    from planner.api.dump import DumpReport
    from planner.api.inspection import Inspection
    from planner.api.load import Source
    from planner.api.profiles import Configuration
    from planner.api.simulation import Simulation
    from planner.api.sweep import Sweep
    from planner.api.whatif import WhatIf
    from planner.solver.progress import Progress
    from planner.workers import Workers
    from planner_models.selectors import LabelSelector
    from planner_models.sweep_grid import SweepGrid


@dataclass(frozen=True, eq=False, repr=False)
class Cluster(Explanations, Growth, Plans):
    """Nodes, pods and workloads as they were read; `planner.load` makes it.

    `scheduler` is a KubeSchedulerConfiguration or its file wherever it is taken; without it, the
    one in the input counts, and then kube-scheduler's defaults. `ignored_plugins` are plugins of
    the configuration to go on without, though planner can't model them.
    """

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
        jobs: int | Workers | None = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> WhatIf:
        """What happens by itself after changes and failures.

        `lose` names nodes that fail together: `node-1`, `zone/eu-1a`, `pool=spot`. They stop
        answering (`manner="unreachable"`), or are removed, too. `each` tries every `zone`, `node`
        or domain of another key alone, and with `pairs` every two of them at once.

        Before that manifests are applied, workloads scaled (`deploy/web=6`, in `namespace`), nodes
        like those of files added (`node.yaml=3`), nodes cordoned; and kube-scheduler acts on it,
        where `preempt` lets lower priorities give way.

        `jobs` processes, or workers of `planner.start_workers`, try failures and seeds side by
        side, with the same result; `progress` is told how far that is.
        """
        from planner.api.jobs import workers_for
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
        from planner.solver.progress import silent
        from planner.whatif import Options, prepare, what_if

        manners = manners_of(manner)
        require_at_least("seeds", seeds, 1)
        require_nodes(self.snapshot)
        profile = default_scheduler(self.inventory, scheduler, ignored_plugins)
        snapshot = self.snapshot
        lost, alone = words("lose", lose), words("each", each)
        scaled = replicas_of(snapshot, words("scale", scale), namespace or self.namespace)
        cordoned = node_indexes(
            nodes_of(snapshot, word, "cordon") for word in words("cordon", cordon)
        )
        changes = (
            *applied(self, apply),
            *(Scale(ref, replicas) for ref, replicas in scaled),
            *added(words("add_nodes", add_nodes)),
            *((Cordon(cordoned),) if cordoned else ()),
        )
        if alone and lost:
            raise UsageError("`lose` and `each` are two questions", help="ask one after the other")
        if pairs and not alone:
            raise UsageError("`pairs` needs `each`: pairs of what?", help="each=['node']")
        if not changes and not lost and not alone:
            raise UsageError("what if nothing happens? Name a change or a failure", help=NOTHING)
        prepared = prepare(snapshot, changes, profile, preempt=preempt)
        options = Options(manners, seeds, shown_key(snapshot), report=progress or silent)
        origin = self._origin("whatif", () if namespace is None else ("-n", namespace))
        if alone:
            losses = [loss for key in alone for loss in every_loss(prepared.cluster(), key)]
            with workers_for(jobs) as workers:
                options = replace(options, workers=workers)
                found_each = each_document(prepared, losses, options, pairs=pairs)
            return WhatIf.of(found_each, origin)
        cluster = prepared.cluster()
        loss = together([nodes_of(cluster, word) for word in lost]) if lost else None
        with workers_for(jobs) as workers:
            found = what_if(prepared, loss, replace(options, workers=workers))
        answer = WhatIf.of(what_if_document(found, file_names(apply)), origin)
        objects = None if self.objects is None else (*self.objects, *raw_documents(apply))
        ended = in_the_end(found.courses[-1].settled)
        answer._after = replace(self, snapshot=ended, objects=objects)
        return answer

    def grid(
        self,
        grid: SweepGrid | str | os.PathLike[str],
        *,
        jobs: int | Workers | None = 1,
        progress: Callable[[Progress], None] | None = None,
    ) -> Sweep:
        """How many pods do not run under each growth and failure of a grid, or of its file."""
        from planner.api.grid import grid_in, try_grid

        require_nodes(self.snapshot)
        asked = grid_in(grid) if isinstance(grid, str | os.PathLike) else grid
        return try_grid(self, asked, jobs, progress)

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
