"""Replaying scheduler cases, pod by pod.

After each pod the recorded `chosen` is followed, whatever we would have chosen, so that one
difference does not cascade.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.cluster import PENDING, Cluster, build_cluster
from planner.cluster.topology import IntArray
from planner.scheduler.cycle import Evaluation, Scheduler
from planner.scheduler.framework.plugin import Status
from planner.scheduler.framework.state import SchedulingState
from planner.scheduler.plugins import scheduling_gates
from planner.scheduler.preemption import event_message, preempt
from planner.scheduler.profile import Profile, build_profile, default_profile
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.scheduler_config import KubeSchedulerConfiguration
from planner_models.scheduler_profile import resolve_profiles
from tests.conformance.case import ABSENT, Expected, SchedulerCase, as_list
from tests.conformance.report import Comparison

NOT_MODELLED = "DynamicResources"
"""Resource claims are no business of planner. In every case the plugin scores 0 on all nodes, which
changes nothing: as long as it does, it counts as absent."""

FIELDS = frozenset(
    {
        "best",
        "chosen",
        "event_message",
        "failing_plugins",
        "feasible",
        "filter",
        "message",
        "outcome",
        "pod",
        "preemption",
        "prefilter",
        "raw_scores",
        "scores",
        "top",
        "totals",
        "volumes",
    }
)
"""All fields of a result; a recording with others says something that would go unheard."""


class _Metadata(msgspec.Struct, frozen=True):
    name: str
    namespace: str = "default"


class _Incoming(msgspec.Struct, frozen=True):
    metadata: _Metadata

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"


@dataclass(frozen=True)
class Replay:
    """A case at work: the scheduler, and where to write down what was compared."""

    case: SchedulerCase
    cluster: Cluster
    scheduler: Scheduler
    result: Comparison

    def check(self, want: Expected, aspect: str, got: Any, recorded: Any, detail: str = "") -> None:
        """Compare one aspect of one pod."""
        self.result.check(self.case.id, want["pod"], aspect, got, recorded, detail)

    def name(self, node: int) -> str:
        """A node's name."""
        return self.cluster.nodes[node].name

    def names(self, nodes: Iterable[int]) -> list[str]:
        """The names of nodes, sorted."""
        return sorted(self.name(int(node)) for node in nodes)


def replay(case: SchedulerCase) -> Comparison:
    """Schedule the incoming pods of a case in queue order."""
    texts = [text for objects in case.objects.values() for text in objects]
    document = RawDocument(file=case.id, data=as_list([*texts, *case.incoming]), line=1)
    cluster = build_cluster(load_documents([document]))
    keys = [msgspec.json.decode(text, type=_Incoming).key for text in case.incoming]
    pods = [cluster.pod_index[key] for key in keys]
    named = {pod: cluster.pods[pod].node_name for pod in pods if cluster.pods[pod].node_name}
    cluster = cluster.with_placement(dict.fromkeys(pods, PENDING))
    state = SchedulingState(cluster, named)
    scheduler = Scheduler(state, _profile(case))
    at_work = Replay(case, cluster, scheduler, Comparison(case.family, cases=1, pods=len(pods)))
    in_order = sorted(pods, key=lambda pod: -cluster.pods[pod].priority)
    for pod, want in zip(in_order, case.expect, strict=True):
        if cluster.pods[pod].key != want["pod"]:
            raise ValueError(f"{case.id}: {cluster.pods[pod].key} is next, not {want['pod']}")
        _pod(at_work, pod, want)
    return at_work.result


def _profile(case: SchedulerCase) -> Profile:
    if case.config == ABSENT:
        return default_profile()
    config = KubeSchedulerConfiguration.model_validate_json(bytes(case.config))
    return build_profile(resolve_profiles(config)[0])


def _pod(at: Replay, pod: int, want: Expected) -> None:
    unknown = sorted(want.keys() - FIELDS)
    if unknown:
        raise ValueError(f"{want['pod']} has fields that nobody compares: {', '.join(unknown)}")
    gate = scheduling_gates.pre_enqueue(at.cluster.pods[pod].spec)
    if gate is not None:
        _gated(at, gate, want)
    else:
        _evaluated(at, at.scheduler.evaluate(pod), want)
    if want["outcome"] == "scheduled":
        _place(at, pod, want)


def _gated(at: Replay, gate: Status, want: Expected) -> None:
    at.check(want, "outcome", "gated", want["outcome"])
    at.check(want, "prefilter", _status(gate), want.get("prefilter"))
    at.check(want, "message", ", ".join(gate.reasons), want.get("message"))


