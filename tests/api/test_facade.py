"""planner as a Python program uses it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import planner
from planner.examples import example_path
from planner_models.descheduler_policy import DeschedulerPolicy
from planner_models.plan import Plan
from planner_models.scheduler_config import KubeSchedulerConfiguration
from tests.objects import node, pod

OUTAGE = example_path("zone-outage")
CONFLICT = "docs-conflicting-constraints"
WITHOUT_SPREAD = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {filter: {disabled: [{name: PodTopologySpread}]}}
"""


@pytest.fixture(scope="module")
def outage() -> planner.Cluster:
    return planner.load(OUTAGE)


@pytest.fixture(scope="module")
def plan(outage: planner.Cluster) -> planner.Plan:
    return outage.solve(rebalance=True)


# Loading


@pytest.mark.parametrize("source", [OUTAGE, str(OUTAGE), [OUTAGE], (str(OUTAGE),)])
def test_a_cluster_is_loaded_from_one_path_or_several(source: planner.Source) -> None:
    assert repr(planner.load(source)) == "<Cluster: 12 nodes, 51 pods, 0 pending>"


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_a_cluster_is_loaded_from_an_open_file(mode: str) -> None:
    with OUTAGE.open(mode) as file:
        assert len(planner.load(file).nodes) == 12


def test_sources_add_up() -> None:
    more = io.StringIO(json.dumps(node("extra")))
    assert len(planner.load([OUTAGE, more]).nodes) == 13


def test_pods_without_a_node_are_pending() -> None:
    assert [each.name for each in planner.load(example=CONFLICT).pending] == ["mypod"]


def test_an_error_in_an_open_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    file.write_text(json.dumps(pod("web", spec={"priority": "high"})))
    with file.open() as opened, pytest.raises(planner.PlannerError) as caught:
        planner.load(opened)
    error = caught.value
    assert (error.file, error.object, error.field) == (
        str(file),
        "Pod default/web",
        "spec.priority",
    )


def test_a_text_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "web.yaml"
    file.write_bytes(b"kind: P\xf6d\n")
    with file.open(encoding="utf-8") as opened, pytest.raises(planner.UsageError, match="utf-8"):
        planner.load(opened)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (planner.load, "there is nothing to load"),
        (lambda: planner.load(7), "can't load int objects"),  # type: ignore[arg-type]
        (lambda: planner.load(example="zone-outag"), "there is no example zone-outag"),
    ],
)
def test_what_is_no_source_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(planner.PlannerError, match=message):
        call()


# Names and options


@pytest.mark.parametrize(
    ("ask", "message", "meant"),
    [
        (lambda c: c.explain("deploy/ap"), "no Deployment ap in namespace", "did you mean api?"),
        (lambda c: c.simulate(node="cc2"), "there is no node cc2", "did you mean c2?"),
        (lambda c: c.evict(goals=["spred"]), "`goals=spred`: there is no", "did you mean spread?"),
        (lambda c: c.solve(prefer="packed"), "`prefer` is 'packed'", "did you mean pack?"),
        (lambda c: c.explain("deploy/api", costs={"addnode": 5}), "addnode", "mean addNode?"),
        (lambda c: c.solve(spared=["deploy/wep"]), "there is no Deployment wep", "mean web?"),
        (lambda c: c.solve(max_moves=3), "`max_moves` limits what `rebalance` may", "leave"),
    ],
)
def test_what_is_unknown_is_named_with_what_was_meant(
    outage: planner.Cluster, ask: Callable[[planner.Cluster], object], message: str, meant: str
) -> None:
    with pytest.raises(planner.PlannerError) as caught:
        ask(outage)
    assert message in str(caught.value)
    assert meant in (caught.value.help or "")
    assert caught.value.__notes__ == [f"help: {caught.value.help}"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.solve(time_limit=0),
        lambda c: c.solve(workers=0),
        lambda c: c.evict(seeds=0),
        lambda c: c.explain("deploy/api", states=0),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    outage: planner.Cluster, ask: Callable[[planner.Cluster], object]
) -> None:
    with pytest.raises(planner.UsageError, match="it must be"):
        ask(outage)


def test_spared_workloads_stay(outage: planner.Cluster, plan: planner.Plan) -> None:
    moved = {placement.workload for placement in plan.placements}
    spared = outage.solve(rebalance=True, spared=["deploy/web"])
    assert {placement.workload for placement in spared.placements} == moved - {"deploy/web"}


def test_spared_pods_give_way_to_nobody() -> None:
    def of(name: str, on: str, priority: int) -> dict[str, object]:
        requests = [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]
        return pod(name, on, spec={"containers": requests, "priority": priority})

    objects = [node("n1"), of("low", "n1", 0), of("vip", "", 9)]
    cluster = planner.load(io.StringIO(json.dumps({"kind": "List", "items": objects})))
    assert len(cluster.solve(preempt=True).displaced) == 1
    assert len(cluster.solve("pod/vip", preempt=True).displaced) == 1
    assert cluster.solve(preempt=True, spared=["pod/low"]).displaced == ()


def test_a_node_is_emptied_by_its_name(outage: planner.Cluster) -> None:
    found = outage.evict(goals=["a1"], seeds=1)
    assert {each.node for each in found.evictions} == {"a1"}


