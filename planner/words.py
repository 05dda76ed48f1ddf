"""Words that every explanation is made of: numbers next to names, sets in the place of lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from planner_models.quantity import format_resource
from planner_models.resources import CPU, MEMORY, PODS

NAMED = 6
"""Names come one by one up to here, then they are counted."""
NO_BREAK = "\u00a0"
ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """`1 node`, `12 nodes`."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def conjoined(names: Sequence[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def named_or_counted(names: Sequence[str], noun: str) -> str:
    """Up to six names, from there on their number."""
    return conjoined(names) if len(names) <= NAMED else count_of(len(names), noun)


def short_key(key: str) -> str:
    """`zone` for `topology.kubernetes.io/zone`."""
    return key.rpartition("/")[2]


def resource_word(name: str) -> str:
    """`CPU`, `memory`, `pod slots`; extended resources by their own name."""
    return {CPU: "CPU", MEMORY: "memory", PODS: "pod slots"}.get(name, name)


def amount(resource: str, number: int) -> str:
    """`1500m`, `512Mi`, `3`: as people write it."""
    return format_resource(resource, number)


def plain_amount(resource: str, number: int) -> str:
    """As `amount`, but CPU in whole ones and decimals, as sums are easier to read: `29.05`."""
    if resource == CPU and number >= 1000:
        return f"{number / 1000:.3f}".rstrip("0").rstrip(".")
    return amount(resource, number)


def amount_of(resource: str, number: int) -> str:
    """`1 CPU`, `512Mi memory`, `2 nvidia.com/gpu`, `1 pod slot`."""
    if resource == PODS:
        return count_of(number, "pod slot")
    return f"{amount(resource, number)} {resource_word(resource)}"


def free_of(resource: str, number: int) -> str:
    """`1 pod slot is free`, `500m CPU are free`."""
    return f"{amount_of(resource, number)} {is_free(resource, number)}"


def is_free(resource: str, number: int) -> str:
    """`is free` after an amount of one, otherwise `are free`."""
    return "is free" if amount(resource, number) == "1" else "are free"


def duration(seconds: int) -> str:
    """`45 s`, `6 min 10 s`, `3 h 12 min`, `2 d 5 h`: the two largest units."""
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    for (large, size), (small, part) in pairwise(units):
        if seconds >= size:
            rest = seconds % size // part
            return f"{seconds // size} {large}{f' {rest} {small}' if rest else ''}"
    return f"{seconds} s"


def both_or_all(number: int) -> str:
    """How a sentence about every member of a set begins."""
    return {1: "The one", 2: "Both"}.get(number, f"All {number}")


def joined_sentences(sentences: Iterable[str]) -> str:
    """Sentences of one paragraph."""
    return " ".join(sentence for sentence in sentences if sentence)


def ordinal(number: int) -> str:
    """`first` to `tenth`, then `11th`, `21st`."""
    if number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ends = {1: "st", 2: "nd", 3: "rd"}
    end = "th" if number % 100 in (11, 12, 13) else ends.get(number % 10, "th")
    return f"{number}{end}"


def capitalised(text: str) -> str:
    """The first letter large, the rest as it is: names keep their case."""
    return text[:1].upper() + text[1:]
