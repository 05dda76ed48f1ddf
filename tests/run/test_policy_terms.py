"""Plans under a policy of `planner run`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import planner
from benchmarks.evict import random_cluster
from planner.cli import app
from planner.errors import PlannerError
from planner.evictions.suggest import find_evictions
from planner.evictions.suggestion import EvictOptions
from planner.replay import total
from planner.run.policy import Overrides, PolicyFile, read_policy
from planner.scheduler.profile import default_profile
from planner_models.run_policy import RunPolicy

WIDE = {"perRound": 100, "perNode": 100, "perNamespace": 100}


def policy(**fields: Any) -> RunPolicy:
    head = {"apiVersion": "planner/v1", "kind": "RunPolicy", "limits": WIDE}
    return RunPolicy.model_validate({**head, **fields})


def under(wanted: RunPolicy, **options: Any) -> planner.EvictionPlan:
    return planner.load(example="zone-outage").evict_under(wanted, seeds=2, **options)


def test_without_narrow_limits_all_is_repaired_at_once() -> None:
    plan = under(policy())
    assert (len(plan.evictions), plan.after.excess, plan.without_limits) == (12, 0, None)


def test_a_limit_leaves_a_part_and_says_how_much_there_is_to_do() -> None:
    plan = under(policy(limits={**WIDE, "perRound": 10}))
    assert plan.converges
    assert (len(plan.evictions), plan.without_limits) == (10, 12)
    assert plan.after.excess < plan.before.excess


@pytest.mark.parametrize(
    ("per_round", "per_node", "per_namespace"),
    [(2, 1, 1), (4, 1, 9), (9, 9, 1), (0, 2, 5), (5, 0, 5), (5, 5, 0)],
)
def test_no_plan_goes_beyond_any_limit(per_round: int, per_node: int, per_namespace: int) -> None:
    limits = {"perRound": per_round, "perNode": per_node, "perNamespace": per_namespace}
    plan = under(policy(limits=limits))
    assert plan.converges
    assert len(plan.evictions) <= per_round
    nodes = Counter(each.node for each in plan.evictions)
    namespaces = Counter(each.pod.partition("/")[0] for each in plan.evictions)
    assert max(nodes.values(), default=0) <= per_node
    assert max(namespaces.values(), default=0) <= per_namespace
    if min(per_round, per_node, per_namespace) > 0:
        assert plan.after.excess < plan.before.excess


@pytest.mark.parametrize(
    "protect",
    [
        {"namespaces": {"exclude": ["default"]}},
        {"podSelector": "app in (api,web,cart,auth,search)"},
    ],
)
def test_what_the_policy_protects_stays(protect: Any) -> None:
    assert not under(policy(protect=protect)).evictions


def test_a_workload_that_is_left_alone_loses_no_pod() -> None:
    plan = under(policy(), leave_alone=("default/deploy/api", "default/deploy/gone"))
    workloads = {each.workload for each in plan.evictions}
    assert "deploy/api" not in workloads
    assert "deploy/web" in workloads


def test_without_cordons_no_wave_has_any() -> None:
    grid = planner.load(example="rack-row-grid")
    with_them = grid.evict_under(policy(cordons=True), seeds=20)
    without = grid.evict_under(policy(), seeds=20)
    assert any(wave.cordon for wave in with_them.waves)
    assert not any(wave.cordon for wave in without.waves)
    assert (with_them.converges, without.converges) == (True, False)


def written(folder: Path, text: str) -> str:
    file = folder / "policy.yaml"
    file.write_text(text)
    return str(file)


DESCHEDULER = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
maxNoOfPodsToEvictTotal: 3
profiles:
- name: default
  pluginConfig:
  - {name: RemovePodsViolatingTopologySpreadConstraint}
  - {name: RemoveDuplicates}
  plugins:
    balance: {enabled: [RemovePodsViolatingTopologySpreadConstraint, RemoveDuplicates]}
"""


