"""What `planner drain` was asked for."""

from __future__ import annotations

from dataclasses import dataclass

from planner.disruption.movability import MovePolicy
from planner.workers import HERE, Workers


@dataclass(frozen=True)
class DrainOptions:
    """The nodes to empty, and the switches that `kubectl drain` has, too.

    `force` evicts pods that nobody makes anew, `delete_emptydir_data` those with such volumes;
    `pods` are the only ones that have to leave, if given. Without `seeds` 20 are tried, fewer where
    so many evictions on so many nodes take too long; `workers` try them, and shapes of rounds,
    side by side.
    """

    nodes: tuple[int, ...]
    force: bool = False
    delete_emptydir_data: bool = False
    pods: frozenset[int] | None = None
    owners: frozenset[str] = frozenset()
    max_unavailable: int | None = None
    seeds: int | None = None
    time_limit: float = 60.0
    workers: Workers = HERE

    @property
    def policy(self) -> MovePolicy:
        """Who may be evicted: whoever `kubectl drain` evicts, unless something else comes back.

        Claims are no obstacle: whether their volumes can follow is for the scheduler to say.
        """
        return MovePolicy(
            bare_pods=self.force,
            local_storage=self.delete_emptydir_data,
            host_path=True,
            volumes=True,
            system_critical=True,
            jobs=True,
            owners=self.owners,
        )
