from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cluster import Cluster, build_cluster
from planner.cluster.spread import (
    SpreadConstraint,
    counted_pods,
    domain_counts,
    excess,
    hard_constraints,
    minimum,
)
from planner.sources.inventory import Inventory
from planner_models.meta import OwnerReference
from planner_models.node import Node
from planner_models.pod import Pod, PodSpec
from planner_models.selectors import LabelSelector, selector_matches, with_match_label_keys
from planner_models.taints import HARD_EFFECTS, first_untolerated
from planner_models.topology_spread import TopologySpreadConstraint

ON_APP = {"labelSelector": {"matchLabels": {"app": "a"}}}


def constraint(key: str = "zone", skew: int = 1, **fields: Any) -> dict[str, Any]:
    hard = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {**hard, **ON_APP, **fields}


def spec(*constraints: dict[str, Any], **fields: Any) -> PodSpec:
    return PodSpec.model_validate({"topologySpreadConstraints": list(constraints), **fields})


def node(name: str, taints: tuple[dict[str, str], ...] = (), **labels: str) -> Node:
    return Node.model_validate(
        {"metadata": {"name": name, "labels": labels}, "spec": {"taints": list(taints)}}
    )


def pods(shared: PodSpec, *nodes: str, **fields: Any) -> list[Pod]:
    """Replicas of one workload, one on each of the nodes; "" is pending."""
    owner = OwnerReference(kind="ReplicaSet", name="web", controller=True)
    settings: dict[str, Any] = {"namespace": "default", "labels": {"app": "a"}, "owner": owner}
    settings.update(fields)
    return [Pod(name="", spec=shared, node_name=name, **settings) for name in nodes]


def cluster(nodes: list[Node], *groups: list[Pod]) -> Cluster:
    unnamed = [pod for group in groups for pod in group]
    named = [msgspec.structs.replace(pod, name=f"web-{i}") for i, pod in enumerate(unnamed)]
    return build_cluster(Inventory(nodes=tuple(nodes), pods=tuple(named)))


ABC = [node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c")]


def only(built: Cluster) -> tuple[SpreadConstraint, dict[str, int], int, int]:
    """The one constraint, its counts per eligible domain, the minimum and the total excess."""
    (spread,) = hard_constraints(built)
    counts = domain_counts(counted_pods(built), spread)
    names = np.array(spread.scope.topology.domains)[spread.scope.domains]
    by_domain = dict(zip(names.tolist(), counts[spread.scope.domains].tolist(), strict=True))
    return spread, by_domain, minimum(counts, spread), int(excess(counts, spread).sum())


def test_six_six_none_with_max_skew_one_is_ten_too_many() -> None:
    built = cluster(ABC, pods(spec(constraint()), *["n1"] * 6, *["n2"] * 6))
    _, counts, least, total = only(built)
    assert (counts, least, total) == ({"a": 6, "b": 6, "c": 0}, 0, 10)


def test_terminating_pods_do_not_count() -> None:
    shared = spec(constraint())
    built = cluster(ABC, pods(shared, "n1"), pods(shared, "n1", "n2", terminating=True))
    assert only(built)[1] == {"a": 1, "b": 0, "c": 0}


def test_a_constraint_of_terminating_pods_alone_is_no_more() -> None:
    assert hard_constraints(cluster(ABC, pods(spec(constraint()), "n1", terminating=True))) == ()


def test_pods_of_another_namespace_do_not_count() -> None:
    shared = spec(constraint())
    built = cluster(ABC, pods(shared, "n1"), pods(spec(), "n1", namespace="other"))
    assert only(built)[1] == {"a": 1, "b": 0, "c": 0}


def test_pods_on_unknown_nodes_count_in_no_domain() -> None:
    assert only(cluster(ABC, pods(spec(constraint()), "n1", "gone")))[1] == {"a": 1, "b": 0, "c": 0}


def test_fewer_domains_than_min_domains_make_the_minimum_zero() -> None:
    built = cluster(ABC, pods(spec(constraint(minDomains=4)), "n1", "n2", "n2", "n3"))
    assert only(built)[1:] == ({"a": 1, "b": 2, "c": 1}, 0, 1)


def test_an_absent_selector_matches_nothing() -> None:
    spread, counts, _, _ = only(cluster(ABC, pods(spec(constraint(labelSelector=None)), "n1")))
    assert counts == {"a": 0, "b": 0, "c": 0}
    assert not spread.carriers[0].self_match


def test_an_empty_selector_counts_no_pod_but_matches_its_own() -> None:
    spread, counts, _, _ = only(cluster(ABC, pods(spec(constraint(labelSelector={})), "n1")))
    assert counts == {"a": 0, "b": 0, "c": 0}
    assert spread.carriers[0].self_match


def test_match_label_keys_part_revisions() -> None:
    shared = spec(constraint(matchLabelKeys=["hash"]))
    old = pods(shared, "n1", labels={"app": "a", "hash": "1"})
    new = pods(shared, "n2", "n2", labels={"app": "a", "hash": "2"})
    built = cluster(ABC, old, new)
    counted = counted_pods(built)
    counts = [domain_counts(counted, spread).tolist() for spread in hard_constraints(built)]
    assert counts == [[1, 0, 0], [0, 2, 0]]


def test_a_node_takes_part_only_with_the_keys_of_all_hard_constraints() -> None:
    nodes = [node("n1", zone="a", rack="r"), node("n2", zone="b")]
    built = cluster(nodes, pods(spec(constraint(), constraint("rack")), "n1", "n2"))
    zone, rack = hard_constraints(built)
    assert zone.scope.eligible.tolist() == rack.scope.eligible.tolist() == [True, False]


def test_soft_constraints_ask_for_no_key() -> None:
    soft = {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}
    built = cluster(ABC, pods(spec(constraint(), soft), "n1"))
    assert only(built)[0].scope.eligible.all()


def test_node_affinity_excludes_domains_unless_ignored() -> None:
    chosen = {"nodeSelector": {"zone": "a"}}
    honoured = cluster(ABC, pods(spec(constraint(), **chosen), "n1"))
    ignored = cluster(ABC, pods(spec(constraint(nodeAffinityPolicy="Ignore"), **chosen), "n1"))
    assert only(honoured)[1] == {"a": 1}
    assert only(ignored)[1] == {"a": 1, "b": 0, "c": 0}


def test_taints_exclude_domains_only_if_honoured() -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    nodes = [node("n1", zone="a"), node("n2", (taint,), zone="b")]
    honoured = spec(constraint(nodeTaintsPolicy="Honor"))
    tolerant = spec(constraint(nodeTaintsPolicy="Honor"), tolerations=[{"operator": "Exists"}])
    assert only(cluster(nodes, pods(spec(constraint()), "n1")))[1] == {"a": 1, "b": 0}
    assert only(cluster(nodes, pods(honoured, "n1")))[1] == {"a": 1}
    assert only(cluster(nodes, pods(tolerant, "n1")))[1] == {"a": 1, "b": 0}


def test_groups_that_mean_the_same_share_one_constraint() -> None:
    expression = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}
    first = pods(spec(constraint()), "n1")
    second = pods(spec(constraint(labelSelector=expression)), "n2", labels={"app": "b"})
    spread, counts, _, _ = only(cluster(ABC, first, second))
    assert counts == {"a": 1, "b": 0, "c": 0}
    assert [carrier.self_match for carrier in spread.carriers] == [True, False]


