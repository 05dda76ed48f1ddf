"""What earlier decisions mean now, as Fleet classifies bindings at the start of a cycle.

- *current*: made under the latest policy, bound (rolled out) or scheduled (about to be). They stay,
  even if the cluster would not be picked any more.
- *obsolete*: made under an earlier policy. Their clusters are picked anew or given up.
- *dangling*: the cluster has left or is leaving. They are given up at once.
- *unscheduled*, *deleting*: given up already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner_models.fleet import Placement, PlacementPolicy
from planner_models.fleet_binding import Binding, PolicySnapshot
from planner_models.member_cluster import MemberCluster

_INDEX = re.compile(r"-(\d+)$")


@dataclass(frozen=True)
class Bindings:
    """The bindings of one placement, each in one class, in the order of their clusters' names."""

    bound: tuple[Binding, ...] = ()
    scheduled: tuple[Binding, ...] = ()
    obsolete: tuple[Binding, ...] = ()
    dangling: tuple[Binding, ...] = ()
    unscheduled: tuple[Binding, ...] = ()
    deleting: tuple[Binding, ...] = ()

    @cached_property
    def current(self) -> frozenset[str]:
        """Clusters that count as picked."""
        return frozenset(_targets((*self.bound, *self.scheduled)))

    @cached_property
    def former(self) -> frozenset[str]:
        """Clusters that an earlier policy picked and this one may pick again."""
        return frozenset(_targets(self.obsolete)) - self.current

    @property
    def existing(self) -> frozenset[str]:
        """Clusters where the resources are now, and could stay."""
        return self.current | self.former

    def under_another_policy(self) -> Bindings:
        """The same after a change of the policy, which makes all of them obsolete."""
        return Bindings(
            obsolete=_sorted((*self.bound, *self.scheduled, *self.obsolete)),
            dangling=self.dangling,
            unscheduled=self.unscheduled,
            deleting=self.deleting,
        )

    def without(self, cluster: str) -> Bindings:
        """The same after the cluster's binding has been evicted."""
        return Bindings(
            **{
                name: tuple(b for b in getattr(self, name) if b.spec.target_cluster != cluster)
                for name in self.__dataclass_fields__
            }
        )


def classify(
    placement: Placement,
    bindings: Iterable[Binding],
    snapshots: Iterable[PolicySnapshot],
    clusters: Iterable[MemberCluster],
) -> Bindings:
    """The bindings of a placement, classified against its policy and the fleet."""
    members = {cluster.name: cluster for cluster in clusters}
    own = _sorted(binding for binding in bindings if belongs(binding, placement))
    latest = _latest_policy(placement, own, snapshots)
    found: dict[str, list[Binding]] = {name: [] for name in Bindings.__dataclass_fields__}
    for binding in own:
        found[_class_of(binding, placement, members, latest)].append(binding)
    return Bindings(**{name: tuple(each) for name, each in found.items()})


def belongs(item: Binding | PolicySnapshot, placement: Placement) -> bool:
    """By Fleet's label or, where somebody left it out, by the name that Fleet would give it."""
    if item.namespace != placement.namespace:
        return False
    if item.parent:
        return item.parent == placement.name
    return item.name.startswith(f"{placement.name}-")


def _class_of(
    binding: Binding,
    placement: Placement,
    members: dict[str, MemberCluster],
    latest: str | None,
) -> str:
    """In the order in which Fleet asks."""
    target = binding.spec.target_cluster
    if binding.metadata.deletion_timestamp is not None:
        return "deleting"
    if binding.spec.state == "Unscheduled":
        return "unscheduled"
    if target not in members or members[target].leaving:
        return "dangling"
    if latest is not None and binding.spec.scheduling_policy_snapshot_name != latest:
        return "obsolete"
    policy = placement.policy
    if policy.placement_type == "PickFixed" and target not in policy.cluster_names:
        return "obsolete"
    return binding.spec.state.lower()


def _latest_policy(
    placement: Placement, own: Sequence[Binding], snapshots: Iterable[PolicySnapshot]
) -> str | None:
    """The name of the policy snapshot that is up to date; None if nothing tells it.

    A snapshot in the input counts only if it is still what the placement says: otherwise Fleet
    will make another one, and every binding is obsolete. Without snapshots, the newest one that a
    binding names is taken for the latest.
    """
    stored = [each for each in snapshots if belongs(each, placement) and each.latest]
    if stored:
        kept = stored[-1].spec.policy or PlacementPolicy()
        same = kept.rules.model_dump() == placement.policy.rules.model_dump()
        return stored[-1].name if same else ""
    named = {binding.spec.scheduling_policy_snapshot_name for binding in own} - {""}
    return max(named, key=_snapshot_order) if named else None


def _snapshot_order(name: str) -> tuple[int, str]:
    found = _INDEX.search(name)
    return (int(found[1]) if found else -1, name)


def _targets(bindings: Iterable[Binding]) -> Iterable[str]:
    return (binding.spec.target_cluster for binding in bindings)


def _sorted(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    return tuple(sorted(bindings, key=lambda b: (b.spec.target_cluster, b.name)))
