"""Replicas that controllers want and the input lacks are made from templates."""

from __future__ import annotations

import re
from typing import Any

import pytest

from planner.sources.errors import SourceError
from planner.sources.inventory import Inventory
from planner.sources.synthesise import MOST_PODS
from planner_models.pod import Pod
from tests.objects import Json, inventory_of, node, owned, pod, template, workload

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def replica_set(name: str, replicas: int, revision: str = "1", **changes: Any) -> Json:
    hashed = name.rpartition("-")[2]
    labels = {"app": "web", "pod-template-hash": hashed}
    return workload(
        "ReplicaSet",
        name,
        {"replicas": replicas, "template": template(labels)},
        metadata={
            **owned("Deployment", "web"),
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": revision},
        },
        **changes,
    )


def replica(name: str, owner: str, kind: str = "ReplicaSet", **changes: Any) -> Json:
    labels = {"app": "web", "pod-template-hash": owner.rpartition("-")[2]}
    return pod(name, "n1", metadata={**owned(kind, owner), "labels": labels}, **changes)


def made(inventory: Inventory) -> list[Pod]:
    return [found for found in inventory.pods if found.synthesised]


def test_a_deployment_manifest_alone_gets_a_replica_set_and_its_pods() -> None:
    found = inventory_of(workload("Deployment", "web", {"replicas": 3}))
    (owner,) = found.replica_sets
    assert owner.name.startswith("web-")
    assert owner.metadata.controller is not None
    assert owner.metadata.controller.name == "web"
    pods = made(found)
    assert len(pods) == 3
    assert {p.owner.name for p in pods if p.owner} == {owner.name}
    assert {p.labels["pod-template-hash"] for p in pods} == {owner.name.removeprefix("web-")}
    assert {p.node_name for p in pods} == {""}
    assert len({id(p.spec) for p in pods}) == 1
    assert found.notices[0].text.startswith("3 pods were made from templates")


def test_names_are_the_same_in_every_run_and_valid_dns_labels() -> None:
    name = "a-very-long-name-of-a-deployment-that-leaves-no-room-for-suffixes"
    runs = [inventory_of(workload("Deployment", name, {"replicas": 50})) for _ in range(2)]
    names = [[p.name for p in made(run)] for run in runs]
    assert names[0] == names[1]
    assert len(set(names[0])) == 50
    assert all(DNS_LABEL.fullmatch(each) for each in names[0])


def test_a_scaled_deployment_gets_what_is_missing_from_its_newest_replica_set() -> None:
    found = inventory_of(
        workload("Deployment", "web", {"replicas": 4}),
        replica_set("web-old", 0, "1"),
        replica_set("web-new", 2, "2"),
        replica("web-new-a", "web-new"),
        replica("web-new-b", "web-new"),
    )
    assert [p.owner.name for p in made(found) if p.owner] == ["web-new", "web-new"]
    assert len(found.replica_sets) == 2


def test_a_new_replica_has_the_spec_that_admission_gave_its_sibling() -> None:
    sibling = replica("web-new-a", "web-new", spec={"priority": 7})
    found = inventory_of(
        workload("Deployment", "web", {"replicas": 2}), replica_set("web-new", 1), sibling
    )
    (new,) = made(found)
    assert new.spec is found.pods[0].spec


def test_merged_label_keys_of_a_sibling_are_not_merged_again() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["pod-template-hash"],
    }
    expression = {"key": "pod-template-hash", "operator": "In", "values": ["new"]}
    selector = {"matchLabels": {"app": "web"}, "matchExpressions": [expression]}
    stored = {"topologySpreadConstraints": [{**constraint, "labelSelector": selector}]}
    wanted = template(spec={"topologySpreadConstraints": [constraint]})
    found = inventory_of(
        workload("Deployment", "web", {"replicas": 2, "template": wanted}),
        merged_template(replica_set("web-new", 1), wanted),
        replica("web-new-a", "web-new", spec=stored),
    )
    (new,) = made(found)
    (merged,) = new.spec.topology_spread_constraints
    assert merged.label_selector is not None
    assert len(merged.label_selector.match_expressions) == 1


def merged_template(owner: Json, wanted: Json) -> Json:
    owner["spec"]["template"]["spec"] = wanted["spec"]
    return owner


def test_a_deployment_whose_replica_sets_are_not_in_the_input_still_knows_its_pods() -> None:
    found = inventory_of(
        workload("Deployment", "web", {"replicas": 3}),
        replica("web-abc-1", "web-abc"),
        replica("web-abc-2", "web-abc"),
    )
    assert [p.owner.name for p in made(found) if p.owner] == ["web-abc"]


def test_terminating_and_finished_pods_are_replaced() -> None:
    found = inventory_of(
        workload("Deployment", "web", {"replicas": 3}),
        replica_set("web-new", 3),
        replica("web-new-a", "web-new"),
        replica("web-new-b", "web-new", status={"phase": "Failed"}),
        pod(
            "web-new-c",
            "n1",
            metadata={
                **owned("ReplicaSet", "web-new"),
                "deletionTimestamp": "2026-05-01T12:00:00Z",
            },
        ),
    )
    assert len(made(found)) == 2


