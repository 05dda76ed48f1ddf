"""Repairs as cards: what to change, what then happens, at which price, and the text to copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.report.html.view import Card, CardSection
from planner.report.tables.explain_repairs import texts, united
from planner.words import count_of
from planner_models.diagnosis import Diagnosis, Repair
from planner_models.fleet_decision import FleetDecision, FleetRepair

CARDS = 12
ALTERNATIVES = 4
NOTE = "Smallest change first. Each was tried on a copy of the cluster and lets the pod run."
FLEET_NOTE = "Smallest change first. Each was tried on a copy of the fleet."


def repair_cards(diagnosis: Diagnosis) -> CardSection | None:
    """Of repairs that differ only in their object one card; evictions have their own section."""
    groups = ways(diagnosis)
    if not groups:
        return None
    hidden = count_of(len(groups) - CARDS, "more change")
    more = (f"and {hidden}; -o wide shows all",) if len(groups) > CARDS else ()
    return CardSection(
        title="Or change a rule" if diagnosis.verdict == "stuck" else "What helps",
        note=NOTE,
        cards=tuple(map(_card, groups[:CARDS])),
        more=(*more, *diagnosis.not_listed),
    )


def ways(diagnosis: Diagnosis) -> list[list[Repair]]:
    """Changes that are really different, each with all its variants."""
    return united([each for each in diagnosis.repairs if each.kind != "movePods"])


def _card(group: Sequence[Repair]) -> Card:
    text, then, price = texts(group)
    loses = any(repair.data_loss for repair in group)
    codes = list(dict.fromkeys(code for repair in group for code in _code(repair)))
    lines = [codes[0], *(f"# or: {code}" for code in codes[1:ALTERNATIVES])] if codes else []
    return Card(text, then, price, "\n".join(lines), "bad" if loses else "")


def _code(repair: Repair) -> Iterator[str]:
    """The command; where there is none, the field with its new value for the manifest."""
    if repair.command is not None:
        yield repair.command
    elif repair.parts:
        for part in repair.parts:
            yield from _code(part)
    elif repair.change is not None and isinstance(repair.change.to, str | int):
        yield f"{repair.field}: {repair.change.to}  # was {repair.change.from_}"
    elif repair.change is not None and isinstance(repair.change.to, dict):
        labels = repair.change.to.get("labels")
        if isinstance(labels, dict) and labels:
            lines = (f"  {key}: {value}" for key, value in sorted(labels.items()))
            yield "\n".join(("labels:", *lines))


def fleet_cards(decision: FleetDecision) -> CardSection | None:
    """The same for a placement of Fleet."""
    if not decision.repairs:
        return None
    return CardSection(
        title="What helps",
        note=FLEET_NOTE,
        cards=tuple(
            Card(each.text, each.effect, _price(each), _fleet_code(each))
            for each in decision.repairs[:CARDS]
        ),
    )


def _price(repair: FleetRepair) -> str:
    if repair.drops:
        return f"gives up {', '.join(repair.drops)}"
    return "may be taken back afterwards" if repair.undoable else ""


def _fleet_code(repair: FleetRepair) -> str:
    if repair.command is not None:
        return repair.command
    if repair.field is not None and repair.change is not None:
        return f"{repair.field}: {repair.change.to}  # was {repair.change.from_}"
    return ""
