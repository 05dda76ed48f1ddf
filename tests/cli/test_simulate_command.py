from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import app
from planner.examples import example_path
from tests.objects import Json, node, owned, pod, workload

CONFIG: Json = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


class Command:
    """`planner simulate` on a cluster in a file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def file(self, name: str, *objects: Any) -> str:
        path = self.folder / name
        value = objects[0] if len(objects) == 1 else {"kind": "List", "items": objects}
        path.write_text(json.dumps(value))
        return str(path)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = app.main(["simulate", *arguments])
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


def test_all_pods_placed_is_exit_code_0(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"))
    code, out, err = simulate("-f", file)
    assert (code, err) == (0, "")
    assert out.startswith("1 pod: 1 scheduled, 0 unschedulable (seed 0, all nodes looked at)\n")


def test_an_unschedulable_pod_is_exit_code_3(simulate: Command) -> None:
    code, out, _ = simulate("--example", "docs-conflicting-constraints")
    assert code == 3
    assert "0/3 nodes are available: 3 node(s) didn't match" in out


def test_json_is_a_simulation_document(simulate: Command) -> None:
    code, out, _ = simulate("--example", "docs-conflicting-constraints", "-o", "json")
    document = json.loads(out)
    assert code == 3
    assert (document["apiVersion"], document["kind"]) == ("planner/v1", "Simulation")
    assert document["pods"][0]["outcome"] == "unschedulable"
    assert document["pods"][0]["filters"]["node3"]["code"] == "Unschedulable"


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name", "markdown"])
def test_every_format_is_written(simulate: Command, output: str) -> None:
    code, out, err = simulate("--example", "docs-two-constraints", "-o", output)
    assert code == 0
    assert out
    assert err == ""


def test_a_pod_is_named_with_or_without_its_kind(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"), pod("q"))
    assert simulate("-f", file, "p", "-o", "name")[1] == "pod/p\n"
    assert simulate("-f", file, "pod/q", "p", "-o", "name")[1] == "pod/q\npod/p\n"


def test_a_workload_stands_for_its_pending_pods(simulate: Command) -> None:
    waiting = pod("web-2", metadata=owned("StatefulSet", "web"))
    running = pod("web-1", "a", metadata=owned("StatefulSet", "web"))
    web = workload("StatefulSet", "web", {"replicas": 0})
    file = simulate.file("c.json", node("a"), running, waiting, pod("q"), web)
    assert simulate("-f", file, "sts/web", "-o", "name")[1] == "pod/web-2\n"


def test_an_unknown_pod_gets_the_closest_name(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("web-x4v7p", metadata=owned("Job", "web")))
    code, out, err = simulate("-f", file, "web-x4v7q")
    assert (code, out) == (1, "")
    assert err == (
        "error: there is no pod web-x4v7q in namespace default\n"
        "help: did you mean web-x4v7p? (pending, same Job)\n"
    )


def test_a_pod_of_another_namespace_is_pointed_at(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p", metadata={"namespace": "shop"}))
    assert "help: it is in namespace shop: -n shop\n" in simulate("-f", file, "p")[2]
    assert simulate("-f", file, "p", "-n", "shop", "-o", "name")[1] == "pod/p\n"


def test_an_unknown_workload_gets_the_closest_name(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), workload("Deployment", "web", {"replicas": 1}))
    code, _, err = simulate("-f", file, "deploy/wep")
    assert code == 1
    assert err == (
        "error: there is no Deployment wep in namespace default\nhelp: did you mean web?\n"
    )


def test_a_service_is_no_target_but_leads_to_one(simulate: Command) -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}},
    }
    web = workload("Deployment", "web", {"replicas": 1})
    file = simulate.file("c.json", node("a"), service, web)
    code, _, err = simulate("-f", file, "svc/web")
    assert code == 2
    assert err == (
        "error: svc/web is a Service; simulate takes pods and their owners\n"
        "help: its selector app=web matches deploy/web: planner simulate deploy/web\n"
    )


def test_an_unknown_kind_is_a_usage_error(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"))
    assert simulate("-f", file, "frob/x")[0] == 2


def test_no_nodes_is_an_error(simulate: Command) -> None:
    file = simulate.file("c.json", pod("p"))
    code, _, err = simulate("-f", file)
    assert code == 1
    assert err.startswith("error: the input has no nodes, so nothing can be placed\n")


def test_seeds_draw_and_ties_all_names_every_choice(simulate: Command) -> None:
    file = simulate.file("c.json", *(node(f"n{i}") for i in range(9)), pod("p"))
    nodes = {
        json.loads(simulate("-f", file, "--seed", str(seed), "-o", "json")[1])["pods"][0]["node"]
        for seed in range(1, 8)
    }
    assert len(nodes) > 1
    assert "n1 n2 n3 n4 n5 n6 n7 n8" in simulate("-f", file, "--ties", "all")[1]


def test_explain_node_shows_one_node_only(simulate: Command) -> None:
    code, out, _ = simulate("--example", "docs-conflicting-constraints", "--explain-node", "node3")
    assert code == 3
    assert "mypod: unschedulable; on node3:\nnode3: PodTopologySpread" in out
    code, _, err = simulate("--example", "docs-conflicting-constraints", "--explain-node", "node9")
    assert code == 1
    assert err.startswith("error: there is no node node9\nhelp: did you mean node")


def refused(plugin: str) -> Json:
    plugins = {"multiPoint": {"enabled": [{"name": plugin}]}}
    return {**CONFIG, "profiles": [{"plugins": plugins}]}


def test_what_the_configuration_asks_for_in_vain_is_refused_by_name(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"))
    config = simulate.file("sched.json", refused("Coscheduling"))
    code, out, err = simulate("-f", file, "--scheduler-config", config)
    assert (code, out) == (1, "")
    assert err.startswith("error: the scheduler profile enables plugins that planner can't model\n")
    assert "profiles[0].plugins.multiPoint.enabled[0]: Coscheduling\n" in err
    assert "help: --ignore-plugin Coscheduling plans without it" in err


def test_an_ignored_plugin_is_named_in_the_result(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"), refused("Coscheduling"))
    code, out, _ = simulate("-f", file, "--ignore-plugin", "Coscheduling")
    assert code == 0
    assert "Without Coscheduling, as --ignore-plugin asks." in out


def test_a_configuration_in_the_input_counts(simulate: Command) -> None:
    cordon = {"multiPoint": {"disabled": [{"name": "NodeUnschedulable"}]}}
    taint = {"disabled": [{"name": "TaintToleration"}]}
    config = {**CONFIG, "profiles": [{"plugins": {**cordon, "filter": taint}}]}
    cordoned = node("a", spec={"unschedulable": True})
    file = simulate.file("c.json", cordoned, pod("p"))
    with_config = simulate.file("d.json", cordoned, pod("p"), config)
    assert simulate("-f", file)[0] == 3
    assert simulate("-f", with_config)[0] == 0


def test_a_file_without_a_configuration_is_an_error(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"))
    code, _, err = simulate("-f", file, "--scheduler-config", file)
    assert code == 1
    assert "holds no KubeSchedulerConfiguration" in err


def test_out_writes_the_cluster_for_the_next_command(simulate: Command) -> None:
    out = str(simulate.folder / "out.json")
    example = str(example_path("docs-two-constraints"))
    assert simulate("-f", example, "--out", out)[0] == 0
    code, text, _ = simulate("-f", out)
    assert code == 0
    assert text.startswith("No pod is pending")
    assert app.main(["inspect", "-f", out]) == 0


def test_a_file_that_can_not_be_written_leaves_stdout_empty(simulate: Command) -> None:
    file = simulate.file("c.json", node("a"), pod("p"))
    code, text, err = simulate("-f", file, "--out", str(simulate.folder / "no" / "out.json"))
    assert (code, text) == (1, "")
    assert err.startswith("error: can't write ")


def test_sampling_is_named_in_the_first_line(simulate: Command) -> None:
    file = simulate.file("c.json", *(node(f"n{i}") for i in range(150)), pod("p"))
    code, out, _ = simulate("-f", file, "--sampling")
    assert code == 0
    assert "(seed 0, nodes sampled)" in out
    assert "100/100" in out
