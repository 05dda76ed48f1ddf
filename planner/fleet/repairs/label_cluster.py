"""Put a cluster into another group, or give it the labels that the affinity asks for.

Two things are worth trying for a spread constraint: a pickable cluster joins a group that has too
few, or the only cluster of a group that nothing can be picked from leaves it, so that the group no
longer counts (a typo in a label makes such groups).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from planner.fleet import affinity
from planner.fleet.repairs.proposal import Proposal
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, Topology
from planner_models.fleet import ClusterSelectorTerm
from planner_models.member_cluster import MemberCluster


def proposals(setting: Setting) -> Iterator[Proposal]:
    """Labels for the affinity first, then for the groups."""
    yield from _for_affinity(setting)
    for topology in setting.topologies:
        if topology.binds:
            yield from _leave(setting, topology)
            yield from _join(setting, topology)


def _for_affinity(setting: Setting) -> Iterator[Proposal]:
    wanted = [labels for term in setting.policy.required if (labels := _labels_of(term))]
    for cluster, refusals in zip(setting.clusters, setting.refusals, strict=True):
        if [refusal.plugin for refusal in refusals] == [affinity.NAME]:
            for labels in wanted:
                yield _labelled(setting, cluster, labels, "affinity")


def _labels_of(term: ClusterSelectorTerm) -> dict[str, str] | None:
    """Labels that satisfy a term, where it asks for nothing but the presence of labels."""
    selector = term.label_selector
    if selector is None or term.property_selector is not None:
        return None
    labels = dict(selector.match_labels)
    for requirement in selector.match_expressions:
        if requirement.operator == "In":
            labels.setdefault(requirement.key, requirement.values[0])
        elif requirement.operator == "Exists":
            labels.setdefault(requirement.key, "true")
    return labels if selector.matches(labels) else None


def _leave(setting: Setting, topology: Topology) -> Iterator[Proposal]:
    """The last cluster of a group where nothing can be picked."""
    pickable = topology.counts(setting.candidates)
    sizes = topology.counts(range(len(setting.clusters)))
    for index, domain in enumerate(topology.domains):
        if pickable[index] or sizes[index] != 1:
            continue
        cluster = setting.clusters[topology.domain_of.index(index)]
        others = [other for other in topology.domains if other != domain]
        close = get_close_matches(domain, others, n=1)
        for other in dict.fromkeys((*close, *others)):
            yield _labelled(setting, cluster, {topology.key: other}, f"leave {domain}")


def _join(setting: Setting, topology: Topology) -> Iterator[Proposal]:
    """Clusters without the label first, then those of other groups; one of each kind."""
    pickable = topology.counts(setting.candidates)
    few = [place for place, count in enumerate(pickable) if count == min(pickable)]
    free = [cluster for cluster in setting.candidates if cluster not in setting.current]
    free.sort(key=lambda cluster: (topology.domain_of[cluster] != OUTSIDE, cluster))
    for domain in few:
        for cluster in free:
            if topology.domain_of[cluster] != domain:
                labels = {topology.key: topology.domains[domain]}
                family = f"join {topology.domains[domain]} from {topology.domain_of[cluster]}"
                yield _labelled(setting, setting.clusters[cluster], labels, family)


def _labelled(
    setting: Setting, cluster: MemberCluster, labels: dict[str, str], family: str
) -> Proposal:
    pairs = " ".join(f"{key}={value}" for key, value in sorted(labels.items()))
    changed = cluster.metadata.replace(labels={**cluster.labels, **labels})
    clusters = [
        each.replace(metadata=changed) if each is cluster else each for each in setting.clusters
    ]
    overwrite = " --overwrite" if any(key in cluster.labels for key in labels) else ""
    command = f"kubectl label membercluster {cluster.name} {pairs}{overwrite}"
    return Proposal(
        kind="labelCluster",
        family=family,
        text=f"label {cluster.name} {pairs}",
        before=setting,
        after=setting.with_clusters(clusters),
        object=f"MemberCluster/{cluster.name}",
        field="metadata.labels",
        command=command,
    )
