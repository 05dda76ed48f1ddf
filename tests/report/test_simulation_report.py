from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cluster import GONE, Cluster, build_cluster
from planner.documents.simulation import SimulationOptions, simulation_of
from planner.examples import example_path, examples
from planner.report.cluster_file import cluster_text, write_cluster
from planner.report.emit import emit, to_json, to_text
from planner.report.tables import simulation_table
from planner.report.text.formats import Output
from planner.sources.errors import SourceError
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.documents import json_schema
from planner_models.simulation import Simulation
from tests.objects import ZONE, Json, cluster_of, document, node, owned, pod, workload

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"


def grown() -> Cluster:
    """The zone that came back empty, with two Deployments scaled up in a manifest."""
    dump = json.loads(example_path("zone-outage").read_text())
    replicas = {"api": 14, "feed": 7}
    scaled = [
        {**item, "spec": {**item["spec"], "replicas": replicas[item["metadata"]["name"]]}}
        for item in dump["items"]
        if item["kind"] == "Deployment" and item["metadata"]["name"] in replicas
    ]
    return build_cluster(load_documents([document(dump), document(*scaled)]))


def example(name: str) -> Cluster:
    return planner.load(example=name).snapshot


def simulated(cluster: Cluster) -> Simulation:
    return simulation_of(cluster)[0]


def text(cluster: Cluster, output: Output = Output.TABLE, **options: Any) -> str:
    details = output not in (Output.TABLE, Output.NAME, Output.MARKDOWN)
    document, _ = simulation_of(cluster, options=SimulationOptions(details=details, **options))
    return to_text(document, output, simulation_table)


def spread(app: str, key: str = ZONE) -> Json:
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {"topologySpreadConstraints": [constraint]}


@pytest.mark.parametrize("output", [Output.TABLE, Output.WIDE])
@pytest.mark.parametrize("name", ["docs-conflicting-constraints", "zone-outage-grown"])
def test_the_text_is_as_agreed(name: str, output: Output) -> None:
    cluster = grown() if name == "zone-outage-grown" else example(name)
    expected = (SNAPSHOTS / f"simulate-{name}-{output}.txt").read_text()
    assert text(cluster, output) == expected


@pytest.mark.parametrize("output", [Output.TABLE, Output.WIDE])
@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_piped_text_fits_80_columns_and_has_no_trailing_spaces(name: str, output: Output) -> None:
    for line in text(example(name), output).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_the_same_input_gives_the_same_bytes(name: str) -> None:
    assert to_json(simulated(example(name))) == to_json(simulated(example(name)))


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_the_document_reads_back_as_it_was_written(name: str) -> None:
    document = simulated(example(name))
    assert Simulation.model_validate_json(to_json(document)) == document


def test_the_schema_names_the_fields_that_checks_rely_on() -> None:
    schema = json_schema("Simulation")
    pods = schema["$defs"]["SimulatedPod"]["properties"]
    expected = "pod outcome node feasibleNodes filters scores totals best message preemption"
    assert set(expected.split()) <= set(pods)
    assert "summary" in schema["properties"]


def test_the_document_has_every_verdict_and_score() -> None:
    cluster = cluster_of(
        node("a"), node("b"), node("c", spec={"unschedulable": True}), pod("busy", "b"), pod("p")
    )
    found = simulated(cluster).pods[0]
    assert (found.pod, found.outcome, found.node) == ("default/p", "scheduled", "a")
    assert found.feasible_nodes == ("a", "b")
    assert found.filters is not None
    assert found.filters["c"].plugin == "NodeUnschedulable"
    assert found.scores is not None
    assert found.scores["NodeResourcesFit"] == {"a": 92, "b": 85}
    assert found.totals is not None
    assert found.totals == {
        name: sum(scores[name] for scores in found.scores.values()) for name in ("a", "b")
    }
    assert (found.best, found.tied) == (("a",), 1)


