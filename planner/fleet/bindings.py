"""What earlier decisions mean now, as Fleet classifies bindings at the start of a cycle.

- *current*: made under the snapshot in force, bound (rolled out) or scheduled (about to be). They
  stay, even if the cluster would not be picked any more.
- *obsolete*: made under another snapshot. Their clusters are picked anew or given up.
- *dangling*: the cluster has left or is leaving. They are given up at once.
- *unscheduled*: given up already; they are revived if their cluster is picked again.
- *deleting*: gone in a moment.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.fleet.policy_snapshot import snapshot_in_force
from planner_models.fleet import Placement
from planner_models.fleet_binding import Binding, PolicySnapshot
from planner_models.member_cluster import MemberCluster

_INDEX = re.compile(r"-(\d+)$")


@dataclass(frozen=True)
class Bindings:
    """The bindings of one placement, each in one class, in the order of their names.

    `snapshot` is the policy snapshot in force; `assumed` says that the input has none.
    """

    bound: tuple[Binding, ...] = ()
    scheduled: tuple[Binding, ...] = ()
    obsolete: tuple[Binding, ...] = ()
    dangling: tuple[Binding, ...] = ()
    unscheduled: tuple[Binding, ...] = ()
    deleting: tuple[Binding, ...] = ()
    snapshot: str = ""
    assumed: bool = False

    @property
    def every(self) -> tuple[Binding, ...]:
        """All of them."""
        return tuple(each for name in CLASSES for each in getattr(self, name))

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
        """The same after the cluster's bindings have been evicted."""
        kept = {
            name: tuple(b for b in getattr(self, name) if b.spec.target_cluster != cluster)
            for name in CLASSES
        }
        return Bindings(**kept, snapshot=self.snapshot, assumed=self.assumed)


CLASSES = ("bound", "scheduled", "obsolete", "dangling", "unscheduled", "deleting")


def classify(
    placement: Placement,
    bindings: Iterable[Binding],
    snapshots: Iterable[PolicySnapshot],
    clusters: Iterable[MemberCluster],
) -> Bindings:
    """The bindings of a placement, classified against its policy and the fleet."""
    members = {cluster.name: cluster for cluster in clusters}
    own = _sorted(binding for binding in bindings if belongs(binding, placement))
    stored = [each for each in snapshots if belongs(each, placement)]
    assumed = bool(own) and not stored
    snapshot = _newest_named(own) if assumed else snapshot_in_force(placement, stored)
    fixed = placement.policy.placement_type == "PickFixed"
    named = placement.policy.cluster_names if fixed and assumed else None
    found: dict[str, list[Binding]] = {name: [] for name in CLASSES}
    for binding in own:
        found[_class_of(binding, members, snapshot, named)].append(binding)
    classes = {name: tuple(each) for name, each in found.items()}
    return Bindings(**classes, snapshot=snapshot, assumed=assumed)


def belongs(item: Binding | PolicySnapshot, placement: Placement) -> bool:
    """By the label alone, as for Fleet."""
    return item.namespace == placement.namespace and item.parent == placement.name


def _class_of(
    binding: Binding,
    members: dict[str, MemberCluster],
    snapshot: str,
    named: Collection[str] | None,
) -> str:
    """In the order in which Fleet asks.

    Where the snapshot is assumed, PickFixed tells more: it picks none but the `named` clusters.
    """
    target = binding.spec.target_cluster
    if binding.metadata.deletion_timestamp is not None:
        return "deleting"
    if binding.spec.state == "Unscheduled":
        return "unscheduled"
    if target not in members or members[target].leaving:
        return "dangling"
    if binding.spec.scheduling_policy_snapshot_name != snapshot:
        return "obsolete"
    if named is not None and target not in named:
        return "obsolete"
    return binding.spec.state.lower()


def _newest_named(own: Sequence[Binding]) -> str:
    """Where the input lacks snapshots: the newest one that a binding names."""
    return max((each.spec.scheduling_policy_snapshot_name for each in own), key=_snapshot_order)


def _snapshot_order(name: str) -> tuple[int, str]:
    found = _INDEX.search(name)
    return (int(found[1]) if found else -1, name)


def _targets(bindings: Iterable[Binding]) -> Iterable[str]:
    return (binding.spec.target_cluster for binding in bindings)


def _sorted(bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    return tuple(sorted(bindings, key=lambda b: b.name))
