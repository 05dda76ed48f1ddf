"""Why a replacement finds no node, for whoever has to stop because of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from planner.apply.landings import UNSCHEDULABLE
from planner.cluster import Cluster
from planner.disruption.movability import answers
from planner.explain.diagnose import Explainer, ExplainOptions
from planner.scheduler.profile import Profile
from planner.words import conjoined, named_or_counted

EXPLAINED = 3
"""So many workloads are explained; of the others it is said who waits."""


def answering(cluster: Cluster) -> frozenset[str]:
    """The nodes that are ready, by name."""
    return frozenset(node.name for node in cluster.nodes if answers(node))


def why_stuck(
    cluster: Cluster, profile: Profile, stuck: Collection[str], ready: Collection[str]
) -> Iterator[str]:
    """A line for each workload, with kube-scheduler's words, and nodes that are not ready.

    `ready` are nodes that were so after the plan was made.
    """
    explainer = Explainer(cluster, profile, ExplainOptions(brief=True, repairs=False))
    waiting = [pod for pod in cluster.pending.tolist() if cluster.pods[pod].name in stuck]
    by_workload = list(explainer.by_workload(waiting).values())
    for first, *others in by_workload[:EXPLAINED]:
        found = explainer.alone(first)
        said = (found.message or found.headline).rstrip(".")
        name = cluster.pods[first].name
        yield f"{name} waits for {UNSCHEDULABLE} s. {found.verdict}: {said}."
        if others:
            yield _too([cluster.pods[pod].name for pod in others])
    rest = [cluster.pods[pod].name for pods in by_workload[EXPLAINED:] for pod in pods]
    if rest:
        yield _too(rest)
    away = sorted({node.name for node in cluster.nodes} - answering(cluster))
    fallen = [name for name in away if name in ready]
    if fallen:
        yield f"{conjoined(fallen)} became NotReady after the plan was made."
    if len(fallen) < len(away):
        others_away = [name for name in away if name not in ready]
        yield f"{conjoined(others_away)} {'is' if len(others_away) == 1 else 'are'} not ready."


def _too(names: list[str]) -> str:
    return f"{named_or_counted(names, 'other pod')} {'waits' if len(names) == 1 else 'wait'}, too."
