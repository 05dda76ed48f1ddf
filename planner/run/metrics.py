"""The metrics of `planner run`. None of them has a pod or a node in its labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from planner.errors import PlannerError
from planner.version import __version__
from planner_models.run_state import RoundResult

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

SCHEDULER = "v1.36"
ROUND_RESULTS: tuple[RoundResult, ...] = ("done", "nothing", "paused", "stopped", "failed")
VERDICTS = ("schedulable", "stuck", "impossible", "undecided", "gated")
PHASES = ("read", "plan", "apply")
SECONDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800)


def require_prometheus() -> None:
    """`planner run` is an extra: the rest of planner does without it."""
    try:
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise PlannerError(
            "planner run needs prometheus_client", help="pip install 'pod-planner[run]'"
        ) from error


class Metrics:
    """All metrics, in a registry of their own."""

    def __init__(self) -> None:
        require_prometheus()
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        r = self.registry = CollectorRegistry()
        build = Gauge("planner_build_info", "Always 1.", ["version", "scheduler"], registry=r)
        build.labels(__version__, SCHEDULER).set(1)
        self.leader = Gauge("planner_leader", "Whether this replica is the one.", registry=r)
        self.policy_valid = Gauge(
            "planner_policy_valid", "Whether the policy file can be used.", registry=r
        )
        self.mode_apply = Gauge("planner_mode_apply", "Whether pods are evicted.", registry=r)
        self.rounds = Counter(
            "planner_rounds_total", "Rounds, by how they ended.", ["result"], registry=r
        )
        self.round_seconds = Histogram(
            "planner_round_duration_seconds",
            "How long the phases of rounds took.",
            ["phase"],
            buckets=SECONDS,
            registry=r,
        )
        self.last_round = Gauge(
            "planner_last_round_timestamp_seconds", "When the last round ended.", registry=r
        )
        self.objects = Gauge("planner_objects", "Objects that were read.", ["kind"], registry=r)
        self.not_read = Gauge(
            "planner_not_read", "Kinds that planner may not list.", ["kind"], registry=r
        )
        self.excess = Gauge("planner_excess", "By how much rules are broken.", ["rule"], registry=r)
        self.violations = Gauge(
            "planner_violations", "How often rules are broken.", ["rule"], registry=r
        )
        self.planned = Gauge(
            "planner_planned_evictions", "Evictions of the last plan.", ["rule"], registry=r
        )
        self.pending = Gauge(
            "planner_pending_pods", "Pods that wait for a node.", ["verdict"], registry=r
        )
        self.evictions = Counter(
            "planner_evictions_total",
            "Evictions, by how they went.",
            ["result", "goal", "namespace"],
            registry=r,
        )
        self.landings = Counter(
            "planner_landings_total", "Where evicted pods came back.", ["outcome"], registry=r
        )
        self.suspended = Gauge(
            "planner_suspended_workloads", "Workloads that are left alone.", registry=r
        )
        self.requests = Counter(
            "planner_api_requests_total",
            "Requests of the waiting process.",
            ["verb", "kind", "code"],
            registry=r,
        )
        self.request_seconds = Histogram(
            "planner_api_request_duration_seconds",
            "How long requests took.",
            ["verb", "kind"],
            registry=r,
        )
        for result in ROUND_RESULTS:  # counters that are there from the start can be compared
            self.rounds.labels(result)
        for verdict in VERDICTS:
            self.pending.labels(verdict)

    def set_each(self, gauge: str, values: Mapping[str, int]) -> None:
        """Every value of a gauge with one label; those that are no longer there are gone."""
        found = getattr(self, gauge)
        found.clear()
        for label, value in values.items():
            found.labels(label).set(value)

    def set_pending(self, verdicts: Mapping[str, int]) -> None:
        """How many pods wait, by verdict."""
        for verdict in VERDICTS:
            self.pending.labels(verdict).set(verdicts.get(verdict, 0))

    def text(self) -> bytes:
        """As Prometheus reads it."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


def registered(registry: CollectorRegistry) -> frozenset[str]:
    """The names of all metrics as queries use them."""
    found: set[str] = set()
    for family in registry.collect():
        found.update(sample.name for sample in family.samples)
        found.add(family.name)
        if family.type == "counter":
            found.add(f"{family.name}_total")
        if family.type == "histogram":
            found.update(f"{family.name}{end}" for end in ("_bucket", "_count", "_sum"))
    return frozenset(found)