def test_a_descheduler_policy_is_taken_without_the_strategies_that_are_ignored(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, DESCHEDULER)
    with pytest.raises(PlannerError) as caught:
        planner.load(example="zone-outage").evict_under(file)
    assert str(caught.value).startswith("RemoveDuplicates: ")
    plan = planner.load(example="zone-outage").evict_under(
        file, ignored_strategies=("RemoveDuplicates",), seeds=2
    )
    assert len(plan.evictions) == 3


def test_the_command_line_says_mode_and_cordons_for_a_descheduler_policy(tmp_path: Path) -> None:
    file = written(tmp_path, DESCHEDULER)
    found = read_policy(file, Overrides("Apply", True, ("RemoveDuplicates",)))
    assert (found.policy.mode, found.policy.cordons) == ("Apply", True)
    assert found.policy.limits.per_round == 3
    assert found.policy.limits.per_node is None


def test_emptying_nodes_takes_cordons(tmp_path: Path) -> None:
    file = written(tmp_path, "apiVersion: planner/v1\nkind: RunPolicy\ngoals: [consolidate]\n")
    with pytest.raises(PlannerError, match="takes cordons"):
        read_policy(file, Overrides())
    assert read_policy(file, Overrides(cordons=True)).policy.goals == ("consolidate",)


def test_a_broken_file_leaves_the_last_good_policy(tmp_path: Path) -> None:
    file = written(tmp_path, "apiVersion: planner/v1\nkind: RunPolicy\nperiod: 7m\n")
    kept = PolicyFile(file, Overrides())
    first = kept.current
    written(tmp_path, "apiVersion: planner/v1\nkind: RunPolicy\ngoals: [spreed]\n")
    assert kept.read_again() == first
    assert kept.broken is not None
    assert kept.broken.field == "goals[0]"
    written(tmp_path, "apiVersion: planner/v1\nkind: RunPolicy\nperiod: 8m\n")
    assert kept.read_again().digest != first.digest
    assert kept.broken is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--run-policy", "p.yaml", "--for", "spread"), "--for goes without --run-policy"),
        (("--run-policy", "p.yaml", "--max-evictions", "3"), "--max-evictions goes without"),
        (("--leave-alone", "x"), "--leave-alone needs --run-policy"),
    ],
)
def test_a_policy_and_options_in_its_place_exclude_each_other(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.main(["evict", "--example", "zone-outage", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("goals: [spreed]", "goals[0]"),
        ("protect: {podSelector: 'a=b=c'}", "protect.podSelector"),
        ("kind: ConfigMap", "holds no policy"),
    ],
)
def test_a_file_that_is_no_policy_is_one_clear_error(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "apiVersion: planner/v1\nkind: RunPolicy\n"
    file = written(tmp_path, text if "kind" in text else head + text)
    assert app.main(["evict", "--example", "zone-outage", "--run-policy", file]) == 1
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told


def test_where_only_the_first_waves_always_end_alike_these_are_enough() -> None:
    """51 evictions would repair all but one, depending on ties; 50 of them always leave two."""
    cluster, _ = random_cluster(15)
    options = EvictOptions(seeds=3, time_limit=6.0, cordons=False, by_parts=True)
    found = find_evictions(cluster, options, default_profile())
    assert found.outcome is not None
    planned = sum(step.evicts for step in found.outcome.waves.steps)
    assert 0 < found.evictions < planned
    assert found.tried.converges
    assert total(found.remaining) < total(found.broken)


def test_children_read_the_cluster_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names may have blanks; the process that waits gives up on a request sooner than they do."""
    found: list[Any] = []
    monkeypatch.setattr("planner.run.start.start", lambda given, _: found.append(given))
    live = planner.Live(context="my prod", namespace="planner-system")
    planner.run_policy(tmp_path / "p.yaml", live=live, mode="Apply")
    (given,) = found
    assert (given.live, given.namespace) == (("--context", "my prod"), "planner-system")
    assert given.wanted.timeout == 10.0
    assert (given.overrides.mode, given.port) == ("Apply", 8080)
