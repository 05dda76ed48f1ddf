"""The evictions of a plan as a shell script, and as objects for the Eviction API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from planner.report.shell_script import (
    Promise,
    ScriptEviction,
    ScriptWave,
    eviction_object,
    printable,
    quoted,
    refusal,
    shell_script,
)
from planner.report.tables import whatif_deletion
from planner.report.tables.drain_table import headline
from planner.words import count_of
from planner_models.drain import DrainOptions, DrainPlan, DrainRound
from planner_models.evictions import EvictionPlan, EvictionWave, PlannedEviction
from planner_models.plan import Plan, ReadyPods, Step, WorkloadChange
from planner_models.whatif import WhatIf, WhatIfDeletion


def eviction_script(document: EvictionPlan) -> str:
    """The script of an eviction plan."""
    waves = tuple(_eviction_waves(document))
    sure = "converges" if document.converges else "does not always converge"
    head, over, part = "planner evict", (document.before, document.after), document.part
    excess = tuple(each.excess for each in over)
    promises = tuple(_promises(document.workloads))
    if part is not None:
        head += f", wave {part.wave} of {part.waves}"
        excess, promises = (part.excess_before, part.excess_after), ()
        sure = f"the whole plan {sure}"
    comments = [
        f"{head}: {_summary(waves)}, over the limit {excess[0]} -> {excess[1]}, "
        f"{sure} ({count_of(document.checked_seeds, 'seed')})",
        _input(document.nodes, document.pods),
    ]
    return shell_script(comments, waves, promises, _context(document))


def plan_script(document: Plan) -> str:
    """The evictions of `planner solve --rebalance`; kube-scheduler chooses the nodes."""
    waves = tuple(_plan_waves(document))
    comments = [
        f"planner solve: {_summary(waves)}, over the limit {document.excess_before} -> "
        f"{document.excess_after} if pods land as planned",
        _input(document.statistics.nodes, document.statistics.pods),
        "kube-scheduler chooses the nodes; planner evict looks whether it chooses well",
    ]
    promises = tuple(_promises(document.workloads))
    return shell_script(comments, waves, promises, _context(document))


def _context(document: EvictionPlan | Plan | DrainPlan) -> str | None:
    return None if document.source is None else document.source.context


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


def _summary(waves: Sequence[ScriptWave]) -> str:
    evictions = sum(len(wave.evictions) for wave in waves)
    return f"{count_of(evictions, 'eviction')} in {count_of(len(waves), 'wave')}"


def _input(nodes: int, pods: int) -> str:
    return f"input: {count_of(nodes, 'node')}, {count_of(pods, 'pod')}"


def drain_script(document: DrainPlan) -> str:
    """The script of a drain; one that can't succeed evicts nothing and says so."""
    told = f"planner drain: {headline(document)}"
    size = f"input: {document.pods} pods, {count_of(len(document.nodes), 'node')} to empty"
    if document.status != "possible":
        return refusal([told, size])
    waves = [
        wave
        for number, each in enumerate(document.rounds, start=1)
        if document.round in (None, number)
        for wave in _round_waves(document, number, each)
    ]
    sure = "converges" if document.converges else "does not always converge"
    comments = [f"{told} {sure} ({document.checked_seeds} seeds)", size]
    about = [*comments, *_about_rounds(document)]
    return shell_script(about, waves, context=_context(document))


def _round_waves(document: DrainPlan, number: int, each: DrainRound) -> Sequence[ScriptWave]:
    """A round by the names of its pods as long as these are known, then the nodes are back.

    Without extra nodes, pods that were evicted may be on nodes of a later round, under new names:
    from the second round on `kubectl drain` evicts whatever is there.
    """
    if number > 1 and not document.rounds[0].extra_nodes:
        empty = (*_kubectl_options(document.options), "--", *each.nodes)
        return [ScriptWave((), drain=each.nodes, empty=empty, back=each.uncordon)]
    evictions = [eviction for eviction in document.evictions if eviction.round == number]
    waves = list(_script_waves(evictions, each.waves))
    if not document.options.rolling:
        return waves
    waves = waves or [ScriptWave((), drain=each.nodes)]
    return [*waves[:-1], replace(waves[-1], back=each.uncordon)]


def _kubectl_options(asked: DrainOptions) -> Iterator[str]:
    if asked.force:
        yield "--force"
    if asked.delete_emptydir_data:
        yield "--delete-emptydir-data"
    if asked.pod_selector:
        yield f"--pod-selector={asked.pod_selector}"


