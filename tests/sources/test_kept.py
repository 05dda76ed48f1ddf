"""`--cache`: what was kept is what would be read, or it is not used."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump
from planner.examples import examples, fleets
from planner.sources.example import example_file
from planner.sources.inventory import Inventory
from planner.sources.kept import kept_inventory
from planner.sources.kept.kept_inventory import MOST, load_kept
from planner.sources.load import load_paths
from planner.sources.options import ReadOptions
from tests.objects import manifest, node, owned, pod, workload

DUMPS = sorted((Path(__file__).parents[1] / "reality/data").glob("*.json*"))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/planner/inventories"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return written(tmp_path / "dump.json", node("n1"), pod("web-0", "n1"))


def written(file: Path, *objects: object) -> Path:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def told(value: Any, seen: dict[int, int]) -> Any:
    """A value with its types, the fields that were set, and which objects are the same one."""
    if isinstance(value, BaseModel):
        parts: Any = (
            [(name, told(getattr(value, name), seen)) for name in type(value).model_fields],
            sorted(value.model_fields_set),
        )
    elif isinstance(value, msgspec.Struct):
        parts = [(name, told(getattr(value, name), seen)) for name in value.__struct_fields__]
    elif isinstance(value, dict):
        parts = [(key, told(each, seen)) for key, each in value.items()]
    elif isinstance(value, tuple | list):
        parts = [told(each, seen) for each in value]
    else:
        return (type(value).__name__, repr(value), str(value))
    number = seen.setdefault(id(value), len(seen)) if value else None
    return (type(value).__name__, number, parts)


def everything(inventory: Inventory) -> Any:
    seen: dict[int, int] = {}
    return [(each.name, told(getattr(inventory, each.name), seen)) for each in fields(inventory)]


def again(monkeypatch: pytest.MonkeyPatch, *paths: object, **options: Any) -> Inventory:
    """What is taken from the file: the input is not read."""
    with monkeypatch.context() as patch:
        patch.setattr(kept_inventory, "load_paths", None)
        found = load_kept([*map(str, paths)], ReadOptions(**options))
    assert found.remarks == ()
    return found.inventory


@pytest.mark.parametrize(
    "path",
    [*(example_file(each.name) for each in (*examples(), *fleets())), *map(str, DUMPS)],
    ids=lambda path: Path(path).name,
)
def test_the_same_objects_come_back(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = load_kept([path])
    assert read.remarks == ()
    assert everything(again(monkeypatch, path)) == everything(load_paths([path]))


def test_every_kind_and_every_field_of_a_pod_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated = tmp_path / "generated.json"
    write_dump(random_cluster(Parameters(100, 1000, 3)), generated, Style())
    status = {
        "phase": "Running",
        "reason": "why",
        "startTime": "2026-05-01T12:00:00Z",
        "qosClass": "Burstable",
        "nominatedNodeName": "n1",
        "conditions": [{"type": "Ready", "status": "False", "reason": None}],
        "containerStatuses": [{"restartCount": 2, "state": {"waiting": {"reason": "Crash"}}}],
    }
    odd = written(
        tmp_path / "odd.json",
        node("n1"),
        *(
            pod(
                f"db-{i}",
                "n1",
                metadata={"labels": {"i": str(i)}, "finalizers": ["a/b"], **owned("Job", "j")},
                spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": f"{i}"}}]},
                status=status,
            )
            for i in range(3)
        ),
        workload("Deployment", "d", spec={"replicas": 2}),
        manifest("refused", spec={"priority": "high"}),
        {"apiVersion": "x/v1", "kind": "Unknown"},
    )
    paths, options = [str(generated), str(odd)], ReadOptions(skip_invalid=True)
    load_kept(paths, options)
    found = again(monkeypatch, *paths, skip_invalid=True)
    assert everything(found) == everything(load_paths(paths, options=options))
    assert found.refused


def test_without_pods_there_is_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "nodes.json", node("n1"))
    load_kept([str(file)])
    assert again(monkeypatch, file).pods == ()


def test_other_bytes_of_the_same_size_and_time_are_another_input(dump: Path) -> None:
    load_kept([str(dump)])
    before = dump.stat()
    dump.write_text(dump.read_text().replace("web-0", "web-1"))
    os.utime(dump, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert dump.stat().st_size == before.st_size
    assert [each.name for each in load_kept([str(dump)]).inventory.pods] == ["web-1"]


def test_how_input_is_read_is_part_of_what_it_is(dump: Path, kept: Path) -> None:
    load_kept([str(dump)])
    load_kept([str(dump)], ReadOptions(skip_invalid=True))
    assert len(list(kept.iterdir())) == 2


def test_a_file_that_joins_its_directory_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    written(folder / "a.json", node("n1"))
    load_kept([str(folder)])
    written(folder / "b.json", node("n2"))
    assert len(load_kept([str(folder)]).inventory.nodes) == 2


def test_nobody_else_can_read_what_is_kept(dump: Path, kept: Path) -> None:
    load_kept([str(dump)])
    (file,) = kept.iterdir()
    assert (file.stat().st_mode & 0o777, kept.stat().st_mode & 0o777) == (0o600, 0o700)


def _flipped(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)


def _of_a_foreign_class(file: Path) -> None:
    """A whole file, with its right hash, that names something else than a model."""
    data = file.read_bytes()
    at = data.index(b"planner inventory\n") + len(b"planner inventory\n") + 32
    content = data[at + 32 :].replace(b"planner_models.node:Node", b"planner_models.node:nope")
    assert content != data[at + 32 :]
    file.write_bytes(data[:at] + sha256(content).digest() + content)


def _of_another_shape(file: Path) -> None:
    data = file.read_bytes()
    at = len(b"planner inventory\n") + 32
    content = msgspec.msgpack.encode([[], {}, 5])
    file.write_bytes(data[:at] + sha256(content).digest() + content)


def _elsewhere(file: Path) -> None:
    target = file.with_suffix(".other")
    file.rename(target)
    file.symlink_to(target)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda file: _flipped(file, 0), "it is damaged"),
        (lambda file: _flipped(file, 20), "it is damaged"),
        (lambda file: _flipped(file, 60), "it is damaged"),
        (lambda file: _flipped(file, -1), "it is damaged"),
        (lambda file: file.write_bytes(b""), "it is damaged"),
        (lambda file: file.write_bytes(file.read_bytes()[:-100]), "it is damaged"),
        (_of_a_foreign_class, "it is of another planner"),
        (_of_another_shape, "it is of another planner"),
        (lambda file: file.chmod(0o644), "others may have written it"),
        (_elsewhere, "too many levels of symbolic links"),
    ],
)
def test_what_is_odd_is_said_and_made_anew(
    dump: Path,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None],
    reason: str,
) -> None:
    load_kept([str(dump)])
    (file,) = kept.iterdir()
    spoil(file)
    found = load_kept([str(dump)])
    assert found.remarks == (f"{file} is not used and made anew: {reason}",)
    assert everything(found.inventory) == everything(load_paths([str(dump)]))
    assert everything(again(monkeypatch, dump)) == everything(found.inventory)


def test_in_a_directory_that_others_may_use_nothing_is_kept(dump: Path, kept: Path) -> None:
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    (remark,) = load_kept([str(dump)]).remarks
    assert "chmod 700" in remark
    assert list(kept.iterdir()) == []


def test_where_nothing_can_be_kept_it_is_read_as_ever(dump: Path, kept: Path) -> None:
    kept.parent.parent.mkdir()
    kept.parent.write_text("a file")
    found = load_kept([str(dump)])
    assert found.remarks == (f"nothing can be kept in {kept.parent}: not a directory",)
    assert len(found.inventory.pods) == 1


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    dump: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(paths: list[str], **options: Any) -> Inventory:
        written(dump, node("n1"), node("n2"))
        return load_paths(paths, **options)

    monkeypatch.setattr(kept_inventory, "load_paths", changed)
    assert len(load_kept([str(dump)]).inventory.nodes) == 2
    assert list(kept.iterdir()) == []


def test_a_pipe_is_read_once(tmp_path: Path, dump: Path) -> None:
    pipe, text = tmp_path / "pipe", dump.read_text()
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    found = load_kept([str(pipe)])
    writer.join()
    assert len(found.inventory.pods) == 1
    assert found.remarks == ("what is piped in can't be kept: it was read without `cache`",)


def test_the_files_that_were_used_last_stay(tmp_path: Path, kept: Path) -> None:
    kept.mkdir(mode=0o700, parents=True)
    for i in range(MOST + 3):
        old = kept / f"{i:02}.inventory"
        old.write_bytes(b"")
        os.utime(old, (i, i))
    load_kept([str(written(tmp_path / "dump.json", node("n1")))])
    left = sorted(file.name for file in kept.iterdir())
    assert len(left) == MOST
    assert left[0] == "04.inventory"
