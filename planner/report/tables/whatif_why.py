"""Why pods wait then: what becomes of silent nodes, which rules count them, who stays away."""

from __future__ import annotations

from collections.abc import Iterator

from planner.report.tables.whatif_words import duration, hurt, percent, short
from planner.report.text.blocks import Block, Paragraph
from planner.report.text.commands import about, command
from planner.report.text.wording import name_some
from planner.words import NAMED, conjoined, count_of, joined_sentences, short_key
from planner_models.node import HOSTNAME
from planner_models.whatif import WhatIf, WhatIfHeld, WhatIfLeft, WhatIfManner


def blocks(document: WhatIf) -> Iterator[Block]:
    """What happens to silent nodes, which rule keeps pods waiting, and kube-scheduler's word."""
    left: list[WhatIfLeft] = []
    for manner in document.manners:
        text = list(_timeline(document, manner)) if manner.manner == "unreachable" else []
        text += [_held(document, each) for each in manner.held]
        if text:
            yield Paragraph(joined_sentences(text))
        held = {name for each in manner.held for name in each.workloads}
        others = [w for w in manner.workloads if hurt(w) and w.waiting and w.workload not in held]
        for each in others[:NAMED]:
            if each.reason:
                stops = "Stops at" if document.loss is None else short(each.workload)
                share = f" ({percent(manner.requested)} of CPU requested in all)"
                full = share if document.loss is None else ""
                yield Paragraph(f"{stops}: {each.reason}{full}.", indent=2)
        yield from _messages(manner)
        told = [each for each in manner.left if each not in left]
        left += told
        yield from (Paragraph(_left(each), "yellow", indent=2) for each in told)
        if manner.preempted:
            pods = count_of(len(manner.preempted), "pod")
            yield Paragraph(f"{pods} of lower priority give way: {name_some(manner.preempted)}.")
        if manner.unmet_budgets:
            budgets = name_some(manner.unmet_budgets)
            yield Paragraph(f"Budgets with too few healthy pods then: {budgets}.")
    if document.loss is None and document.manners[0].waiting:
        (target, *_) = [w.workload for w in document.manners[0].workloads if hurt(w)]
        namespace, _, name = target.partition("/")
        more = command("scale-up", "--pools", "FILE")
        yield Paragraph(f"Next: {about('capacity', namespace, name)}, or {more}")


def _timeline(document: WhatIf, manner: WhatIfManner) -> Iterator[str]:
    assert document.loss is not None
    moments = manner.timeline
    ready = next((each for each in moments if each.event == "notReady"), None)
    if ready is None:
        return
    text = f"Unreachable: a node that stops answering is NotReady after {ready.seconds} seconds"
    deleted = [each for each in moments if each.event == "firstDeleted"]
    ended = [each for each in moments if each.event == "lastDeleted"]
    if not deleted:
        why = (
            "" if manner.seconds_between_nodes else ": too much of the cluster or the zone is down"
        )
        yield f"{text}; nobody evicts its pods{why}."
    else:
        first, last = deleted[0].seconds, max(each.seconds for each in ended)
        wait = first - ready.seconds
        text += f"; its pods are evicted {f'{duration(wait)} later' if wait else 'at once'}"
        if len(document.loss.nodes) > 1:
            text += f", from one node of a zone every {manner.seconds_between_nodes} seconds"
        if last - first >= 60:
            text += f", the last ones {duration(last)} after the failure"
        yield f"{text}."
    if manner.held:
        yield "Its object stays in the cluster until somebody removes it."


def _held(document: WhatIf, each: WhatIfHeld) -> str:
    key, who = (
        short_key(each.topology_key),
        conjoined([short(w, kind=False) for w in each.workloads]),
    )
    most = count_of(each.max_skew, "pod")
    if each.topology_key == HOSTNAME:
        lost = count_of(len(each.domains), "silent node counts", "silent nodes count")
        text = (
            f"{key} (constraint [{each.constraint}]) does not honour taints: {lost} with 0 pods, "
            f"so {who} may have at most {most} on any other node (maxSkew {each.max_skew})"
        )
    else:
        lost = conjoined([f"{key} {name}" for name in each.domains])
        verb = "counts" if len(each.domains) == 1 else "count"
        text = (
            f"Meanwhile {lost} {verb} with 0 pods, so {who} may have at most {most} in any other "
            f"{key} (maxSkew {each.max_skew}), and no replacement passes"
        )
    if each.min_domains:
        text += "; were it left out (nodeTaintsPolicy Honor), minDomains would make the minimum 0"
    return f"{text}."


def _messages(manner: WhatIfManner) -> Iterator[Block]:
    """kube-scheduler's own words, each once."""
    waiting = [each for each in manner.workloads if hurt(each) and each.message]
    for message in list(dict.fromkeys(each.message for each in waiting))[:NAMED]:
        yield Paragraph(f"  {message}", "dim", indent=2)


def _left(left: WhatIfLeft) -> str:
    pods = f"{count_of(len(left.pods), 'pod')} ({name_some(left.pods)})"
    one = len(left.pods) == 1
    match left.fate:
        case "held":
            verb = "does" if one else "do"
            return (
                f"{pods} {verb} not come back until the old pod is gone: its controller waits for "
                "that, and a silent node ends nothing. Delete the node, or set the taint "
                "node.kubernetes.io/out-of-service on it"
            ) + "."
        case "stays":
            verb = "tolerates" if one else "tolerate"
            return f"{pods} {verb} silent nodes for ever, or nobody evicts there: down, and kept."
        case "ends":
            verb = "ends" if one else "end"
            return f"{pods} {verb}, and nothing comes after: {left.reason or 'no controller'}."
        case "unknown":
            return f"{pods}: nobody knows what comes after ({left.reason})."