def _about_rounds(document: DrainPlan) -> Iterator[str]:
    if not document.options.rolling or not document.rounds:
        return
    extra = document.rounds[0].extra_nodes
    if extra:
        yield f"before: add {count_of(len(extra), 'node')}, each like the one it is named after:"
        yield f"  {' '.join(extra)}"
    elif len(document.rounds) > 1 or document.later:
        yield "from round 2 on pods have new names: kubectl drain takes what is on the nodes then"
        yield "planning again from a fresh dump after each round keeps to waves and evictions"


def _eviction_waves(document: EvictionPlan) -> Iterator[ScriptWave]:
    return _script_waves(document.evictions, document.waves)


def _script_waves(
    evictions: Sequence[PlannedEviction], waves: Sequence[EvictionWave]
) -> Iterator[ScriptWave]:
    by_wave: dict[int, list[ScriptEviction]] = {}
    for each in evictions:
        namespace, _, pod = each.pod.partition("/")
        eviction = ScriptEviction(namespace, pod, each.uid, f"{each.node}: {each.reason}")
        by_wave.setdefault(each.wave, []).append(eviction)
    for wave in waves:
        yield ScriptWave(
            evictions=tuple(by_wave.get(wave.number, ())),
            cordon=wave.cordon,
            drain=wave.drain,
            hold=wave.hold,
            ready=_ready(wave.ready),
        )


def _plan_waves(document: Plan) -> Iterator[ScriptWave]:
    """Waves that only place pods belong to the evictions that they waited for.

    Unless they set or lift cordons, which are held from wave to wave.
    """
    found: list[ScriptWave] = []
    cordoned: tuple[str, ...] = ()
    for wave in document.waves:
        moves = [step for step in wave.steps if step.action in ("evict", "move") and step.pod]
        before, cordoned = cordoned, _cordoned(cordoned, wave.steps)
        if moves or cordoned != before:
            evictions = tuple(map(_planned, moves))
            hold, ready = bool(cordoned), _ready(wave.ready)
            found.append(ScriptWave(evictions, cordon=cordoned, hold=hold, ready=ready))
        elif found:
            later = {(namespace, controller) for namespace, controller, _ in _ready(wave.ready)}
            kept = tuple(each for each in found[-1].ready if each[:2] not in later)
            found[-1] = replace(found[-1], ready=(*kept, *_ready(wave.ready)))
    return iter(found)


def _cordoned(before: Iterable[str], steps: Iterable[Step]) -> tuple[str, ...]:
    """The nodes that a plan keeps cordoned during a wave."""
    nodes = set(before)
    for step in steps:
        if step.node and step.action == "cordon":
            nodes.add(step.node)
        elif step.node and step.action == "uncordon":
            nodes.discard(step.node)
    return tuple(sorted(nodes))


def _planned(step: Step) -> ScriptEviction:
    namespace, _, pod = (step.pod or "").partition("/")
    note = f"planned for {step.to}" if step.to else "waits for room"
    return ScriptEviction(namespace, pod, step.uid or "", note)


def _ready(found: Iterable[ReadyPods]) -> tuple[tuple[str, str, int], ...]:
    return tuple((each.namespace, each.controller, each.pods) for each in found)


def _promises(workloads: Iterable[WorkloadChange]) -> Iterator[Promise]:
    """Of workloads that lose pods on the way and whose domains are known."""
    for each in workloads:
        if each.moved and each.controllers and each.topology_key is not None:
            counts = dict(zip(each.domains, each.after, strict=True))
            names = (each.namespace, each.workload, each.controllers)
            yield Promise(*names, each.topology_key, counts)


def whatif_script(document: WhatIf) -> str:
    """Annotations that say which pods go, and then the scaling; nothing else can be carried out."""
    told = [whatif_deletion.headline(each) for each in document.deletions if each.annotate]
    if not told:
        return refusal(["planner whatif: there is nothing to annotate before a scale-down"])
    lines = ["#!/bin/sh", *(f"# {printable(text)}" for text in told), "set -eu"]
    for each in document.deletions:
        if each.annotate:
            lines += _annotated(each)
    return "\n".join(lines) + "\n"


def _annotated(each: WhatIfDeletion) -> Iterator[str]:
    namespace, _, workload = each.workload.partition("/")
    kubectl = f"kubectl -n {quoted(namespace)}"
    for key in each.annotate:
        pod = quoted(f"pod/{key.partition('/')[2]}")
        cost = f"{whatif_deletion.ANNOTATION}={each.cost}"
        yield f"{kubectl} annotate --overwrite {pod} {cost}"
    yield f"{kubectl} scale {quoted(workload)} --replicas={each.after}"
