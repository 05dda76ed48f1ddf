"""Where a field stands in a manifest, found by a second look at the file."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from planner.sources.locations import Location, Locations, ObjectName

WEB = ObjectName("Deployment", "default", "web")
SPREAD = "spec.template.spec.topologySpreadConstraints[0]"
YAML = """\
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: zone
"""


def found(file: Path, field: str, name: ObjectName = WEB) -> tuple[int, int] | None:
    place = Locations([str(file)]).find([(name, field)])
    return None if place is None else (place.line, place.column)


@pytest.mark.parametrize(
    ("field", "place"),
    [
        (SPREAD, (13, 9)),
        (f"{SPREAD}.topologyKey", (14, 9)),
        ("spec.template.spec.topologySpreadConstraints[*]", (13, 9)),
        ("metadata.name", (8, 3)),
        ("spec", (9, 1)),
        ("", (5, 1)),
    ],
)
def test_a_field_of_a_yaml_document(tmp_path: Path, field: str, place: tuple[int, int]) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(YAML)
    assert found(file, field) == place


def test_a_field_that_is_absent_is_where_it_would_be_written(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(YAML)
    assert found(file, "spec.template.spec.affinity.podAffinity") == (11, 5)


def test_a_field_of_an_item_in_a_json_list_as_kubectl_prints_it(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x", "namespace": "shop", "labels": {"a": 'tricky "[{,:'}},
        "spec": {"containers": [{"name": "c"}], "tolerations": [{"key": "a"}, {"key": "b"}]},
    }
    file = tmp_path / "dump.json"
    text = json.dumps({"apiVersion": "v1", "items": [pod], "kind": "List"}, indent=4)
    file.write_text(text)
    place = found(file, "spec.tolerations[1].key", ObjectName("Pod", "shop", "x"))
    assert place is not None
    assert text.splitlines()[place[0] - 1][place[1] - 1 :].startswith('"key": "b"')


def test_several_json_values_in_one_file_each_have_their_own_lines(tmp_path: Path) -> None:
    file = tmp_path / "stream.json"
    values = [{"kind": "Pod", "metadata": {"name": name}} for name in ("a", "b")]
    file.write_text("\n".join(map(json.dumps, values)))
    assert found(file, "metadata", ObjectName("Pod", "default", "b")) == (2, 17)


def test_yaml_that_begins_like_json_has_places_too(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text("{kind: Pod, metadata: {name: a},\n spec: {}}")
    assert found(file, "spec", ObjectName("Pod", "default", "a")) == (2, 2)


def test_items_of_a_typed_list_have_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "raw.json"
    file.write_text('{"kind": "PodList", "metadata": {},\n "items": [{"metadata": {"name": "a"}}]}')
    assert found(file, "metadata", ObjectName("Pod", "default", "a")) == (2, 13)


def test_the_last_of_two_objects_with_one_name_counts_as_in_loading(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(YAML)
    (tmp_path / "b.yaml").write_text(f"\n\n{YAML}")
    place = Locations([str(tmp_path)]).find([(WEB, SPREAD)])
    assert place is not None
    assert (Path(place.file).name, place.line) == ("b.yaml", 15)


def test_the_first_candidate_that_has_the_field_wins(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_text(YAML)
    service = ObjectName("Service", "default", "web")
    place = Locations([str(file)]).find([(service, SPREAD), (WEB, SPREAD)])
    assert place is not None
    assert place.line == 13


def test_stdin_pipes_packed_and_missing_files_have_no_places(tmp_path: Path) -> None:
    packed, pipe = tmp_path / "web.yaml.gz", tmp_path / "pipe"
    packed.write_bytes(gzip.compress(YAML.encode()))
    os.mkfifo(pipe)
    paths = ["-", str(packed), str(pipe), str(tmp_path / "gone.yaml")]
    assert Locations(paths).find([(WEB, SPREAD)]) is None


def test_files_below_the_working_directory_are_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text(YAML)
    for path in ("./web.yaml", str(tmp_path / "web.yaml")):
        assert Locations([path]).find([(WEB, "spec")]) == Location("web.yaml", 9, 1)
