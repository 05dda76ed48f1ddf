"""Dumps that are kept for a while: one per cluster, for this user alone, while they are young."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import planner
from planner.api.dump import kept
from planner.dump.kept_files import dump_file, prepare_directory, young_dump

PROD, TEST = "https://10.0.0.1:6443", "https://10.0.0.2:6443"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def keep(cluster: str, written: float) -> Path:
    prepare_directory()
    file = dump_file(cluster)
    file.write_bytes(b"{}")
    os.utime(file, (written, written))
    return file


def test_a_young_dump_of_the_cluster_is_taken() -> None:
    file = keep(PROD, written=1000.0)
    assert young_dump(PROD, max_age=600, now=1600.0) == file
    assert young_dump(PROD, max_age=600, now=1601.0) is None


def test_a_dump_of_another_cluster_is_not() -> None:
    keep(TEST, written=1000.0)
    assert young_dump(PROD, max_age=600, now=1000.0) is None


def test_a_dump_from_the_future_is_not() -> None:
    keep(PROD, written=1000.0)
    assert young_dump(PROD, max_age=600, now=900.0) is None


def test_nobody_else_looks_into_the_directory() -> None:
    assert prepare_directory().stat().st_mode & 0o777 == 0o700


def test_a_cluster_is_read_again_when_its_dump_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def read() -> planner.Cluster:
        reads.append("read")
        return planner.load(example="zone-outage", keep_objects=True)

    first = kept(PROD, 600, read)
    again = kept(PROD, 600, read)
    assert len(reads) == 1
    assert [pod.key for pod in again.pods] == [pod.key for pod in first.pods]
    assert dump_file(PROD).stat().st_mode & 0o777 == 0o600
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 601)
    kept(PROD, 600, read)
    assert len(reads) == 2
