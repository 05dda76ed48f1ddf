"""Every example of Fleet's how-to on topology spread constraints, as written there."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner_models.fleet_decision import FleetDecision

CRP = """\
apiVersion: placement.kubernetes-fleet.io/v1beta1
kind: ClusterResourcePlacement
metadata:
  name: crp
spec:
  resourceSelectors:
    - ...
  policy:
    placementType: PickN
    numberOfClusters: {number}
    topologySpreadConstraints:
{constraints}
"""
CONSTRAINT = """\
      - maxSkew: {max_skew}
        topologyKey: {key}
        whenUnsatisfiable: {when}
"""
MEMBER = """\
apiVersion: cluster.kubernetes-fleet.io/v1beta1
kind: MemberCluster
metadata:
  name: {name}
  labels: {{{labels}}}
"""
THREE = {
    "bravelion": "system: critical, region: east",
    "smartfish": "system: critical, region: west",
    "jumpingcat": "system: normal, region: east",
}
FOUR = {
    "bravelion": "region: east, system: critical",
    "smartfish": "region: east",
    "jumpingcat": "region: west, system: critical",
    "flyingpenguin": "region: west",
}


def decided(
    folder: Path,
    members: dict[str, str],
    number: int,
    *constraints: tuple[int, str, str],
) -> FleetDecision:
    written = "".join(CONSTRAINT.format(max_skew=m, key=k, when=w) for m, k, w in constraints)
    texts = [MEMBER.format(name=name, labels=labels) for name, labels in members.items()]
    file = folder / "fleet.yaml"
    file.write_text("---\n".join([CRP.format(number=number, constraints=written), *texts]))
    (decision,) = planner.load_fleet(file).decide().items
    return decision


def test_three_clusters_are_split_into_two_groups_by_system(tmp_path: Path) -> None:
    found = decided(tmp_path, THREE, 3, (2, "system", "DoNotSchedule"))
    groups = {each.domain: each.clusters for each in found.constraints[0].domains}
    assert groups == {"critical": 2, "normal": 1}
    assert set(found.picked) == set(THREE)


@pytest.mark.parametrize(("number", "skew"), [(1, 1), (2, 0), (3, 1)])
def test_the_skew_is_the_most_minus_the_least(tmp_path: Path, number: int, skew: int) -> None:
    found = decided(tmp_path, THREE, number, (2, "system", "DoNotSchedule"))
    assert found.constraints[0].skew == skew


def test_the_walk_through_picks_smartfish_then_jumpingcat(tmp_path: Path) -> None:
    found = decided(tmp_path, FOUR, 2, (1, "region", "DoNotSchedule"))
    assert found.picked == ("smartfish", "jumpingcat")
    first, second = found.rounds
    assert {each.cluster: each.spread for each in first.candidates} == dict.fromkeys(FOUR, -1)
    assert {each.cluster: each.spread for each in second.candidates} == {
        "jumpingcat": 1,
        "flyingpenguin": 1,
        "bravelion": None,
    }
    assert found.filtered == {
        "bravelion": ('violated doNotSchedule topology spread constraint "region" (max skew 1)',)
    }


def test_with_schedule_anyway_bravelion_scores_minus_1000(tmp_path: Path) -> None:
    found = decided(tmp_path, FOUR, 2, (1, "region", "ScheduleAnyway"))
    assert found.picked == ("smartfish", "jumpingcat")
    assert found.scores["bravelion"].spread == -1000


def test_two_constraints_are_evaluated_separately_and_added_up(tmp_path: Path) -> None:
    """No cluster has an environment label here: that constraint has no say."""
    constraints = ((2, "region", "DoNotSchedule"), (3, "environment", "ScheduleAnyway"))
    found = decided(tmp_path, FOUR, 2, *constraints)
    assert found.picked == ("smartfish", "jumpingcat")
    assert found.constraints[1].outside == 4
    assert [notice.code for notice in found.notices] == ["noStatus", "noDomains"]


def test_a_key_that_does_not_split_the_fleet_takes_no_effect(tmp_path: Path) -> None:
    same = dict.fromkeys(FOUR, "planet: earth")
    found = decided(tmp_path, same, 4, (1, "planet", "DoNotSchedule"))
    assert set(found.picked) == set(FOUR)
    assert found.verdict == "fulfilled"


def test_when_unsatisfiable_is_do_not_schedule_if_absent(tmp_path: Path) -> None:
    found = decided(tmp_path, FOUR, 4, (1, "region", ""))
    assert found.constraints[0].when_unsatisfiable == "DoNotSchedule"
