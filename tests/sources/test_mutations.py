"""Mutated objects of every kind end in a cluster or in one clean error, never in anything else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from planner.cluster import build_cluster
from planner.sources.errors import SourceError
from planner.sources.kinds import KINDS
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from tests.fleet.fleet_objects import RICH as FLEET
from tests.objects import Json, node, owned, pod, template, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM = {
    "topologyKey": "topology.kubernetes.io/zone",
    "labelSelector": {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}],
    },
    "namespaces": ["default"],
    "namespaceSelector": {},
    "matchLabelKeys": ["rev"],
}
RICH_SPEC: Json = {
    "nodeName": "n1",
    "hostNetwork": True,
    "priority": 5,
    "priorityClassName": "high",
    "schedulerName": "default-scheduler",
    "schedulingGates": [{"name": "wait"}],
    "overhead": {"cpu": "10m"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "resources": {"limits": {"cpu": "2"}},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
    "initContainers": [{"name": "side", "restartPolicy": "Always"}],
    "containers": [
        {
            "name": "main",
            "image": "registry.example.com/web:1",
            "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": 1}},
            "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1"}],
        }
    ],
    "affinity": {
        "nodeAffinity": {
            REQUIRED: {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [{"key": "n", "operator": "Gt", "values": ["1"]}],
                        "matchFields": [
                            {"key": "metadata.name", "operator": "In", "values": ["n1"]}
                        ],
                    }
                ]
            },
            PREFERRED: [{"weight": 1, "preference": {"matchExpressions": []}}],
        },
        "podAffinity": {PREFERRED: [{"weight": 100, "podAffinityTerm": TERM}]},
        "podAntiAffinity": {REQUIRED: [TERM]},
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
            "minDomains": 2,
            "matchLabelKeys": ["rev"],
        }
    ],
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
    ],
}
STATUS = {
    "phase": "Running",
    "startTime": "2026-05-01T12:00:00Z",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"restartCount": 1, "state": {"waiting": {"reason": "x"}}}],
}
META = {
    "labels": {"app": "web", "rev": "1"},
    "annotations": {"kubernetes.io/config.mirror": "m"},
    "creationTimestamp": "2026-05-01T12:00:00Z",
    **owned("ReplicaSet", "web-1"),
}


def plain(api_version: str, kind: str, name: str, **fields: Any) -> Json:
    metadata = {"name": name, "namespace": "default", "labels": {"a": "b"}}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


CORPUS: list[Json] = [
    node(
        "n1",
        spec={
            "unschedulable": True,
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        },
        status={
            "capacity": {"cpu": "4", "example.com/gpu": 1},
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": ["a:1"], "sizeBytes": 1000}],
        },
    ),
    pod("web-1", "n1", spec=RICH_SPEC, metadata=META, status=STATUS),
    pod("bare", spec=RICH_SPEC, metadata={"uid": None, **META}),
    workload("Deployment", "web", {"replicas": 2, "template": template(spec=RICH_SPEC)}),
    workload("ReplicaSet", "web-1", {"replicas": 2}, metadata=owned("Deployment", "web")),
    workload("ReplicationController", "rc", {"replicas": 1, "selector": {"app": "web"}}),
    workload("DaemonSet", "log", {"template": template(spec={"hostNetwork": True})}),
    workload(
        "Job",
        "once",
        {"parallelism": 1, "completions": 2},
        status={"succeeded": 1, "conditions": [{"type": "Complete", "status": "False"}]},
    ),
    workload(
        "StatefulSet",
        "db",
        {
            "replicas": 1,
            "ordinals": {"start": 0},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}],
        },
    ),
    plain("v1", "Service", "web", spec={"selector": {"app": "web"}}),
    plain("v1", "Namespace", "default"),
    plain(
        "v1",
        "LimitRange",
        "limits",
        spec={
            "limits": [
                {"type": "Container", "default": {"cpu": "1"}, "min": {"cpu": "1m"}},
                {"type": "Pod", "max": {"memory": "8Ti"}, "maxLimitRequestRatio": {"cpu": "90"}},
            ]
        },
    ),
    plain(
        "v1",
        "ResourceQuota",
        "team",
        spec={
            "hard": {"requests.cpu": "4", "pods": "9"},
            "scopes": ["NotBestEffort"],
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
                ]
            },
        },
        status={"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "1500m"}},
    ),
    plain(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "web",
        spec={
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 2,
            "maxReplicas": 9,
        },
    ),
    plain(
        "batch/v1",
        "CronJob",
        "nightly",
        spec={
            "schedule": "0 3 * * *",
            "jobTemplate": {
                "spec": {"template": {"spec": {"containers": [{"name": "main"}]}}},
            },
        },
    ),
    plain("scheduling.k8s.io/v1", "PriorityClass", "high", value=5, globalDefault=True),
    plain(
        "policy/v1",
        "PodDisruptionBudget",
        "web",
        spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}},
        status={"disruptionsAllowed": 1, "disruptedPods": {"a": "2026-05-01T12:00:00Z"}},
    ),
    plain(
        "v1",
        "PersistentVolume",
        "pv",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "default", "name": "data-db-0", "uid": "u"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": []}]}},
            "csi": {"driver": "d", "volumeHandle": "h"},
        },
    ),
    plain(
        "v1",
        "PersistentVolumeClaim",
        "data-db-0",
        spec={"resources": {"requests": {"storage": "1Gi"}}, "volumeName": "pv"},
        status={"phase": "Bound"},
    ),
    plain(
        "storage.k8s.io/v1",
        "StorageClass",
        "fast",
        provisioner="p",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}],
    ),
    plain("storage.k8s.io/v1", "CSIDriver", "d", spec={"storageCapacity": True}),
    plain(
        "storage.k8s.io/v1",
        "CSINode",
        "n1",
        spec={"drivers": [{"name": "d", "topologyKeys": ["z"], "allocatable": {"count": 3}}]},
    ),
    plain(
        "storage.k8s.io/v1",
        "CSIStorageCapacity",
        "c",
        nodeTopology={},
        storageClassName="fast",
        capacity="1Gi",
    ),
    plain(
        "storage.k8s.io/v1",
        "VolumeAttachment",
        "va",
        spec={"attacher": "d", "nodeName": "n1", "source": {"persistentVolumeName": "pv"}},
        status={"attached": True},
    ),
    {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 50,
        "profiles": [{"schedulerName": "default-scheduler"}],
    },
    {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [{"name": "RemoveDuplicates", "args": {}}],
                "plugins": {"balance": {"enabled": ["RemoveDuplicates"]}},
            }
        ],
    },
    {
        "apiVersion": "planner/v1",
        "kind": "RunPolicy",
        "period": "5m",
        "goals": ["spread"],
        "limits": {"perRound": 10, "perNode": 2},
        "hours": [{"days": ["mon"], "from": "09:00", "to": "17:00", "timeZone": "Europe/Berlin"}],
        "pauseWhen": {"notReadyNodes": "20%"},
    },
    *FLEET,
]
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**63,
    2**64,
    10**30,
    -(10**400),
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "5",
    "1e999999999",
    "-1",
    "9" * 6000,
    "\ud800",
    "\u0000",
    "é" * 300,
    "0000-00-00T00:00:00Z",
    "9999-12-31T23:59:60Z",
    "2026-05-01T12:00:00+99:99",
    [],
    {},
    [[]],
    {"": {}},
    {"a": None},
    [None],
)
DEPTHS = (1, 90, 200, 3000)
Place = tuple[Any, Any]


def places(value: Any) -> Iterator[Place]:
    """Every (container, key) in a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def delete(rng: random.Random, place: Place) -> None:
    del place[0][place[1]]


