"""`api-refuses`: what the API server does not take, or drops, because a field is wrong.

Objects that its validation refuses, and fields that it does not know: with strict validation
(kubectl's default) the latter are refused, otherwise silently left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.checks.finding import API, Finding, Fix
from planner.checks.subject import Subject
from planner.sources.locations import ObjectName

ID = "api-refuses"


def find(subject: Subject) -> Iterator[Finding]:
    for error in subject.manifests.refused:
        kind, _, key = (error.object or "").partition(" ")
        namespace, _, name = key.rpartition("/")
        yield Finding(
            rule=ID,
            severity="error",
            objects=(ObjectName(kind or "object", namespace, name),),
            field=error.field or "",
            title=error.message,
            text=("The API server refuses the object.",),
            proof=API,
            fixes=(Fix(error.help),) if error.help else (),
        )
    for unknown in subject.manifests.unknown_fields:
        wrong = unknown.field.rpartition(".")[2]
        yield Finding(
            rule=ID,
            severity="error",
            objects=(ObjectName(unknown.kind, unknown.namespace, unknown.name),),
            field=unknown.field,
            title=f"{unknown.kind} {unknown.name} has no field {wrong}",
            text=(
                "Strict validation, as kubectl asks for, refuses the object; without it the field "
                "is dropped silently.",
            ),
            proof=API,
            fixes=(Fix(f"{unknown.meant} instead of {wrong}"),) if unknown.meant else (),
        )
