from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from planner.cli import app
from planner_models.evictions import EvictionPlan

OUTAGE = ["--example", "zone-outage", "--seeds", "3"]
POLICY = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig:
  - name: RemoveDuplicates
    args: {}
  plugins:
    balance:
      enabled: [RemoveDuplicates]
"""


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, EvictionPlan]:
    code = app.main(["evict", *arguments, "-o", "json"])
    return code, EvictionPlan.model_validate_json(capsys.readouterr().out)


def test_a_plan_that_converges_and_repairs_everything_exits_with_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, plan = planned(capsys, *OUTAGE)
    assert (code, len(plan.evictions), plan.checked_seeds) == (0, 12, 3)


def test_a_rule_that_stays_broken_exits_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, plan = planned(capsys, *OUTAGE, "--max-evictions", "3")
    assert (code, len(plan.evictions)) == (3, 3)
    assert plan.after.violations


def test_goals_and_nodes_may_be_combined(capsys: pytest.CaptureFixture[str]) -> None:
    _, plan = planned(capsys, *OUTAGE, "--for", "spread", "--for", "node/a1")
    assert (plan.options.goals, plan.options.nodes) == (("spread",), ("a1",))
    assert not plan.after.violations


def test_an_unknown_goal_is_refused_with_what_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert app.main(["evict", *OUTAGE, "--for", "spraed"]) == 1
    assert "did you mean spread?" in capsys.readouterr().err


def test_an_unknown_priority_class_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["evict", *OUTAGE, "--priority-threshold", "gold"]) == 2
    assert "no PriorityClass" in capsys.readouterr().err


def test_one_wave_may_be_shown_alone(capsys: pytest.CaptureFixture[str]) -> None:
    _, plan = planned(capsys, *OUTAGE, "--wave", "2")
    assert {each.wave for each in plan.evictions} == {2}
    assert plan.part is not None
    assert (plan.part.wave, plan.part.waves, plan.part.evictions) == (2, 4, 12)
    assert 0 < plan.part.excess_after < plan.part.excess_before < plan.before.excess
    assert app.main(["evict", *OUTAGE, "--wave", "9"]) == 2


def test_a_wave_alone_says_that_it_is_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["evict", *OUTAGE, "--wave", "1"])
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("Wave 1 of 4: evict 7 pods of 12. Over the limit: 27 -> 11 by")
    assert "No plan needs fewer" not in text
    app.main(["evict", *OUTAGE, "--wave", "1", "-o", "script"])
    script = capsys.readouterr().out
    assert "# planner evict, wave 1 of 4: 7 evictions in 1 wave, over the limit 27 -> 11" in script


def test_fewer_evictions_than_needed_repair_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["evict", *OUTAGE, "--max-evictions", "5"])
    text = " ".join(capsys.readouterr().out.split())
    assert "then repairs part of the spread itself. Over the limit: 27 -> 12." in text
    assert "No plan of 5 evictions gets further (--max-evictions)." in text


def test_a_policy_joins_the_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    _, plan = planned(capsys, *OUTAGE, "--policy", str(file))
    duplicates = next(b for b in plan.baselines if b.strategy == "RemoveDuplicates")
    policy = next(b for b in plan.baselines if b.strategy == "policy")
    assert policy.evictions == duplicates.evictions


def test_what_the_descheduler_would_do_is_shown_round_by_round(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    code, plan = planned(capsys, *OUTAGE, "--policy", str(file), "--like-descheduler")
    assert plan.way == "descheduler"
    assert plan.like_descheduler is not None
    assert plan.like_descheduler.end == "loop"
    assert "in circles" in (plan.like_descheduler.loop or "")
    assert code == 3


def test_yaml_is_eviction_objects_and_script_a_shell_script(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app.main(["evict", *OUTAGE, "-o", "yaml"])
    objects = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [found["kind"] for found in objects] == ["Eviction"] * 12
    app.main(["evict", *OUTAGE, "-o", "script"])
    assert capsys.readouterr().out.startswith("#!/bin/sh\n# planner evict: 12 evictions in 4 waves")


def test_solve_writes_its_evictions_as_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    app.main(["solve", "--example", "zone-outage", "--rebalance", "-o", "script"])
    text = capsys.readouterr().out
    assert text.count("\nevict 'default' ") == 12


def test_solve_keeps_to_what_may_be_down_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--example", "zone-outage", "--rebalance", "--max-unavailable", "3"]
    app.main(["solve", *arguments, "-o", "script"])
    text = capsys.readouterr().out
    assert "wave 1 of 5: 3 evictions" in text
