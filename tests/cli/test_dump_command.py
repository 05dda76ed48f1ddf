"""`planner dump`: files that only their owner reads, and what is said about them."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
from pathlib import Path

import pytest

from planner.cli.app import main
from planner.sources import dump as big_dumps
from planner.sources import dump_reader
from tests.objects import node, pod

AGE = 3 * 3600 + 12 * 60


def written(folder: Path, *objects: object, **annotations: str) -> Path:
    """A List with these annotations."""
    file = folder / "cluster.json"
    noted = {f"planner/{name}": value for name, value in annotations.items()}
    metadata = {"annotations": noted}
    file.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": objects})
    )
    return file


def mode(file: Path) -> int:
    return file.stat().st_mode & 0o777


def test_a_dump_is_read_like_what_it_was_made_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "snap.json.gz"
    assert main(["dump", "--example", "zone-outage", "-o", str(target)]) == 0
    size = f"{target.stat().st_size / 1000:.1f} KB"
    assert capsys.readouterr().out == f"Wrote {target}: 12 nodes, 51 pods, {size}.\n"
    assert mode(target) == 0o600
    main(["evict", "-f", str(target), "-o", "json"])
    told = capsys.readouterr()
    main(["evict", "--example", "zone-outage", "-o", "json"])
    assert told.out == capsys.readouterr().out
    assert not told.err


def test_an_anonymous_dump_says_what_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["dump", "--example", "zone-outage", "--anonymous", "-o", "bug.json.gz"]
    assert main([*command, "--names", "bug.names"]) == 0
    size = f"{Path('bug.json.gz').stat().st_size / 1000:.1f} KB"
    assert capsys.readouterr().out == (
        f"Wrote bug.json.gz: 12 nodes, 51 pods, {size}. Names, images, env and annotations are"
        " gone.\n"
        "Checked: 5 broken rules and 0 waiting pods are the same as before; none of the\n"
        "181 original names is in the file. bug.names translates answers back; keep it.\n"
    )
    assert mode(Path("bug.json.gz")) == mode(Path("bug.names")) == 0o600
    assert b"search" not in gzip.decompress(Path("bug.json.gz").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.StringIO("node01 and NODE12 are full.\n"))
    assert main(["dump", "--translate", "bug.names"]) == 0
    assert capsys.readouterr().out == "a1 and C4 are full.\n"


def test_every_command_says_how_old_a_dump_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, node("a"), context="prod-eu", time="2026-11-17T10:00:00Z")
    monkeypatch.setattr(time, "time", lambda: 1_794_909_600.0 + AGE)
    for command in ("inspect", "simulate", "solve", "evict"):
        main([command, "-f", str(file)])
        told = capsys.readouterr().err
        assert told.splitlines()[0] == "warning: this is prod-eu as it was 3 h 12 min ago", command


def test_where_a_dump_comes_from_is_kept_by_the_next_one(tmp_path: Path) -> None:
    known = {"context": "prod-eu", "time": "2026-11-17T10:00:00Z", "cluster": "1f0c"}
    file = written(tmp_path, node("a"), resourceVersion="12", **known)
    main(["dump", "-f", str(file), "-o", str(tmp_path / "next.json")])
    noted = json.loads((tmp_path / "next.json").read_text())["metadata"]["annotations"]
    assert noted == {f"planner/{name}": value for name, value in known.items()} | {
        "planner/resourceVersion": "12"
    }


def test_an_anonymous_dump_does_not_say_where_it_comes_from(tmp_path: Path) -> None:
    file = written(tmp_path, node("a"), context="prod-eu", time="2026-11-17T10:00:00Z")
    main(["dump", "-f", str(file), "--anonymous", "-o", str(tmp_path / "next.json")])
    noted = json.loads((tmp_path / "next.json").read_text())["metadata"]["annotations"]
    assert noted == {"planner/anonymous": "true"}


@pytest.mark.parametrize("cores", [1, 2])
def test_a_big_dump_is_read_in_pieces_and_tells_its_age(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cores: int,
) -> None:
    pods = [pod(f"web-{number}", "a") for number in range(3000)]
    file = written(tmp_path, node("a"), *pods, context="prod-eu", time="2026-11-17T10:00:00Z")
    big = tmp_path / "big.json"
    main(["dump", "-f", str(file), "-o", str(big)])
    capsys.readouterr()
    monkeypatch.setattr(big_dumps, "SMALLEST", 1 << 16)
    monkeypatch.setattr(dump_reader, "FROM", 0)
    monkeypatch.setattr(dump_reader, "_cores", lambda: cores)
    assert dump_reader.read_dump(str(big)) is not None
    main(["inspect", "-f", str(big), "-o", "json"])
    told = capsys.readouterr()
    assert "warning: this is prod-eu as it was " in told.err
    assert json.loads(told.out)["pods"]["running"] == 3000


@pytest.mark.parametrize("annotations", [{"time": "yesterday"}, {"context": "prod-eu"}])
def test_a_dump_without_a_time_has_no_age(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], annotations: dict[str, str]
) -> None:
    main(["inspect", "-f", str(written(tmp_path, node("a"), **annotations))])
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "json"], "json is not the name of a dump\nhelp: json.json, or .json.gz"),
        ([], "there is no file to write\nhelp: planner dump -o snap.json.gz"),
        (
            ["-o", "a.json", "--names", "b"],
            "--names is for dumps without names\nhelp: add --anonymous, or leave --names out",
        ),
        (
            ["-o", "a.json", "--anonymous", "--names", "a.json"],
            "--names and the dump are the same file\nhelp: give them two names",
        ),
        (
            ["-o", "a.json", "--translate", "x"],
            "--translate reads a text on stdin and nothing else\n"
            "help: planner dump --translate bug.names < answer.txt",
        ),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_read(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dump", *arguments]) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "--example", "zone-outage", "-o", "/nowhere/a.json"]) == 1
    assert "can't write /nowhere/a.json" in capsys.readouterr().err


def test_a_file_of_names_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "names"
    file.write_text("{}")
    monkeypatch.setattr(sys, "stdin", io.StringIO("text"))
    assert main(["dump", "--translate", str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"error: {file} is no file of names\nhelp: ")


def test_a_scheduler_configuration_can_not_be_renamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }
    file = written(tmp_path, node("a"), pod("x"), configuration)
    target = tmp_path / "bug.json"
    assert main(["dump", "-f", str(file), "--anonymous", "-o", str(target)]) == 2
    assert "--anonymous can't rename a KubeSchedulerConfiguration" in capsys.readouterr().err
    assert not target.exists()
    assert main(["dump", "-f", str(file), "-o", str(target)]) == 0
