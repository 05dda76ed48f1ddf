"""Small words that several rules of `planner check` need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner_models.selectors import LabelSelector


def braced(labels: Mapping[str, str]) -> str:
    """`{app: web, tier: front}`, as YAML writes it in one line."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in sorted(labels.items())) + "}"


def between(numbers: Iterable[int]) -> str:
    """`12`, `12 or 13`, `3 to 6`."""
    low, *others = sorted(set(numbers))
    if not others:
        return str(low)
    return f"{low} {'or' if len(others) == 1 else 'to'} {others[-1]}"


def selector_text(selector: LabelSelector) -> str:
    """`app=web,tier in (a, b)`, as kubectl writes a selector."""
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for each in selector.match_expressions:
        match each.operator:
            case "In" | "NotIn":
                word = "in" if each.operator == "In" else "notin"
                parts.append(f"{each.key} {word} ({', '.join(each.values)})")
            case "Exists":
                parts.append(each.key)
            case _:
                parts.append(f"!{each.key}")
    return ",".join(parts)
