"""From a run of the scheduler to the `Simulation` document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.cluster import Cluster
from planner.explain.one_sentence import ShortExplainer
from planner.scheduler.cycle import Evaluation
from planner.scheduler.framework.plugin import Status
from planner.scheduler.profile import Profile, default_profile
from planner.scheduler.sampling import ADAPTIVE
from planner.scheduler.simulate import Aside, Attempt, LeftAside, PodResult, simulate
from planner.scheduler.status_messages import contradictions
from planner.words import NAMED, count_of
from planner_models.node import ZONE
from planner_models.notice import Notice
from planner_models.simulation import (
    AsidePod,
    RefusedNodes,
    SimulatedPod,
    SimulatedPreemption,
    Simulation,
    SimulationSummary,
    Verdict,
)

WHY_ASIDE: Mapping[Aside, str] = {
    "otherScheduler": "its schedulerName {scheduler} is not one of the profiles",
    "nodeName": "its nodeName {node} is set, which bypasses the scheduler",
    "terminating": "it is terminating",
    "running": "it runs on {node} already",
}


DETAILED_PAIRS = 200_000
"""Pairs of pod and node whose verdicts and scores a document holds: some hundred MB of JSON."""


@dataclass(frozen=True)
class SimulationOptions:
    """How to simulate and what to write down.

    `details` asks for every verdict and score; `node` limits them to one node. Without details,
    only some of the best nodes are named, unless `all_ties` asks for all.
    """

    seed: int = 0
    preempt: bool = False
    sampling: bool = False
    details: bool = True
    all_ties: bool = False
    node: int | None = None


def simulation_of(
    cluster: Cluster,
    profiles: Sequence[Profile] = (),
    options: SimulationOptions | None = None,
    pods: Iterable[int] | None = None,
) -> tuple[Simulation, Cluster]:
    """Run the scheduler and write down what it did; also gives the cluster afterwards."""
    options = options or SimulationOptions()
    profiles = profiles or (default_profile(),)
    notes = _Notes(cluster, options)
    run = simulate(
        cluster,
        profiles,
        pods=pods,
        seed=options.seed,
        preempt=options.preempt,
        sampling=options.sampling,
        observe=notes.take,
    )
    short = ShortExplainer(run.final, profiles[0])
    results = [_with_result(cluster, notes.pods, result, short) for result in run.results]
    tried = [result.pod for result in run.results]
    document = Simulation(
        summary=_summary(cluster, profiles, options, run.results, len(run.aside), run.victims),
        pods=tuple(results),
        refused=tuple(notes.refused),
        left_aside=tuple(_aside(cluster, each) for each in run.aside),
        preempted=tuple(cluster.pods[victim].key for victim in run.victims),
        explained_node=None if options.node is None else cluster.nodes[options.node].name,
        notices=(
            *cluster.notices,
            *contradictions(cluster, profiles, tried),
            *notes.left_out(),
        ),
    )
    return document, run.final


def _summary(
    cluster: Cluster,
    profiles: Sequence[Profile],
    options: SimulationOptions,
    results: Sequence[PodResult],
    aside: int,
    victims: Sequence[int],
) -> SimulationSummary:
    outcomes = [result.outcome for result in results]
    percentages = {p.resolved.percentage_of_nodes_to_score for p in profiles} - {ADAPTIVE}
    if options.sampling:
        percentages |= {ADAPTIVE}
    return SimulationSummary(
        pods=len(results),
        scheduled=outcomes.count("scheduled"),
        unschedulable=outcomes.count("unschedulable"),
        gated=outcomes.count("gated"),
        left_aside=aside,
        preempted=len(victims),
        nodes=len(cluster.nodes),
        seed=options.seed,
        preempt=options.preempt,
        percentage_of_nodes_to_score=max(percentages, default=None),
        all_ties=options.all_ties,
        ignored_plugins=tuple(sorted({n for p in profiles for n in p.resolved.ignored})),
    )


def _aside(cluster: Cluster, aside: LeftAside) -> AsidePod:
    pod = cluster.pods[aside.pod]
    text = WHY_ASIDE[aside.reason].format(scheduler=pod.spec.scheduler_name, node=pod.node_name)
    return AsidePod(pod=pod.key, reason=aside.reason, text=text)


def _with_result(
    cluster: Cluster,
    taken: Mapping[int, SimulatedPod],
    result: PodResult,
    short: ShortExplainer,
) -> SimulatedPod:
    """What was noted at the last attempt; gated pods, and pods without any node, had none."""
    found = taken.get(result.pod) or _simulated(cluster, result)
    if result.outcome != "unschedulable":
        return found
    return found.model_copy(update={"diagnosis": short.sentence(result.pod)})


def _simulated(cluster: Cluster, result: PodResult, **details: Any) -> SimulatedPod:
    """A pod, with what was noted about it."""
    pod = cluster.pods[result.pod]
    ref = cluster.workloads[int(cluster.group_of[result.pod])]
    return SimulatedPod(
        pod=pod.key,
        workload=f"{ref.namespace}/{ref.short}",
        outcome=result.outcome,
        node=None if result.node is None else cluster.nodes[result.node].name,
        priority=pod.priority,
        synthesised=pod.synthesised,
        attempts=result.attempts,
        feasible=result.feasible,
        tied=result.tied,
        message=result.message or None,
        event_message=result.event_message if result.outcome == "unschedulable" else None,
        preemption=_preemption(cluster, result),
        **details,
    )


def _preemption(cluster: Cluster, result: PodResult) -> SimulatedPreemption | None:
    found = result.preemption
    if found is None:
        return None
    nodes = cluster.nodes
    return SimulatedPreemption(
        nominated_node=None if found.nominated is None else nodes[found.nominated].name,
        nominated_any_of=tuple(nodes[node].name for node in found.nominated_any_of),
        victims=tuple(
            cluster.pods[victim].key
            for victim in found.victims
            if not cluster.pods[victim].terminating
        ),
        message=found.message,
    )


class _Notes:
    """Watches the scheduler and writes down what will not be known any more afterwards."""

    def __init__(self, cluster: Cluster, options: SimulationOptions) -> None:
        self._cluster = cluster
        self._options = options
        self._names = [node.name for node in cluster.nodes]
        self._seen: set[str] = set()
        self._pairs_left = DETAILED_PAIRS
        self.without_details = 0
        self.pods: dict[int, SimulatedPod] = {}
        self.refused: list[RefusedNodes] = []

    def take(self, attempt: Attempt) -> None:
        result, evaluation = attempt.result, attempt.evaluation
        details: dict[str, Any] = {}
        if self._detailed(evaluation):
            details = self._details(evaluation)
        details["looked_at"] = len(evaluation.looked_at)
        details["best"] = tuple(self._names[node] for node in self._best(evaluation))
        simulated = _simulated(self._cluster, result, **details)
        self.pods[result.pod] = simulated
        workload = simulated.workload
        if workload not in self._seen and len(self._seen) < NAMED:
            self._seen.add(workload)
            self.refused.extend(_refused(self._cluster, workload, evaluation))

    def _detailed(self, evaluation: Evaluation) -> bool:
        """Whether the verdicts and scores of one more pod still fit in the document."""
        if not self._options.details:
            return False
        pairs = 1 if self._options.node is not None else len(evaluation.looked_at)
        if pairs > self._pairs_left and self._pairs_left < DETAILED_PAIRS:
            self.without_details += 1
            return False
        self._pairs_left -= pairs
        return True

    def left_out(self) -> Iterator[Notice]:
        """What the document does not hold though it was asked for."""
        if self.without_details:
            number = count_of(self.without_details, "pod")
            text = f"verdicts and scores of {number} are left out: together they are too many"
            yield Notice(code="fewerDetails", text=f"{text}; name a pod or a node to get its own")

    def _best(self, evaluation: Evaluation) -> list[int]:
        """All that kube-scheduler could have chosen, or as many as a short text can name."""
        options = self._options
        if not options.details and not options.all_ties:
            return evaluation.some_best(NAMED)
        found: list[int] = evaluation.best.tolist()
        return found

    def _details(self, evaluation: Evaluation) -> dict[str, object]:
        """Every verdict and score, or those of one node."""
        names, only = self._names, self._options.node
        feasible = evaluation.feasible.tolist()
        places = [i for i, node in enumerate(feasible) if only in (None, node)]
        scores = evaluation.scores
        return {
            "feasible_nodes": tuple(names[feasible[i]] for i in places),
            "filters": {
                names[node]: _verdict(status)
                for node, status in sorted(evaluation.verdicts().items())
                if only in (None, node)
            },
            "failing_plugins": {
                names[node]: tuple(status.plugin for status in refusals)
                for node, refusals in sorted(evaluation.refusals().items())
                if len(refusals) > 1 and only in (None, node)
            },
            "scores": {
                plugin: {names[feasible[i]]: int(weighted[i]) for i in places}
                for plugin, weighted in scores.weighted.items()
            },
            "totals": {names[feasible[i]]: int(scores.totals[i]) for i in places},
        }


def _verdict(status: Status) -> Verdict:
    return Verdict(plugin=status.plugin, code=status.code, reasons=status.reasons)


def _refused(cluster: Cluster, workload: str, evaluation: Evaluation) -> Iterator[RefusedNodes]:
    """Refused nodes by reason and by what was compared, the largest class first."""
    if evaluation.rejection is not None:
        return
    classes = evaluation.classes().items()
    for (status, numbers), nodes in sorted(classes, key=lambda c: (-len(c[1]), c[1])):
        yield RefusedNodes(
            workload=workload,
            nodes=len(nodes),
            where=where(cluster, nodes),
            plugin=status.plugin,
            reasons=status.reasons,
            numbers=numbers or None,
        )


def where(cluster: Cluster, nodes: Sequence[int]) -> str:
    """`every node`, `8 nodes in eu-1a and eu-1b`, up to six names, or just a number."""
    if len(nodes) == len(cluster.nodes) > 1:
        return "every node"
    zones = cluster.topology(ZONE)
    inside = sorted({int(zones.domain_of[node]) for node in nodes})
    whole = [zone >= 0 and set(zones.nodes_of(zone).tolist()) <= set(nodes) for zone in inside]
    if len(nodes) > 1 and all(whole) and len(inside) <= NAMED:
        return f"{count_of(len(nodes), 'node')} in {_listed([zones.domains[z] for z in inside])}"
    if len(nodes) <= NAMED:
        return _listed([cluster.nodes[node].name for node in nodes])
    return count_of(len(nodes), "node")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
