"""Which pods can change the scheduler's mind about a group, apart from the room that they take up.

Besides NodeResourcesFit there are other plugins that look at other pods, but each group's rules are
about few of them. All else may change without a second look at the group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from planner.cluster import Cluster
from planner.cluster.groups import PodGroup
from planner.cluster.spread import effective_selector
from planner.scheduler.framework.default_selector import default_selector
from planner.scheduler.profile import Profile
from planner_models.affinity import PodAffinityTerm
from planner_models.selectors import LabelSelector


class Relevance:
    """`of(g)`: the groups whose pods matter to where a pod of group g may go."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self._cluster = cluster
        defaults = profile.resolved.args.pod_topology_spread.effective_constraints
        self._hard_defaults = any(constraint.hard for constraint in defaults)
        self._exclusive = [g.index for g in cluster.groups if g.spec.exclusive_on_node]
        self._with_volumes = [g.index for g in cluster.groups if _has_storage(g)]
        self.rivals: dict[int, tuple[list[int], ...]] = {
            group.index: tuple(self._about(term, group) for term in terms)
            for group in cluster.groups
            if (terms := group.spec.affinity.pod_anti_affinity.required)
        }
        """For each group with required anti-affinity, the groups that each term is about."""
        self._avoided_by: dict[int, set[int]] = defaultdict(set)
        for carrier, rivals in self.rivals.items():
            for other in chain.from_iterable(rivals):
                self._avoided_by[other].add(carrier)
        self._found: dict[int, frozenset[int]] = {}

    def of(self, group: int) -> frozenset[int]:
        """The groups that matter; the group itself is always one of them."""
        found = self._found.get(group)
        if found is None:
            found = self._found[group] = frozenset(self._look(self._cluster.groups[group]))
        return found

    def entangled(self, group: int) -> bool:
        """Whether rules beyond room and the group's own spread constraints watch other pods."""
        spec = self._cluster.groups[group].spec
        affinity = spec.affinity
        return bool(
            affinity.pod_affinity.required
            or affinity.pod_anti_affinity.required
            or self._avoided_by.get(group)
            or spec.exclusive_on_node
            or _has_storage(self._cluster.groups[group])
            or (self._hard_defaults and not spec.topology_spread_constraints)
        )

    def _about(self, term: PodAffinityTerm, carrier: PodGroup) -> list[int]:
        """The groups that a pod affinity term of a group is about."""
        about: list[int] = self._cluster.groups_about(term, carrier.namespace).tolist()
        return about

    def _look(self, group: PodGroup) -> Iterator[int]:
        yield group.index
        for term in group.spec.affinity.pod_affinity.required:
            yield from self._about(term, group)
        yield from chain.from_iterable(self.rivals.get(group.index, ()))
        yield from self._avoided_by.get(group.index, ())
        for selector in self._spread_selectors(group):
            yield from self._cluster.group_index.matching(selector, (group.namespace,)).tolist()
        if group.spec.exclusive_on_node:
            yield from self._exclusive
        if _has_storage(group):
            yield from self._with_volumes

    def _spread_selectors(self, group: PodGroup) -> Iterator[LabelSelector | None]:
        own = group.spec.topology_spread_constraints
        for constraint in own:
            if constraint.hard:
                yield effective_selector(constraint, group)
        if not own and self._hard_defaults:
            yield default_selector(self._cluster, group)


def _has_storage(group: PodGroup) -> bool:
    """Whether a volume plugin has a say: claims and disks, but neither config maps nor scratch."""
    return any(
        source is not None
        for volume in group.volumes
        for source in (
            volume.persistent_volume_claim,
            volume.ephemeral,
            volume.gce_persistent_disk,
            volume.aws_elastic_block_store,
            volume.iscsi,
            volume.rbd,
        )
    )
