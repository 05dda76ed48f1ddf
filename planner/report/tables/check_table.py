"""A `Check` as text: findings as a compiler prints them, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from planner.report.text.blocks import GAP, Block, Listing, Paragraph, Style, Table
from planner.report.text.notices import notice_blocks
from planner.words import conjoined, count_of
from planner_models.check import Check, CheckedObjects, CheckFinding, Severity

STYLES: Mapping[Severity, Style] = {"error": "red", "warning": "yellow", "note": "cyan"}
PROOFS = {
    "counted": "Proven: counted.",
    "searched": "Proven: all reachable states were searched.",
    "api": "",
    "read": "",
    "simulated": "",
}


def blocks(document: Check, *, wide: bool) -> Sequence[Block]:
    """The counts, every finding, what was not asked, notices."""
    found: list[Block] = [Paragraph(f"{subject(document.checked)}: {counts(document)}", "bold")]
    for finding in document.findings:
        found.extend((GAP, *finding_blocks(finding)))
    texts = [*_skipped(document), *undecided(document)]
    if texts:
        found.extend((GAP, *(Paragraph(text, "yellow", indent=2) for text in texts)))
    if document.notices:
        found.extend((GAP, *notice_blocks(document.notices, wide=wide)))
    return found


def names(document: Check) -> Iterable[str]:
    """Every object with a finding, once, with the rules that it breaks."""
    rules: dict[str, list[str]] = {}
    for finding in document.findings:
        for name in finding.objects:
            rules.setdefault(name, []).append(finding.rule)
    return (f"{name}: {', '.join(dict.fromkeys(broken))}" for name, broken in rules.items())


def subject(checked: CheckedObjects) -> str:
    """`3 workloads and 1 budget, checked against 12 nodes and 51 pods`."""
    kinds = [count_of(number, kind) for kind, number in checked.workloads.items()]
    budgets = [count_of(checked.budgets, "budget")] if checked.budgets else []
    what = conjoined([*kinds, *budgets]) or "nothing to check"
    if not checked.nodes:
        return f"{what}, without a cluster"
    against = f"{count_of(checked.nodes, 'node')} and {count_of(checked.pods, 'pod')}"
    return f"{what}, checked against {against}"


def counts(document: Check) -> str:
    """`3 errors, 1 warning`."""
    summary = document.summary
    parts = [count_of(summary.errors, "error"), count_of(summary.warnings, "warning")]
    if summary.notes:
        parts.append(count_of(summary.notes, "note"))
    if summary.silenced:
        parts.append(f"{summary.silenced} silenced")
    return ", ".join(parts)


def finding_blocks(finding: CheckFinding) -> Iterator[Block]:
    """Title with the rule, the place, the text, the fixes and the proof."""
    yield Paragraph(
        f"{finding.severity}: {finding.title}  [{finding.rule}]",
        STYLES[finding.severity],
        indent=2,
    )
    yield Paragraph(f"  --> {place(finding)}", indent=6)
    for line in finding.text:
        yield Paragraph(f"  {line}", indent=2)
    if finding.table:
        yield finding_table(finding, indent=2)
    yield from _fixes(finding)
    proof = PROOFS[finding.proof.kind]
    if finding.proof.kind == "simulated" and finding.proof.seeds > 1:
        proof = f"Simulated: in {finding.proof.seen} of {finding.proof.seeds} tie seeds."
    if proof:
        yield Paragraph(f"  {proof}", indent=2)


def finding_table(finding: CheckFinding, indent: int = 0) -> Table:
    """What a finding lists, numbers below each other."""
    header, *rows = finding.table
    numbers = (
        i for i, column in enumerate(zip(*rows, strict=True)) if all(map(str.isdigit, column))
    )
    return Table(header, tuple(rows), right=frozenset(numbers), indent=indent)


def place(finding: CheckFinding) -> str:
    """`shop/etcd.yaml:13: Deployment default/etcd spec.template...`."""
    line = f":{finding.line}" if finding.line is not None else ""
    where = f"{finding.file}{line}: " if finding.file else ""
    more = len(finding.objects) - 1
    objects = finding.objects[0] + (f" and {count_of(more, 'other')}" if more else "")
    return f"{where}{objects} {finding.field}".rstrip()


def _fixes(finding: CheckFinding) -> Iterator[Block]:
    helping = [each for each in finding.fixes if each.helps]
    vain = [each for each in finding.fixes if not each.helps]
    if len(helping) == 1 and not helping[0].then:
        yield Paragraph(f"  Fix: {helping[0].text}", indent=7)
    elif helping:
        yield Paragraph("  Fix, each tried on a copy:")
        yield Listing(
            tuple(
                (f"  {number}.", each.text, _price(each.then, each.restarts))
                for number, each in enumerate(helping, start=1)
            )
        )
    if vain:
        yield Paragraph(
            f"  Does not help, tried as well: {'; '.join(each.text for each in vain)}.",
            "yellow",
            indent=2,
        )


def _price(then: str, restarts: int) -> str:
    rolls = f"rolls out {count_of(restarts, 'pod')}" if restarts else ""
    return ", ".join(part for part in (then, rolls) if part)


def undecided(document: Check) -> Iterator[str]:
    """What a rule did not find out within its limits."""
    for each in document.skipped:
        if each.undecided:
            yield f"undecided: {each.why} ({each.rule})"


def _skipped(document: Check) -> Iterator[str]:
    rules = [each.rule for each in document.skipped if not each.undecided]
    if not rules:
        return
    others = len(rules) - 1
    what = rules[0] if not others else f"{rules[0]} and {count_of(others, 'other rule')}"
    verb, was = ("needs", "was") if not others else ("need", "were")
    yield (
        f"warning: {what} {verb} a cluster and {was} not asked. "
        "Add --against cluster.json, from planner dump"
    )
