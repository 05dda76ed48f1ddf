"""Repairs that the API server takes, that destroy nothing unseen, and that work in the end."""

from __future__ import annotations

import json
import shlex

import pytest

from planner.cli import app
from planner.cluster import Cluster
from planner.explain.diagnose import ExplainOptions
from planner.explain.several_pods import explain_pods
from planner.scheduler.profile import default_profile
from planner_models.diagnosis import Repair
from tests.objects import cluster_of
from tests.reality.dumps import DATA, Json, changed, dump, evictions, loaded, rebalanced


def repairs(name: str) -> list[Repair]:
    """What `planner explain` offers for the pod of a dump that waits."""
    return repairs_in(dump(name))


def repairs_in(cluster: Cluster) -> list[Repair]:
    """The same for a cluster."""
    waiting = cluster.pending.tolist()
    return list(explain_pods(cluster, waiting, default_profile(), ExplainOptions()).repairs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("live-notready", "na has to become reachable"),
        ("notready", "na has to become ready"),
        ("pressure", "na has to get rid of its disk pressure"),
    ],
)
def test_a_node_in_a_bad_state_has_to_recover_and_is_not_tolerated(name: str, text: str) -> None:
    found = repairs(name)
    assert found[0].text == text
    assert "addToleration" not in {repair.kind for repair in found}


def test_a_stored_pod_whose_selector_was_merged_is_never_replaced() -> None:
    """The API server refuses to create it again, when the old one is already gone."""
    found = [repair for repair in repairs("live-matchlabelkeys") if repair.kind == "raiseMaxSkew"]
    assert [repair.command for repair in found] == [None]
    assert found[0].notes == ("recreate mypod from its own manifest",)
    assert "+      maxSkew: 2" in found[0].diff


def test_the_priority_class_is_what_forbids_preemption() -> None:
    """Admission forbids pods whose policy is not that of their class."""
    found = [repair for repair in repairs("live-never") if repair.kind == "preemptionPolicy"]
    assert [(repair.object, repair.command) for repair in found] == [("priorityclass/polite", None)]
    assert "make polite anew or use another class" in found[0].notes[1]


def test_the_waiting_pod_of_a_stateful_set_is_deleted_with_the_patch() -> None:
    found = next(repair for repair in repairs("live-sts-patch") if repair.kind == "lowerRequest")
    assert found.command is not None
    dry, patch, delete = found.command.split(" && ")
    assert dry == f"{patch} --dry-run=server"
    assert delete == "kubectl -n default delete pod db-1"
    assert found.notes == ("rolls out 2 pods once db-1 is deleted",)


def test_what_an_unknown_kind_decides_on_is_said_and_not_patched() -> None:
    cluster = dump("crd-pending")
    waiting = cluster.pending.tolist()
    found = explain_pods(cluster, waiting, default_profile(), ExplainOptions())
    assert [repair.kind for repair in found.repairs] == ["addNode"]
    assert any("which StrimziPodSet k decides on" in text for text in found.not_listed)


@pytest.mark.parametrize("name", ["crd-pending.json.gz", "two-namespaces.yaml"])
def test_the_command_for_one_of_them_can_be_run(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["explain", "-f", str(DATA / name)]) == 3
    command = " ".join(capsys.readouterr().out.partition("For one of them:")[2].split())
    assert app.main(shlex.split(command)[1:]) == 3
    assert capsys.readouterr().out.startswith("impossible: ")


def test_a_new_node_holds_the_pods_of_daemon_sets_as_well() -> None:
    found = next(repair for repair in repairs("ds-overhead") if repair.kind == "addNode")
    assert found.text == "add a node, 3500m CPU and 128Mi"
    assert found.notes == ("500m CPU and 64Mi of it for DaemonSet agent",)


def test_daemon_sets_that_the_input_lacks_are_named_beside_a_new_node() -> None:
    objects = [each for each in loaded("ds-overhead") if each["kind"] != "DaemonSet"]
    found = next(r for r in repairs_in(cluster_of(*objects)) if r.kind == "addNode")
    assert found.text == "add a node, 3 CPU and 64Mi"
    assert found.notes == ("and what DaemonSet agent, not in the input, may put on it",)


def test_a_partition_that_keeps_the_old_template_is_named_first() -> None:
    """Below it, a deleted pod comes back as it was."""

    def hold_back(each: Json) -> None:
        if each["kind"] == "StatefulSet":
            each["spec"]["updateStrategy"] = {"rollingUpdate": {"partition": 2}}

    found = next(r for r in repairs_in(changed("live-sts-patch", hold_back)) if r.restarts)
    assert found.command is None
    assert found.notes == ("lower partition 2 first: below it the old template stays",)


def test_the_template_of_a_job_can_not_be_changed() -> None:
    found = next(repair for repair in repairs("job-pending") if repair.kind == "lowerRequest")
    assert found.command is None
    assert found.notes == ("recreate job/j",)
    assert '+              cpu: "4"' in found.diff


def test_requests_that_came_from_limits_are_added_to_the_template() -> None:
    """The patch of a path below `requests`, which the template lacks, would be refused."""
    found = next(repair for repair in repairs("live-limits-only") if repair.kind == "lowerRequest")
    assert found.command is not None
    patch = json.loads(shlex.split(found.command)[-1])
    path = "/spec/template/spec/containers/0/resources/requests"
    assert patch == [{"op": "add", "path": path, "value": {"cpu": "2"}}]


def test_the_limit_of_a_gpu_goes_down_with_its_request() -> None:
    """The API server refuses a request for an extended resource that is not its limit."""

    def with_gpus(each: Json) -> None:
        if each["kind"] == "Node":
            each["status"]["allocatable"]["nvidia.com/gpu"] = "1"
            each["status"]["allocatable"]["cpu"] = "8"
            return
        spec = each.get("spec", {})
        for container in spec.get("template", {"spec": spec}).get("spec", {}).get("containers", ()):
            for kind in ("limits", "requests") if each["kind"] == "Pod" else ("limits",):
                container["resources"][kind]["nvidia.com/gpu"] = "2"

    found = repairs_in(changed("live-limits-only", with_gpus))
    command = next(repair.command for repair in found if repair.kind == "lowerRequest")
    assert command is not None
    assert {
        op["path"].rpartition("/")[2]: op["value"] for op in json.loads(shlex.split(command)[-1])
    } == {
        "requests": {"nvidia.com/gpu": "1"},
        "nvidia.com~1gpu": "1",
    }


def test_a_pod_whose_class_forbids_preemption_is_not_told_to_preempt() -> None:
    found = repairs("never")
    policy = next(repair for repair in found if repair.kind == "preemptionPolicy")
    assert (policy.object, policy.command) == ("priorityclass/polite", None)
    (alone,) = (plan for plan in (evictions(dump("never")),) if not plan.evictions)
    assert alone.after.pending == 1


def test_a_volume_keeps_its_pod_in_a_zone_without_room() -> None:
    """Only a smaller request, a node in that zone, or the loss of the data lets db-0 run."""
    found = repairs("sts-zone")
    assert [repair.kind for repair in found] == ["lowerRequest", "addNode", "recreateVolume"]
    assert found[1].text == "add a node in a, 3 CPU and 64Mi"
    assert found[2].notes == ("DESTROYS ITS DATA",)
    assert found[2].command is not None
    assert "--dry-run=server && " in found[2].command
    assert rebalanced(dump("sts-zone")).unplaced[0].diagnosis == (
        "its volumes leave na, and needs 3 CPU; the largest node there has 2"
    )
