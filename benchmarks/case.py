"""What a benchmark is asked, and what it answers.

A benchmark is a module with a function `measure(case, cache) -> Measured`. It makes its input,
times the work with a `Stopwatch`, and then checks the answer: fast and wrong is worth nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeAlias

Scalar: TypeAlias = int | float | str | bool
Point: TypeAlias = Mapping[str, Scalar]

ANSWERED = "an answer"
"""The figure `answer` of a method that may give none says this, or why there is none."""


@dataclass(frozen=True)
class Case:
    """One method at one point of a benchmark's grid, with one seed."""

    benchmark: str
    method: str
    point: Point
    seed: int

    def integer(self, key: str) -> int:
        """A coordinate that has to be a whole number."""
        value = self.point[key]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{self.benchmark}: {key} is {value!r}, not a whole number")
        return value

    def text(self, key: str) -> str:
        """A coordinate that has to be a word."""
        value = self.point[key]
        if not isinstance(value, str):
            raise TypeError(f"{self.benchmark}: {key} is {value!r}, not a word")
        return value

    def number(self, key: str) -> float:
        """A coordinate that has to be a number."""
        value = self.point[key]
        if isinstance(value, bool | str):
            raise TypeError(f"{self.benchmark}: {key} is {value!r}, not a number")
        return float(value)


@dataclass(frozen=True)
class Measured:
    """The time of the work alone, figures of the answer, and what is wrong with it."""

    seconds: float
    cpu: float
    values: Point = field(default_factory=dict)
    wrong: tuple[str, ...] = ()


class Stopwatch:
    """Wall clock and processor time of a `with` block."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu = 0.0

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu
