"""Pods that can't leave their node, as text: what keeps each workload, told once for all alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.tables.drain_kubectl import kubectl_text
from planner.report.text.blocks import Block, Paragraph
from planner.report.text.wording import name_some
from planner.words import conjoined, count_of, joined_sentences, short_key
from planner_models.diagnosis import ConflictFact
from planner_models.drain import BlockedPod, DrainPlan

BY_RULES = ("rule", "ruleBehindBudget", "volume")
SHOWN = 5
"""So many different reasons are told; `wide` tells all."""


def where(document: DrainPlan) -> Iterator[Block]:
    """The places to look at."""
    places = named_places(document)
    if places:
        yield Paragraph(f"  --> {'; '.join(places)}", "cyan", indent=6)


def named_places(document: DrainPlan) -> list[str]:
    """Fields of several workloads together."""
    fields: dict[str, list[str]] = {}
    for each in document.blocked:
        if each.by in BY_RULES and each.field.startswith("spec."):
            field = each.field.removeprefix("spec.")
            fields.setdefault(field, []).append(each.workload.rpartition("/")[2])
        elif each.object:
            fields.setdefault(f"{each.object} {each.field}".strip(), [])
    return [
        f"{field} of {name_some(list(dict.fromkeys(names)))}" if names else field
        for field, names in fields.items()
    ]


def blocked_blocks(document: DrainPlan, *, wide: bool) -> Iterator[Block]:
    """How many leave, what keeps the others, and what kubectl would do."""
    if not document.blocked:
        return
    alike: dict[tuple[object, ...], list[list[BlockedPod]]] = {}
    for pods in _workloads(document.blocked):
        alike.setdefault(_likeness(pods[0]), []).append(pods)
    told = [joined_sentences(_told(group)) for group in alike.values()]
    shown = told if wide else told[:SHOWN]
    shown[0] = joined_sentences((_leave(document), shown[0]))
    if len(shown) < len(told):
        shown.append(f"and {count_of(len(told) - len(shown), 'more reason')}; -o wide shows all")
    shown.append(kubectl_text(document))
    yield from (Paragraph(f"  {text}", indent=2) for text in shown if text)


def _workloads(blocked: Sequence[BlockedPod]) -> list[list[BlockedPod]]:
    """Pods of one workload that the same thing keeps."""
    found: dict[tuple[str, str], list[BlockedPod]] = {}
    for each in blocked:
        found.setdefault((each.workload, each.text), []).append(each)
    return list(found.values())


def _likeness(pod: BlockedPod) -> tuple[object, ...]:
    """What a sentence may say of several workloads at once: the same rules, other numbers."""
    if pod.conflict is None:
        return pod.by, pod.object, pod.text
    return (
        "rules",
        *((fact.kind, fact.field, _allowed(fact)) for fact in pod.conflict.constraints),
    )


def _allowed(fact: ConflictFact) -> str:
    return str(fact.facts.get("allowedDomains") if fact.kind == "topologySpread" else "")


def _told(group: Sequence[Sequence[BlockedPod]]) -> Iterator[str]:
    """The first workload in full, the others with their counts."""
    first = group[0]
    names = [each.pod.partition("/")[2] for each in first]
    who = names[0] if len(names) == 1 else f"{len(names)} {_name(first[0])} pods"
    stay = "stays" if len(names) == 1 else "stay"
    if first[0].by in BY_RULES:
        yield first[0].text
        yield _behind(group)
    else:
        yield f"{who} {stay}: {first[0].text}."
    rest = [_with_counts(each) for each in group[1:]]
    if rest:
        yield f"The same holds for {conjoined(rest)}."


def _behind(group: Sequence[Sequence[BlockedPod]]) -> str:
    """Those whose budget one evicted pod uses up for good."""
    names = [_name(each[0]) for each in group if each[0].by == "ruleBehindBudget"]
    if not names:
        return ""
    listed = conjoined(names)
    budgets = "budget" if len(names) == 1 else "budgets"
    return f"An evicted pod would wait for ever and use the {budgets} of {listed} up."


def _name(pod: BlockedPod) -> str:
    return pod.workload.rpartition("/")[2]


def _with_counts(pods: Sequence[BlockedPod]) -> str:
    """`auth 1/1/1`: matching pods by domain when one has left."""
    facts = pods[0].conflict.constraints if pods[0].conflict is not None else ()
    spread = next((fact for fact in facts if fact.kind == "topologySpread"), None)
    if spread is None or not isinstance(counts := spread.facts.get("counts"), dict):
        return _name(pods[0])
    numbers = "/".join(str(n) for n in counts.values())
    key = short_key(str(spread.facts.get("topologyKey", "")))
    return f"{_name(pods[0])} ({key} {numbers})" if len(counts) <= 6 else _name(pods[0])


def _leave(document: DrainPlan) -> str:
    """`4 of 5 pods leave in 1 wave.`"""
    if not document.evictions:
        return "No pod leaves." if document.leaving > 1 else ""
    waves = count_of(sum(len(each.waves) for each in document.rounds), "wave")
    pods = f"{len(document.evictions)} of {count_of(document.leaving, 'pod')}"
    verb = "leaves" if len(document.evictions) == 1 else "leave"
    return f"{pods} {verb} in {waves}."
