"""The policy of `planner run`: read from a file, checked, and kept while a new one is broken.

What knows clusters is imported where a policy needs it: the process that waits between rounds
stays small.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planner.errors import PlannerError
from planner.sources.errors import SourceError
from planner.sources.load import load_paths
from planner_models.run_policy import Mode, Protect, RunLimits, RunPolicy

if TYPE_CHECKING:
    from planner.evictions.under_policy import AnyPolicy
    from planner_models.descheduler_policy import DeschedulerPolicy

KINDS = "apiVersion: planner/v1, kind: RunPolicy; or a DeschedulerPolicy"


@dataclass(frozen=True)
class Overrides:
    """What the command line says in place of the file: a DeschedulerPolicy has none of it."""

    mode: Mode | None = None
    cordons: bool = False
    ignored_strategies: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadPolicy:
    """A policy as it counts; `unused` says what of a DeschedulerPolicy has no effect."""

    policy: RunPolicy
    text: bytes
    """The file as it was: what plans are made under, also while a new one is broken."""
    digest: str
    """Changes with the policy: what waits for a change of it waits for this."""
    unused: tuple[str, ...] = ()


def policy_in(file: str | os.PathLike[str], ignored: Collection[str] = ()) -> AnyPolicy:
    """The RunPolicy or the DeschedulerPolicy of a file."""
    name = os.fspath(file)
    if not Path(name).is_file():
        raise SourceError(f"can't read {name}: there is no such file", help=KINDS)
    inventory = load_paths([name])
    found: tuple[AnyPolicy, ...] = (*inventory.run_policies, *inventory.descheduler_policies)
    if len(found) != 1:
        what = "no policy" if not found else f"{len(found)} policies"
        raise SourceError(f"{name} holds {what}", help=KINDS)
    _check(found[0], name, ignored)
    return found[0]


def _check(policy: AnyPolicy, file: str, ignored: Collection[str]) -> None:
    """What can only be known with the rest of planner at hand."""
    if isinstance(policy, RunPolicy):
        if policy.protect.pod_selector:
            _check_selector(policy.protect.pod_selector, file)
        return
    from planner.descheduler import as_goals

    try:
        goals = as_goals.goals_of(policy, ignored)
    except as_goals.NoGoalError as error:
        raise SourceError(
            str(error),
            file=file,
            object="DeschedulerPolicy",
            help=f"`ignored_strategies={error.strategy}` goes on without it",
        ) from error
    if not goals:
        raise SourceError(f"{file}: the DeschedulerPolicy has no strategy that is left")


def _check_selector(selector: str, file: str) -> None:
    from planner.descheduler.strategies.selector_text import parse_selector

    try:
        parse_selector(selector)
    except ValueError as error:
        raise SourceError(
            str(error), file=file, object="RunPolicy", field="protect.podSelector"
        ) from error


def read_policy(file: str, overrides: Overrides) -> ReadPolicy:
    """The policy of a file, with what the command line says in place of it."""
    found = policy_in(file, overrides.ignored_strategies)
    unused: tuple[str, ...] = ()
    if not isinstance(found, RunPolicy):
        from planner.descheduler import as_goals

        unused = tuple(as_goals.unused(found, overrides.ignored_strategies))
        found = _as_run_policy(found, overrides.ignored_strategies)
    cordons = found.cordons or overrides.cordons
    if "consolidate" in found.goals and not cordons:
        raise SourceError(
            "emptying nodes (consolidate) takes cordons",
            file=file,
            object="RunPolicy",
            field="cordons",
            help="cordons: true, or `cordons`",
        )
    policy = found.replace(mode=overrides.mode or found.mode, cordons=cordons)
    text = Path(file).read_bytes()
    told = f"{policy.model_dump_json()}{text!r}{overrides}"
    return ReadPolicy(policy, text, hashlib.sha256(told.encode()).hexdigest()[:16], unused)


def _as_run_policy(policy: DeschedulerPolicy, ignored: Collection[str]) -> RunPolicy:
    """Goals and limits; its evictors protect pods where the plan is made."""
    from planner.descheduler import as_goals

    limits = as_goals.limits_of(policy, ignored)
    return RunPolicy(
        api_version="planner/v1",
        kind="RunPolicy",
        goals=as_goals.goals_of(policy, ignored),
        limits=RunLimits.model_construct(
            per_round=limits.total, per_node=limits.per_node, per_namespace=limits.per_namespace
        ),
        protect=Protect.defaults(),
    )


class PolicyFile:
    """A file that is read before every round; a broken one leaves the last good policy."""

    def __init__(self, file: str, overrides: Overrides) -> None:
        self._file = file
        self._overrides = overrides
        self.current = read_policy(file, overrides)
        self.broken: PlannerError | None = None

    def read_again(self) -> ReadPolicy:
        """The policy that counts now; `broken` says what is wrong with the file, if anything."""
        try:
            self.current = read_policy(self._file, self._overrides)
            self.broken = None
        except PlannerError as error:
            self.broken = error
        return self.current
