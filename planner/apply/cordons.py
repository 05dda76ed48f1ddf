"""Cordons of our own: set, told from those of others, and lifted again."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from planner.apply.access import node_path
from planner.apply.journal import Journal
from planner.apply.objects import CORDON, cordon, uncordon
from planner.apply.writing import Writer
from planner.sources.live.api import ApiError

ATTEMPTS = 5
"""How often a node is patched that others change at the same time."""


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    unschedulable: bool = False


class _Node(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)

    def mark(self) -> str:
        """`PLANID/WAVE` if planner has cordoned it."""
        return (self.metadata.annotations or {}).get(CORDON, "")


class Cordons:
    """The nodes that one plan has cordoned."""

    def __init__(self, writer: Writer, plan_id: str, journal: Journal) -> None:
        self._writer = writer
        self._plan_id = plan_id
        self._journal = journal
        self.set: set[str] = set()
        """Nodes that we have cordoned and not lifted."""

    def keep(self, names: Iterable[str]) -> None:
        """These are ours from an earlier run."""
        self.set.update(names)

    def cordon(self, names: Iterable[str], wave: int) -> None:
        """Cordon these; a node that somebody else has cordoned is left alone."""
        for name in names:
            if self._patched(name, f"{self._plan_id}/{wave}"):
                self.set.add(name)
                self._journal.write("cordoned", wave=wave, node=name)

    def _patched(self, name: str, mark: str) -> bool:
        path = node_path(name)
        for attempt in range(ATTEMPTS):
            node = self._read(name)
            if node is None:
                return False
            if node.spec.unschedulable:
                return node.mark().startswith(f"{self._plan_id}/")
            try:
                self._writer.patch(path, cordon(node.metadata.resource_version, mark))
            except ApiError as error:
                if error.code != 409 or attempt == ATTEMPTS - 1:
                    raise
                continue
            return True
        return False

    def lift(self, names: Iterable[str]) -> tuple[str, ...]:
        """Take back those of these that are ours; returns which."""
        lifted = tuple(name for name in sorted(names) if self._lifted(name))
        self.set.difference_update(names)
        for name in lifted:
            self._journal.write("lifted", node=name)
        return lifted

    def _lifted(self, name: str) -> bool:
        for attempt in range(ATTEMPTS):
            node = self._read(name)
            if node is None or not node.mark().startswith(f"{self._plan_id}/"):
                return False
            try:
                self._writer.patch(node_path(name), uncordon(node.metadata.resource_version))
            except ApiError as error:
                if error.code != 409 or attempt == ATTEMPTS - 1:
                    raise
                continue
            return True
        return False

    def _read(self, name: str) -> _Node | None:
        try:
            return msgspec.json.decode(self._writer.get(node_path(name)).body, type=_Node)
        except ApiError as error:
            if error.code == 404:
                return None
            raise
