"""What `Cluster.evict` answers, and what it takes by name: goals, nodes, priorities, policies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from planner.api.answers import Answer
from planner.api.arguments import meant
from planner.api.settings import SettingKind
from planner.errors import UsageError
from planner.sources.errors import SourceError
from planner.words import count_of
from planner_models import evictions
from planner_models.base import Document
from planner_models.evictions import PlanPart

if TYPE_CHECKING:
    from planner.cluster import Cluster as Snapshot
    from planner.evictions.goals import Goal
    from planner.evictions.suggestion import EvictOptions
    from planner.evictions.under_policy import Terms
    from planner.report.emit import Texts
    from planner.report.html.view import Page
    from planner.sources.inventory import Inventory
    from planner_models.descheduler_policy import DeschedulerPolicy
    from planner_models.run_policy import RunPolicy

Policy: TypeAlias = "str | os.PathLike[str] | DeschedulerPolicy | None"
"""A DeschedulerPolicy, or its file; None takes the one of the input, if it has any."""

RunPolicyOrFile: TypeAlias = "str | os.PathLike[str] | RunPolicy | DeschedulerPolicy"
"""What `planner run` takes as its policy."""

POLICY = SettingKind("DeschedulerPolicy", "descheduler/v1alpha2", "descheduler policies", "policy")


class EvictionPlan(evictions.EvictionPlan, Answer):
    """Which pods to evict; `to_dataframe` has a row for each of them."""

    _columns: ClassVar[tuple[str, ...]] = (
        *("wave", "pod", "workload", "node", "expected_nodes", "rule", "reason"),
    )

    def only_wave(self, number: int) -> EvictionPlan:
        """The part of the plan that is one wave, counted from 1."""
        if not 1 <= number <= len(self.waves):
            raise UsageError(f"`wave={number}`: the plan has {len(self.waves)}")
        excess = (self.before.excess, *(wave.excess for wave in self.waves))
        part = PlanPart(
            wave=number,
            waves=len(self.waves),
            evictions=len(self.evictions),
            excess_before=excess[number - 1],
            excess_after=excess[number],
        )
        return self.model_copy(
            update={
                "part": part,
                "evictions": tuple(each for each in self.evictions if each.wave == number),
                "waves": tuple(each for each in self.waves if each.number == number),
                "baselines": (),
            }
        )

    def to_script(self) -> str:
        """A shell script that evicts the pods, wave by wave."""
        return self.to_text("script")

    def _own_text(self, output: str) -> str | None:
        """As YAML the plan is what is sent to the Eviction API."""
        from planner.report.scripts import eviction_objects, eviction_script

        match output:
            case "script":
                return eviction_script(self)
            case "yaml":
                return eviction_objects(self)
            case _:
                return None

    def _texts(self) -> Texts[Any]:
        from planner.report.tables import evict_table

        return evict_table

    def _page(self) -> Page:
        from planner.report.html.evict_page import evict_page

        return evict_page(self._snapshot, self)

    def _rows(self) -> Sequence[Document]:
        return self.evictions

    def _short(self) -> str:
        sure = "converges" if self.converges else "does not always converge"
        return (
            f"{count_of(len(self.evictions), 'eviction')} in "
            f"{count_of(len(self.waves), 'wave')}, {sure}"
        )


def goals_of(snapshot: Snapshot, words: Iterable[str]) -> tuple[tuple[Goal, ...], tuple[int, ...]]:
    """Goals by their name, nodes by theirs; `node/spread` is a node in any case."""
    from planner.evictions.goals import GOALS

    nodes: list[int] = []
    given: set[str] = set()
    for word in words:
        name = word.removeprefix("node/")
        if name == word and word in GOALS:
            given.add(word)
            continue
        if name not in snapshot.node_index:
            close = meant(name, [*GOALS, *snapshot.node_index])
            raise SourceError(
                f"`goals={word}`: there is no such goal and no such node",
                help=f"{f'{close} ' if close else ''}goals are {', '.join(GOALS)}",
            )
        nodes.append(snapshot.node_index[name])
    return tuple(goal for goal in GOALS if goal in given), tuple(sorted(set(nodes)))


def priority_of(snapshot: Snapshot, given: int | str | None) -> int | None:
    """A number, or the value of a PriorityClass of the input."""
    from planner_models.workload import priority_values

    if given is None or isinstance(given, int):
        return given
    if given.removeprefix("-").isdecimal():
        return int(given)
    classes = priority_values(snapshot.priority_classes)
    if given not in classes:
        raise UsageError(
            f"`priority_threshold={given}`: the input has no PriorityClass of that name",
            help=f"a number, or one of {', '.join(sorted(classes))}",
        )
    return classes[given]


def policy_of(inventory: Inventory, policy: Policy) -> DeschedulerPolicy | None:
    """The policy that was given, or the one in the input."""
    return POLICY.find(policy, inventory, lambda each: each.descheduler_policies)


def options_under(
    snapshot: Snapshot, terms: Terms, seeds: int | None, time_limit: float
) -> EvictOptions:
    """The switches of a plan under the terms of a policy."""
    from planner.evictions.protection import Protection
    from planner.evictions.suggestion import EvictOptions

    threshold = priority_of(snapshot, terms.priority_threshold)
    return EvictOptions(
        goals=terms.goals,
        protection=Protection(terms.movable, threshold, spared=terms.spared),
        limits=terms.limits,
        seeds=seeds,
        time_limit=time_limit,
        cordons=terms.cordons,
        by_parts=True,
    )