def replace(rng: random.Random, place: Place) -> None:
    place[0][place[1]] = copy.deepcopy(rng.choice(ODD_VALUES))


def nest(rng: random.Random, place: Place) -> None:
    """A mark that becomes a deep value in the text; Python's own encoder would not write it."""
    place[0][place[1]] = f"deep-{rng.choice(DEPTHS)}"


def duplicate(rng: random.Random, place: Place) -> None:
    container, key = place
    if isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    else:
        container[f"{key}x"] = container[key]


def swap(rng: random.Random, place: Place) -> None:
    """Something from elsewhere in the corpus."""
    donor, key = rng.choice(list(places(rng.choice(CORPUS))))
    place[0][place[1]] = copy.deepcopy(donor[key])


MUTATIONS: tuple[Callable[[random.Random, Place], None], ...] = (
    delete,
    delete,
    replace,
    replace,
    replace,
    swap,
    duplicate,
    nest,
)


def loads_or_is_refused(data: bytes) -> bool:
    """Whether the text becomes a cluster; errors have to be clean and printable."""
    try:
        build_cluster(load_documents([RawDocument(file="fuzz.json", data=data, line=1)]))
    except SourceError as error:
        text = error.render()
        assert text.startswith("error: ")
        assert len(text) < 2000
        text.encode()
        return False
    return True


def encoded(value: Any) -> bytes:
    text = json.dumps(value).encode()
    for depth in DEPTHS:
        deep = b'[{"a":' * depth + b"1" + b"}]" * depth
        text = text.replace(b'"deep-%d"' % depth, deep)
    return text


def test_the_corpus_covers_every_kind_and_loads() -> None:
    kinds = {(each["apiVersion"].rpartition("/")[0], each["kind"]) for each in CORPUS}
    assert kinds == {*KINDS, ("", "Pod")}
    assert loads_or_is_refused(encoded({"kind": "List", "items": CORPUS}))


@pytest.mark.parametrize("index", range(len(CORPUS)), ids=[each["kind"] for each in CORPUS])
def test_mutated_objects_load_or_are_refused_cleanly(index: int) -> None:
    rng = random.Random(index)
    outcomes = set()
    for _ in range(300 if CORPUS[index]["kind"] in ("Pod", "Deployment") else 60):
        mutated = copy.deepcopy(CORPUS[index])
        for _ in range(rng.choice((1, 1, 2, 4))):
            rng.choice(MUTATIONS)(rng, rng.choice(list(places(mutated)) or [([0], 0)]))
        outcomes.add(loads_or_is_refused(encoded(mutated)))
    assert outcomes == {True, False}


def test_mutated_lists_load_or_are_refused_cleanly() -> None:
    rng = random.Random("lists")
    for _ in range(150):
        items = copy.deepcopy(rng.sample(CORPUS, rng.randint(2, len(CORPUS))))
        for _ in range(rng.randint(0, 2)):
            rng.choice(MUTATIONS)(rng, rng.choice(list(places(items))))
        loads_or_is_refused(encoded(rng.choice((items, {"kind": "List", "items": items}))))


def test_truncated_and_garbled_texts_are_refused_cleanly() -> None:
    rng = random.Random("texts")
    whole = encoded({"kind": "List", "items": CORPUS})
    for _ in range(300):
        text = bytearray(whole)
        start = rng.randrange(len(text))
        if rng.random() < 0.3:
            del text[start:]
        elif rng.random() < 0.5:
            text[start] = rng.randrange(256)
        else:
            text[start : start + rng.randint(1, 40)] = rng.randbytes(rng.randint(0, 8))
        loads_or_is_refused(bytes(text))
