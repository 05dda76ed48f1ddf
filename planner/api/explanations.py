"""Questions to a cluster about pods that can't run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planner.api.arguments import words
from planner.api.loaded import Loaded
from planner.api.names import require_nodes

if TYPE_CHECKING:
    from planner.api.diagnosis import Diagnosis
    from planner.api.load import Source
    from planner.api.profiles import Configuration
    from planner.scheduler.profile import Profile
    from planner_models.diagnosis import Diagnosis as DiagnosisDocument
    from planner_models.selectors import LabelSelector


class Explanations(Loaded):
    """What a cluster can be asked to explain."""

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
        pools: Source | Iterable[Source] = (),
        scheduler: Configuration = None,
        ignored_plugins: Sequence[str] = (),
    ) -> Diagnosis:
        """Why pods can't run, and the cheapest changes that let them.

        A target is `web-1`, `pod/web-1` or `deploy/web`; several are judged together, and of a
        workload the pods that are pending. `costs` says
        what kinds of change cost (`{"addNode": 5}`). `states` and `cells` limit the search for
        evictions that make room. With `pools`, as for `scale_up`, the advice to add a node says
        which.
        """
        from planner.api.diagnosis import Diagnosis, beside_messages, explain_options
        from planner.api.profiles import filtering_profiles, scheduler_of
        from planner.disruption.movability import MovePolicy
        from planner.documents.nothing_pending import nothing_pending
        from planner.explain.several_pods import explain_pods
        from planner.report.places import with_places

        policy = MovePolicy(
            bare_pods=allow_bare_pods,
            jobs=allow_jobs,
            owners=frozenset(words("allow_owners", allow_owners)),
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
            found = self._with_nodes(found, chosen.asked, pools, profile)
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
        pools: Source | Iterable[Source] = (),
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
            bare_pods=allow_bare_pods,
            jobs=allow_jobs,
            owners=frozenset(words("allow_owners", allow_owners)),
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
        found = self._with_nodes(found, chosen.asked, pools, profiles[0])
        places = with_places(found, () if brief else self.paths)
        return Diagnosis.of(places, self._origin("explain", chosen.arguments))

    def _with_nodes(
        self,
        found: DiagnosisDocument,
        pods: Sequence[int],
        pools: Source | Iterable[Source],
        profile: Profile,
    ) -> DiagnosisDocument:
        """With the cheapest nodes of the pools for these pods, if there are pools."""
        if not pools:
            return found
        from planner.api.node_plan import pool_input_of
        from planner.documents.node_plan import nodes_to_add
        from planner.pools import ScaleUpOptions, objective_of, offers_of, scale_up, unit_of

        given = pool_input_of(pools, self.snapshot.nodes).pools
        saved = objective_of(given, None)
        offers = offers_of(given, saved)
        nodes = scale_up(self.snapshot, pods, offers, profile, ScaleUpOptions())
        told = nodes_to_add(nodes, saved, unit_of(given, saved))
        return found.model_copy(update={"nodes_to_add": told})