def _evaluated(at: Replay, evaluation: Evaluation, want: Expected) -> None:
    outcome = "scheduled" if len(evaluation.feasible) else "unschedulable"
    at.check(want, "outcome", outcome, want["outcome"])
    if "feasible" in want:
        at.check(want, "feasible", len(evaluation.feasible), want["feasible"])
    if at.case.record != "summary":
        _filters(at, evaluation, want)
    if want["outcome"] == "scheduled":
        _scores(at, evaluation, want)
        return
    at.check(want, "message", evaluation.message(), want["message"])
    if "preemption" in want:
        _preemption(at, evaluation, want)


def _filters(at: Replay, evaluation: Evaluation, want: Expected) -> None:
    at.check(want, "prefilter", _prefilter(at, evaluation), want.get("prefilter"))
    refused = {at.name(n): _status(status) for n, status in evaluation.verdicts().items()}
    looked_at = dict.fromkeys(at.names(evaluation.looked_at))
    recorded: Mapping[str, Any] = want.get("filter", {})
    if at.case.record == "compact":
        at.check(want, "filter", refused, {n: v for n, v in recorded.items() if v is not None})
        return
    at.check(want, "filter", looked_at | refused, recorded)
    failing = {
        at.name(node): [status.plugin for status in statuses]
        for node, statuses in evaluation.refusals().items()
        if len(statuses) > 1
    }
    at.check(want, "failing plugins", failing, want.get("failing_plugins", {}))


def _prefilter(at: Replay, evaluation: Evaluation) -> dict[str, Any] | None:
    if evaluation.rejection is not None:
        return _status(evaluation.rejection)
    if evaluation.limit is not None:
        nodes = sorted(evaluation.limit.nodes)
        return {"limited": True, "nodes": nodes, "by": list(evaluation.limit.plugins)}
    return None


def _status(status: Status) -> dict[str, Any]:
    return {"plugin": status.plugin, "code": status.code, "reasons": sorted(status.reasons)}


def _scores(at: Replay, evaluation: Evaluation, want: Expected) -> None:
    scores = evaluation.scores
    nodes = [at.name(node) for node in evaluation.feasible.tolist()]
    if "raw_scores" in want:
        _by_plugin(at, want, "raw scores", _named(nodes, scores.raw), want["raw_scores"])
    if "scores" in want:
        _by_plugin(at, want, "scores", _named(nodes, scores.weighted), want["scores"])
        totals = dict(zip(nodes, scores.totals.tolist(), strict=True))
        at.check(want, "totals", totals, want["totals"])
    if "top" in want:
        at.check(want, "totals", max(scores.totals.tolist(), default=None), want["top"])
    at.check(want, "best", at.names(evaluation.best), want["best"])


def _named(nodes: list[str], scores: Mapping[str, IntArray]) -> dict[str, dict[str, int]]:
    return {
        plugin: dict(zip(nodes, values.tolist(), strict=True)) for plugin, values in scores.items()
    }


def _by_plugin(
    at: Replay,
    want: Expected,
    aspect: str,
    got: Mapping[str, Mapping[str, int]],
    recorded: Mapping[str, Mapping[str, int]],
) -> None:
    """Plugins that skipped scoring are absent on both sides."""
    silent = {NOT_MODELLED} if not any(recorded.get(NOT_MODELLED, {}).values()) else set()
    for plugin in sorted((got.keys() | recorded.keys()) - silent):
        at.check(want, aspect, got.get(plugin), recorded.get(plugin), plugin)


def _preemption(at: Replay, evaluation: Evaluation, want: Expected) -> None:
    """What PostFilter would do; nothing of it is carried out."""
    got = preempt(at.scheduler, evaluation)
    recorded: Mapping[str, Any] = want["preemption"]
    at.check(want, "preemption code", got.code, recorded["code"])
    at.check(want, "preemption message", got.message, recorded.get("message", ""))
    candidates = {
        at.name(node): {"victims": _keys(at, each.pods), "pdb_violations": each.pdb_violations}
        for node, each in got.candidates.items()
    }
    at.check(want, "candidates", candidates, recorded.get("candidates", {}))
    nodes = [at.name(node) for node in got.nominated_any_of]
    at.check(want, "nominated", nodes, recorded.get("nominated_any_of", []))
    at.check(want, "victims", _keys(at, got.victims), recorded.get("victims", []))
    if "event_message" in want:
        at.check(want, "event message", event_message(evaluation, got), want["event_message"])


def _keys(at: Replay, pods: Iterable[int]) -> list[str]:
    return [at.cluster.pods[pod].key for pod in pods]


def _place(at: Replay, pod: int, want: Expected) -> None:
    """Follow the recording; placing runs Reserve, which decides what unbound claims get."""
    state = at.scheduler.state
    state.place(pod, at.cluster.node_index[want["chosen"]])
    held = state.volumes.held(pod)
    if held or "volumes" in want:
        recorded = {"bind": {}, "provision": []} | want.get("volumes", {})
        got = {"bind": dict(held.bind), "provision": sorted(held.provision)}
        at.check(want, "volumes", got, recorded)
