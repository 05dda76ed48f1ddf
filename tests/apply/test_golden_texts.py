"""What apply says when something is not as planned, word for word; `tests/snapshots` has it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.apply.refusals import Reviewed
from planner.cli.app import main
from planner.report.emit import to_json
from planner.report.text.apply_text import ApplyText, end_text
from planner_models.base import Document
from tests.apply.applying import Applying, plan_for
from tests.apply.test_apply_command import PLAN, Terminal, expected
from tests.apply.test_rebalance import rebalance
from tests.apply.test_resume import killed_after
from tests.apply.world_api import InProcess, WorldApi, example_api
from tests.world.random_worlds import random_world

World = Callable[[], tuple[WorldApi, Reviewed]]
Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Command:
    """`planner apply plan.json` in such a world, with what it prints."""

    def run(api: WorldApi, plan: Document = PLAN) -> tuple[int, str]:
        monkeypatch.setattr("planner.apply.door.connect_to_write", lambda _: InProcess(api))
        monkeypatch.setattr("planner.apply.clock.Clock", lambda **_: api.clock())
        monkeypatch.setattr("planner.apply.lease.Lease.keep_renewing", lambda _: None)
        monkeypatch.setattr("sys.stdin", Terminal())
        monkeypatch.chdir(tmp_path)
        Path("plan.json").write_text(to_json(plan))
        code = main(["apply", "plan.json"])
        told = capsys.readouterr()
        return code, told.out + told.err

    return run


def test_evictions_that_would_repair_nothing(command: Command) -> None:
    """A workload is scaled down while wave 1 is under way, and is spread evenly then."""
    api = example_api()
    kept = {"web-5f787f47bf-fhqpp", "web-5f787f47bf-mxmbb"}

    def scale_down(api: WorldApi) -> None:
        for each in api.world.workloads:
            if each["metadata"]["name"].startswith("web"):
                each["spec"]["replicas"] = 5
        for zone in "ab":
            here = [
                pod
                for pod in api.world.pods
                if pod["metadata"]["name"].startswith("web")
                and pod["spec"].get("nodeName", "").startswith(zone)
            ]
            here.sort(key=lambda pod: pod["metadata"]["name"] not in kept)
            for pod in here[2:]:
                api.world.pods.remove(pod)
        api.sync()

    api.at.append((5.0, scale_down))
    code, text = command(api)
    assert code == 3
    assert text[text.index("Stopped") :] == expected("scaled-down")


def test_pods_that_landed_elsewhere(command: Command) -> None:
    """A node joins while wave 1 is under way."""
    api = example_api()

    def join(api: WorldApi) -> None:
        node = copy.deepcopy(api.world.node("c4"))
        node["metadata"]["name"] = "c5"
        node["metadata"]["labels"]["kubernetes.io/hostname"] = "c5"
        node["metadata"]["uid"] = "c5"
        api.world.nodes.append(node)
        api.sync()

    api.at.append((0.5, join))
    code, text = command(api)
    assert code == 0
    first, last = text.index("wave 1 of"), text.index("wave 2 of")
    assert text[first:last] == expected("elsewhere")


def test_a_rebalance_that_kube_scheduler_would_not_carry_out(command: Command) -> None:
    api = WorldApi(random_world(59), 59)
    code, text = command(api, rebalance(api))
    assert code == 3
    assert text == expected("refused-rebalance")


def outage() -> tuple[WorldApi, Reviewed]:
    return example_api(), PLAN


def steered() -> tuple[WorldApi, Reviewed]:
    api = WorldApi(random_world(59), 59)
    return api, plan_for(api, seeds=4)


@pytest.mark.parametrize(
    ("world", "event", "times"), [(outage, "evicted", 3), (steered, "cordoned", 1)]
)
def test_ctrl_c(world: World, event: str, times: int, tmp_path: Path) -> None:
    """In the middle of a wave, and once a node is cordoned."""
    api, plan = world()
    applying = Applying(api, plan, tmp_path)

    def pressed() -> bool:
        return sum(each.event == event for each in applying.entries) >= times

    report = applying.run(interrupted=pressed)
    assert end_text(report, "plan.json") == expected(f"ctrl-c-{event}")


@pytest.mark.parametrize(("world", "killed"), [(outage, 9), (steered, 2)])
def test_resuming(world: World, killed: int, tmp_path: Path) -> None:
    """Killed between the request for an eviction and its line in the journal."""
    whole = tmp_path / "whole"
    whole.mkdir()
    finished = Applying(*world(), whole)
    finished.run()
    evicted = [n for n, each in enumerate(finished.lines(), 1) if each["event"] == "evicted"]
    api, plan = world()
    applying = Applying(api, plan, tmp_path)
    assert killed_after(evicted[killed - 1], api, applying, torn=True)
    applying.run()
    told = ApplyText().start(applying.starts[-1]).replace(str(plan.plan_id), "5c1e09a4f2d7")
    assert told[: told.index("Plan 5c1e09a4f2d7")] == expected(f"resuming-{world.__name__}")
