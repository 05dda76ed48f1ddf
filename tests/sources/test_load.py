"""From documents to an inventory: duplicates, unknown kinds, lists, pods in every state."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from planner.cluster import build_cluster
from planner.sources import dump
from planner.sources.errors import SourceError
from planner.sources.load import load_documents, load_paths
from tests.objects import document, inventory_of, node, owned, pod, workload


def test_of_two_objects_with_one_name_the_last_counts_and_a_notice_says_so() -> None:
    found = inventory_of(pod("web", "n1"), node("n1", zone="a"), pod("web", "n2"), node("n1", "b"))
    assert [(p.name, p.node_name) for p in found.pods] == [("web", "n2")]
    assert [n.labels["topology.kubernetes.io/zone"] for n in found.nodes] == ["b"]
    assert [(n.code, n.objects) for n in found.notices] == [
        ("duplicate", ("n1",)),
        ("duplicate", ("default/web",)),
    ]
    assert found.notices[0].text.startswith("1 Node object is in the input more than once")


def test_unknown_kinds_are_counted_in_one_notice() -> None:
    others = [{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": n}} for n in "ab"]
    service = {"kind": "Service", "apiVersion": "serving.knative.dev/v1"}
    (notice,) = inventory_of(*others, service).notices
    assert notice.text == (
        "3 objects are of kinds that planner does not use: 2 ConfigMap, 1 Service"
    )


def test_items_of_a_typed_list_need_not_name_their_kind() -> None:
    items = [{"metadata": {"name": "n1"}}, {"metadata": {"name": "n2"}}]
    found = inventory_of({"apiVersion": "v1", "kind": "NodeList", "items": items})
    assert [n.name for n in found.nodes] == ["n1", "n2"]


def test_lists_in_lists_and_plain_arrays_are_opened() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [node("n1")]}
    assert [n.name for n in inventory_of(inner, node("n2")).nodes] == ["n1", "n2"]
    assert [n.name for n in inventory_of([node("n1"), node("n2")]).nodes] == ["n1", "n2"]
    assert len(inventory_of([pod("a"), pod("b")]).pods) == 2


def test_what_is_said_about_a_pod_is_read() -> None:
    status = {
        "phase": "Running",
        "startTime": "1970-01-01T00:01:00Z",
        "nominatedNodeName": "n9",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [
            {"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
        ],
        "initContainerStatuses": [{"restartCount": 1}],
    }
    metadata = {
        "creationTimestamp": "1970-01-01T00:00:10Z",
        "deletionTimestamp": "1970-01-01T00:02:00Z",
        "annotations": {"kubernetes.io/config.mirror": "x", "other": "y"},
        **owned("Node", "n1"),
    }
    (found,) = inventory_of(pod("web", "n1", status=status, metadata=metadata)).pods
    assert (found.created, found.started, found.terminating) == (10, 60, True)
    assert (found.ready, found.restarts, found.reasons) == (False, 3, ("CrashLoopBackOff",))
    assert found.annotations == {"kubernetes.io/config.mirror": "x"}
    assert found.nominated_node_name == "n9"
    assert found.owner is not None
    assert found.owner.kind == "Node"


def test_replicas_share_what_their_texts_have_in_common() -> None:
    first, second = inventory_of(pod("a", "n1"), pod("b", "n2")).pods
    assert first.spec is second.spec


def test_a_deployment_and_its_revision_share_their_template() -> None:
    found = inventory_of(workload("Deployment", "web"), workload("ReplicaSet", "other"))
    assert found.deployments[0].spec.template.spec is found.replica_sets[0].spec.template.spec


def test_configurations_have_no_names() -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    assert len(inventory_of(config, config).scheduler_configs) == 2


def test_documents_of_several_files_are_one_cluster() -> None:
    found = load_documents([document(node("n1"), file="a"), document(pod("web", "n1"), file="b")])
    assert (len(found.nodes), len(found.pods)) == (1, 1)


def test_files_and_standard_input_become_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps(node("n1")))
    stdin = io.BytesIO(json.dumps(pod("web", "n1")).encode())
    inventory = load_paths([str(file), "-"], stdin)
    assert build_cluster(inventory).node_of.tolist() == [0]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file counts as big, and pieces hold an object or two."""
    monkeypatch.setattr(dump, "SMALLEST", 0)
    monkeypatch.setattr(dump, "PIECE", 700)


