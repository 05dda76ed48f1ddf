"""Names and numbers of clusters in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from planner.fleet.setting import Setting
from planner.fleet.topology_spread import Counts, Topology

NAMED = 6
"""Names come one by one up to here, then they are counted."""


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """`1 cluster`, `4 clusters`."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def all_of(names: Sequence[str], last: str = "and") -> str:
    """`ash`, `ash and fir`, `ash, fir and yew`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def some_of(names: Sequence[str], noun: str = "cluster") -> str:
    """Up to six by name, more as a number."""
    return all_of(names) if len(names) <= NAMED else count_of(len(names), noun)


def short_key(topology_key: str) -> str:
    """`region` for `topology.kubernetes.io/region`."""
    return topology_key.rpartition("/")[2]


def placement_object(setting: Setting) -> str:
    """`ClusterResourcePlacement/crp`."""
    return f"{type(setting.placement).__name__}/{setting.placement.name}"


def per_domain(topology: Topology, counts: Counts) -> str:
    """`east 2, north 0, west 0`; from seven groups on only how far they are apart."""
    if len(counts) > NAMED:
        return f"{min(counts)} to {max(counts)} in {len(counts)} groups"
    pairs = zip(topology.domains, counts, strict=True)
    return ", ".join(f"{domain} {count}" for domain, count in pairs)


def slashed(counts: Counts) -> str:
    """`2/1/1`; from seven groups on only how far they are apart."""
    if len(counts) > NAMED:
        return f"{min(counts)} to {max(counts)} in {len(counts)} groups"
    return "/".join(map(str, counts))


def spread_texts(topologies: Iterable[Topology], picked: Iterable[int]) -> str:
    """The counts of every constraint that splits the fleet: `2/1/1`, or `region 2/1/1, ...`."""
    chosen = tuple(picked)
    splitting = [topology for topology in topologies if topology.splits]
    texts = [slashed(topology.counts(chosen)) for topology in splitting]
    if len(texts) == 1:
        return texts[0]
    keys = [short_key(topology.key) for topology in splitting]
    return ", ".join(f"{key} {text}" for key, text in zip(keys, texts, strict=True))