@pytest.mark.parametrize("replicas", [0, 1])
def test_a_controller_with_enough_pods_gets_none(replicas: int) -> None:
    found = inventory_of(
        workload("Deployment", "web", {"replicas": replicas}),
        replica_set("web-new", replicas),
        replica("web-new-a", "web-new"),
    )
    assert not made(found)


def test_a_controller_that_is_being_deleted_makes_no_pods() -> None:
    gone = {"deletionTimestamp": "2026-05-01T12:00:00Z"}
    assert not made(inventory_of(workload("Deployment", "web", metadata=gone)))


def test_a_replica_set_and_a_replication_controller_stand_for_themselves() -> None:
    found = inventory_of(
        workload("ReplicaSet", "rs", {"replicas": 1}),
        workload("ReplicationController", "rc", {"replicas": 2}),
    )
    owners = [(p.owner.kind, p.owner.name) for p in made(found) if p.owner]
    assert owners == [("ReplicaSet", "rs"), *[("ReplicationController", "rc")] * 2]


def test_a_stateful_set_gets_numbered_pods_with_their_claims() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
    found = inventory_of(
        workload(
            "StatefulSet",
            "db",
            {"replicas": 3, "ordinals": {"start": 1}, "volumeClaimTemplates": [claim]},
        ),
        replica("db-2", "db", "StatefulSet"),
    )
    assert [p.name for p in made(found)] == ["db-1", "db-3"]
    assert [c.key for c in found.claims] == ["default/data-db-1", "default/data-db-3"]
    first = made(found)[0]
    assert first.labels["statefulset.kubernetes.io/pod-name"] == "db-1"
    source = first.volumes[0].persistent_volume_claim
    assert source is not None
    assert source.claim_name == "data-db-1"


def test_a_claim_that_exists_is_not_made_again() -> None:
    claim = {"metadata": {"name": "data"}}
    existing = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-0", "namespace": "default", "uid": "u"},
        "spec": {"volumeName": "pv-1"},
    }
    found = inventory_of(workload("StatefulSet", "db", {"volumeClaimTemplates": [claim]}), existing)
    assert [c.spec.volume_name for c in found.claims] == ["pv-1"]


def test_a_stateful_set_waits_for_its_terminating_pod_and_replaces_a_failed_one() -> None:
    gone = {"deletionTimestamp": "2026-05-01T12:00:00Z", **owned("StatefulSet", "db")}
    found = inventory_of(
        workload("StatefulSet", "db", {"replicas": 2}),
        pod("db-0", "n1", metadata=gone),
        replica("db-1", "db", "StatefulSet", status={"phase": "Failed"}),
    )
    assert [p.name for p in made(found)] == ["db-1"]


def test_a_daemon_set_gets_pods_on_eligible_nodes_only() -> None:
    taint = [{"key": "dedicated", "effect": "NoSchedule"}]
    cordon = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    spec = {"nodeSelector": {"topology.kubernetes.io/zone": "a"}}
    found = inventory_of(
        node("n1"),
        node("n2"),
        node("n3", zone="b"),
        node("n4", spec={"taints": taint}),
        node("n5", spec={"taints": cordon, "unschedulable": True}),
        workload("DaemonSet", "log", {"template": template(spec=spec)}),
        pod("log-1", "n1", metadata=owned("DaemonSet", "log")),
    )
    pinned = []
    for each in made(found):
        required = each.spec.affinity.node_affinity.required
        assert required is not None
        (term,) = required.node_selector_terms
        pinned.append(term.match_fields[0].values[0])
    assert pinned == ["n2", "n5"]


def test_a_pending_daemon_pod_covers_the_node_it_waits_for() -> None:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    field = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    waiting = pod(
        "log-1",
        spec={"affinity": {"nodeAffinity": {required: terms}}},
        metadata=owned("DaemonSet", "log"),
    )
    assert not made(inventory_of(node("n1"), workload("DaemonSet", "log"), waiting))


@pytest.mark.parametrize(
    ("spec", "status", "count"),
    [
        ({}, {}, 1),
        ({"parallelism": 3}, {}, 3),
        ({"parallelism": 3, "completions": 2}, {}, 2),
        ({"parallelism": 3, "completions": 4}, {"succeeded": 3}, 1),
        ({"parallelism": 3}, {"succeeded": 1}, 0),
        ({"suspend": True}, {}, 0),
        ({}, {"conditions": [{"type": "Complete", "status": "True"}]}, 0),
    ],
)
def test_a_job_gets_as_many_pods_as_may_run_now(spec: Json, status: Json, count: int) -> None:
    assert len(made(inventory_of(workload("Job", "once", spec, status=status)))) == count


def test_an_absurd_number_of_replicas_is_refused() -> None:
    with pytest.raises(SourceError, match=f"at most {MOST_PODS}") as caught:
        inventory_of(workload("Deployment", "web", {"replicas": 2**31 - 1}))
    assert (caught.value.object, caught.value.field) == ("Deployment default/web", "spec.replicas")
