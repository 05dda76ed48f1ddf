from __future__ import annotations

from pathlib import Path

from benchmarks.case import Case
from benchmarks.waves import measure


def test_waves_of_a_ring_are_right_and_their_memory_grows_with_the_moves(tmp_path: Path) -> None:
    small, large = (
        measure(Case("waves", "planner", {"moves": moves}, 0), tmp_path) for moves in (800, 3_200)
    )
    assert (small.wrong, large.wrong) == ((), ())
    assert float(large.values["bytes_per_move"]) < 1.3 * float(small.values["bytes_per_move"])
