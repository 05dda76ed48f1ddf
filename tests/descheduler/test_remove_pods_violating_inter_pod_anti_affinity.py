from __future__ import annotations

from planner_models.affinity import REQUIRED
from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import HOSTNAME, ZONE, Json, node

NAME = "RemovePodsViolatingInterPodAntiAffinity"


def avoids(app: str, key: str = HOSTNAME, **more: object) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
    return {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}}


def test_of_two_pods_that_exclude_each_other_one_stays() -> None:
    pods = [owned_pod(name, "a", spec=avoids("web")) for name in ("web-1", "web-2")]
    assert evicted(strategy(NAME), node("a"), *pods) == ["web-2"]


def test_the_lower_priority_goes() -> None:
    high = owned_pod("web-1", "a", spec={**avoids("web"), "priority": 10})
    low = owned_pod("web-2", "a", spec={**avoids("web"), "priority": 1})
    assert evicted(strategy(NAME), node("a"), high, low) == ["web-2"]


def test_a_domain_may_have_several_nodes() -> None:
    web = owned_pod("web", "a", spec=avoids("db", ZONE))
    db = owned_pod("db", "b", owner="db")
    assert evicted(strategy(NAME), node("a"), node("b"), web, db) == ["web"]
    assert evicted(strategy(NAME), node("a"), node("b", zone="z"), web, db) == []


def test_a_rival_may_be_protected_but_the_pod_itself_may_not() -> None:
    web = owned_pod("web", "a", spec=avoids("db"))
    daemon = owned_pod("db", "a", owner="db", kind="DaemonSet")
    assert evicted(strategy(NAME), node("a"), web, daemon) == ["web"]
    stays = owned_pod("web", "a", kind="DaemonSet", spec=avoids("db"))
    assert evicted(strategy(NAME), node("a"), stays, daemon) == []


def test_other_namespaces_count_if_they_are_listed() -> None:
    db = owned_pod("db", "a", owner="db", metadata={"namespace": "shop"})
    listed = owned_pod("web", "a", spec=avoids("db", namespaces=["shop"]))
    assert evicted(strategy(NAME), node("a"), listed, db) == ["web"]
    selected = owned_pod("web", "a", spec=avoids("db", namespaceSelector={}))
    assert evicted(strategy(NAME), node("a"), selected, db) == []


def test_pods_that_the_arguments_leave_out_are_no_rivals() -> None:
    web = owned_pod("web", "a", spec=avoids("db"))
    db = owned_pod("db", "a", owner="db")
    run = strategy(NAME, {"labelSelector": {"matchLabels": {"app": "web"}}})
    assert evicted(run, node("a"), web, db) == []
