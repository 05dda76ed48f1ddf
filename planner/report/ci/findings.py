"""What a continuous integration wants to know of a document: checks, and what they found.

Every document becomes checks (a pod, a workload, a constraint), and a check that did not pass has
findings. The formats know nothing else, and the documents know nothing of the formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from planner.cluster.owners import SHORT
from planner.sources.locations import Location, Locations, ObjectName

Level = Literal["error", "warning", "note"]

_KINDS = {short: kind for kind, short in SHORT.items()}


@dataclass(frozen=True)
class Spot:
    """A field of an object. It may be written down elsewhere: a pod's is in its template.

    `others` are further objects that have it, in the order in which they are looked for.
    """

    object: ObjectName
    field: str = ""
    others: tuple[tuple[ObjectName, str], ...] = ()

    def location(self, locations: Locations) -> Location | None:
        """Where it stands in the files, if it does."""
        return locations.find(((self.object, self.field), *self.others))

    def __str__(self) -> str:
        return f"{self.object} {self.field}".rstrip()


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be: a title, the whole story, and the fields behind it.

    `fails`: the command says so by its exit code, too.
    """

    rule: str
    level: Level
    title: str
    text: str
    spots: tuple[Spot, ...]
    fails: bool = True


@dataclass(frozen=True)
class Check:
    """One thing that was judged; without findings it passed, unless `skipped` says why not."""

    group: str
    name: str
    findings: tuple[Finding, ...] = ()
    skipped: str = ""


def pod_spot(namespace: str, workload: str, pod: str, field: str = "") -> Spot:
    """A field of a pod, which is mostly written in the template of its workload (`deploy/web`).

    The template is named first: it is what a pull request changes.
    """
    short, _, name = workload.partition("/")
    kind = _KINDS.get(short, short)
    single = ObjectName("Pod", namespace, pod)
    if kind == "Pod":
        return Spot(ObjectName(kind, namespace, name), field)
    inside = f"spec.template.{field}" if field.startswith("spec.") else field
    others = ((single, field),) if pod else ()
    return Spot(ObjectName(kind, namespace, name), inside, others)


def findings_of(checks: Iterable[Check]) -> tuple[Finding, ...]:
    """All findings, errors first, otherwise in the order of the checks."""
    found = [finding for check in checks for finding in check.findings]
    return tuple(sorted(found, key=lambda finding: finding.level != "error"))
