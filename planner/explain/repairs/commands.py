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
from planner_models.pod import Pod, PodSpec
from planner_models.workload import HASH_LABEL

PATCHABLE = frozenset(
    ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController")
)
TEMPLATE = ("spec", "template", "spec")
LONGEST_TRIAL = 240
"""Names of pods have 253 characters at most, and that of a dry run has something attached."""

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


def patched(
    workload: WorkloadRef,
    pod: Pod,
    ops: Iterable[Op],
    *,
    all_at_once: bool = False,
    delete: Sequence[str] = (),
) -> str | None:
    """The command that changes whoever holds the pod's spec; None if no command can.

    `all_at_once` makes a Deployment stop its old pods before the new ones start; `delete` are pods
    that their controller leaves as they are until somebody deletes them.
    """
    inner = in_order(ops)
    if not inner:
        return None
    if workload.kind == "Pod":
        return None if merged_selectors(pod.spec) else _made_anew(pod, inner)
    if workload.kind not in PATCHABLE:
        return None
    kind, name = target_of(workload, pod)
    changes = [op.document(TEMPLATE) for op in inner]
    if all_at_once and kind == "deploy":
        changes.append({"op": "add", "path": "/spec/strategy", "value": {"type": "Recreate"}})
    namespace = shlex.quote(workload.namespace)
    patch = (
        f"kubectl -n {namespace} patch {kind} {shlex.quote(name)} --type=json -p {_json(changes)}"
    )
    if not delete:
        return patch
    gone = kubectl("-n", workload.namespace, "delete", "pod", *delete)
    return f"{patch} --dry-run=server && {patch} && {gone}"


def _made_anew(pod: Pod, ops: Sequence[Op]) -> str:
    """Tried under another name first: what deletes the old pod must not fail at the new one."""
    namespace, name = shlex.quote(pod.namespace), shlex.quote(pod.name)
    changes = [op.document(("spec",)) for op in ops]
    trial = f"{pod.name[:LONGEST_TRIAL].rstrip('-.')}-dry-run"
    renamed: dict[str, JsonValue] = {"op": "replace", "path": "/metadata/name", "value": trial}

    def copied(patch: list[dict[str, JsonValue]]) -> str:
        return (
            f"kubectl -n {namespace} get pod {name} -o json | kubectl patch --local -f - "
            f"--type=json -p {_json(patch)} -o json"
        )

    return (
        f"{copied([*changes, renamed])} | kubectl create --dry-run=server -f - && "
        f"{copied(changes)} | kubectl replace --force -f -"
    )


def merged_selectors(spec: PodSpec) -> bool:
    """Whether the API server wrote labels of the pod into its selectors (matchLabelKeys).

    It refuses a pod that comes with them, so the stored pod can't be created again.
    """
    affinity = (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity)
    terms = [
        *(term for each in affinity for term in each.required),
        *(weighted.pod_affinity_term for each in affinity for weighted in each.preferred),
    ]
    return any(c.match_label_keys for c in spec.topology_spread_constraints) or any(
        term.match_label_keys or term.mismatch_label_keys for term in terms
    )


def rehearsed(command: str) -> str:
    """A command that destroys something, after the API server's word that it would take it."""
    return f"{command} --dry-run=server && {command}"


def in_order(ops: Iterable[Op]) -> tuple[Op, ...]:
    """What is taken out of a list comes last, from its end on: other positions stay as they are."""
    unique = {json.dumps(op.document(()), sort_keys=True): op for op in ops}.values()
    removals = [op for op in unique if op.op == "remove"]
    removals.sort(key=lambda op: [-step if isinstance(step, int) else 0 for step in op.path])
    return (*(op for op in unique if op.op != "remove"), *removals)


def _json(patch: Sequence[JsonValue] | list[dict[str, JsonValue]]) -> str:
    return shlex.quote(json.dumps(patch, separators=(",", ":")))


def target_of(workload: WorkloadRef, pod: Pod) -> tuple[str, str]:
    """A ReplicaSet that a Deployment made would be set back: the Deployment is what to change."""
    hashed = pod.labels.get(HASH_LABEL, "")
    if workload.kind == "ReplicaSet" and hashed and workload.name.endswith(f"-{hashed}"):
        return "deploy", workload.name.removesuffix(f"-{hashed}")
    return SHORT.get(workload.kind, workload.kind.lower()), workload.name


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