def test_a_scheduler_configuration_is_a_path_or_an_object(tmp_path: Path) -> None:
    cluster = planner.load(example=CONFLICT)
    file = tmp_path / "scheduler.yaml"
    file.write_text(WITHOUT_SPREAD)
    disabled = {"filter": {"disabled": [{"name": "PodTopologySpread"}]}}
    made = KubeSchedulerConfiguration.model_validate(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"plugins": disabled}],
        }
    )
    assert cluster.simulate().summary.unschedulable == 1
    assert cluster.simulate(scheduler=file).summary.unschedulable == 0
    assert cluster.simulate(scheduler=made).summary.unschedulable == 0


def test_a_descheduler_policy_may_be_an_object(outage: planner.Cluster) -> None:
    policy = DeschedulerPolicy.model_validate(
        {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": []}
    )
    found = outage.evict(policy=policy, like_descheduler=True, seeds=1)
    assert found.like_descheduler is not None
    assert found.like_descheduler.policy == "policy"


# Answers


def answers(cluster: planner.Cluster) -> dict[str, Callable[[], planner.Answer]]:
    return {
        "Inspection": cluster.inspect,
        "Simulation": cluster.simulate,
        "Diagnosis": cluster.explain_pending,
        "Plan": cluster.solve,
        "EvictionPlan": lambda: cluster.evict(seeds=1),
        "FleetDecisionList": planner.load_fleet(example="fleet-walkthrough").decide,
    }


@pytest.mark.parametrize("kind", answers(planner.load(example=CONFLICT)))
def test_every_answer_shows_itself(kind: str) -> None:
    answer = answers(planner.load(example=CONFLICT))[kind]()
    assert json.loads(answer.to_json())["kind"] == kind
    assert answer.to_html().startswith("<!doctype html>")
    assert answer.to_markdown().startswith("### ")
    assert answer.to_text("wide")
    assert answer._repr_html_().startswith("<pre>")
    assert repr(answer).startswith(f"<{kind}: ")
    assert len(repr(answer)) < 120
    assert len(answer.to_dataframe().columns) > 3


def test_an_answer_is_the_document_that_it_shows(plan: planner.Plan) -> None:
    assert isinstance(plan, Plan)
    assert Plan.model_validate_json(plan.to_json()).placements == plan.placements


def test_a_changed_copy_shows_the_change(plan: planner.Plan) -> None:
    copy = plan.model_copy(update={"status": "feasible"})
    assert json.loads(copy.to_json())["status"] == "feasible"
    assert json.loads(plan.to_json())["status"] == "optimal"


def test_a_table_has_a_row_for_each_placement(plan: planner.Plan) -> None:
    table = plan.to_dataframe()
    assert list(table["pod"]) == [placement.pod for placement in plan.placements]
    assert list(table["from"]) == [placement.from_ for placement in plan.placements]


def test_without_pandas_a_table_says_what_it_needs(
    plan: planner.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(planner.PlannerError, match="to_dataframe needs pandas"):
        plan.to_dataframe()


def test_an_unknown_format_is_refused(plan: planner.Plan) -> None:
    with pytest.raises(planner.UsageError, match="`output` is 'jsn'"):
        plan.to_text("jsn")


def test_a_plan_is_a_script_too(plan: planner.Plan) -> None:
    assert plan.to_script().startswith("#!")


def test_one_wave_of_an_eviction_plan_is_a_part_of_it(outage: planner.Cluster) -> None:
    found = outage.evict(seeds=1)
    first = found.only_wave(1)
    assert {each.wave for each in first.evictions} == {1}
    assert len(json.loads(first.to_json())["waves"]) == 1
    with pytest.raises(planner.UsageError, match="`wave=9`: the plan has 4"):
        found.only_wave(9)


def test_notebooks_show_what_a_cluster_holds(outage: planner.Cluster) -> None:
    shown = outage._repr_html_()
    assert "<th>nodes</th>" in shown
    assert "<td>51</td>" in shown


def test_a_simulated_cluster_is_written_only_if_its_objects_were_kept(tmp_path: Path) -> None:
    file = tmp_path / "after.json"
    planner.load(example=CONFLICT, keep_objects=True).simulate().after.write(file)
    assert len(planner.load(file).pods) == 6
    with pytest.raises(planner.UsageError, match="were not kept"):
        planner.load(file).write(file)


def test_progress_is_told(outage: planner.Cluster) -> None:
    told: list[planner.Progress] = []
    outage.evict(seeds=1, progress=told.append)
    assert told


def test_the_package_has_the_names_that_it_lists() -> None:
    assert all(hasattr(planner, name) for name in planner.__all__)
    assert set(planner.__all__) <= set(dir(planner))
    with pytest.raises(AttributeError, match="has no attribute 'lod'"):
        getattr(planner, "lod")  # noqa: B009 - a name that isn't there


@pytest.mark.parametrize("lose", ["c1", ["c1"], "node/c1", ["nodes/c1"]])
def test_one_node_goes_by_its_name_alone_and_in_a_list(
    outage: planner.Cluster, lose: str | list[str]
) -> None:
    assert outage.whatif(lose=lose, seeds=1).changes == outage.whatif(lose=["c1"], seeds=1).changes


def test_a_list_of_targets_is_as_good_as_several(outage: planner.Cluster) -> None:
    several = ["deploy/api", "deploy/web"]

    assert outage.inspect(several) == outage.inspect(*several)  # type: ignore[arg-type]


def test_what_is_no_text_is_refused_by_name(outage: planner.Cluster) -> None:
    with pytest.raises(planner.UsageError, match="`nodes` has 7 in it, which is no text"):
        outage.drain(7)  # type: ignore[arg-type]
