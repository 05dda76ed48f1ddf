"""Small random clusters whose pods are where kube-scheduler puts them, as hypothesis draws them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from planner.cluster import Cluster
from planner.scenario import apply_changes, settle
from planner.scheduler.profile import default_profile
from tests.objects import HOSTNAME, ZONE, Json, cluster_of, node
from tests.whatif.asking import deployed

POLICIES = ("Ignore", "Honor")


@st.composite
def settled_clusters(draw: st.DrawFn, *, policies: tuple[str, ...] = POLICIES) -> Cluster:
    """Two or three zones, some workloads with hard rules, nodes that are tight or not."""
    zones = draw(st.sampled_from(("ab", "abc")))
    cpu = draw(st.sampled_from(("2", "3", "6")))
    nodes = [
        node(f"{zone}{i}", zone, status={"allocatable": {"cpu": cpu}})
        for zone in zones
        for i in range(1, draw(st.integers(1, 4)) + 1)
    ]
    objects = [*nodes]
    for number in range(draw(st.integers(1, 4))):
        name = f"w{number}"
        objects += deployed(
            name, [], replicas=draw(st.integers(1, 7)), spec=draw(_spec(name, policies))
        )
    cluster = cluster_of(*objects)
    start = settle(apply_changes(cluster, []), default_profile(), seed=draw(st.integers(0, 3)))
    return start.cluster.without(start.cluster.pending.tolist())


@st.composite
def _spec(draw: st.DrawFn, name: str, policies: tuple[str, ...]) -> Json:
    request = draw(st.sampled_from(("250m", "500m", "1", "1500m")))
    found: Json = {"containers": [{"name": "main", "resources": {"requests": {"cpu": request}}}]}
    keys = draw(st.sampled_from(((), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME))))
    label = {"matchLabels": {"app": draw(st.sampled_from((name, name, "w0")))}}
    constraints: list[dict[str, Any]] = [
        {
            "maxSkew": draw(st.integers(1, 3)),
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "nodeTaintsPolicy": draw(st.sampled_from(policies)),
            "labelSelector": label,
        }
        for key in keys
    ]
    for each in constraints:
        least = draw(st.sampled_from((None, None, None, 2, 3)))
        if least is not None:
            each["minDomains"] = least
    if constraints:
        found["topologySpreadConstraints"] = constraints
    if draw(st.integers(0, 5)) == 0:
        term = {"topologyKey": draw(st.sampled_from((ZONE, HOSTNAME))), "labelSelector": label}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        found["affinity"] = {draw(st.sampled_from(("podAffinity", "podAntiAffinity"))): required}
    if draw(st.integers(0, 5)) == 0:
        found["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    if draw(st.integers(0, 5)) == 0:
        taint = {"operator": "Exists", "effect": draw(st.sampled_from(("NoSchedule", "NoExecute")))}
        found["tolerations"] = [taint]
    return found
