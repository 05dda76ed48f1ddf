"""The steps that a plan is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal["evict", "place", "move", "cordon", "uncordon"]

NOBODY = -1


@dataclass(frozen=True)
class Step:
    """One act; pods and nodes are indexes of the snapshot that the plan starts from.

    `node` is where an evicted pod runs, where a pod goes (place, move), or what is cordoned. A move
    is an eviction whose replacement is placed at once. A `temporary` move is a hop: the pod runs
    there until a later move takes it on.
    """

    action: Action
    pod: int
    node: int
    temporary: bool = False

    @property
    def evicts(self) -> bool:
        """Whether a running pod loses its place."""
        return self.action in ("evict", "move")

    @property
    def lands(self) -> bool:
        """Whether a pod is bound to the node."""
        return self.action in ("place", "move")

    @classmethod
    def evict(cls, pod: int, node: int) -> Step:
        """The pod leaves its node."""
        return cls("evict", pod, node)

    @classmethod
    def place(cls, pod: int, node: int) -> Step:
        """A waiting pod is bound to the node."""
        return cls("place", pod, node)

    @classmethod
    def move(cls, pod: int, node: int) -> Step:
        """The pod is evicted, and its replacement bound to the node."""
        return cls("move", pod, node)

    @classmethod
    def hop(cls, pod: int, node: int) -> Step:
        """The pod is moved to a node on which it stays only until its own place is free."""
        return cls("move", pod, node, temporary=True)

    @classmethod
    def cordon(cls, node: int) -> Step:
        """The node takes no new pods until it is uncordoned."""
        return cls("cordon", NOBODY, node)

    @classmethod
    def uncordon(cls, node: int) -> Step:
        """The node takes pods again."""
        return cls("uncordon", NOBODY, node)
