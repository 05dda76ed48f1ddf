"""addNode: in which domain, and how big at least.

The new node has the labels that the pod's rules ask for, no taints, and exactly the room that the
pod needs; what DaemonSets would put on it comes on top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

import numpy as np
from pydantic import JsonValue

from planner.explain.repairs.proposal import Case, Proposal, unit_of
from planner.explain.room.trials import topology_keys
from planner.explain.rules.inter_pod_affinity import OthersRule
from planner.explain.rules.rule import of_type
from planner.explain.situation.lookalikes import meant_key
from planner.explain.situation.overlay import Overlay, feasible
from planner.sources.daemons import daemon_spec, runs_on
from planner.words import NAMED, amount, conjoined, named_or_counted, short_key
from planner_models.meta import ObjectMeta
from planner_models.node import HOSTNAME, Node, NodeStatus
from planner_models.quantity import NANO
from planner_models.resources import CPU, MEMORY, PODS
from planner_models.workload import DaemonSet

NAME = "new-node"
NEW_DOMAIN = "planner-new-domain"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
MOST_PLACES = 40

Place = tuple[tuple[str, str], ...]
"""Values of the topology keys; an empty one stands for a domain that does not exist yet."""


def propose(case: Case) -> Iterator[Proposal]:
    """Every combination of existing domains, and a new one; those that help are united in one."""
    if any(meant_key(case.subject.cluster.nodes, key) is not None for key in _keys(case)):
        return  # no node should get a label that is a typo
    places = _places(case)
    good = [p for p in places if bool(feasible(case.subject, _overlay(case, p))[-1])]
    existing = [p for p in good if all(value for _, value in p)]
    chosen = existing or good
    if not chosen:
        return
    bad = [p for p in places if p not in good and all(value for _, value in p)]
    yield _proposal(case, chosen, bad, fresh=not existing, number=1)


def _proposal(
    case: Case, chosen: Sequence[Place], bad: Sequence[Place], *, fresh: bool, number: int
) -> Proposal:
    node = _overlay(case, chosen[0]).added[0]
    daemons = _daemon_sets(case, node)
    amounts = _amounts(case, daemons)
    size, where = _size(amounts), _where(case, chosen)
    features = case.subject.group.spec.required_features
    nodes = "a node" if number == 1 else f"{number} nodes"
    each = " each" if number > 1 and size else ""
    for_daemons = f"{_share(daemons)} of it for {_named(daemons)}" if daemons else ""
    helps_not = f"in {_names(bad)}: no help" if bad and not fresh and len(bad) <= 3 else ""
    return Proposal(
        kind="addNode",
        object="node",
        field=conjoined([f"{key}={value or '<new>'}" for key, value in chosen[0]]),
        after={
            "domains": [dict(p) for p in chosen[:10]],
            "labels": dict(_asked_labels(case, chosen[0])),
            "size": amounts,
            **({"declaredFeatures": list(features)} if features else {}),
        },
        text=f"add {nodes}{where}{size}{each}{_declaring(case, number)}",
        cost=case.costs["addNode"] + (5 if fresh else 0) + 5 * (number - 1),
        overlay=_overlay(case, chosen[0], number),
        then="then it takes the pod" if number == 1 else "then they take the pods",
        notes=tuple(note for note in (for_daemons, _unseen_daemons(case), helps_not) if note),
        grown=lambda more: _proposal(case, chosen, bad, fresh=fresh, number=number + more),
    )


def _declaring(case: Case, number: int) -> str:
    """Its kubelet has to be one that knows what the pod uses."""
    features = case.subject.group.spec.required_features
    verb = "declares" if number == 1 else "declare"
    return f", that {verb} {conjoined(list(features))}" if features else ""


def _names(places: Sequence[Place]) -> str:
    return conjoined([" and ".join(value for _, value in p) for p in places], "or")


def _where(case: Case, places: Sequence[Place]) -> str:
    """` in zoneB`, ` in a fourth zone`; nothing if the domain does not matter."""
    keys = [key for key, _ in places[0]]
    if not keys:
        return ""
    if any(not value for _, value in places[0]):
        fresh = [key for key, value in places[0] if not value]
        numbers = [len(case.subject.cluster.topology(key).domains) for key in fresh]
        words = [
            f"a {_ORDINALS[n] if n < len(_ORDINALS) else 'new'} {short_key(key)}"
            for key, n in zip(fresh, numbers, strict=True)
        ]
        return f" in {conjoined(words)}"
    names = sorted({" and ".join(value for _, value in p) for p in places})
    return f" in {conjoined(names, 'or')}" if len(names) <= 3 else f" in one of {len(names)} places"


def _places(case: Case) -> list[Place]:
    """Keys that name the node get a new value; all others each value there is, or a new one."""
    places = case.subject.nodes
    keys = [key for key in _keys(case) if not places.per_node(key)]
    options = [[(key, value) for value in _values(case, key)] for key in keys]
    return list(islice(product(*options), MOST_PLACES))


def _values(case: Case, key: str) -> list[str]:
    """What nodeSelector or node affinity ask for; else the domains there are, and a new one."""
    spec = case.subject.group.spec
    if key in spec.node_selector:
        return [spec.node_selector[key]]
    asked: list[str] = []
    required = spec.affinity.node_affinity.required
    for term in required.node_selector_terms if required is not None else ():
        for expression in term.match_expressions:
            if expression.key == key and expression.operator == "In":
                asked += expression.values
    return list(dict.fromkeys((*case.subject.cluster.topology(key).domains, *asked, "")))


def _keys(case: Case) -> list[str]:
    """The topology keys of the pod's hard rules, and of those against it."""
    others = (term for rule in of_type(case.rules, OthersRule) for term in rule.terms)
    own = topology_keys(case.subject.group.spec)
    return list(dict.fromkeys((*own, *(term.topology_key for term in others))))


