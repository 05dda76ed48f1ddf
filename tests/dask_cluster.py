"""A Dask cluster on this machine, for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.dask_cluster import dask_cluster

FEW_DEATHS = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
"""A worker takes seconds to start again: a task is given up when it has ended one."""


@pytest.fixture(scope="session")
def dask_address() -> Iterator[str]:
    """The scheduler's."""
    pytest.importorskip("distributed")
    with dask_cluster(2, FEW_DEATHS) as address:
        yield address
