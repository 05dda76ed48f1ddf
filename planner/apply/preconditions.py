"""Is the plan still true? Pod by pod, and then by trying what is left of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from planner.apply.course import Course, CourseWave, Departure
from planner.apply.replay_rest import Replayed, replay_rest, without_our_cordons
from planner.apply.scaled_down import ScaledDown
from planner.apply.unmade_pods import lacking, with_unmade_pods
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.budgets import allowances
from planner.disruption.movability import Movability
from planner.documents.plan_id import fingerprint
from planner.drain.leaving import leaving_pods
from planner.drain.options import DrainOptions
from planner.scheduler.profile import Profile

GONE = "is gone"
NOT_NOW = "does not allow it now"
"""How `disruption.budgets` says that a budget is used up."""


@dataclass(frozen=True)
class Verdict:
    """Whether what is left can be carried out, in how many seeds, and what has changed.

    `for_now`: only budgets stand in the way, which may let pods go when others are ready again.
    `lacking`: controllers that want more pods than they have, where these would make a difference.
    """

    seeds: int
    holds: int
    reasons: tuple[str, ...] = ()
    for_now: bool = False
    lacking: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What has changed, in a line."""
        return "; ".join(self.reasons)

    @property
    def good(self) -> bool:
        """Nothing has changed that matters."""
        return not self.reasons and self.holds == self.seeds


class Preconditions:
    """Judges the rest of one course again and again; equal states are judged once."""

    def __init__(self, course: Course, profile: Profile) -> None:
        self._course = course
        self._profile = profile
        self._known: dict[tuple[object, ...], Verdict] = {}
        if course.state is not None and course.converges:
            key = (
                course.state,
                tuple(wave.number for wave in course.waves),
                frozenset[str](),
                False,
            )
            self._known[key] = Verdict(course.seeds, course.seeds)

    def judge(
        self,
        rest: Sequence[CourseWave],
        cluster: Cluster,
        held: Collection[str] = (),
        most_excess: int | None = None,
        *,
        under_way: bool = False,
    ) -> Verdict:
        """Whether these waves can be carried out; `held` are nodes that we keep cordoned.

        With the first of them `under_way` some pods are missing for a while, which budgets and
        StatefulSets mind: that is left to the API server, and only the end counts.
        """
        reasons = tuple(self._changes(rest, cluster, under_way=under_way))
        if reasons:
            for_now = all(each.endswith(NOT_NOW) for each in reasons)
            return Verdict(self._course.seeds, 0, reasons, for_now)
        key = (*self._key(rest, cluster, held), under_way)
        if key not in self._known or most_excess is not None:
            self._known[key] = (
                self._tried_under_way(rest, cluster, held)
                if under_way
                else self._tried(rest, cluster, held, most_excess)
            )
        return self._known[key]

    def _tried_under_way(
        self, rest: Sequence[CourseWave], cluster: Cluster, held: Collection[str]
    ) -> Verdict:
        """When those that were evicted have ended, and others are made in their place."""
        ours = {each.uid for each in self._course.departures}
        ending = [i for i, pod in enumerate(cluster.pods) if pod.terminating and pod.uid in ours]
        then = with_unmade_pods(cluster.without(ending) if ending else cluster)
        return _verdict(replay_rest(self._course, rest, then, self._profile, held, budgets=False))

    def _tried(
        self,
        rest: Sequence[CourseWave],
        cluster: Cluster,
        held: Collection[str],
        most_excess: int | None,
    ) -> Verdict:
        """As the cluster is, and where controllers lack pods, with these as well."""
        course, profile = self._course, self._profile
        tried = replay_rest(course, rest, cluster, profile, held, most_excess)
        more = with_unmade_pods(cluster)
        lacks = lacking(cluster, more)
        if lacks and tried.good:
            then = replay_rest(course, rest, more, profile, held, most_excess)
            lacks = () if then.good else lacks
        return _verdict(tried, lacks)

    def _key(
        self, rest: Sequence[CourseWave], cluster: Cluster, held: Collection[str]
    ) -> tuple[object, ...]:
        state = fingerprint(without_our_cordons(cluster, self._course.plan_id))
        left = tuple(wave.number for wave in rest)
        whole = all(wave in self._course.waves for wave in rest)
        return (state, left if whole else tuple(rest), frozenset(held))

    def _changes(
        self, rest: Sequence[CourseWave], cluster: Cluster, *, under_way: bool
    ) -> Iterator[str]:
        now = without_our_cordons(cluster, self._course.plan_id)
        movability = Movability(now, self._course.policy)
        scaled = ScaledDown(self._course, rest, now, self._profile)
        yield from scaled.lines()
        for wave in rest:
            for name in (*wave.cordon, *wave.drain):
                if name not in now.node_index:
                    yield f"node {name} is gone"
            for each in wave.departures:
                changed = self._changed(each, now, None if under_way else movability)
                if changed is not None and not (changed == GONE and scaled.explains(each)):
                    yield f"{each.name} {changed}"
        if self._course.command == "drain" and not self._course.selected:
            yield from self._came_to_drained_nodes(now)

    def _changed(
        self, each: Departure, cluster: Cluster, movability: Movability | None
    ) -> str | None:
        index = cluster.pod_index.get(each.pod)
        if index is None:
            return GONE
        pod, node = cluster.pods[index], int(cluster.node_of[index])
        if pod.uid != each.uid:
            return "was made anew since"
        if node < 0 or cluster.nodes[node].name != each.node:
            return f"is not on {each.node} any more"
        stays = None if movability is None else movability.why(index)
        if stays is not None:
            return f"may not be evicted: {stays.text}"
        threshold = self._course.priority_threshold
        if threshold is not None and pod.priority >= threshold:
            return f"may not be evicted: its priority {pod.priority} is not below {threshold}"
        if pod.owner is not None:
            ref = WorkloadRef(pod.namespace, pod.owner.kind, pod.owner.name)
            trusted = {kind.lower() for kind in self._course.policy.owners}
            known = ref in cluster.owners.controllers or ref.kind.lower() in trusted
            return None if known else f"lost its controller, {ref.kind} {ref.name}"
        return None

    def _came_to_drained_nodes(self, cluster: Cluster) -> Iterator[str]:
        """Pods that have to leave as well, and that nobody planned for."""
        nodes = [cluster.node_index[n] for n in self._course.nodes if n in cluster.node_index]
        policy = self._course.policy
        options = DrainOptions(
            tuple(nodes),
            force=policy.bare_pods,
            delete_emptydir_data=policy.local_storage,
            owners=policy.owners,
        )
        found = leaving_pods(cluster, options, allowances(cluster, self._course.max_unavailable))
        planned = {each.uid for each in self._course.departures}
        for pod in (*found.going, *found.lost, *found.kept):
            if cluster.pods[pod].uid not in planned:
                node = cluster.nodes[int(cluster.node_of[pod])].name
                yield f"{cluster.pods[pod].name} came to {node}, which is to be emptied"


def _verdict(tried: Replayed, lacks: tuple[str, ...] = ()) -> Verdict:
    failed = f"in {tried.seeds - tried.holds} of {tried.seeds} seeds {tried.why}"
    return Verdict(tried.seeds, tried.holds, () if tried.good else (failed,), tried.refused, lacks)
