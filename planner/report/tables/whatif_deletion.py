"""Scaling down: how often chance leaves spread intact, and what to tell the ReplicaSet."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from planner.report.tables.whatif_words import short
from planner.report.text.blocks import Block, Paragraph
from planner.words import NAMED, count_of, short_key
from planner_models.whatif import WhatIfDeletion

ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"


def headline(each: WhatIfDeletion) -> str:
    """`api 12 -> 6: the ReplicaSet picks which pods go, and does not look at zones. ...`"""
    name, key = short(each.workload, kind=False), short_key(each.topology_key)
    text = f"{name} {each.before} -> {each.after}: the ReplicaSet picks which pods go, and does "
    text += f"not look at {key}s."
    if each.choices == 1 and each.has_rule:
        return f"{text} It has no choice, and {'keeps' if each.steady else 'breaks'} the spread."
    made = f"the {each.choices} choices it may make" if each.exact else f"{each.choices} draws"
    parts = []
    if each.has_rule:
        even = f" ({_counts(each)})" if each.best else ""
        share = _share(each.steady, each)
        parts.append(f"{each.steady} of {made}{share} leave {name} steady{even}")
    if each.emptied:
        whole = "" if parts else f" of {made}"
        parts.append(f"{each.emptied}{whole}{_share(each.emptied, each)} leave a {key} without any")
    return f"{text} {'; '.join(parts)}." if parts else text


def _counts(each: WhatIfDeletion) -> str:
    return "/".join(map(str, each.best)) if len(each.best) <= NAMED else "an even spread"


def _share(number: int, each: WhatIfDeletion) -> str:
    return f" ({round(100 * number / max(1, each.choices))}%)"


def blocks(each: WhatIfDeletion) -> Iterator[Block]:
    """Which pods are equal to it, and the annotations that decide."""
    if each.equal:
        every = f"All {each.equal}" if each.equal == each.before else f"{each.equal} pods"
        yield Paragraph(
            f"{every} are equal to it in readiness, deletion cost, neighbours and age: any of them "
            "may go."
        )
    if each.annotate:
        go = each.before - each.after
        yield Paragraph(f"To have {_counts(each)}, tell it which ones first (-o script):")
        yield Paragraph(f"  {annotate_command(each)}", indent=4)
        yield Paragraph(f"Checked: with these annotations the {go} go, in every order of ties.")


def annotate_command(each: WhatIfDeletion) -> str:
    """The command for some of the pods, and how many there are."""
    namespace = each.workload.partition("/")[0]
    where = "" if namespace == "default" else f"-n {quote(namespace)} "
    names = [quote(key.partition("/")[2]) for key in each.annotate]
    more = f" ... ({count_of(len(names), 'pod')})" if len(names) > 2 else ""
    told = f"{' '.join(names[:2])}{more}"
    return f"kubectl {where}annotate --overwrite pod {told} {ANNOTATION}={each.cost}"
