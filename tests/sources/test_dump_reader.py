"""A second process reads the same out of a big dump as this one would alone."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from planner.sources import dump_reader
from planner.sources.dump import Piece
from planner.sources.dump_reader import PodRows, read_dump, write_blocks
from planner.sources.errors import SourceError
from planner.sources.load import load_paths
from planner.sources.options import ReadOptions
from tests.objects import node, owned, pod, workload

PADDING = Random(1).randbytes(50_000).hex()
"""What makes a hundred pods a big dump, also packed: the other process goes by its own limits."""

STATUS = {
    "startTime": "2026-05-01T12:00:00Z",
    "conditions": [{"type": "Ready", "status": "False", "reason": None}],
    "containerStatuses": [
        {"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    ],
}
REPLICAS = [
    pod(
        f"web-{i}",
        "n1",
        metadata={"labels": {"app": "web"}, "annotations": {"notes": PADDING}, **owned("Job", "j")},
        spec={"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{i}"}}]},
        status=STATUS,
    )
    for i in range(100)
]


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_reader, "FROM", 0)
    monkeypatch.setattr(dump_reader, "_cores", lambda: 2)


def written(file: Path, *more: object, indent: int | None = None) -> str:
    items = [node("n1"), *REPLICAS, *more, workload("Deployment", "d")]
    value = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}}
    text = json.dumps(value, indent=indent, separators=(",", ":" if indent is None else ": "))
    file.write_bytes(gzip.compress(text.encode(), 1) if file.suffix == ".gz" else text.encode())
    return str(file)


def alone(file: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dump_reader, "_cores", lambda: 1)
        return everything(file)


def everything(file: str) -> str:
    """All that was read, and how much of it the pods share."""
    found = load_paths([file])
    pods = [[getattr(pod, field) for field in pod.__struct_fields__] for pod in found.pods]
    return f"{pods} {found} {len({id(pod.spec) for pod in found.pods})}"


@pytest.mark.parametrize(
    ("name", "indent"), [("dump.json", None), ("dump.json", 4), ("dump.json.gz", None)]
)
def test_the_same_is_read_with_and_without_it(
    tmp_path: Path, name: str, indent: int | None
) -> None:
    file = written(tmp_path / name, indent=indent)
    blocks = list(read_dump(file) or ())
    assert {type(block) for block in blocks} == {Piece, PodRows}
    assert everything(file) == alone(file)


def test_a_refused_value_is_named_as_ever(tmp_path: Path) -> None:
    file = written(tmp_path / "dump.json", pod("bad", spec={"priority": "5"}))
    with pytest.raises(SourceError) as caught:
        load_paths([file])
    assert (caught.value.object, caught.value.field) == ("Pod default/bad", "spec.priority")


def test_a_refused_pod_among_many_can_be_left_out(tmp_path: Path) -> None:
    file = written(tmp_path / "dump.json", pod("bad", spec={"priority": "5"}), pod("good"))
    found = load_paths([file], options=ReadOptions(skip_invalid=True))
    names = {each.name for each in found.pods}
    assert {"web-0", "web-99", "good"} <= names
    assert "bad" not in names


@pytest.mark.parametrize("program", ["false", "no-such-program"])
def test_without_it_this_process_does_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    file = written(tmp_path / "dump.json")
    monkeypatch.setattr(sys, "executable", shutil.which(program) or program)
    assert {type(block) for block in read_dump(file) or ()} == {Piece}


def test_if_it_dies_the_file_is_read_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "dump.json")
    blocks = io.BytesIO()
    write_blocks(file, blocks)
    part = tmp_path / "blocks"
    part.write_bytes(blocks.getvalue()[: len(blocks.getvalue()) // 2])
    copy = "import sys; sys.stdout.buffer.write(open(sys.argv[1], 'rb').read())"
    print_part = [sys.executable, "-c", copy, str(part)]
    monkeypatch.setattr(
        dump_reader, "_start", lambda *_: subprocess.Popen(print_part, stdout=subprocess.PIPE)
    )
    assert everything(file) == alone(file)


def test_one_core_needs_no_second_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "dump.json")
    monkeypatch.setattr(dump_reader, "_cores", lambda: 1)
    assert {type(block) for block in read_dump(file) or ()} == {Piece}


def test_the_other_process_needs_no_models() -> None:
    """Its start is a part of every big load: pydantic alone would double it."""
    program = "import sys, planner.sources.dump_reader; print('pydantic' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout.decode().strip() == "False"
