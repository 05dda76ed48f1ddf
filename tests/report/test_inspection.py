from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner.documents.inspection import inspect_cluster
from planner.examples import examples
from planner.report.emit import to_json, to_text, to_yaml
from planner.report.tables import inspect_table
from planner.report.text.formats import Output
from planner_models.documents import DOCUMENTS, json_schema
from planner_models.inspection import Inspection

SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"
ZONE = "topology.kubernetes.io/zone"


def inspection(name: str) -> Inspection:
    return inspect_cluster(planner.load(example=name).snapshot)


def written(tmp_path: Path, *objects: dict[str, Any]) -> Inspection:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return inspect_cluster(planner.load(file).snapshot)


def node(name: str, labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }


def pod(name: str, node_name: str = "", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, **metadata},
        "spec": {"containers": [{"name": "c"}], **({"nodeName": node_name} if node_name else {})},
        "status": {"phase": "Running" if node_name else "Pending"},
    }


@pytest.mark.parametrize("name", ["docs-conflicting-constraints", "zone-outage"])
def test_the_text_is_as_agreed(name: str) -> None:
    expected = (SNAPSHOTS / f"inspect-{name}.txt").read_text()
    assert to_text(inspection(name), Output.TABLE, inspect_table) == expected


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_piped_text_fits_80_columns_and_has_no_trailing_spaces(name: str) -> None:
    lines = to_text(inspection(name), Output.TABLE, inspect_table).splitlines()
    assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []


def test_after_the_outage_five_workloads_have_an_excess_of_27() -> None:
    spread = inspection("zone-outage").spread
    counts = {v.workloads[0].name: [d.count for d in v.domains] for v in spread.violations}
    assert spread.excess == 27
    assert counts == {
        "api": [6, 6, 0],
        "auth": [2, 1, 0],
        "cart": [3, 3, 0],
        "search": [3, 4, 0],
        "web": [5, 4, 0],
    }


def test_before_the_outage_the_cluster_is_steady() -> None:
    assert inspection("zone-outage-before").spread.excess == 0


def test_no_example_gives_a_notice() -> None:
    assert [each.name for each in examples() if inspection(each.name).notices] == []


def test_yaml_says_the_same_as_json() -> None:
    document = inspection("zone-outage")
    assert yaml.safe_load(to_yaml(document)) == json.loads(to_json(document))


def test_json_reads_back_as_the_same_document() -> None:
    document = inspection("docs-missing-zone-label")
    assert Inspection.model_validate_json(to_json(document)) == document


def test_same_input_same_bytes() -> None:
    for output in Output:
        first, second = (
            to_text(inspection("zone-outage"), output, inspect_table) for _ in range(2)
        )
        assert first == second
        assert first.endswith("\n")


def test_nodes_without_the_zone_label_come_last(tmp_path: Path) -> None:
    found = written(tmp_path, node("n1", {}), node("n2", {ZONE: "b"}), node("n3", {ZONE: "a"}))
    assert [zone.zone for zone in found.nodes.zones] == ["a", "b", None]
    assert "3 nodes in 2 zones (1 without a zone)" in to_text(found, Output.TABLE, inspect_table)


def test_flavours_are_instance_types_or_else_shapes(tmp_path: Path) -> None:
    typed = {"node.kubernetes.io/instance-type": "m6.large"}
    found = written(tmp_path, node("n1", typed), node("n2", {}), node("n3", {}))
    assert [(f.name, f.nodes) for f in found.nodes.flavours] == [("4 CPU 8Gi", 2), ("m6.large", 1)]


