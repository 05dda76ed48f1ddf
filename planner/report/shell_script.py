"""Waves of evictions as a POSIX shell script that anybody can read before running it.

The script asks the Eviction API, so budgets hold, and names every pod with its uid, so that never
another pod of the same name goes. It does nothing without `--run`. Each eviction is asked for as a
dry run first: the API server takes a refused one off the budget before it looks at the uid. Where a
budget allows none now it tries again every five seconds, as `kubectl drain` does. A wave is over
when as many pods of each controller are ready as the plan says, whatever kind of controller that
is. Cordons carry an annotation; only those with this plan's are lifted, however the script ends. A
second run goes on where the first one stopped: whoever has gone is left out. At the end stands how
many pods are in each domain, beside what was planned. Every value stands in single quotes: a name
in the input can never become a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from planner.report.text.blocks import UNSEEN
from planner.words import count_of
from planner_models.node import PLANNER_CORDON as CORDON

_HEAD = """\
#!/bin/sh
{comments}
# Uses the Eviction API (budgets hold) and each pod's uid (never another pod). Without --run it only
# says what it would do. Run it again to go on where it stopped. planner apply does the same from
# the plan as JSON, and looks before each wave whether the plan still holds.
set -eu
export LC_ALL=C

plan={plan}
patience=600  # seconds to wait for a budget, for a pod to go, and for pods to be ready
run=no
for argument in "$@"; do
  case "$argument" in
    --run) run=yes ;;
    --dry-run) run=no ;;
    *) echo "usage: $0 [--dry-run|--run]" >&2; exit 2 ;;
  esac
done
"""

_CONTEXT = """\
kubectl() {{  # the cluster that was read, whatever the current context is by now
  command kubectl --context {context} "$@"
}}
"""

_FUNCTIONS = """\
say() {  # echo might take a name for a command
  printf '%s\\n' "$*"
}
stop() {
  say "$*" >&2
  exit 1
}
again() {  # seconds, what is waited for; stops when patience is at its end
  [ "$waited" -lt "$patience" ] || stop "$2, after $waited seconds; what follows was not begun"
  sleep "$1"
  waited=$((waited + $1))
}
uid_of() {  # namespace, pod
  kubectl get pod "--namespace=$1" --ignore-not-found -o 'jsonpath={.metadata.uid}' -- "$2"
}
post() {  # path, Eviction object; why not is in $answer
  if answer=$(printf '%s' "$2" | kubectl create --raw "$1" -f - 2>&1 >/dev/null); then
    return 0
  fi
  return 1
}
evict() {  # namespace, pod, uid, path, question (a dry run), order, what
  say "evict $7"
  [ "$run" = yes ] || return 0
  if [ -n "$3" ]; then
    now=$(uid_of "$1" "$2")
    [ "$now" = "$3" ] || { say '  it has gone already'; return 0; }
  fi
  waited=0
  while :; do
    if post "$4" "$5" && post "$4" "$6"; then return 0; fi
    case "$answer" in
      *'(TooManyRequests)'*) ;;
      *'(NotFound)'*|*'(Conflict)'*) say '  it has gone already'; return 0 ;;
      *) stop "$2 in $1 can't be evicted: $answer" ;;
    esac
    [ "$waited" -gt 0 ] || say '  its budget allows no eviction now: trying again every 5 seconds'
    again 5 "the budget of $2 in $1 allows no eviction"
  done
}
gone() {  # namespace, pod, uid
  [ "$run" = yes ] || return 0
  waited=0
  while :; do
    now=$(uid_of "$1" "$2")
    [ "$now" = "$3" ] || return 0
    again 2 "$2 in $1 is still there"
  done
}
pods() {  # namespace; a line for each pod that is not leaving: controller, ready or not, node
  kubectl get pods "--namespace=$1" -o 'go-template={{range .items}}\
{{if not .metadata.deletionTimestamp}}{{$ready := "no"}}{{$node := .spec.nodeName}}\
{{range .status.conditions}}{{if eq .type "Ready"}}{{$ready = .status}}{{end}}{{end}}\
{{range .metadata.ownerReferences}}{{if .controller}}\
{{.kind}}/{{.name}} {{$ready}} {{if $node}}{{$node}}{{end}}{{"\\n"}}\
{{end}}{{end}}{{end}}{{end}}'
}
ready() {  # namespace, controller, how many of its pods
  say "wait until $3 pods of $2 in $1 are ready"
  [ "$run" = yes ] || return 0
  waited=0
  while :; do
    listed=$(pods "$1")
    now=$(printf '%s\\n' "$listed" |
      controller=$2 awk '$1 == ENVIRON["controller"] && $2 == "True" { n++ } END { print n + 0 }')
    [ "$now" -lt "$3" ] || return 0
    again 2 "only $now of $3 pods of $2 in $1 are ready"
  done
}
"""

_COUNTS = """\
differs=no
counts() {  # namespace, workload, controllers (a line each), nodes with their domains, promised
  listed=$(pods "$1")
  now=$(
    {
      printf '%s\\n' "$3" | sed 's/^/controller /'
      printf '%s\\n' "$4" | sed 's/^/node /'
      printf '%s\\n' "$listed" | sed 's/^/pod /'
    } | awk '
      $1 == "controller" { ours[$2] = 1 }
      $1 == "node" && NF == 3 { domain[$2] = $3; seen[$3] = 1 }
      $1 == "pod" && ours[$2] && domain[$4] != "" { n[domain[$4]]++ }
      END { for (each in seen) print each, n[each] + 0 }' | sort | paste -s -d , - | sed 's/,/, /g'
  )
  if [ "$now" = "$5" ]; then
    say "$2 in $1: $now, as planned"
  else
    differs=yes
    say "$2 in $1: $now; planned were $5"
  fi
}
"""

_CORDONS = """\
state_of() {{  # node; whether it is cordoned, and by which plan
  kubectl get node -o 'go-template={{{{if .spec.unschedulable}}}}cordoned by {{{{end}}}}\
{{{{with .metadata.annotations}}}}{{{{with index . "{annotation}"}}}}{{{{.}}}}\
{{{{end}}}}{{{{end}}}}' -- "$1"
}}
ours=
cordon() {{  # number, node
  say "cordon $2"
  [ "$run" = yes ] || return 0
  now=$(state_of "$2")
  case "$now" in
    "cordoned by $plan") ;;
    cordoned*) say '  somebody else has cordoned it, and it stays so'; return 0 ;;
    *) kubectl patch node --type=merge -p {set} -- "$2" >/dev/null ;;
  esac
  ours="$ours $1"
}}
uncordon() {{  # number, node; only what this plan has cordoned
  case " $ours " in *" $1 "*) ;; *) return 0 ;; esac
  now=$(state_of "$2")
  if [ "$now" = "cordoned by $plan" ]; then
    say "uncordon $2"
    kubectl patch node --type=merge -p {unset} -- "$2" >/dev/null
  fi
}}
lift() {{  # all cordons of this script, or all but the numbers that are given
  for number in $ours; do
    case " $* " in *" $number "*) continue ;; esac
    case "$number" in
{cases}
    esac
  done
  ours="$*"
}}
trap lift EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"""


_ROUNDS = """\
empty() {  # what kubectl drain takes beside nodes, then nodes; evicts whatever is on them by now
  say "kubectl drain $*"
  [ "$run" = no ] || kubectl drain --ignore-daemonsets "$@"
}
back() {  # nodes that are empty; when they are upgraded and ready, pods may come again
  say "empty: $*; upgrade them (\\$UPGRADE is called with their names, if it is set)"
  [ "$run" = yes ] || return 0
  if [ -n "${UPGRADE:-}" ]; then
    "$UPGRADE" "$@"
  else
    printf 'press Enter when they are upgraded: '
    read -r _ </dev/tty
  fi
  for node in "$@"; do
    kubectl wait --for=condition=Ready --timeout=1h -- "node/$node"
    kubectl uncordon -- "$node"
  done
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
    """Cordons, evictions, and ready pods (namespace, controller, number) to wait for."""

    evictions: tuple[ScriptEviction, ...]
    cordon: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    hold: bool = False
    ready: tuple[tuple[str, str, int], ...] = ()
    empty: tuple[str, ...] = ()
    """Arguments of `kubectl drain`, where pods have new names by then that nobody knows."""
    back: tuple[str, ...] = ()
    """Nodes that come back, upgraded and empty, when the wave is over."""


@dataclass(frozen=True)
class Promise:
    """How many pods of a workload end in each domain of a label."""

    namespace: str
    workload: str
    controllers: tuple[str, ...]
    topology_key: str
    counts: Mapping[str, int]


def shell_script(
    comments: Iterable[str],
    waves: Sequence[ScriptWave],
    promises: Sequence[Promise] = (),
    context: str | None = None,
) -> str:
    """The waves as POSIX shell, for the cluster of a context if it was read from one."""
    nodes = sorted({node for wave in waves for node in wave.cordon})
    numbers = {node: number for number, node in enumerate(nodes)}
    rounds = [_ROUNDS] if any(wave.back for wave in waves) else []
    body = [*rounds, *_cordon_functions(numbers), *_waves(waves, numbers), *_counting(promises)]
    plan = sha256("\n".join(body).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    told = "\n".join(f"# {printable(text)}" for text in comments)
    end = '[ "$run" = yes ] || echo "nothing was changed; --run acts"'
    there = [] if context is None else [_CONTEXT.format(context=quoted(context))]
    head = _HEAD.format(comments=told, plan=plan)
    return "\n".join([head, *there, _FUNCTIONS, *body, end]) + "\n"


def refusal(comments: Sequence[str]) -> str:
    """A script that changes nothing: it says why, and fails."""
    told = "\n".join(f"# {printable(text)}" for text in comments)
    return f"#!/bin/sh\n{told}\necho {quoted(printable(comments[0]))} >&2\nexit 3\n"


def _cordon_functions(numbers: Mapping[str, int]) -> Iterator[str]:
    """Cordons of a wave end with it, or with the script, whichever comes first."""
    if not numbers:
        return
    cases = (f"      {n}) uncordon {n} {quoted(node)} ;;" for node, n in numbers.items())
    on = f'{{"metadata":{{"annotations":{{"{CORDON}":"%s"}}}},"spec":{{"unschedulable":true}}}}'
    off = f'{{"metadata":{{"annotations":{{"{CORDON}":null}}}},"spec":{{"unschedulable":null}}}}'
    yield _CORDONS.format(
        annotation=CORDON,
        set='"$(printf ' + quoted(on) + ' "$plan")"',
        unset=quoted(off),
        cases="\n".join(cases),
    )


def _waves(waves: Sequence[ScriptWave], numbers: Mapping[str, int]) -> Iterator[str]:
    if not waves:
        yield "echo 'nothing to evict'"
    held = False
    for number, wave in enumerate(waves, start=1):
        yield f"# wave {number} of {len(waves)}"
        evictions = count_of(len(wave.evictions), "eviction")
        if wave.empty:
            evictions = "kubectl drain evicts what is there by then"
        yield f"say {quoted(f'wave {number} of {len(waves)}: {evictions}')}"
        yield from _wave(wave, numbers, held=held)
        yield ""
        held = wave.hold and bool(wave.cordon)


def _wave(wave: ScriptWave, numbers: Mapping[str, int], *, held: bool) -> Iterator[str]:
    """New cordons first; then those go that the wave before has held and this one doesn't need."""
    for node in wave.drain:
        yield f"say {quoted(f'cordon {printable(node)}')}"
        yield f'[ "$run" = no ] || kubectl cordon -- {quoted(node)}'
    for node in wave.cordon:
        yield f"cordon {numbers[node]} {quoted(node)}"
    if held:
        yield " ".join(("lift", *(str(numbers[node]) for node in wave.cordon)))
    for eviction in wave.evictions:
        yield _evict(eviction)
    for eviction in wave.evictions:
        if eviction.uid:
            names = (eviction.namespace, eviction.pod, eviction.uid)
            yield f"gone {' '.join(map(quoted, names))}"
    for namespace, controller, pods in wave.ready:
        yield f"ready {quoted(namespace)} {quoted(controller)} {pods}"
    if wave.empty:
        yield f"empty {' '.join(map(quoted, wave.empty))}"
    yield from _afterwards(wave)


def _afterwards(wave: ScriptWave) -> Iterator[str]:
    if wave.cordon and not wave.hold:
        yield "lift"
    if wave.back:
        yield f"back {' '.join(map(quoted, wave.back))}"


def _counting(promises: Sequence[Promise]) -> Iterator[str]:
    """Counts per domain as they are, beside the planned ones."""
    if not promises:
        return
    yield _COUNTS
    yield 'if [ "$run" = yes ]; then'
    for key in sorted({promise.topology_key for promise in promises}):
        template = (
            "{{range .items}}{{.metadata.name}} {{with index .metadata.labels "
            f'{json.dumps(key)}}}}}{{{{.}}}}{{{{end}}}}{{{{"\\n"}}}}{{{{end}}}}'
        )
        yield f"  domains=$(kubectl get nodes -o {quoted(f'go-template={template}')})"
        for each in promises:
            if each.topology_key == key:
                names = (each.namespace, each.workload, "\n".join(each.controllers))
                planned = ", ".join(f"{domain} {n}" for domain, n in sorted(each.counts.items()))
                yield f'  counts {" ".join(map(quoted, names))} "$domains" {quoted(planned)}'
    yield "  [ \"$differs\" = no ] || { echo 'not as planned: look again with planner'; exit 3; }"
    yield "fi"


def _evict(eviction: ScriptEviction) -> str:
    namespace, pod = (quote(part, safe="") for part in (eviction.namespace, eviction.pod))
    what = f"{eviction.namespace}/{eviction.pod}"
    if eviction.note:
        what += f" ({eviction.note})"
    words = (
        eviction.namespace,
        eviction.pod,
        eviction.uid,
        f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction",
        json.dumps(eviction_object(eviction, dry_run=True)),
        json.dumps(eviction_object(eviction)),
        printable(what),
    )
    return f"evict {' '.join(map(quoted, words))}"


def eviction_object(eviction: ScriptEviction, *, dry_run: bool = False) -> dict[str, object]:
    """The object that the Eviction API takes; without a uid nothing ties it to this very pod."""
    options: dict[str, object] = {"dryRun": ["All"]} if dry_run else {}
    if eviction.uid:
        options["preconditions"] = {"uid": eviction.uid}
    found: dict[str, object] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": eviction.pod, "namespace": eviction.namespace},
    }
    return {**found, "deleteOptions": options} if options else found


def quoted(text: str) -> str:
    """One word for the shell, whatever is in it; a NUL, which no shell can hold, is dropped.

    What a terminal would obey is left to printf, so that the script can be read anywhere.
    """
    text = text.replace("\0", "")
    if UNSEEN.search(text):
        octal = "".join(f"\\{byte:03o}" for byte in text.encode())
        return f"\"$(printf '{octal}')\""
    return "'" + text.replace("'", "'\\''") + "'"


def printable(text: str) -> str:
    """On one line, without characters that a terminal might obey."""
    return re.sub(r"[^\x20-\x7e]", lambda found: ascii(found.group())[1:-1], text)
