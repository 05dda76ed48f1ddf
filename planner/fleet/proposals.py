"""Changes worth trying where Fleet falls short, each kind from its smallest change on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches

from planner.fleet import affinity
from planner.fleet.filters import untolerated
from planner.fleet.schedule import schedule
from planner.fleet.setting import Setting
from planner.fleet.topology_spread import OUTSIDE, Topology
from planner.fleet.words import all_of, count_of, short_key
from planner_models.fleet import ClusterSelectorTerm, ClusterToleration
from planner_models.fleet_decision import FleetRepairKind
from planner_models.member_cluster import MemberCluster, MemberClusterMeta

REQUIRED_AFFINITY = (
    "spec.policy.affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution"
)
MOST_NEW_CLUSTERS = 8
"""Who needs more clusters than this has other worries."""


@dataclass(frozen=True)
class Proposal:
    """A changed setting, and the change in words.

    `fields` are all that change, `values` what they have before and after, `object` is whose they
    are: without one, the placement's. Of one `family` (the same field with larger and larger
    values, say) only the first that works is of interest, and of one kind only those of the
    smallest `size`.
    """

    kind: FleetRepairKind
    text: str
    after: Setting
    fields: tuple[str, ...] = ()
    family: str = ""
    values: tuple[str, str] | None = None
    object: str | None = None
    command: str | None = None
    size: int = 0


def raise_max_skew(setting: Setting) -> Iterator[Proposal]:
    """The smallest value that helps, for each hard constraint; all picks in one group at most."""
    constraints = setting.policy.topology_spread_constraints
    values = [t.constraint.max_skew for t in setting.topologies if t.binds]
    for step in range(1, setting.wanted + 1 - min(values, default=setting.wanted)):
        for topology in setting.topologies:
            old = topology.constraint
            if not topology.binds or old.max_skew + step > setting.wanted:
                continue
            new = old.replace(max_skew=old.max_skew + step)
            changed = tuple(
                new if place == topology.index else each for place, each in enumerate(constraints)
            )
            yield Proposal(
                "raiseMaxSkew",
                f"{short_key(topology.key)}: maxSkew {old.max_skew} -> {new.max_skew}",
                setting.with_policy(topology_spread_constraints=changed),
                (f"{topology.field}.maxSkew",),
                family=topology.field,
                values=(str(old.max_skew), str(new.max_skew)),
            )


def schedule_anyway(setting: Setting) -> Iterator[Proposal]:
    """Each hard constraint a preference by itself, then all of them."""
    hard = [topology.index for topology in setting.topologies if topology.binds]
    for chosen in [*([place] for place in hard), *([hard] if len(hard) > 1 else ())]:
        constraints = tuple(
            each.replace(when_unsatisfiable="ScheduleAnyway") if place in chosen else each
            for place, each in enumerate(setting.policy.topology_spread_constraints)
        )
        text = ", ".join(short_key(setting.topologies[place].key) for place in chosen)
        yield Proposal(
            "scheduleAnyway",
            f"{text}: ScheduleAnyway",
            setting.with_policy(topology_spread_constraints=constraints),
            tuple(f"{setting.topologies[place].field}.whenUnsatisfiable" for place in chosen),
            family=str(chosen),
            values=("DoNotSchedule", "ScheduleAnyway"),
        )


def label_cluster(setting: Setting) -> Iterator[Proposal]:
    """Labels that the affinity asks for, then those that put a cluster into another group.

    Two things are worth trying for a spread constraint: a pickable cluster joins a group that has
    too few, or the only cluster of a group that nothing can be picked from leaves it, so that the
    group no longer counts (a typo in a label makes such groups).
    """
    wanted = [labels for term in setting.policy.required if (labels := _labels_of(term))]
    for cluster, refusals in zip(setting.clusters, setting.refusals, strict=True):
        if [refusal.plugin for refusal in refusals] == [affinity.NAME]:
            for labels in wanted:
                yield _labelled(setting, cluster, labels, "affinity")
    for topology in setting.topologies:
        if topology.binds:
            yield from _leave(setting, topology)
            yield from _join(setting, topology)


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
    return Proposal(
        "labelCluster",
        f"label {cluster.name} {pairs}",
        setting.with_clusters(clusters),
        ("metadata.labels",),
        family=family,
        object=f"MemberCluster/{cluster.name}",
        command=f"kubectl label membercluster {cluster.name} {pairs}{overwrite}",
    )


def add_toleration(setting: Setting) -> Iterator[Proposal]:
    """Tolerate each taint that keeps clusters out by itself, then all of them."""
    given = setting.policy.tolerations
    found = {untolerated(cluster, given) for cluster in setting.clusters} - {None}
    taints = sorted((taint for taint in found if taint is not None), key=str)
    for chosen in [*([taint] for taint in taints), *([taints] if len(taints) > 1 else ())]:
        added = tuple(
            ClusterToleration(key=t.key, operator="Equal", value=t.value, effect=t.effect)
            for t in chosen
        )
        text = f"tolerate {', '.join(map(str, chosen))}"
        after = setting.with_policy(tolerations=(*given, *added))
        yield Proposal("addToleration", text, after, ("spec.policy.tolerations",), family=text)


def relax_affinity(setting: Setting) -> Iterator[Proposal]:
    """No required affinity at all."""
    old = setting.policy.affinity
    if setting.policy.required and old is not None:
        free = setting.policy.cluster_affinity.replace(
            required_during_scheduling_ignored_during_execution=None
        )
        after = setting.with_policy(affinity=old.replace(cluster_affinity=free))
        text = "remove the required affinity"
        yield Proposal("relaxAffinity", text, after, (REQUIRED_AFFINITY,))


def evict_binding(setting: Setting) -> Iterator[Proposal]:
    """Take one picked cluster back, so that the counts allow the next pick again.

    Of each group of a label the first that helps.
    """
    for cluster in sorted(setting.current):
        name = setting.clusters[cluster].name
        yield Proposal(
            "evictBinding",
            f"evict {name}",
            replace(setting, bindings=setting.bindings.without(name)),
            family=str(setting.domains(cluster)),
            object=f"MemberCluster/{name}",
        )


def add_cluster(setting: Setting) -> Iterator[Proposal]:
    """One cluster like an existing one, in every place there is; then two, and so on."""
    missing = setting.wanted - len(schedule(setting).picked)
    keys = [topology.key for topology in setting.topologies if topology.binds]
    places = _places(setting, keys)
    for number in range(1, max(1, missing) + 1):
        if number <= MOST_NEW_CLUSTERS or number == missing:
            for labels in places:
                where = all_of([f"{short_key(key)} {labels[key]}" for key in keys if key in labels])
                what = count_of(number, "cluster") if number > 1 else "a cluster"
                added = [_new_cluster(place, labels) for place in range(number)]
                yield Proposal(
                    "addCluster",
                    f"add {what} in {where}" if where else f"add {what}",
                    setting.with_clusters([*setting.clusters, *added]),
                    family=where,
                    object="MemberCluster",
                    size=number,
                )


def _new_cluster(place: int, labels: dict[str, str]) -> MemberCluster:
    meta = MemberClusterMeta(name=f"new-cluster-{place + 1}", labels=dict(labels))
    return MemberCluster(metadata=meta)


def _places(setting: Setting, keys: list[str]) -> list[dict[str, str]]:
    """Labels of one cluster for each combination of groups; pickable ones serve as the model."""
    found: dict[tuple[str | None, ...], tuple[bool, dict[str, str]]] = {}
    for cluster, refusals in zip(setting.clusters, setting.refusals, strict=True):
        place = tuple(cluster.labels.get(key) for key in keys)
        pickable = not refusals
        if place not in found or (pickable and not found[place][0]):
            found[place] = (pickable, cluster.labels)
    ordered = sorted(found, key=lambda place: tuple(value or "" for value in place))
    return [found[place][1] for place in ordered]


def fewer_clusters(setting: Setting) -> Iterator[Proposal]:
    """As many as Fleet finds by itself. The number makes no new policy: what is picked stays."""
    number = len(schedule(setting).picked)
    if number:
        yield Proposal(
            "fewerClusters",
            f"numberOfClusters {setting.wanted} -> {number}",
            setting.with_policy(number_of_clusters=number),
            ("spec.policy.numberOfClusters",),
            values=(str(setting.wanted), str(number)),
        )


PROPOSERS: tuple[Callable[[Setting], Iterator[Proposal]], ...] = (
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
