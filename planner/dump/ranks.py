"""New names in the order of the old ones: `node01`, `node02`, ...

Ties go to the first node by name, domains are told in the order of their values, queues fall back
on names: only names that keep their order leave all decisions as they are. A rank tells nothing but
that order; a hash of `prod-db` can be guessed and tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import product
from string import ascii_lowercase

_LAST = "\x7f"
"""Sorts behind every character of a name."""


def ranks(
    word: str,
    names: Collection[str],
    kept: Iterable[str] = (),
    taken: Collection[str] = (),
    *,
    unlike: bool = False,
) -> dict[str, str]:
    """New names for `names`, sorted among the `kept` ones as the old names are.

    None of them is one of `taken`, the names that must not be seen any more. `unlike` ones have
    letters at the end that keep them from being taken for a mistyped other one.
    """
    width = len(str(len(names)))
    while True:
        found = _ranked(word, names, kept, width, unlike)
        if not any(name in taken for name in found.values()):
            return found
        word += "x"


def _ranked(
    word: str, names: Collection[str], kept: Iterable[str], width: int, unlike: bool
) -> dict[str, str]:
    marks = sorted(kept)
    found: dict[str, str] = {}
    passed, start = 0, _between(word, "", marks[0] if marks else None)
    for number, name in enumerate(sorted(names), 1):
        while passed < len(marks) and marks[passed] < name:
            passed += 1
            following = marks[passed] if passed < len(marks) else None
            start = _between(word, marks[passed - 1], following)
        found[name] = f"{start}{number:0{width}}{_letters(number) if unlike else ''}"
    return found


def _letters(number: int) -> str:
    """Three letters that neighbours don't share."""
    place = number * 3001 % 26**3
    return "".join(ascii_lowercase[place // 26**power % 26] for power in (2, 1, 0))


def _between(word: str, low: str, high: str | None) -> str:
    """The word, with as little before it as makes it sort between two names that stay.

    Some gaps are too narrow for any word; whether the order matters there is for the check to say.
    """
    around = (low, high or "")
    starts = sorted({text[:end] for text in around for end in range(len(text) + 1)}, key=len)
    for start in starts:
        for length in range(3):
            for letters in product(ascii_lowercase, repeat=length):
                found = f"{start}{''.join(letters)}{word}"
                if found > low and (high is None or found + _LAST < high):
                    return found
    return word