def test_all_plugins_that_refuse_a_node_are_named() -> None:
    cordoned = node("a", spec={"unschedulable": True}, status={"allocatable": {"cpu": "100m"}})
    found = simulated(cluster_of(cordoned, pod("p"))).pods[0]
    assert found.failing_plugins == {"a": ("NodeUnschedulable", "NodeResourcesFit")}


def test_one_node_can_be_asked_about() -> None:
    cluster = cluster_of(node("a"), node("b"), node("c", spec={"unschedulable": True}), pod("p"))
    document, _ = simulation_of(cluster, options=SimulationOptions(node=1))
    assert document.explained_node == "b"
    assert document.pods[0].feasible_nodes == ("b",)
    assert document.pods[0].totals == {"b": document.pods[0].totals["b"]}  # type: ignore[index]  # the equality says it is there
    assert document.pods[0].filters == {}
    assert document.pods[0].feasible == 2


def test_ties_are_named_up_to_six_and_all_of_them_if_asked_for() -> None:
    cluster = cluster_of(*(node(f"n{i}") for i in range(9)), pod("p"))
    assert "n1 n2 n3 n4 n5 +3" in text(cluster)
    assert "n1 n2 n3 n4 n5 n6 n7 n8" in text(cluster, all_ties=True)


def test_nodes_that_were_left_out_are_named_by_zone_with_the_numbers() -> None:
    running = [pod(f"web-{i}", f"a{i}", spec=spread("web")) for i in (1, 2)]
    waiting = pod("web-3", spec=spread("web"))
    for each in (*running, waiting):
        each["metadata"]["labels"] = {"app": "web"}
    nodes = [node("a1", "a"), node("a2", "a"), node("b1", "b")]
    shown = text(cluster_of(*nodes, *running, waiting))
    assert "Not feasible for web-3: 2 nodes in a, zone spread (3 - 0 > 1)." in shown


def test_pods_that_were_not_tried_are_named_with_the_reason() -> None:
    shown = text(cluster_of(node("a"), pod("p", spec={"schedulerName": "volcano"})))
    assert "1 left aside" in shown
    assert "Left aside: default/p, its schedulerName volcano is not one of the profiles." in shown


def test_gated_pods_show_their_gates() -> None:
    shown = text(cluster_of(node("a"), pod("p", spec={"schedulingGates": [{"name": "quota"}]})))
    assert "waiting for scheduling gates: [quota]" in shown


def test_no_pending_pod_is_said_in_the_first_line() -> None:
    assert text(cluster_of(node("a"))).startswith("No pod is pending")


def test_who_would_be_preempted_is_said() -> None:
    full = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
    cluster = cluster_of(
        node("a"), pod("low", "a", spec=full), pod("high", spec={**full, "priority": 5})
    )
    assert "  Preemption would drive low off a; --preempt does so.\n" in text(cluster)
    carried_out = text(cluster, preempt=True)
    assert "1 scheduled, 0 unschedulable, 1 preempted" in carried_out


def test_the_names_are_those_of_the_pods() -> None:
    assert text(cluster_of(node("a"), pod("p"), pod("q")), Output.NAME) == "pod/p\npod/q\n"


def test_pods_of_planner_s_own_making_go_by_their_workload() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}
    web = workload("Deployment", "web", {"replicas": 2, "template": template})
    assert text(cluster_of(node("a"), web), Output.NAME) == "deploy/web\n"


def test_of_very_many_pods_those_that_wait_are_shown_first() -> None:
    big = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}], "priority": -1}
    cluster = cluster_of(
        *(node(f"n{i}") for i in range(20)),
        *(pod(f"p{i}") for i in range(60)),
        pod("big", spec=big),
    )
    shown = text(cluster).splitlines()
    assert shown[2].startswith("big  unschedulable")
    assert "and 11 more pods; -o wide shows all" in shown


def written(*objects: Json) -> tuple[list[RawDocument], Cluster]:
    documents = [document(*objects)]
    return documents, build_cluster(load_documents(documents))