def kubectl_text(*objects: object, indent: int | str | None = 4, kind: str = "List") -> str:
    value = {"apiVersion": "v1", "items": list(objects), "kind": kind, "metadata": {}}
    return json.dumps(value, indent=indent, separators=(",", ":" if indent is None else ": "))


OBJECTS = [node("n1"), *(pod(f"web-{i}", "n1") for i in range(20)), workload("Deployment", "d")]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("indent", [4, 1, "\t", None])
def test_a_big_dump_is_read_in_pieces(
    tmp_path: Path, indent: int | str | None, *, packed: bool
) -> None:
    data = kubectl_text(*OBJECTS, indent=indent).encode()
    file = tmp_path / "dump.json"
    file.write_bytes(gzip.compress(data) if packed else data)
    pieces = dump.dump_pieces(str(file))
    assert pieces is not None
    assert sum(1 for _ in pieces) > 5
    found = load_paths([str(file)])
    assert [p.name for p in found.pods[:20]] == [f"web-{i}" for i in range(20)]
    assert (len(found.nodes), len(found.deployments)) == (1, 1)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The same column inside an item: what looks like the end of an item is none.
        (
            '            "kind": "Pod"',
            '"x": [\n        {\n        },\n        {\n        }],"kind": "Pod"',
        ),
        ('"kind": "List"', '"kind" :"List"'),
        ('"metadata": {}\n}', '"metadata": {}\n}' + json.dumps(node("n2"))),
    ],
)
def test_a_big_dump_that_was_written_otherwise_is_read_as_a_whole(
    tmp_path: Path, old: str, new: str
) -> None:
    file = tmp_path / "dump.json"
    text = kubectl_text(*OBJECTS)
    assert old in text
    file.write_text(text.replace(old, new, 1))
    assert len(load_paths([str(file)]).pods) == 21


@pytest.mark.usefixtures("small_pieces")
def test_an_item_inside_an_item_of_a_compact_dump_parts_nothing(tmp_path: Path) -> None:
    inner = [node("inner-1"), node("inner-2")]
    nested = {"apiVersion": "v1", "kind": "List", "items": inner, "metadata": {}}
    file = tmp_path / "dump.json"
    file.write_text(kubectl_text(*OBJECTS, nested, indent=None))
    found = load_paths([str(file)])
    assert [each.name for each in found.nodes] == ["n1", "inner-1", "inner-2"]
    assert len(found.pods) == 21


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("indent", [4, None])
def test_items_that_do_not_say_their_kind_are_of_the_lists(
    tmp_path: Path, indent: int | None
) -> None:
    kindless = [{"metadata": pod(f"web-{i}")["metadata"]} for i in range(20)]
    file = tmp_path / "dump.json"
    file.write_text(kubectl_text(*kindless, indent=indent, kind="PodList"))
    assert len(load_paths([str(file)]).pods) == 20


@pytest.mark.usefixtures("small_pieces")
def test_a_big_dump_that_was_cut_off_says_where(tmp_path: Path) -> None:
    file = tmp_path / "dump.json"
    text = kubectl_text(*OBJECTS)
    file.write_text(text[: len(text) // 2])
    with pytest.raises(SourceError, match="it ends in the middle of a value") as caught:
        load_paths([str(file)])
    assert caught.value.line == text.count("\n", 0, len(text) // 2) + 1


@pytest.mark.usefixtures("small_pieces")
def test_a_refused_value_in_a_big_dump_is_named_as_ever(tmp_path: Path) -> None:
    file = tmp_path / "dump.json"
    file.write_text(kubectl_text(*OBJECTS, pod("bad", spec={"priority": "5"})))
    with pytest.raises(SourceError) as caught:
        load_paths([str(file)])
    assert (caught.value.object, caught.value.field) == ("Pod default/bad", "spec.priority")


def test_a_directory_and_a_missing_file_are_no_dumps(tmp_path: Path) -> None:
    assert dump.dump_pieces(str(tmp_path)) is None
    assert dump.dump_pieces(str(tmp_path / "absent.json")) is None


def test_a_big_stream_of_several_values_is_split_where_it_has_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Above a size nobody looks for a second value before decoding the first."""
    monkeypatch.setattr("planner.sources.json_text.BIG", 10)
    text = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"%s"}}\n'
    inventory = load_paths(["-"], io.BytesIO(text % b"a" + text % b"b"))
    assert [namespace.name for namespace in inventory.namespaces] == ["a", "b"]
