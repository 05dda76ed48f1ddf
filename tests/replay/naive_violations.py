"""The naive twin of `planner.replay.violations`: pod by pod, straight from the JSON of the objects.

It uses nothing of planner: selectors, tolerations, node affinity, namespaces and spread are read
here once more, as the API documents them, in loops over all pods and nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HARD = ("NoSchedule", "NoExecute")
CORDON = "node.kubernetes.io/unschedulable"
NAME_LABEL = "kubernetes.io/metadata.name"


@dataclass(frozen=True)
class Crowded:
    """A domain with more pods than a hard spread constraint allows."""

    key: str
    domain: str
    count: int
    allowed: int
    pods: frozenset[str]


@dataclass(frozen=True)
class Misplaced:
    """A pod that breaks a rule of its own where it is; `index` is the term of its anti-affinity."""

    rule: str
    pod: str
    place: str
    index: int = 0


@dataclass(frozen=True)
class Objects:
    """A dump, taken apart."""

    nodes: Sequence[Json]
    pods: Sequence[Json]
    namespaces: Sequence[Json] = ()

    def node_of(self, pod: Json) -> Json | None:
        name = pod["spec"].get("nodeName", "")
        return next((node for node in self.nodes if node["metadata"]["name"] == name), None)

    def staying(self) -> list[tuple[Json, Json]]:
        """Running pods that nobody has told to go, with their nodes."""
        found = [(pod, self.node_of(pod)) for pod in self.pods if not _leaving(pod)]
        return [(pod, node) for pod, node in found if node is not None]


def _leaving(pod: Json) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _key(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _labels(thing: Json) -> dict[str, str]:
    labels: dict[str, str] = thing["metadata"].get("labels", {})
    return labels


def _holds(expression: Json, labels: dict[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values", [])
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(values[0])
        case "Lt":
            return value is not None and int(value) < int(values[0])
        case unknown:
            raise ValueError(unknown)


def _selects(selector: Json | None, labels: dict[str, str]) -> bool:
    """An absent selector selects nothing, an empty one everything."""
    return selector is not None and (
        all(labels.get(k) == v for k, v in selector.get("matchLabels", {}).items())
        and all(_holds(each, labels) for each in selector.get("matchExpressions", []))
    )


def _affinity_admits(spec: Json, node: Json) -> bool:
    labels = _labels(node)
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED)
    return required is None or any(_term_admits(t, node) for t in required["nodeSelectorTerms"])


def _term_admits(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions", []), term.get("matchFields", [])
    name = {"metadata.name": node["metadata"]["name"]}
    return (
        bool(expressions or fields)
        and all(_holds(each, _labels(node)) for each in expressions)
        and all(_holds(each, name) for each in fields)
    )


def _taints_admit(spec: Json, node: Json, *, cordon_counts: bool) -> bool:
    for taint in node.get("spec", {}).get("taints", []):
        if taint["effect"] not in HARD or (taint["key"] == CORDON and not cordon_counts):
            continue
        if not any(_tolerates(each, taint) for each in spec.get("tolerations", [])):
            return False
    return True


def _tolerates(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect", taint["effect"]) != taint["effect"]:
        return False
    if toleration.get("key", "") not in ("", taint["key"]):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("value", "") == taint.get("value", "")) and "key" in toleration


def misplaced(objects: Objects) -> set[Misplaced]:
    """Pods on nodes that they should not be on, and pods beside those they keep away from."""
    found: set[Misplaced] = set()
    for pod, node in objects.staying():
        place = node["metadata"]["name"]
        if not _affinity_admits(pod["spec"], node):
            found.add(Misplaced("nodeAffinity", _key(pod), place))
        if not _taints_admit(pod["spec"], node, cordon_counts=False):
            found.add(Misplaced("taints", _key(pod), place))
        found.update(_too_close(objects, pod, node))
    return found


def _too_close(objects: Objects, pod: Json, node: Json) -> Iterable[Misplaced]:
    """The first term of the pod that another one breaks."""
    terms = pod["spec"].get("affinity", {}).get("podAntiAffinity", {}).get(REQUIRED, [])
    for index, term in enumerate(terms):
        domain = _labels(node).get(term["topologyKey"])
        for other, beside in objects.staying():
            if (
                other is not pod
                and domain is not None
                and _labels(beside).get(term["topologyKey"]) == domain
                and _in_scope(objects, term, pod, other)
                and _selects(term.get("labelSelector"), _labels(other))
            ):
                return [Misplaced("podAntiAffinity", _key(pod), domain, index)]
    return []


def _in_scope(objects: Objects, term: Json, pod: Json, other: Json) -> bool:
    name = other["metadata"]["namespace"]
    names, selector = term.get("namespaces", []), term.get("namespaceSelector")
    if not names and selector is None:
        return bool(name == pod["metadata"]["namespace"])
    if name in names or selector == {}:
        return True
    listed = [each for each in objects.namespaces if each["metadata"]["name"] == name]
    return any(_selects(selector, {NAME_LABEL: name, **_labels(each)}) for each in listed)


def crowded(objects: Objects) -> list[Crowded]:
    """The domains above the limit of each distinct hard constraint of pods that run or wait."""
    found: list[Crowded] = []
    seen: list[object] = []
    for pod in objects.pods:
        waits = not pod["spec"].get("nodeName")
        if _leaving(pod) or not (waits or objects.node_of(pod)):
            continue
        hard = [c for c in pod["spec"].get("topologySpreadConstraints", []) if _is_hard(c)]
        for constraint in hard:
            eligible = [node for node in objects.nodes if _takes_part(pod, hard, constraint, node)]
            meaning = _meaning(pod, constraint, eligible)
            if meaning not in seen:
                seen.append(meaning)
                found += _above(objects, pod, constraint, eligible)
    return found


def _is_hard(constraint: Json) -> bool:
    return bool(constraint["whenUnsatisfiable"] == "DoNotSchedule")


def _takes_part(pod: Json, hard: Sequence[Json], constraint: Json, node: Json) -> bool:
    if any(each["topologyKey"] not in _labels(node) for each in hard):
        return False
    affinity = constraint.get("nodeAffinityPolicy", "Honor") == "Ignore"
    taints = constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore"
    return (affinity or _affinity_admits(pod["spec"], node)) and (
        taints or _taints_admit(pod["spec"], node, cordon_counts=True)
    )


def _meaning(pod: Json, constraint: Json, eligible: Sequence[Json]) -> object:
    """Constraints that agree in all of this are one."""
    selector = _own_selector(pod, constraint)
    return (
        pod["metadata"]["namespace"],
        constraint["topologyKey"],
        constraint["maxSkew"],
        constraint.get("minDomains", 1),
        constraint.get("nodeAffinityPolicy", "Honor"),
        constraint.get("nodeTaintsPolicy", "Ignore"),
        None if selector is None else _normal(selector),
        [node["metadata"]["name"] for node in eligible],
    )


def _normal(selector: Json) -> object:
    """`app: web` and `app In (web)` ask for the same."""
    equal = [(k, "In", (v,)) for k, v in selector.get("matchLabels", {}).items()]
    others = [
        (each["key"], each["operator"], tuple(sorted(set(each.get("values", [])))))
        for each in selector.get("matchExpressions", [])
    ]
    return sorted({*equal, *others})


def _own_selector(pod: Json, constraint: Json) -> Json | None:
    """With matchLabelKeys: the values that the pod itself has."""
    selector: Json | None = constraint.get("labelSelector")
    if selector is None:
        return None
    labels = _labels(pod)
    added = [
        {"key": key, "operator": "In", "values": [labels[key]]}
        for key in constraint.get("matchLabelKeys", [])
        if key in labels
    ]
    return {**selector, "matchExpressions": [*selector.get("matchExpressions", []), *added]}


def _above(
    objects: Objects, pod: Json, constraint: Json, eligible: Sequence[Json]
) -> list[Crowded]:
    key, selector = constraint["topologyKey"], _own_selector(pod, constraint)
    pods: dict[str, set[str]] = {_labels(node)[key]: set() for node in eligible}
    nothing = not selector or not any(selector.values())
    for other, node in objects.staying():
        same = other["metadata"]["namespace"] == pod["metadata"]["namespace"]
        if node in eligible and same and not nothing and _selects(selector, _labels(other)):
            pods[_labels(node)[key]].add(_key(other))
    enough = len(pods) >= constraint.get("minDomains", 1)
    allowed = constraint["maxSkew"] + (min(map(len, pods.values())) if enough and pods else 0)
    return [
        Crowded(key, domain, len(there), allowed, frozenset(there))
        for domain, there in pods.items()
        if len(there) > allowed
    ]
