"""Evictions as a shell script that anybody can read before running it.

The script asks the Eviction API, so budgets hold, and names every pod with its uid, so that never
another pod of the same name goes. It does nothing without `--run`, stops at the first refusal, and
lifts its own cordons however it ends. Every value stands in single quotes: a name in the input can
never become a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from planner.report.text.blocks import UNSEEN
from planner.words import count_of
from planner_models.evictions import EvictionPlan
from planner_models.plan import Plan, Step

WAITABLE = frozenset({"deploy", "sts"})
"""Kinds that `kubectl rollout status` knows and whose pods are replaced."""

_HEAD = """\
#!/bin/sh
{comments}
# Uses the Eviction API (budgets hold) and each pod's uid (never another pod).
# Without --run it only says what it would do. It stops at the first refusal.
set -eu

run=no
for argument in "$@"; do
  case "$argument" in
    --run) run=yes ;;
    --dry-run) run=no ;;
    *) echo "usage: $0 [--dry-run|--run]" >&2; exit 2 ;;
  esac
done
timeout=10m
patience=300
"""

_FUNCTIONS = """\
say() {  # echo might take a name for a command
  printf '%s\\n' "$*"
}
evict() {  # path, Eviction object, what
  say "evict $3"
  [ "$run" = no ] || printf '%s' "$2" | kubectl create --raw "$1" -f - >/dev/null
}
gone() {  # namespace, pod, uid
  [ "$run" = yes ] || return 0
  tries=0
  while :; do
    now=$(kubectl get pod "--namespace=$1" --ignore-not-found -o 'jsonpath={.metadata.uid}' -- "$2")
    [ "$now" = "$3" ] || return 0
    tries=$((tries + 1))
    [ "$tries" -lt "$patience" ] || { say "$2 is still there" >&2; exit 1; }
    sleep 2
  done
}
ready() {  # namespace, workload
  say "wait until $2 in $1 is ready again"
  [ "$run" = no ] || kubectl rollout status "--namespace=$1" "--timeout=$timeout" "$2"
}
cordon() {  # node
  say "cordon $1"
  [ "$run" = no ] || kubectl cordon -- "$1"
}
uncordon() {  # node
  say "uncordon $1"
  [ "$run" = no ] || kubectl uncordon -- "$1"
}
"""


@dataclass(frozen=True)
class ScriptEviction:
    """One call of the Eviction API; `note` is said beside it."""

    namespace: str
    pod: str
    uid: str
    note: str = ""


@dataclass(frozen=True)
class ScriptWave:
    """Cordons, evictions, and workloads (`namespace`, `deploy/web`) to wait for."""

    evictions: tuple[ScriptEviction, ...]
    cordon: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    hold: bool = False
    wait_for: tuple[tuple[str, str], ...] = ()


def eviction_script(document: EvictionPlan) -> str:
    """The script of an eviction plan."""
    waves = tuple(_eviction_waves(document))
    sure = "converges" if document.converges else "does not always converge"
    comments = [
        f"planner evict: {_summary(waves)}, excess {document.before.excess} -> "
        f"{document.after.excess}, {sure} ({document.checked_seeds} seeds)",
        f"input: {document.nodes} nodes, {document.pods} pods",
    ]
    return script(comments, waves)


def plan_script(document: Plan) -> str:
    """The evictions of `planner solve --rebalance`; kube-scheduler chooses the nodes."""
    waves = tuple(_plan_waves(document))
    comments = [
        f"planner solve: {_summary(waves)}, excess {document.excess_before} -> "
        f"{document.excess_after} if pods land as planned",
        f"input: {document.statistics.nodes} nodes, {document.statistics.pods} pods",
        "kube-scheduler chooses the nodes; planner evict looks whether it chooses well",
    ]
    return script(comments, waves)


def _summary(waves: Sequence[ScriptWave]) -> str:
    evictions = sum(len(wave.evictions) for wave in waves)
    return f"{count_of(evictions, 'eviction')} in {count_of(len(waves), 'wave')}"


def _eviction_waves(document: EvictionPlan) -> Iterator[ScriptWave]:
    by_wave: dict[int, list[ScriptEviction]] = {}
    for each in document.evictions:
        namespace, _, pod = each.pod.partition("/")
        eviction = ScriptEviction(namespace, pod, each.uid, f"{each.node}: {each.reason}")
        by_wave.setdefault(each.wave, []).append(eviction)
    for wave in document.waves:
        refs = [ref.partition("/") for ref in wave.wait_for]
        yield ScriptWave(
            evictions=tuple(by_wave.get(wave.number, ())),
            cordon=wave.cordon,
            drain=wave.drain,
            hold=wave.hold,
            wait_for=() if wave.pending else tuple((ns, name) for ns, _, name in refs),
        )


def _plan_waves(document: Plan) -> Iterator[ScriptWave]:
    workloads = {placement.pod: placement.workload for placement in document.placements}
    workloads |= {pod.pod: pod.workload for pod in document.displaced}
    for wave in document.waves:
        moves = [step for step in wave.steps if step.action in ("evict", "move") and step.pod]
        if not moves:
            continue
        keys = [step.pod or "" for step in moves]
        waits = {(key.partition("/")[0], workloads.get(key, "")) for key in keys}
        held = any(step.action == "evict" for step in moves)
        yield ScriptWave(
            evictions=tuple(_planned(step) for step in moves),
            wait_for=() if held else tuple(sorted(waits)),
        )


def _planned(step: Step) -> ScriptEviction:
    namespace, _, pod = (step.pod or "").partition("/")
    note = f"planned for {step.to}" if step.to else "waits for room"
    return ScriptEviction(namespace, pod, step.uid or "", note)


def script(comments: Iterable[str], waves: Sequence[ScriptWave]) -> str:
    """The waves as POSIX shell."""
    nodes = sorted({node for wave in waves for node in wave.cordon})
    numbers = {node: number for number, node in enumerate(nodes)}
    lines = [_HEAD.format(comments="\n".join(f"# {_printable(text)}" for text in comments))]
    lines.append(_FUNCTIONS)
    lines.extend(_traps(numbers))
    held: tuple[str, ...] = ()
    for number, wave in enumerate(waves, start=1):
        lines.append(f"# wave {number} of {len(waves)}")
        lines.extend(_wave(f"wave {number} of {len(waves)}", wave, numbers, held))
        held = wave.cordon if wave.hold else ()
    if not waves:
        lines.append("echo 'nothing to evict'")
    lines.append('[ "$run" = yes ] || echo "nothing was changed; --run acts"')
    return "\n".join(lines) + "\n"


def _traps(numbers: Mapping[str, int]) -> Iterator[str]:
    """Cordons of a wave end with it, or with the script, whichever comes first."""
    if not numbers:
        return
    cases = "\n".join(
        f"      {number}) uncordon {_quoted(node)} ;;" for node, number in numbers.items()
    )
    yield (
        "cordoned=\n"
        "lift() {  # the cordons of this script that are still there\n"
        "  lifting=$cordoned\n"
        "  cordoned=\n"
        "  for number in $lifting; do\n"
        f'    case "$number" in\n{cases}\n    esac\n'
        "  done\n"
        "}\n"
        "trap lift EXIT\n"
        "trap 'exit 130' INT\n"
        "trap 'exit 143' TERM\n"
    )


def _cordoning(wave: ScriptWave, numbers: Mapping[str, int], held: Sequence[str]) -> Iterator[str]:
    """New cordons first; then those that the wave before has held and this one does not need."""
    for node in wave.drain:
        yield f"cordon {_quoted(node)}"
    if wave.cordon or held:
        yield f"cordoned='{' '.join(str(numbers[n]) for n in sorted({*held, *wave.cordon}))}'"
    for node in wave.cordon:
        if node not in held:
            yield f"cordon {_quoted(node)}"
    if held:
        for node in held:
            if node not in wave.cordon:
                yield f"uncordon {_quoted(node)}"
        yield f"cordoned='{' '.join(str(numbers[n]) for n in wave.cordon)}'"


def _wave(
    name: str, wave: ScriptWave, numbers: Mapping[str, int], held: Sequence[str]
) -> Iterator[str]:
    evictions = count_of(len(wave.evictions), "eviction")
    yield f"say {_quoted(f'{name}: {evictions}')}"
    yield from _cordoning(wave, numbers, held)
    for eviction in wave.evictions:
        yield _evict(eviction)
    for eviction in wave.evictions:
        if eviction.uid:
            names = (eviction.namespace, eviction.pod, eviction.uid)
            yield f"gone {' '.join(map(_quoted, names))}"
    for namespace, workload in wave.wait_for:
        if workload.partition("/")[0] in WAITABLE:
            yield f"ready {_quoted(namespace)} {_quoted(workload)}"
    if wave.cordon and not wave.hold:
        yield "lift"
    yield ""


def _evict(eviction: ScriptEviction) -> str:
    parts = (quote(part, safe="") for part in (eviction.namespace, eviction.pod))
    namespace, pod = parts
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
    what = f"{eviction.namespace}/{eviction.pod}"
    if eviction.note:
        what += f" ({eviction.note})"
    body = json.dumps(eviction_object(eviction))
    return f"evict {_quoted(path)} {_quoted(body)} {_quoted(_printable(what))}"


def eviction_object(eviction: ScriptEviction) -> dict[str, object]:
    """The object that the Eviction API takes; without a uid nothing ties it to this very pod."""
    found: dict[str, object] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": eviction.pod, "namespace": eviction.namespace},
    }
    if eviction.uid:
        found["deleteOptions"] = {"preconditions": {"uid": eviction.uid}}
    return found


def eviction_objects(document: EvictionPlan) -> str:
    """The same calls as YAML, a document each, wave by wave."""
    import yaml

    parts: list[str] = []
    waves = tuple(_eviction_waves(document))
    for number, wave in enumerate(waves, start=1):
        for eviction in wave.evictions:
            text = yaml.safe_dump(eviction_object(eviction), sort_keys=False)
            parts.append(f"# wave {number} of {len(waves)}\n{text}")
    return "---\n".join(parts)


def _quoted(text: str) -> str:
    """One word for the shell, whatever is in it; a NUL, which no shell can hold, is dropped.

    What a terminal would obey is left to printf, so that the script can be read anywhere.
    """
    text = text.replace("\0", "")
    if UNSEEN.search(text):
        octal = "".join(f"\\{byte:03o}" for byte in text.encode())
        return f"\"$(printf '{octal}')\""
    return "'" + text.replace("'", "'\\''") + "'"


def _printable(text: str) -> str:
    """On one line, without characters that a terminal might obey."""
    return re.sub(r"[^\x20-\x7e]", lambda found: ascii(found.group())[1:-1], text)