def test_without_nodes_nothing_is_counted() -> None:
    assert only(cluster([], pods(spec(constraint()), "")))[1:] == ({}, 0, 0)


# The twin: pod by pod and node by node, as the rule is told.

Meaning = tuple[object, ...]
Verdict = tuple[dict[str, int], int, dict[str, int]]


def naive(built: Cluster) -> dict[Meaning, Verdict]:
    found: dict[Meaning, Verdict] = {}
    names = {each.name for each in built.nodes}
    for pod in built.pods:
        if pod.terminating or (pod.node_name and pod.node_name not in names):
            continue
        hard = [c for c in pod.spec.topology_spread_constraints if c.hard]
        for each in hard:
            selector = naive_selector(each, pod)
            keys = [c.topology_key for c in hard]
            nodes = [n for n in built.nodes if takes_part(n, pod.spec, each, keys)]
            meaning = meaning_of(pod.namespace, each, selector, frozenset(n.name for n in nodes))
            counts = dict.fromkeys((n.labels[each.topology_key] for n in nodes), 0)
            for n in nodes:
                for other in built.pods:
                    if other.node_name == n.name and counts_for(other, pod.namespace, selector):
                        counts[n.labels[each.topology_key]] += 1
            least = min(counts.values(), default=0)
            if len(counts) < (each.min_domains or 1):
                least = 0
            above = {d: max(0, count - least - each.max_skew) for d, count in counts.items()}
            found[meaning] = (counts, least, above)
    return found


