from __future__ import annotations

from typing import Any

from tests.descheduler.strategy_examples import evicted, owned_pod, strategy
from tests.objects import Json, node

NAME = "RemovePodsHavingTooManyRestarts"


def restarted(name: str, count: int, init: int = 0, **state: Any) -> Json:
    status = {
        "containerStatuses": [{"restartCount": count, "state": state}],
        "initContainerStatuses": [{"restartCount": init}],
    }
    return owned_pod(name, "a", status=status)


def test_pods_with_as_many_restarts_go_the_worst_first() -> None:
    pods = [restarted("few", 4), restarted("many", 5), restarted("most", 9)]
    assert evicted(strategy(NAME, {"podRestartThreshold": 5}), node("a"), *pods) == ["most", "many"]


def test_restarts_of_init_containers_count_on_request() -> None:
    web = restarted("web", 3, init=2)
    args = {"podRestartThreshold": 5}
    assert evicted(strategy(NAME, args), node("a"), web) == []
    included = strategy(NAME, {**args, "includingInitContainers": True})
    assert evicted(included, node("a"), web) == ["web"]


def test_only_pods_in_the_given_states_go() -> None:
    run = strategy(NAME, {"podRestartThreshold": 5, "states": ["CrashLoopBackOff"]})
    assert evicted(run, node("a"), restarted("web", 9)) == []
    crashing = restarted("web", 9, waiting={"reason": "CrashLoopBackOff"})
    assert evicted(run, node("a"), crashing) == ["web"]
