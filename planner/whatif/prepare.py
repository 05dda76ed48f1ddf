"""The cluster that failures happen to: with all changes made, and kube-scheduler done with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from planner.cluster import Cluster
from planner.scenario import Change, Changed, Settled, apply_changes, settle
from planner.scheduler.profile import Profile


@dataclass(frozen=True, eq=False)
class Prepared:
    """Changes that were made, and what comes of them under each seed."""

    changed: Changed
    """With ties broken by name."""
    changes: tuple[Change, ...]
    profile: Profile
    preempt: bool = False
    _settled: dict[int, Settled] = field(default_factory=dict)

    @property
    def given(self) -> Cluster:
        """Before any change."""
        return self.changed.before

    @property
    def rests(self) -> bool:
        """Whether nobody waits and no pod was deleted, so that every seed leads to the same."""
        return not len(self.changed.cluster.pending) and not self.changed.deleted

    def settled(self, seed: int = 0) -> Settled:
        """When kube-scheduler has placed what it can."""
        turn = 0 if self.rests else seed
        if turn not in self._settled:
            if self.rests:
                found = Settled(self.changed, 0, self.changed.cluster, {})
            else:
                changed = self.changed
                if changed.deleted and turn:
                    changed = apply_changes(self.given, self.changes, seed=turn)
                found = settle(changed, self.profile, seed=turn, preempt=self.preempt)
            self._settled[turn] = found
        return self._settled[turn]

    def cluster(self, seed: int = 0) -> Cluster:
        """What failures happen to."""
        return self.settled(seed).cluster

    def over(self, cluster: Cluster) -> Prepared:
        """Another cluster, as it is."""
        plain = Changed(cluster, cluster, cluster)
        return replace(self, changed=plain, changes=(), _settled={})


def prepare(
    cluster: Cluster, changes: Iterable[Change], profile: Profile, *, preempt: bool = False
) -> Prepared:
    """The changes, made in the scenario's order; losses of nodes come later."""
    made = tuple(changes)
    return Prepared(apply_changes(cluster, made), made, profile, preempt)
