"""The order that Go's `sort.Slice` leaves things in.

The descheduler sorts pods with comparisons that call equal pods "less" both ways round. What comes
of that depends on the algorithm, and decides which of several equal pods is evicted: up to twelve
are sorted by insertion, more by Go's pattern-defeating quicksort, of which every step is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, Literal, TypeVar

T = TypeVar("T")

INSERTION = 12
"""Up to this many elements are sorted by insertion."""
NINTHER = 50
"""From this many elements on, the pivot is a median of medians."""
PARTIAL_STEPS = 5
PARTIAL_SHORTEST = 50
ALL_SWAPPED = 12
"""Swaps while choosing a pivot if all looks descending: 4 medians of 3."""
_MASK = 2**64 - 1

Hint = Literal["unknown", "increasing", "decreasing"]


def go_sorted(items: Iterable[T], less: Callable[[T, T], bool]) -> list[T]:
    """The items as `sort.Slice` orders them, also if `less` contradicts itself."""
    found = list(items)
    _Sort(found, less).run()
    return found


class _Sort(Generic[T]):
    def __init__(self, items: list[T], less: Callable[[T, T], bool]) -> None:
        self._items = items
        self._compare = less

    def run(self) -> None:
        size = len(self._items)
        self._quick(0, size, size.bit_length())

    def _less(self, i: int, j: int) -> bool:
        return self._compare(self._items[i], self._items[j])

    def _swap(self, i: int, j: int) -> None:
        items = self._items
        items[i], items[j] = items[j], items[i]

    def _quick(self, a: int, b: int, limit: int) -> None:
        balanced = partitioned = True
        while b - a > INSERTION:
            if limit == 0:
                self._heap(a, b)
                return
            if not balanced:
                self._scatter(a, b)
                limit -= 1
            pivot, hint = self._pivot(a, b)
            if hint == "decreasing":
                self._items[a:b] = self._items[a:b][::-1]
                pivot, hint = (b - 1) - (pivot - a), "increasing"
            if balanced and partitioned and hint == "increasing" and self._nearly_sorted(a, b):
                return
            if a > 0 and not self._less(a - 1, pivot):
                a = self._split_equal(a, b, pivot)
                continue
            length = b - a
            middle, partitioned = self._split(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self._quick(a, middle, limit)
                a = middle + 1
            else:
                self._quick(middle + 1, b, limit)
                b = middle
        self._insertion(a, b)

    def _insertion(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            j = i
            while j > a and self._less(j, j - 1):
                self._swap(j, j - 1)
                j -= 1

    def _heap(self, a: int, b: int) -> None:
        size = b - a
        for i in range((size - 1) // 2, -1, -1):
            self._sift(i, size, a)
        for i in range(size - 1, -1, -1):
            self._swap(a, a + i)
            self._sift(0, i, a)

    def _sift(self, root: int, size: int, first: int) -> None:
        while (child := 2 * root + 1) < size:
            if child + 1 < size and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _split(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Smaller than the pivot to the left, the others to the right; whether all was so."""
        self._swap(a, pivot)
        i, j = self._narrow(a, a + 1, b - 1)
        already = i > j
        while i <= j:
            self._swap(i, j)
            i, j = self._narrow(a, i + 1, j - 1)
        self._swap(j, a)
        return j, already

    def _narrow(self, pivot: int, i: int, j: int) -> tuple[int, int]:
        while i <= j and self._less(i, pivot):
            i += 1
        while i <= j and not self._less(j, pivot):
            j -= 1
        return i, j

    def _split_equal(self, a: int, b: int, pivot: int) -> int:
        """Equal to the pivot to the left, greater ones to the right."""
        self._swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self._less(a, i):
                i += 1
            while i <= j and self._less(a, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _nearly_sorted(self, a: int, b: int) -> bool:
        """Mend a few pairs; whether that made it sorted."""
        i = a + 1
        for _ in range(PARTIAL_STEPS):
            while i < b and not self._less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < PARTIAL_SHORTEST:
                return False
            self._swap(i, i - 1)
            self._shift(i, a, b)
        return False

    def _shift(self, i: int, a: int, b: int) -> None:
        """The smaller of a swapped pair to the left (beyond `a`, if need be), the other right."""
        if i - a >= 2:
            for j in range(i - 1, 0, -1):
                if not self._less(j, j - 1):
                    break
                self._swap(j, j - 1)
        if b - i >= 2:
            for j in range(i + 1, b):
                if not self._less(j, j - 1):
                    break
                self._swap(j, j - 1)

    def _scatter(self, a: int, b: int) -> None:
        """Break patterns: three elements around the middle change places with drawn ones."""
        length = b - a
        drawn = length
        middle = a + length // 4 * 2
        for index in (middle - 1, middle, middle + 1):
            drawn ^= drawn << 13 & _MASK
            drawn ^= drawn >> 7
            drawn ^= drawn << 17 & _MASK
            other = drawn & ((1 << length.bit_length()) - 1)
            self._swap(index, a + (other - length if other >= length else other))

    def _pivot(self, a: int, b: int) -> tuple[int, Hint]:
        length = b - a
        places = [a + length // 4 * quarter for quarter in (1, 2, 3)]
        swaps = 0
        if length >= NINTHER:
            for k, place in enumerate(places):
                places[k], more = self._median(place - 1, place, place + 1)
                swaps += more
        pivot, more = self._median(*places)
        swaps += more
        if swaps == 0:
            return pivot, "increasing"
        return pivot, "decreasing" if swaps == ALL_SWAPPED else "unknown"

    def _median(self, a: int, b: int, c: int) -> tuple[int, int]:
        """The place of the median of three, and how often two of them had to be swapped."""
        swaps = 0
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self._less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self._less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps
