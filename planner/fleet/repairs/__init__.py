"""Changes after which Fleet picks as many clusters as wanted; each is tried on a copy.

A proposal that Fleet's own scheduler does not make good is not shown. Fewest clusters that lose
their resources first, then the smaller change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from planner.fleet.repairs import (
    add_cluster,
    add_toleration,
    evict_binding,
    fewer_clusters,
    label_cluster,
    raise_max_skew,
    relax_affinity,
    schedule_anyway,
)
from planner.fleet.repairs.proposal import Proposal, Trial, attempt
from planner.fleet.setting import Setting

PROPOSERS = (
    raise_max_skew,
    schedule_anyway,
    label_cluster,
    add_toleration,
    relax_affinity,
    evict_binding,
    add_cluster,
    fewer_clusters,
)
"""Smaller changes first."""

EFFORT = 2_000_000
"""Clusters times picks that may be looked at by all trials together."""


def find_repairs(setting: Setting) -> tuple[Trial, ...]:
    """Every proposal that works, the best first; of a family only the first one that does."""
    tries = max(len(PROPOSERS), EFFORT // max(1, len(setting.clusters) * setting.wanted))
    share = max(1, tries // len(PROPOSERS))
    found = [
        (trial, order)
        for order, proposer in enumerate(PROPOSERS)
        for trial in _that_work(islice(proposer.proposals(setting), share))
    ]
    found.sort(key=lambda each: (len(each[0].drops), each[1]))
    return tuple(trial for trial, _ in found)


def _that_work(proposals: Iterable[Proposal]) -> Iterator[Trial]:
    """The proposals come in the order of their size."""
    done: set[str] = set()
    size: int | None = None
    for proposal in proposals:
        if size is not None and proposal.size > size:
            return
        if proposal.family not in done:
            trial = attempt(proposal)
            if trial is not None:
                done.add(proposal.family)
                size = proposal.size
                yield trial
