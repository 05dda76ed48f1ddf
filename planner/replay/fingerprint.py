"""A number for who runs where, kept current change by change.

To the scheduler it does not matter which of several interchangeable pods is on a node, only how
many of each group are, and how many of them are terminating. Every such cell gets a random number
of 128 bits; the sum over all pods tells two states apart, however they were reached (Zobrist
hashing). Among a million states two have the same number once in 10^26 times.
"""

from __future__ import annotations

import random

BITS = 128
_MASK = (1 << BITS) - 1


class Fingerprint:
    """Starts at 0, whatever the state is then."""

    def __init__(self) -> None:
        self.value = 0
        self._random = random.Random(0)
        self._numbers: dict[tuple[int, int, bool], int] = {}

    def shift(self, group: int, node: int, terminating: bool, delta: int) -> None:
        """Pods of the group came to the node (`delta` 1) or left it (-1)."""
        cell = (group, node, terminating)
        number = self._numbers.get(cell)
        if number is None:
            number = self._numbers[cell] = self._random.getrandbits(BITS)
        self.value = (self.value + delta * number) & _MASK
