"""For each card of the catalogue a cluster of one node that this rule alone refuses to `web`."""

from __future__ import annotations

from typing import Any

from planner.rules import CARDS, RuleCard
from planner_models.affinity import REQUIRED
from planner_models.volume import BIND_COMPLETED
from tests.objects import HOSTNAME, ZONE, Json, node, pod

DRIVER = "disk.csi.example.com"

NEEDS_NO_EXAMPLE = {
    ("nodeName", "NodeName"): "a pod of a snapshot that names a node is bound: it never waits",
}


def key_of(card: RuleCard) -> tuple[str, str]:
    return card.kind, card.plugin


def _labels(**labels: str) -> Json:
    return {"metadata": {"name": "web", "namespace": "default", "uid": "w", "labels": labels}}


def _term(key: str = HOSTNAME, **labels: str) -> Json:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def _port() -> Json:
    ports = [{"containerPort": 80, "hostPort": 8080}]
    return {"containers": [{"name": "main", "ports": ports}]}


def _mounting(*claims: str) -> Json:
    volumes = [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]
    return {"volumes": volumes}


def claim(name: str, **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {BIND_COMPLETED: "yes"},
        },
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}", **spec},
        "status": {"phase": "Bound"},
    }


def bound_volume(claim_name: str, *, zone: str = "", labels: dict[str, str] | None = None) -> Json:
    in_zone = {"key": ZONE, "operator": "In", "values": [zone]}
    pinned = {"required": {"nodeSelectorTerms": [{"matchExpressions": [in_zone]}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{claim_name}", "labels": labels or {}},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": DRIVER, "volumeHandle": claim_name},
            **({"nodeAffinity": pinned} if zone else {}),
        },
        "status": {"phase": "Bound"},
    }


def one_volume_per_node(node_name: str) -> Json:
    driver = {"name": DRIVER, "nodeID": node_name, "allocatable": {"count": 1}}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": node_name},
        "spec": {"drivers": [driver]},
    }


def _spread() -> Json:
    """One pod more would make two, of at most one; the second domain that it asks for is absent."""
    return {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "minDomains": 2,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    }


def _old(**changes: Any) -> Json:
    return pod("old", "n1", **changes)


EXAMPLES: dict[tuple[str, str], tuple[Json, ...]] = {
    ("unschedulable", "NodeUnschedulable"): (
        node("n1", spec={"unschedulable": True}),
        pod("web"),
    ),
    ("taints", "TaintToleration"): (
        node("n1", spec={"taints": [{"key": "gpu", "effect": "NoSchedule"}]}),
        pod("web"),
    ),
    ("nodeAffinity", "NodeAffinity"): (node("n1"), pod("web", spec={"nodeSelector": {ZONE: "b"}})),
    ("ports", "NodePorts"): (node("n1"), _old(spec=_port()), pod("web", spec=_port())),
    ("capacity", "NodeResourcesFit"): (
        node("n1", status={"allocatable": {"cpu": "900m"}}),
        _old(),
        pod("web"),
    ),
    ("volumes", "VolumeRestrictions"): (
        node("n1"),
        claim("data", accessModes=["ReadWriteOncePod"]),
        bound_volume("data"),
        _old(spec=_mounting("data")),
        pod("web", spec=_mounting("data")),
    ),
    ("volumes", "NodeVolumeLimits"): (
        node("n1"),
        one_volume_per_node("n1"),
        claim("data"),
        bound_volume("data"),
        claim("more"),
        bound_volume("more"),
        _old(spec=_mounting("data")),
        pod("web", spec=_mounting("more")),
    ),
    ("volumes", "VolumeBinding"): (
        node("n1"),
        claim("data"),
        bound_volume("data", zone="b"),
        pod("web", spec=_mounting("data")),
    ),
    ("volumes", "VolumeZone"): (
        node("n1"),
        claim("data"),
        bound_volume("data", labels={ZONE: "b"}),
        pod("web", spec=_mounting("data")),
    ),
    ("topologySpread", "PodTopologySpread"): (
        node("n1"),
        _old(metadata={"labels": {"app": "web"}}),
        pod("web", spec=_spread(), **_labels(app="web")),
    ),
    ("podAffinity", "InterPodAffinity"): (
        node("n1"),
        pod("web", spec={"affinity": {"podAffinity": {REQUIRED: [_term(app="db")]}}}),
    ),
    ("podAntiAffinity", "InterPodAffinity"): (
        node("n1"),
        _old(metadata={"labels": {"app": "old"}}),
        pod("web", spec={"affinity": {"podAntiAffinity": {REQUIRED: [_term(app="old")]}}}),
    ),
    ("podAntiAffinityOfOthers", "InterPodAffinity"): (
        node("n1"),
        _old(spec={"affinity": {"podAntiAffinity": {REQUIRED: [_term(app="web")]}}}),
        pod("web", **_labels(app="web")),
    ),
    ("declaredFeatures", "NodeDeclaredFeatures"): (
        node("n1"),
        pod("web", spec={"hostNetwork": True, "hostUsers": False}),
    ),
}


def cards_without_example() -> list[str]:
    known = EXAMPLES.keys() | NEEDS_NO_EXAMPLE.keys()
    return [f"{card.kind} of {card.plugin}" for card in CARDS if key_of(card) not in known]
