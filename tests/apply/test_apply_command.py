"""`planner apply` from outside, against a small Kubernetes on virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.app import main
from planner.report.emit import to_json
from tests.apply.applying import identified, plan_for
from tests.apply.world_api import START, InProcess, WorldApi, example_api
from tests.live.fake_api import Fault, always

PLAN = plan_for(example_api())


class Terminal:
    """Somebody who types an answer."""

    def __init__(self, answer: str = "yes\n") -> None:
        self._answer = answer

    def isatty(self) -> bool:
        return bool(self._answer)

    def readline(self) -> str:
        return self._answer


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> WorldApi:
    api = example_api()
    monkeypatch.setattr("planner.apply.door.connect_to_write", lambda _: InProcess(api))
    monkeypatch.setattr("planner.apply.clock.Clock", lambda **_: api.clock())
    monkeypatch.setattr("planner.apply.lease.Lease.keep_renewing", lambda _: None)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(to_json(PLAN))
    return api


def apply(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    code = main(["apply", "plan.json", *options])
    told = capsys.readouterr()
    return code, told.out + told.err


def expected(name: str) -> str:
    """What `tests/snapshots` has of it."""
    return (Path(__file__).parents[1] / "snapshots" / f"apply-{name}.txt").read_text()


def test_a_plan_is_shown_confirmed_and_carried_out(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.sleep(180)
    code, text = apply(capsys)
    assert code == 0
    assert text.replace(str(PLAN.plan_id), "5c1e09a4f2d7") == expected("done")


@pytest.mark.parametrize("name", ["done", "drift"])
def test_the_how_to_page_shows_what_is_printed(name: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "carry-a-plan-out.md"
    assert f"```\n{expected(name)}```\n" in page.read_text()


def test_without_a_yes_nothing_happens(
    api: WorldApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("no\n"))
    code, text = apply(capsys)
    assert code == 3
    assert text.endswith(
        "nothing was evicted.\n0 of 12 evicted. Nothing is cordoned, nothing waits.\n"
    )
    assert api.evicted == []
    assert not Path("plan.json.journal").read_text()


def test_without_a_terminal_it_has_to_be_said_before(
    api: WorldApi, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(""))
    assert apply(capsys) == (2, "error: without a terminal apply needs --yes\n")


def test_a_dry_run_asks_and_writes_nothing(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = apply(capsys, "--dry-run")
    assert code == 0
    assert "Dry run: the API server would accept 12 of 12 now." in text
    assert (api.evicted, api.all_of("leases"), api.cordoned()) == ([], [], [])
    assert not Path("plan.json.journal").exists()
    assert {budget["status"]["disruptionsAllowed"] for budget in _budgets(api)} == {1}


def _budgets(api: WorldApi) -> list[Any]:
    return api.all_of("poddisruptionbudgets")


def test_a_report_is_a_document(api: WorldApi, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["apply", "plan.json", "--yes", "-o", "json", "--wave", "1"])
    report = json.loads(capsys.readouterr().out)
    assert code == 0
    assert (report["kind"], report["result"], report["evicted"]) == ("ApplyReport", "done", 7)
    assert {each["outcome"] for each in report["evictions"]} == {"evicted", "left"}


def test_a_plan_for_another_cluster_is_refused(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    source = PLAN.source
    assert source is not None
    other = source.model_copy(update={"cluster": "77ab0000", "context": "staging"})
    Path("plan.json").write_text(to_json(identified(PLAN.model_copy(update={"source": other}))))
    assert apply(capsys) == (
        3,
        "error: plan.json is for another cluster (kube-system 77ab..., this is 1f0c...)\n"
        "help: it was made in context staging; this is prod-eu\n",
    )


def test_a_plan_that_was_edited_is_refused(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("plan.json").write_text(to_json(PLAN).replace('"node": "b1"', '"node": "b2"', 1))
    code, text = apply(capsys)
    assert code == 3
    assert "was changed after it was made" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"way": "descheduler"}, "the descheduler's way"),
        ({"converges": False}, "does not always end as planned"),
        ({"source": None}, "doesn't say which cluster it is for"),
        (
            {"evictions": tuple(e.model_copy(update={"uid": ""}) for e in PLAN.evictions)},
            "12 pods without a uid",
        ),
    ],
)
def test_plans_that_can_not_be_carried_out_are_refused(
    api: WorldApi, capsys: pytest.CaptureFixture[str], change: dict[str, Any], words: str
) -> None:
    Path("plan.json").write_text(to_json(identified(PLAN.model_copy(update=change))))
    code, text = apply(capsys)
    assert code == 3
    assert words in text
    assert api.evicted == []


@pytest.mark.parametrize("text", ["{}", "[]", "nothing", '{"kind": "EvictionPlan"}'])
def test_what_is_no_plan_is_told_in_a_line(
    api: WorldApi, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    Path("plan.json").write_text(text)
    code, told = apply(capsys)
    assert code in (1, 2)
    assert told.startswith("error: plan.json is no ")


def test_drift_that_matters_stops_before_the_wave(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """A workload is scaled down while wave 1 is under way."""

    def scale_down(api: WorldApi) -> None:
        for each in api.world.workloads:
            if each["metadata"]["name"].startswith("web"):
                each["spec"]["replicas"] = 6

    api.at.append((3.0, scale_down))
    code, text = apply(capsys)
    assert code == 3
    assert text[text.index("Stopped") :] == expected("drift")
    assert api.marked() == []


def test_a_replacement_that_no_node_takes_stops_it(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """Zone c fails when the first pods are evicted."""

    def fail(api: WorldApi) -> None:
        for node in api.world.nodes:
            if node["metadata"]["name"].startswith("c"):
                node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
                taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
                node["spec"]["taints"] = [taint]

    api.at.append((0.5, fail))
    code, text = apply(capsys)
    assert code == 3
    assert text[text.index("Stopped") :] == expected("stuck")
    assert api.marked() == []


def test_a_budget_that_says_no_is_waited_for_and_told(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pod of api stops being ready just when another one is to be evicted."""
    pod = next(p for p in api.world.pods if p["metadata"]["name"] == "api-c5f4c8c95-5hzq9")

    def fail(request: Any) -> Fault | None:
        if "api-c5f4c8c95-l6brb/eviction" in request.path and "dryRun" not in request.query:
            api.faults.clear()
            pod.update(ready=False, broken=True)
            api.settle()
            api.at.append((api.now - START + 40, lambda _: pod.update(broken=False)))
        return None

    api.faults.append(fail)
    code, text = apply(capsys, "--wave", "2")
    assert code == 0
    told = [line for line in text.splitlines() if "~" in line or line.startswith(" " * 30)]
    assert "\n".join(told) + "\n" == expected("budget")
    assert api.broken_budgets == []


