"""A finding: what is wrong with an object, where, how it is known, and what helps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner.sources.inventory import Inventory
from planner.sources.locations import ObjectName
from planner_models.check import ProofKind, Severity


@dataclass(frozen=True)
class Proof:
    """How a finding is known; `seen` of `seeds` simulations had it."""

    kind: ProofKind
    seeds: int = 0
    seen: int = 0
    reached: int | None = None
    states: int | None = None


@dataclass(frozen=True)
class Fix:
    """A change that was tried on a copy; `then` says what happened, `helps` whether it did.

    `where` is the domain in which it was made, if it may as well be made in others.
    """

    text: str
    then: str = ""
    restarts: int = 0
    helps: bool = True
    where: str = ""


Change = Callable[[Inventory], Inventory]
"""The input with a field changed."""


@dataclass(frozen=True)
class Idea:
    """A change that should help; it becomes a fix if the finding is gone once it is applied.

    `then` says what happens then, to be asked of the changed subject where it is a function. One
    that people try, and that did not help, is worth `naming_in_vain`.
    """

    text: str
    change: Change
    then: str | Callable[[Any], str] = ""
    restarts: int = 0
    naming_in_vain: bool = False
    if_nothing_else: bool = False
    """More than is needed where an earlier idea helps."""
    where: str = ""
    """The domain in which the change is made; the same elsewhere is another idea."""
    works: Callable[[Any], bool] | None = None
    """Whether it helps in the changed subject, where that is known without asking the rule."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; `field` stands in the first of the objects.

    `ideas` are still to be tried, `fixes` were.
    """

    rule: str
    severity: Severity
    objects: tuple[ObjectName, ...]
    field: str
    title: str
    proof: Proof
    text: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    facts: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)
    fixes: tuple[Fix, ...] = ()
    ideas: tuple[Idea, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The same for the same finding in another run: rule, objects and field."""
        return ":".join((self.rule, ",".join(map(str, self.objects)), self.field))


READ = Proof("read")
COUNTED = Proof("counted")
API = Proof("api")