def _overlay(case: Case, place: Place, number: int = 1) -> Overlay:
    names = [NAME, *(f"{NAME}-{i}" for i in range(2, number + 1))]
    nodes = (
        Node(
            metadata=ObjectMeta(name=name, labels=_labels(case, place, name)),
            status=NodeStatus(
                allocatable=_allocatable(case),
                declared_features=case.subject.group.spec.required_features,
            ),
        )
        for name in names
    )
    return Overlay(added=tuple(nodes))


def _labels(case: Case, place: Place, name: str) -> dict[str, str]:
    asked = {k: name if v == NAME else v for k, v in _asked_labels(case, place).items()}
    return {**_usual_labels(case), HOSTNAME: name, **asked}


def _asked_labels(case: Case, place: Place) -> dict[str, str]:
    """Those that the pod's rules look at."""
    labels = dict(case.subject.group.spec.node_selector)
    for key in _keys(case):
        if case.subject.nodes.per_node(key):
            labels[key] = NAME
    labels.update({key: value or NEW_DOMAIN for key, value in place})
    return labels


def _usual_labels(case: Case) -> Mapping[str, str]:
    """Those of a node that the pod's affinity admits, so that the new one is of its kind."""
    admitted = case.subject.state.node_rules.affinity(case.subject.group.spec)
    nodes = np.flatnonzero(admitted).tolist()
    return case.subject.cluster.nodes[nodes[0]].labels if nodes else {}


def _daemon_sets(case: Case, node: Node) -> list[DaemonSet]:
    """Those whose pods take room on the new node before ours gets there."""
    found = (
        each
        for each in case.subject.cluster.owners.controllers.values()
        if isinstance(each, DaemonSet) and each.metadata.deletion_timestamp is None
    )
    return sorted(
        (
            each
            for each in found
            if any(each.spec.template.spec.requests.values())
            and runs_on(daemon_spec(each.spec.template.spec), node)
        ),
        key=lambda each: each.key,
    )


def _unseen_daemons(case: Case) -> str:
    """DaemonSets whose pods run but which the input lacks: their rules for nodes are not known."""
    cluster = case.subject.cluster
    names = {
        ref.name
        for group, ref in enumerate(cluster.workloads)
        if ref.kind == "DaemonSet"
        and ref not in cluster.owners.controllers
        and any(cluster.groups[group].spec.requests.values())
    }
    if not names:
        return ""
    which = named_or_counted(sorted(names), "DaemonSet")
    some = "DaemonSets " if 1 < len(names) <= NAMED else "DaemonSet " if len(names) == 1 else ""
    return f"and what {some}{which}, not in the input, may put on it"


def _requests(daemons: Iterable[DaemonSet]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in daemons:
        total.update(each.spec.template.spec.requests)
    return total


def _named(daemons: Sequence[DaemonSet]) -> str:
    names = named_or_counted([each.name for each in daemons], "DaemonSet")
    if len(daemons) > NAMED:
        return names
    return f"{'DaemonSet' if len(daemons) == 1 else 'DaemonSets'} {names}"


def _amounts(case: Case, daemons: Iterable[DaemonSet]) -> dict[str, JsonValue]:
    """What the pod and those of the DaemonSets request together."""
    total = Counter(case.subject.group.spec.requests)
    total.update(_requests(daemons))
    return {name: amount(name, n) for name, n in sorted(total.items()) if n > 0}


def _allocatable(case: Case) -> dict[str, int]:
    """What is left for the pod on a node that holds those of the DaemonSets already."""
    requests = case.subject.group.spec.requests
    return {**{name: n * unit_of(name) for name, n in requests.items()}, PODS: NANO}


def _share(daemons: Iterable[DaemonSet]) -> str:
    requests = sorted(_requests(daemons).items())
    return _listed({name: amount(name, n) for name, n in requests if n > 0})


def _size(amounts: Mapping[str, JsonValue]) -> str:
    return f", {_listed(amounts)}" if amounts else ""


def _listed(wanted: Mapping[str, JsonValue]) -> str:
    """`2 CPU, 1Gi and 1 example.com/gpu`."""
    parts = [f"{wanted[CPU]} CPU"] if CPU in wanted else []
    parts += [f"{wanted[MEMORY]}"] if MEMORY in wanted else []
    parts += [f"{n} {name}" for name, n in wanted.items() if name not in (CPU, MEMORY)]
    return conjoined(parts)