def reread(documents: list[RawDocument], final: Cluster) -> tuple[list[Json], Cluster]:
    data = cluster_text(documents, final)
    again = [RawDocument(file="out.json", data=data, line=1)]
    return json.loads(data)["items"], build_cluster(load_documents(again))


def test_the_resulting_cluster_reads_back_with_the_pods_where_they_went() -> None:
    documents, cluster = written(node("a"), pod("running", "a"), pod("p"))
    _, final = simulation_of(cluster)
    items, again = reread(documents, final)
    assert [item["kind"] for item in items] == ["Node", "Pod", "Pod"]
    assert again.node_of.tolist() == [0, 0]
    assert items[1] == pod("running", "a")
    assert items[2]["status"]["conditions"] == [{"type": "PodScheduled", "status": "True"}]


def test_pods_made_from_templates_are_written_with_what_their_controllers_make() -> None:
    sets = [workload(kind, kind.lower(), {"replicas": 2}) for kind in ("Deployment", "StatefulSet")]
    sets += [workload("DaemonSet", "daemonset"), workload("Job", "job", {"parallelism": 2})]
    documents, cluster = written(node("a"), node("b"), *sets)
    assert len(cluster.pods) == 8
    _, final = simulation_of(cluster)
    items, again = reread(documents, final)
    assert sum(item["kind"] == "Pod" for item in items) == 8
    assert {pod.key for pod in again.pods} == {pod.key for pod in cluster.pods}
    assert {pod.key: int(again.node_of[again.pod_index[pod.key]]) for pod in cluster.pods} == {
        pod.key: int(final.node_of[i]) for i, pod in enumerate(cluster.pods)
    }
    assert not any(pod.synthesised for pod in again.pods)


def test_victims_are_gone_from_the_resulting_cluster() -> None:
    documents, cluster = written(node("a"), pod("stays", "a"), pod("goes", "a"))
    items, again = reread(documents, cluster.with_placement({1: GONE}))
    assert [pod.name for pod in again.pods] == ["stays"]
    assert len(items) == 2


def test_pods_on_unknown_nodes_stay_as_they_are() -> None:
    documents, cluster = written(node("a"), pod("far", "z"))
    items, _ = reread(documents, cluster)
    assert items[1] == pod("far", "z")


def test_objects_come_through_as_they_were_but_configuration_files_do_not() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"selector": {}, "type": "ClusterIP"},
    }
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    documents, cluster = written(node("a"), service, config)
    items, _ = reread(documents, cluster)
    assert items == [node("a"), service]


def test_the_file_is_complete_or_not_there(tmp_path: Path) -> None:
    documents, cluster = written(node("a"), pod("p", metadata=owned("ReplicaSet", "web")))
    target = tmp_path / "out.json"
    write_cluster(str(target), documents, cluster)
    assert json.loads(target.read_text())["kind"] == "List"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    with pytest.raises(SourceError, match="can't write"):
        write_cluster(str(tmp_path / "missing" / "out.json"), documents, cluster)


def test_verdicts_beyond_what_a_document_holds_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("planner.documents.simulation.DETAILED_PAIRS", 2)
    cluster = cluster_of(node("a"), node("b"), pod("p1"), pod("p2"), pod("p3"))
    found, _ = simulation_of(cluster)
    assert [bool(each.totals) for each in found.pods] == [True, False, False]
    notices = [each.text for each in found.notices if each.code == "fewerDetails"]
    assert len(notices) == 1
    assert notices[0].startswith("verdicts and scores of 2 pods are left out")


def test_a_long_text_is_written_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(io.StringIO):
        """Takes no more than ten characters in one call, and says nothing of the rest."""

        def write(self, text: str) -> int:
            return super().write(text[:10])

    monkeypatch.setattr("planner.report.emit.PIECE", 10)
    found, _ = simulation_of(cluster_of(node("a"), pod("p")))
    stream = Short()
    emit(found, Output.JSON, simulation_table, stream)
    assert stream.getvalue() == to_json(found)
