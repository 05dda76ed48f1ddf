"""`planner status`, and what is served beside the loop."""

from __future__ import annotations

import http.client
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from planner.apply.clock import Clock
from planner.errors import PlannerError
from planner.report.text.status_text import status_text
from planner.run.metrics import Metrics, registered
from planner.run.server import Health, Server
from planner.run.start import read_status
from planner_models.run_state import Missed, RoundRecord, RunState, RunStatus
from tests.live.clusters import Direct
from tests.run.world import OWN, world

NOW = datetime(2026, 5, 1, 12, 5, tzinfo=UTC)
ROUNDS = tuple(
    RoundRecord(
        number=number,
        started=NOW - timedelta(minutes=2),
        mode="DryRun",
        result="done",
        text="would evict 10",
        excess=27,
        pending=0,
        planned=10,
    )
    for number in range(1, 21)
)
SNAPSHOTS = Path(__file__).resolve().parent.parent / "snapshots"


def status(**changes: object) -> RunStatus:
    state = RunState(round=20, rounds=ROUNDS)
    made = RunStatus(namespace=OWN, at=NOW, leader="planner-0", renewed=NOW, state=state)
    return made.model_copy(update=changes)


def test_the_status_is_a_few_sentences() -> None:
    assert status_text(status()) == (SNAPSHOTS / "run-status.txt").read_text()


def test_a_status_says_what_is_wrong() -> None:
    state = RunState(
        round=1,
        mode="Apply",
        rounds=(ROUNDS[0].model_copy(update={"result": "failed", "text": "failed: no plan"}),),
        policy_error="goals[0] is wrong",
    )
    suspended = (Missed(workload="shop/deploy/api", times=2, policy="p"),)
    renewed = NOW - timedelta(hours=3)
    text = status_text(status(leader=None, state=state, suspended=suspended, renewed=renewed))
    assert " ".join(text.split()) == (
        "planner does not run in planner-system (Apply): nobody holds its Lease, which was renewed "
        "3 h ago. Its last round was 2 min ago: failed: no plan. 1 of the last 1 round failed; "
        "left alone: shop/deploy/api. The policy is not valid, the last good one counts: "
        "goals[0] is wrong."
    )


def test_a_status_is_read_from_the_cluster(tmp_path: Path) -> None:
    with world(tmp_path) as found:
        with pytest.raises(PlannerError, match="does not run in namespace"):
            read_status(Direct(found.address), OWN, Clock(found.clock.now))
        found.loop._take()
        found.loop._round()
        read = read_status(Direct(found.address), OWN, Clock(found.clock.now))
        assert (read.leader, read.state.rounds[-1].planned) == ("planner-0", 10)
        found.clock.time += 61
        assert read_status(Direct(found.address), OWN, Clock(found.clock.now)).leader is None


def asked(port: int, path: str) -> tuple[int, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()


def test_health_readiness_and_metrics_are_served() -> None:
    time = 0.0
    health, metrics = Health(lambda: time, 100.0), Metrics()
    with closing(Server(0, health, metrics.text)) as server:
        assert asked(server.port, "/healthz") == (200, "ok\n")
        assert asked(server.port, "/readyz") == (503, "the cluster was not read yet\n")
        health.ready = True
        assert asked(server.port, "/readyz") == (200, "ok\n")
        time = 101.0
        assert asked(server.port, "/healthz")[0] == 503
        health.alive()
        assert asked(server.port, "/healthz")[0] == 200
        assert 'planner_rounds_total{result="failed"} 0.0' in asked(server.port, "/metrics")[1]
        assert asked(server.port, "/secrets")[0] == 404


def test_a_port_that_is_taken_is_one_clear_error() -> None:
    health, metrics = Health(lambda: 0.0, 1.0), Metrics()
    with closing(Server(0, health, metrics.text)) as server, pytest.raises(PlannerError) as caught:
        Server(server.port, health, metrics.text)
    assert caught.value.message == f"can't serve on port {server.port}: address already in use"


def test_no_metric_has_a_pod_or_a_node_in_its_labels(tmp_path: Path) -> None:
    with world(tmp_path) as found:
        found.loop._take()
        found.loop._round()
        names = {
            label for f in found.metrics.registry.collect() for s in f.samples for label in s.labels
        }
        text = found.metrics.text().decode()
    assert names <= {
        *("version", "scheduler", "result", "phase", "le", "kind", "rule", "verdict", "goal"),
        *("namespace", "outcome", "verb", "code"),
    }
    assert 'planner_excess{rule="topologySpread"} 27.0' in text
    assert 'planner_planned_evictions{rule="topologySpread"} 10.0' in text
    assert 'planner_api_requests_total{code="200",kind="nodes",verb="GET"} 1.0' in text
    assert "api-c5f4c8c95" not in text


def test_queries_may_use_all_names_of_a_metric() -> None:
    names = registered(Metrics().registry)
    assert {
        "planner_rounds_total",
        "planner_round_duration_seconds_bucket",
        "planner_excess",
    } <= names


def test_without_prometheus_client_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "prometheus_client", None)
    with pytest.raises(PlannerError) as caught:
        Metrics()
    assert caught.value.render() == (
        "error: planner run needs prometheus_client\nhelp: pip install 'pod-planner[run]'"
    )