def naive_selector(each: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    if each.label_selector is None:
        return None
    return with_match_label_keys(each.label_selector, each.match_label_keys, pod.labels)


def takes_part(
    each: Node, shared: PodSpec, constraint: TopologySpreadConstraint, keys: list[str]
) -> bool:
    if any(key not in each.labels for key in keys):
        return False
    if constraint.node_affinity_policy == "Honor":
        if any(each.labels.get(key) != value for key, value in shared.node_selector.items()):
            return False
        required = shared.affinity.node_affinity.required
        if required is not None and not required.matches(each.labels, each.name):
            return False
    if constraint.node_taints_policy == "Ignore":
        return True
    return first_untolerated(each.spec.taints, shared.tolerations, HARD_EFFECTS) is None


def counts_for(pod: Pod, namespace: str, selector: LabelSelector | None) -> bool:
    if pod.terminating or pod.namespace != namespace:
        return False
    return not (selector and selector.is_empty) and selector_matches(selector, pod.labels)


def meaning_of(
    namespace: str,
    each: TopologySpreadConstraint,
    selector: LabelSelector | None,
    nodes: frozenset[str],
) -> Meaning:
    return (
        namespace,
        each.topology_key,
        None if selector is None else selector.canonical(),
        each.max_skew,
        each.min_domains or 1,
        each.node_affinity_policy,
        each.node_taints_policy,
        nodes,
    )


def vectorised(built: Cluster) -> list[tuple[Meaning, Verdict]]:
    counted = counted_pods(built)
    found = []
    for spread in hard_constraints(built):
        group = built.groups[spread.carriers[0].group]
        counts, domains = domain_counts(counted, spread), spread.scope.topology.domains
        above = excess(counts, spread)
        eligible = np.flatnonzero(spread.scope.domains)
        nodes = frozenset(built.nodes[n].name for n in np.flatnonzero(spread.scope.eligible))
        selector = naive_selector(spread.constraint, group.example)
        meaning = meaning_of(group.namespace, spread.constraint, selector, nodes)
        by_domain = {domains[d]: int(counts[d]) for d in eligible}
        too_many = {domains[d]: int(above[d]) for d in eligible}
        found.append((meaning, (by_domain, minimum(counts, spread), too_many)))
    return found


def optional(**choices: list[Any]) -> st.SearchStrategy[dict[str, Any]]:
    fields = {key: st.sampled_from(values) for key, values in choices.items()}
    return st.fixed_dictionaries({}, optional=fields)


TAINTS = [
    {"key": "gpu", "effect": "NoSchedule"},
    {"key": "old", "value": "yes", "effect": "NoExecute"},
    {"key": "busy", "effect": "PreferNoSchedule"},
]
SELECTORS: list[Mapping[str, Any] | None] = [
    None,
    {},
    {"matchLabels": {"app": "a"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
    {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "v", "operator": "Exists"}]},
]
AFFINITY = [
    [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}],
    [{"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}, {}],
    [{"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["3"]}]}],
    [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}],
]


@st.composite
def constraints(draw: st.DrawFn, key: str) -> dict[str, Any]:
    fields: dict[str, Any] = draw(
        optional(
            minDomains=[1, 2, 3],
            nodeAffinityPolicy=["Honor", "Ignore"],
            nodeTaintsPolicy=["Honor", "Ignore"],
        )
    )
    fields["labelSelector"] = draw(st.sampled_from(SELECTORS))
    if fields["labelSelector"] is not None and draw(st.booleans()):
        fields["matchLabelKeys"] = ["v"]
    return constraint(key, draw(st.integers(1, 2)), **fields)


@st.composite
def specs(draw: st.DrawFn) -> PodSpec:
    keys = draw(st.sampled_from([("zone",), ("zone", "rack"), ("rack", "zone"), ()]))
    terms = draw(st.sampled_from([None, None, *AFFINITY]))
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return spec(
        *[draw(constraints(key)) for key in keys],
        nodeSelector=draw(st.sampled_from([{}, {}, {"disk": "ssd"}])),
        tolerations=draw(st.sampled_from([[], [{"key": "gpu", "operator": "Exists"}]])),
        affinity={"nodeAffinity": required} if terms else {},
    )


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Small, but with much of everything: most nodes have a zone, most pods run and match."""
    labels = optional(rack=["r", "s"], disk=["ssd", "hdd"], size=["2", "10"])
    zones = st.sampled_from([{"zone": zone} for zone in "aabbc"] + [{}])
    taints = st.lists(st.sampled_from(TAINTS), max_size=1)
    nodes = [
        node(f"n{i}", tuple(draw(taints)), **draw(labels), **draw(zones))
        for i in range(draw(st.integers(0, 5)))
    ]
    shared = draw(st.lists(specs(), min_size=1, max_size=3))
    homes = st.sampled_from(["", "gone", *[each.name for each in nodes] * 2])
    owners = [None, OwnerReference(kind="Job", name="j", controller=True)]
    groups = [
        pods(
            draw(st.sampled_from(shared)),
            *draw(st.lists(homes, min_size=1, max_size=5)),
            namespace=draw(st.sampled_from("xxy")),
            labels=draw(st.sampled_from([{"app": "a"}, {"app": "a", "v": "1"}, {"v": "2"}])),
            terminating=draw(st.sampled_from([False, False, True])),
            owner=draw(st.sampled_from(owners)),
        )
        for _ in range(draw(st.integers(1, 5)))
    ]
    return cluster(nodes, *groups)


@settings(max_examples=500)
@given(clusters())
def test_counts_minimum_and_excess_are_those_of_the_naive_twin(built: Cluster) -> None:
    found = vectorised(built)
    assert dict(found) == naive(built)
    assert len(found) == len(dict(found))
