"""A new plan for the goals of one that no longer holds."""

from __future__ import annotations

from dataclasses import replace

from planner.apply.course import Course, course_of_drain, course_of_evictions
from planner.apply.replay_rest import groups_about, without_our_cordons
from planner.apply.state import Replanned
from planner.cluster import Cluster
from planner.documents.drain_plan import drain_plan
from planner.documents.eviction_plan import eviction_plan
from planner.drain.find import find_drain
from planner.drain.options import DrainOptions
from planner.evictions.goals import GOALS
from planner.evictions.protection import Protection
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions
from planner.scheduler.profile import Profile
from planner_models.base import Document


def replanned(course: Course, cluster: Cluster, profile: Profile) -> Replanned | None:
    """The same question about the cluster as it is now; None if there is no answer to it.

    What a rebalance wanted is not known from its waves: it is never planned anew.
    """
    now = without_our_cordons(cluster, course.plan_id)
    nodes = tuple(now.node_index[name] for name in course.nodes if name in now.node_index)
    if course.command == "drain":
        drain = find_drain(now, _drain_options(course, nodes), profile)
        if drain.status != "possible":
            return None
        document = drain_plan(drain, helps=False, kubectl=False)
        return _answer(course, document, course_of_drain(document))
    if course.command != "evict":
        return None
    found = eviction_plan(find_evictions(now, _evict_options(course, now, nodes), profile))
    return _answer(course, found, course_of_evictions(found)) if found.evictions else None


def _answer(course: Course, document: Document, made: Course) -> Replanned:
    known = replace(made, plan_id=course.plan_id, source=course.source)
    data = document.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Replanned(known, data)


def _drain_options(course: Course, nodes: tuple[int, ...]) -> DrainOptions:
    return DrainOptions(
        nodes,
        force=course.policy.bare_pods,
        delete_emptydir_data=course.policy.local_storage,
        owners=course.policy.owners,
        max_unavailable=course.max_unavailable,
        seeds=course.seeds,
    )


def _evict_options(course: Course, cluster: Cluster, nodes: tuple[int, ...]) -> EvictOptions:
    about = groups_about(cluster, course.about)
    asked = None
    if about is not None:
        groups = cluster.group_of.tolist()
        asked = frozenset(pod for pod, group in enumerate(groups) if group in about)
    return EvictOptions(
        goals=tuple(goal for goal in GOALS if goal in course.goals and goal != "consolidate"),
        nodes=nodes,
        protection=Protection(course.policy, course.priority_threshold, asked),
        seeds=course.seeds,
        max_unavailable=course.max_unavailable,
    )