def test_missing_rights_end_it_before_anything_happens(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.forbidden.add("pods/eviction")
    code, text = apply(capsys)
    assert code == 1
    assert "can't be evicted (403)" in text
    assert api.evicted == []


def test_another_holder_of_the_lock_keeps_it_off(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = {
        "holderIdentity": "bob@desk_1",
        "leaseDurationSeconds": 60,
        "acquireTime": "2026-11-17T11:58:00.000000Z",
        "renewTime": "2026-11-17T11:59:55.000000Z",
    }
    meta = {"name": "planner", "namespace": "kube-system"}
    meta["annotations"] = {"planner/command": "planner apply"}  # type: ignore[assignment]
    api.put({"kind": "Lease", "metadata": meta, "spec": spec})
    assert apply(capsys) == (
        1,
        "error: bob@desk holds the lock kube-system/planner since 2 min (planner apply)\n",
    )
    assert apply(capsys, "--no-lock", "--wave", "1")[0] == 0


def test_kinds_that_may_not_be_read_keep_it_from_acting(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.forbidden.add("replicasets")
    code, text = apply(capsys)
    assert code == 1
    assert "you may not list replicasets, and apply must not act without them" in text


def test_a_throttled_server_is_asked_again(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    left = [3]

    def busy(request: Any) -> Fault | None:
        if request.method != "POST" or left[0] == 0:
            return None
        left[0] -= 1
        return Fault(429, "TooManyRequests")

    api.faults.append(busy)
    assert apply(capsys, "--wave", "1")[0] == 0


def test_a_server_that_fails_ends_it_and_the_same_command_goes_on(
    api: WorldApi, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = always("eviction", Fault(500, "InternalError"))
    api.at.append((1.0, lambda api: api.faults.append(broken)))
    code, text = apply(capsys)
    assert code == 1
    assert "(500)" in text
    api.faults.clear()
    code, text = apply(capsys)
    assert code == 0
    assert "Resuming plan" in text
    assert len(api.evicted) == len(set(api.evicted)) == 12
