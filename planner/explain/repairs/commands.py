"""Repairs as something to run: JSON patches for templates, a new pod for bare ones, else a diff.

A JSON patch names positions in lists, so it is written for the template in the input, which may
have fewer tolerations than a pod: admission adds some. Pods that no controller made can't be
patched; they are made anew from a patched copy. Jobs are immutable too, and their labels are not
to be copied: for them there is a diff.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from planner.cluster.owners import SHORT, WorkloadRef
from planner_models.pod import Pod
from planner_models.workload import HASH_LABEL

PATCHABLE = frozenset(
    ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")
)
TEMPLATE = ("spec", "template", "spec")

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9./-]*")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
"""Strings that YAML readers take for something else."""

PatchOp = Literal["add", "remove", "replace"]


@dataclass(frozen=True)
class Op:
    """One operation of a JSON patch, below the pod's spec; `old` is what the field holds now."""

    op: PatchOp
    path: tuple[str | int, ...]
    value: JsonValue = None
    old: JsonValue = None

    def document(self, base: Sequence[str]) -> dict[str, JsonValue]:
        """As RFC 6902 has it, below a base."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in (*base, *self.path))
        found: dict[str, JsonValue] = {"op": self.op, "path": f"/{'/'.join(steps)}"}
        if self.op != "remove":
            found["value"] = self.value
        return found


def patched(workload: WorkloadRef, pod: Pod, ops: Iterable[Op]) -> str | None:
    """The command that changes whoever holds the pod's spec; None if no command can."""
    inner = in_order(ops)
    if not inner:
        return None
    if workload.kind == "Pod":
        patch = _json([op.document(("spec",)) for op in inner])
        namespace, name = shlex.quote(pod.namespace), shlex.quote(pod.name)
        return (
            f"kubectl -n {namespace} get pod {name} -o json | kubectl patch --local -f - "
            f"--type=json -p {patch} -o json | kubectl replace --force -f -"
        )
    if workload.kind not in PATCHABLE:
        return None
    patch = _json([op.document(TEMPLATE) for op in inner])
    kind, name = _target(workload, pod)
    return (
        f"kubectl -n {shlex.quote(workload.namespace)} patch {kind} {name} --type=json -p {patch}"
    )


def in_order(ops: Iterable[Op]) -> tuple[Op, ...]:
    """What is taken out of a list comes last, from its end on: other positions stay as they are."""
    unique = {json.dumps(op.document(()), sort_keys=True): op for op in ops}.values()
    removals = [op for op in unique if op.op == "remove"]
    removals.sort(key=lambda op: [-step if isinstance(step, int) else 0 for step in op.path])
    return (*(op for op in unique if op.op != "remove"), *removals)


def _json(patch: Sequence[JsonValue] | list[dict[str, JsonValue]]) -> str:
    return shlex.quote(json.dumps(patch, separators=(",", ":")))


def _target(workload: WorkloadRef, pod: Pod) -> tuple[str, str]:
    """A ReplicaSet that a Deployment made would be set back: the Deployment is what to change."""
    hashed = pod.labels.get(HASH_LABEL, "")
    if workload.kind == "ReplicaSet" and hashed and workload.name.endswith(f"-{hashed}"):
        return "deploy", shlex.quote(workload.name.removesuffix(f"-{hashed}"))
    return SHORT[workload.kind], shlex.quote(workload.name)


def scale_command(workload: WorkloadRef, replicas: int) -> str:
    """Fewer replicas."""
    namespace, name = shlex.quote(workload.namespace), shlex.quote(workload.short)
    return f"kubectl -n {namespace} scale {name} --replicas={replicas}"


def kubectl(*words: str) -> str:
    """A command of words that may come from the input."""
    return shlex.join(("kubectl", *words))


def diff_of(workload: WorkloadRef, pod: Pod, ops: Iterable[Op]) -> str:
    """The changed fields of the manifest, with the way to them."""
    bare = workload.kind == "Pod"
    who = f"pod/{pod.name}" if bare else workload.short
    lines = [f"--- {who}", f"+++ {who}"]
    shown: tuple[str | int, ...] = ()
    for op in in_order(ops):
        path = (("spec",) if bare else TEMPLATE) + op.path
        for depth, step in enumerate(path[:-1]):
            if shown[: depth + 1] != path[: depth + 1]:
                lines.append(f" {'  ' * depth}{_head(step)}")
        shown = path[:-1]
        depth = len(path) - 1
        if op.op != "add" or op.old is not None:
            lines += _leaf("-", depth, path[-1], op.old)
        if op.op != "remove":
            lines += _leaf("+", depth, path[-1], op.value)
    return "\n".join(lines)


def _head(step: str | int) -> str:
    return f"- # [{step}]" if isinstance(step, int) else f"{step}:"


def _leaf(sign: str, depth: int, step: str | int, value: JsonValue) -> list[str]:
    """The field with its value, which JSON writes as YAML reads it."""
    head = "- " if isinstance(step, int) or step == "-" else f"{step}: "
    return [f"{sign}{'  ' * depth}{head}{_written(value)}"]


def _written(value: JsonValue) -> str:
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return str(value) if plain else json.dumps(value, ensure_ascii=False)