def test_pods_are_counted_by_state(tmp_path: Path) -> None:
    leaving = {"deletionTimestamp": "2026-05-01T12:00:00Z", "deletionGracePeriodSeconds": 30}
    done = pod("done", "n1")
    done["status"]["phase"] = "Succeeded"
    gated = pod("gated")
    gated["spec"]["schedulingGates"] = [{"name": "quota"}]
    foreign = pod("foreign", "n1")
    foreign["spec"]["schedulerName"] = "mine"
    found = written(
        tmp_path,
        node("n1", {}, unschedulable=True),
        pod("a", "n1"),
        pod("b", "gone"),
        pod("c", "n1", **leaving),
        done,
        gated,
        foreign,
    )
    assert found.pods.model_dump() == {
        "running": 2,
        "pending": 1,
        "terminating": 1,
        "elsewhere": 1,
        "finished": 1,
        "synthesised": 0,
        "gated": 1,
        "other_scheduler": 1,
    }
    text = to_text(found, Output.TABLE, inspect_table)
    assert " ".join(text.split()).startswith(
        "1 node (1 cordoned); 2 pods running, 1 pending (1 gated), 1 terminating, "
        "1 on unknown nodes, 1 finished, 1 of another scheduler; 5 bare pods "
    )
    assert [notice.code for notice in found.notices] == ["unknownNode"]
    assert text.splitlines()[-1] == "  default/b"


def test_a_controller_without_pods_is_listed_too(tmp_path: Path) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "idle", "namespace": "default", "uid": "u"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "idle"}},
            "template": {"metadata": {"labels": {"app": "idle"}}, "spec": {}},
        },
    }
    (workload,) = written(tmp_path, deployment).workloads
    assert (workload.name, workload.desired, workload.running) == ("idle", 0, 0)


def test_without_nodes_inspection_still_works(tmp_path: Path) -> None:
    text = to_text(written(tmp_path, pod("a")), Output.TABLE, inspect_table)
    assert text.startswith("0 nodes; 0 pods running, 1 pending; 1 bare pod\n")


def test_many_workloads_are_cut_and_counted_but_not_in_wide(tmp_path: Path) -> None:
    found = written(tmp_path, node("n1", {}), *(pod(f"p{i:02}", "n1") for i in range(30)))
    table, wide = (to_text(found, o, inspect_table) for o in (Output.TABLE, Output.WIDE))
    assert "and 10 more workloads; -o wide shows all" in table
    assert "pod/p29" not in table
    assert "pod/p29" in wide


def test_names_are_listed_one_per_line() -> None:
    text = to_text(inspection("zone-outage"), Output.NAME, inspect_table)
    assert text.splitlines()[:2] == ["deploy/api", "deploy/auth"]


# A validator for as much of JSON Schema as pydantic writes for frozen models.


def fits(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return fits(value, definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in schema:
        return any(fits(value, each, definitions) for each in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    match schema["type"]:
        case "object":
            return fits_object(value, schema, definitions)
        case "array":
            return isinstance(value, list) and all(
                fits(item, schema["items"], definitions) for item in value
            )
        case kind:
            return type(value) is {"integer": int, "string": str, "null": type(None)}[kind]


def fits_object(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> bool:
    properties = schema["properties"]
    return (
        isinstance(value, dict)
        and set(schema.get("required", ())) <= set(value) <= set(properties)
        and all(fits(value[key], properties[key], definitions) for key in value)
    )


@pytest.mark.parametrize("name", [each.name for each in examples()])
def test_json_fits_its_schema(name: str) -> None:
    schema = json_schema("Inspection")
    assert fits(json.loads(to_json(inspection(name))), schema, schema["$defs"])


def test_the_schema_refuses_what_is_not_an_inspection() -> None:
    schema = json_schema("Inspection")
    document = json.loads(to_json(inspection("zone-outage")))
    changes: list[dict[str, Any]] = [{"extra": 1}, {"budgets": "3"}, {"kind": "P"}, {"pods": {}}]
    for change in changes:
        assert not fits({**document, **change}, schema, schema["$defs"])


def test_every_kind_says_its_own_name() -> None:
    for kind in DOCUMENTS:
        schema = json_schema(kind)
        # A document that contains itself is a reference to its own definition.
        properties = schema.get("properties") or schema["$defs"][kind]["properties"]
        assert properties["kind"]["const"] == kind
        assert properties["apiVersion"]["const"] == "planner/v1"
