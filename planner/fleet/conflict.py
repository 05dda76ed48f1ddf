"""Why so many clusters can't be picked by anybody: a minimal set of rules that excludes it.

The rules are the hard spread constraints and the filters. From all of them, one after the other is
left out as long as the wanted number stays impossible; what is left can't spare any.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from planner.fleet import filters
from planner.fleet.optimum import most_clusters
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Topology


class Rule(NamedTuple):
    """A filter, or with a topology a spread constraint."""

    plugin: str
    topology: Topology | None = None


class Conflict(NamedTuple):
    """Rules that leave too few clusters; without any, the fleet itself is too small."""

    rules: tuple[Rule, ...]
    minimal: bool


def rules_of(setting: Setting) -> tuple[Rule, ...]:
    """The rules that exclude anything: filters first, which are left out first."""
    refusing = {refusal.plugin for found in setting.refusals for refusal in found}
    static = [Rule(plugin) for plugin in reversed(filters.ORDER) if plugin in refusing]
    spread = [Rule("", topology) for topology in setting.topologies if topology.binds]
    return (*static, *spread)


def minimal_conflict(setting: Setting) -> Conflict:
    """Rules of which none can be spared, if every step could be proven."""
    kept, proven = list(rules_of(setting)), True
    for rule in tuple(kept):
        rest = [each for each in kept if each is not rule]
        most = most_under(setting, rest)
        if most is None:
            proven = False
        elif most < setting.wanted:
            kept = rest
    return Conflict(tuple(kept), proven)


def allowed_by(setting: Setting, plugins: Collection[str]) -> tuple[int, ...]:
    """The clusters that these filters alone let in, or that are picked already."""
    return tuple(
        cluster
        for cluster, found in enumerate(setting.refusals)
        if cluster in setting.current or not any(refusal.plugin in plugins for refusal in found)
    )


def most_under(setting: Setting, rules: Sequence[Rule]) -> int | None:
    """How many of the wanted clusters these rules alone leave; None if unproven."""
    candidates = allowed_by(setting, {rule.plugin for rule in rules})
    topologies = [rule.topology for rule in rules if rule.topology is not None]
    if not topologies:
        return min(len(candidates), setting.wanted)
    return most_clusters(setting, candidates, topologies)
