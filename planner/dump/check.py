"""What has to hold before an anonymous dump is written: it behaves alike, and it tells no name.

Both checks look at the result alone, and share nothing with what renamed it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.cluster import Cluster
from planner.cluster.owners import WorkloadRef
from planner.disruption.movability import Movability
from planner.dump.kinds_of_names import CHOICES, KEY_DOMAINS, KEY_WORDS, WORDS
from planner.dump.object_shapes import SHAPES
from planner.dump.prune import Item
from planner.dump.shapes import ByName, Each, Fields, Shape
from planner.errors import PlannerError
from planner.replay import violations
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sources.kinds import KINDS

_BUG = "nothing was written; this is a bug of planner: please report"
_TOKENS = re.compile(r"[A-Za-z0-9]+")
_NO_NAME = re.compile(r"\d*\.?\d*[a-zA-Z]{0,2}", re.ASCII)
"""Numbers, quantities, and what is too short to tell anything."""


@dataclass(frozen=True)
class Checked:
    """What was compared: rules that running pods break, and pods that wait."""

    broken: int
    waiting: int


def check_alike(before: Cluster, after: Cluster) -> Checked:
    """The same groups, the same broken rules, and the same end of all pending pods.

    Order is kept, so that the n-th pod of one is the n-th of the other: indexes are compared.
    """
    broken = {(each.rule, each.group, each.index) for each in violations(before, default_profile())}
    for what, one, other in zip(_COMPARED, _behaviour(before), _behaviour(after), strict=True):
        if one != other:
            raise PlannerError(
                f"the anonymous copy would not behave like the cluster: {what} differ",
                help=f"{_BUG} it with planner's version",
            )
    return Checked(len(broken), len(before.pending))


_COMPARED = (
    "nodes",
    "the places of pods",
    "groups of equal pods",
    "workloads",
    "requests",
    "pods that may be evicted",
    "broken rules",
    "what becomes of pending pods",
)


def _behaviour(cluster: Cluster) -> Iterator[Any]:
    yield cluster.resources.allocatable.tolist(), cluster.arrival.tolist()
    yield cluster.node_of.tolist()
    yield cluster.group_of.tolist()
    number: dict[WorkloadRef, int] = {}
    yield [number.setdefault(each, len(number)) for each in cluster.workloads]
    yield cluster.resources.requests.tolist()
    movability = Movability(cluster)
    stays = (movability.why(pod) for pod in cluster.running.tolist())
    yield [None if stay is None else stay.kind for stay in stays]
    yield [
        (each.rule, each.group, each.index, each.count, each.allowed, each.pods)
        for each in violations(cluster, default_profile())
    ]
    run = simulate(cluster)
    yield (
        [(each.pod, each.outcome, each.node, each.feasible, each.tied) for each in run.results],
        [(each.pod, each.reason) for each in run.aside],
    )


def check_no_name(items: Iterable[Item], originals: Collection[str]) -> None:
    """None of the original names stands anywhere in the objects, nor as a part of anything.

    The words of the API are no names, though somebody may have called a label so.
    """
    names = {name for name in originals if not _NO_NAME.fullmatch(name)} - _api_words()
    passed: set[str] = set()
    for item in items:
        for path, text in _texts(msgspec.json.decode(item.text), ()):
            if text in passed:
                continue
            passed.add(text)
            for name in _runs(text):
                if name in names:
                    raise PlannerError(
                        f'"{name}" is still in the result ({item.kind} {".".join(path)})',
                        help=f"{_BUG} the field",
                    )


def _api_words() -> set[str]:
    """Names of fields and kinds, words that stay, and all their parts."""
    words = {*WORDS, *CHOICES, *KEY_WORDS, *KEY_DOMAINS, *SHAPES, *_fields(SHAPES.values())}
    words.update(f"{group}/v1" for group, _ in KINDS)
    return {part for word in words for part in _runs(word)}


def _fields(shapes: Iterable[Shape]) -> Iterator[str]:
    for shape in shapes:
        match shape:
            case Fields():
                yield from shape.shapes
                yield from _fields(shape.shapes.values())
            case Each() | ByName():
                yield from _fields((shape.shape,))
            case _:
                pass


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of an object, keys included, and where it stands."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield path, key
            yield from _texts(each, (*path, key))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, path)


def _runs(text: str) -> Iterator[str]:
    """The text, and every run of its parts: `acme-prod` in `db.acme-prod.io`."""
    yield text
    places: Sequence[re.Match[str]] = list(_TOKENS.finditer(text))
    for start in range(len(places)):
        for end in range(start, len(places)):
            yield text[places[start].start() : places[end].end()]
