"""Settings that hold for every test.

PLANNER_HYPOTHESIS_PROFILE chooses how property tests search: `ci` (the default) tries the same
examples in every run, so that a failure belongs to the change at hand; `long` looks for new ones.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.dask_cluster import dask_address

__all__ = ["dask_address"]

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("long", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("PLANNER_HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def ctrl_c_reaches_python() -> Iterator[None]:
    """Whoever runs the tests may have set SIGINT to something else, or ignore it in workers."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
