"""Targets as kubectl takes them: `deploy/web pod/x`, `deploy web api`, `deploy`, `web-1`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.api.kinds import OTHERS, kind_of
from planner.errors import UsageError

EXAMPLES = "pod/web-1, deploy/web, sts/db"


@dataclass(frozen=True)
class Target:
    """Objects of one kind: the one of this name, or all if there is none.

    A kind that planner does not know is that of a custom resource which may own pods, in lower
    case. `bare` is a name that came without a kind, and so is a pod's.
    """

    kind: str
    name: str | None
    bare: bool = False


def targets_of(words: Sequence[str], command: str) -> tuple[Target, ...]:
    """What the words name; a kind by itself goes with the names that follow it."""
    if not words:
        return ()
    first, *names = words
    if "/" in first or kind_of(first) is None:
        return tuple(_target(word, command) for word in words)
    kind = _owner_or_pod(first, first, command)
    for name in names:
        if "/" in name:
            raise UsageError(
                f'"{first} {name}" mixes kubectl\'s two forms',
                help=f"{command} {first} NAME ..., or {command} {name} ...",
            )
    return tuple(Target(kind, name) for name in names) or (Target(kind, None),)


def _target(word: str, command: str) -> Target:
    kind, slash, name = word.rpartition("/")
    if not slash:
        return Target("Pod", word, bare=True)
    return Target(_owner_or_pod(kind, word, command), name)


def _owner_or_pod(word: str, given: str, command: str) -> str:
    kind = kind_of(word)
    if kind is None:
        return word.partition(".")[0].lower()
    if kind in OTHERS and kind != "Service":
        raise UsageError(
            f"{given} is a {kind}; {command} takes pods and their owners", help=EXAMPLES
        )
    return kind
