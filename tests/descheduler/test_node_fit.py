from __future__ import annotations

import numpy as np
import pytest

from planner.descheduler.policy import view_of
from planner.descheduler.strategies.node_fit import NodeFit
from tests.descheduler.strategy_examples import owned_pod
from tests.objects import ZONE, Json, cluster_of, node

ANTI: Json = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
}


def moves(*others: Json, spec: Json | None = None, b: Json | None = None) -> bool:
    """Whether the pod `web` of node a would fit on another node."""
    web_pod = owned_pod("web", "a", spec=spec)
    cluster = cluster_of(node("a"), node("b", **(b or {})), web_pod, *others)
    view = view_of(cluster)
    web = cluster.pods[cluster.pod_index["default/web"]]
    return NodeFit(view).landing_on(view.node_array)(web)


def test_a_pod_fits_on_an_empty_node() -> None:
    assert moves()


@pytest.mark.parametrize(
    "of_b",
    [
        {"spec": {"unschedulable": True}},
        {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}},
        {"spec": {"taints": [{"key": "gpu", "effect": "NoExecute"}]}},
        {"status": {"allocatable": {"cpu": "100m"}}},
        {"status": {"allocatable": {"pods": "0"}}},
    ],
)
def test_a_cordon_a_taint_or_a_lack_of_room_keeps_it_away(of_b: Json) -> None:
    assert not moves(b=of_b)


def test_prefer_no_schedule_does_not() -> None:
    assert moves(b={"spec": {"taints": [{"key": "gpu", "effect": "PreferNoSchedule"}]}})


def test_its_own_anti_affinity_is_about_pods_on_the_very_node() -> None:
    assert not moves(owned_pod("other", "b"), spec=ANTI)


def test_pods_elsewhere_in_the_zone_do_not_matter() -> None:
    """kube-scheduler would refuse node b here."""
    assert moves(node("c", spec={"unschedulable": True}), owned_pod("other", "c"), spec=ANTI)


def test_the_anti_affinity_of_others_does_not_matter() -> None:
    assert moves(owned_pod("other", "b", spec=ANTI))


def test_a_node_without_the_topology_key_passes_anti_affinity() -> None:
    bare = node("b")
    del bare["metadata"]["labels"][ZONE]
    cluster = cluster_of(node("a"), bare, owned_pod("web", "a", spec=ANTI), owned_pod("x", "b"))
    assert NodeFit(view_of(cluster)).landing_on(np.array([0, 1]))(cluster.pods[0])


def test_on_its_own_node_a_pod_has_its_room() -> None:
    cluster = cluster_of(node("a", status={"allocatable": {"cpu": "500m"}}), owned_pod("web", "a"))
    fit = NodeFit(view_of(cluster))
    assert fit.fits_any(cluster.pods[0], np.array([0]))
    assert not fit.landing_on(np.array([0]))(cluster.pods[0])
