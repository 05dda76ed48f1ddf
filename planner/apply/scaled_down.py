"""Workloads that want fewer pods than when the plan was made: evictions may repair nothing then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.apply.course import Course, CourseWave, Departure
from planner.apply.replay_rest import Measure
from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.documents.workload_changes import counts_per_domain
from planner.scheduler.profile import Profile
from planner.words import count_of, named_or_counted

WorkloadKey = tuple[str, str]
"""Namespace, and `deploy/web`."""


class ScaledDown:
    """Those whose pods a rest of a plan would evict."""

    def __init__(
        self, course: Course, rest: Sequence[CourseWave], cluster: Cluster, profile: Profile
    ) -> None:
        self._course = course
        self._cluster = cluster
        self._profile = profile
        self._departures = [each for wave in rest for each in wave.departures]
        refs = {(ref.namespace, ref.short): ref for ref in cluster.workloads}
        evicted = {_key(each) for each in self._departures}
        self._found: dict[WorkloadKey, tuple[WorkloadRef, int, int]] = {}
        """With how many pods they want and wanted."""
        for each in (ready for wave in rest for ready in wave.ready):
            key = (each.namespace, each.workload)
            if key not in evicted or key not in refs or each.wants is None:
                continue
            wants = cluster.owners.desired(refs[key])
            if wants is not None and wants < each.wants:
                self._found.setdefault(key, (refs[key], wants, each.wants))

    def explains(self, each: Departure) -> bool:
        """Whether it is no wonder that the pod is gone."""
        return _key(each) in self._found

    def lines(self) -> Iterator[str]:
        """`deploy/web wants 6 pods now and wanted 9; it has 2/2/2. ...`."""
        for key, (ref, wants, wanted) in self._found.items():
            text = f"{ref.short} wants {count_of(wants, 'pod')} now and wanted {wanted}"
            counts = self._counts(key, ref)
            text += f"; it has {counts}." if counts else "."
            there = [
                each.name
                for each in self._departures
                if _key(each) == key and each.pod in self._cluster.pod_index
            ]
            if there and self._repaired(ref):
                text += f" Evicting {named_or_counted(there, 'pod')} would repair nothing."
            yield text

    def _counts(self, key: WorkloadKey, ref: WorkloadRef) -> str:
        """Pods in each domain over which the plan counts them."""
        mine = (w for w in self._course.workloads if (w.namespace, w.workload) == key)
        over = next((w.topology_key for w in mine if w.topology_key), None)
        if over is None:
            return ""
        groups = self._groups(ref)
        topology = self._cluster.topology(over)
        counts = counts_per_domain(self._cluster, topology)[groups].sum(axis=0).tolist()
        return "/".join(map(str, counts))

    def _groups(self, ref: WorkloadRef) -> list[int]:
        return [group for group, each in enumerate(self._cluster.workloads) if each == ref]

    def _repaired(self, ref: WorkloadRef) -> bool:
        """Whether no rule that the plan is about is broken by its pods any more."""
        if self._course.command != "evict":
            return False
        measure = Measure(self._course, self._cluster, self._profile)
        return not measure.breaks(self._groups(ref), self._cluster.node_of)


def _key(each: Departure) -> WorkloadKey:
    return each.namespace, each.workload
