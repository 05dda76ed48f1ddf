from __future__ import annotations

import json
from pathlib import Path

import pytest

import planner
from planner.report.scripts import eviction_objects, eviction_script, plan_script
from planner_models.evictions import (
    Convergence,
    EvictionOptions,
    EvictionPlan,
    EvictionWave,
    PlannedEviction,
    Situation,
)
from planner_models.plan import ReadyPods, Step, WorkloadChange
from tests.report.shell import OWNER, Shell

COLOURED = "ns\x1b[31m'%d\\"
HOSTILE = "x'; touch owned; echo '$(touch owned)`touch owned`\n\"; touch owned #"


def plan(*pods: str, node: str = "n1", cordon: tuple[str, ...] = ()) -> EvictionPlan:
    """One wave for each pod; three pods of a ReplicaSet without a Deployment stay ready."""
    return EvictionPlan(
        options=EvictionOptions(seeds=20),
        evictions=tuple(
            PlannedEviction(
                pod=f"default/{pod}",
                uid=f"uid-{pod}",
                workload="rs/web-1",
                node=node,
                wave=number,
                reason=f"because of {node}",
            )
            for number, pod in enumerate(pods, start=1)
        ),
        waves=tuple(
            EvictionWave(
                number=number,
                evictions=(f"default/{pod}",),
                cordon=cordon,
                ready=(
                    ReadyPods(namespace="default", workload="rs/web-1", controller=OWNER, pods=3),
                ),
            )
            for number, pod in enumerate(pods, start=1)
        ),
        converges=True,
        checked_seeds=20,
        convergence=Convergence(seeds=20, gone=20, terminating=20),
        before=Situation(excess=2, pending=0),
        after=Situation(excess=0, pending=0),
    )


def promising(document: EvictionPlan, **counts: int) -> EvictionPlan:
    """The same, with what the zones have in the end."""
    change = WorkloadChange(
        workload="rs/web-1",
        namespace="default",
        controllers=(OWNER,),
        topology_key="topology.kubernetes.io/zone",
        domains=tuple(counts),
        before=(3,) + (0,) * (len(counts) - 1),
        after=tuple(counts.values()),
        moved=1,
    )
    return document.model_copy(update={"workloads": (change,)})


@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_without_run_nothing_is_called(tmp_path: Path, arguments: list[str]) -> None:
    shell = Shell(tmp_path)
    done = shell.run(eviction_script(plan("w1", "w2", cordon=("n1",))), *arguments)
    assert done.returncode == 0
    assert shell.calls() == []
    assert "evict default/w2" in done.stdout
    assert "nothing was changed" in done.stdout


def test_every_pod_is_evicted_by_its_uid_after_a_dry_run(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    done = shell.run(eviction_script(plan("w1")), "--run")
    assert (done.returncode, done.stderr) == (0, "")
    bodies = [json.loads(call[-1]) for call in shell.calls() if call[0] == "create"]
    assert [body["deleteOptions"] for body in bodies] == [
        {"dryRun": ["All"], "preconditions": {"uid": "uid-w1"}},
        {"preconditions": {"uid": "uid-w1"}},
    ]


def test_waves_wait_for_the_pods_of_a_replica_set_without_a_deployment(tmp_path: Path) -> None:
    shell = Shell(tmp_path, slow=3)
    shell.run(eviction_script(plan("w1", "w2")), "--run")
    verbs = [" ".join(call[:2]) for call in shell.calls()]
    between = verbs[verbs.index("get pods") : len(verbs) - verbs[::-1].index("create --raw") - 2]
    assert between.count("get pods") == 4
    assert shell.state["evicted"] == ["w1", "w2"]


def test_pods_that_never_get_ready_stop_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path, lands={})
    done = shell.run(eviction_script(plan("w1", "w2")), "--run")
    assert done.returncode == 1
    assert "only 2 of 3 pods of ReplicaSet/web-1 in default are ready" in done.stderr
    assert shell.state["evicted"] == ["w1"]


def test_a_budget_that_allows_nothing_now_is_asked_again(tmp_path: Path) -> None:
    shell = Shell(tmp_path, refusals={"w1": 1})
    done = shell.run(eviction_script(plan("w1")), "--run")
    assert done.returncode == 0
    assert done.stdout.count("trying again") == 1
    assert shell.state["evicted"] == ["w1"]


def test_any_other_refusal_stops_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path, forbidden=["w1"])
    done = shell.run(eviction_script(plan("w1", "w2")), "--run")
    assert done.returncode == 1
    assert "w1 in default can't be evicted: Error from server (Forbidden)" in done.stderr
    assert shell.state["evicted"] == []


def test_a_second_run_goes_on_where_the_first_one_stopped(tmp_path: Path) -> None:
    shell = Shell(tmp_path, forbidden=["w2"])
    script = eviction_script(plan("w1", "w2"))
    assert shell.run(script, "--run").returncode == 1
    shell.change(forbidden=[])
    done = shell.run(script, "--run")
    assert (done.returncode, done.stderr) == (0, "")
    assert shell.state["evicted"] == ["w1", "w2"]


def test_another_pod_of_the_same_name_stays(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    pods = shell.state["pods"]
    shell.change(pods=pods | {"w1": pods["w1"] | {"uid": "another"}})
    assert shell.run(eviction_script(plan("w1")), "--run").returncode == 0
    assert shell.state["evicted"] == []


def test_cordons_are_lifted_after_the_wave_and_when_it_is_refused(tmp_path: Path) -> None:
    shell = Shell(tmp_path, forbidden=["w2"])
    done = shell.run(eviction_script(plan("w1", "w2", cordon=("n1",))), "--run")
    assert done.returncode == 1
    assert shell.cordons() == [(True, "n1"), (False, "n1")] * 2


def test_a_cordon_of_somebody_else_is_not_lifted(tmp_path: Path) -> None:
    nodes = {"n1": {"zone": "a", "cordoned": True}, "n2": {"zone": "b", "cordoned": False}}
    shell = Shell(tmp_path, nodes=nodes)
    done = shell.run(eviction_script(plan("w1", cordon=("n1",))), "--run")
    assert "somebody else has cordoned it" in done.stdout
    assert shell.state["nodes"]["n1"]["cordoned"]


def test_a_cordon_that_was_left_behind_is_lifted_by_the_next_run(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    script = eviction_script(plan("w1", cordon=("n1",)))
    shell.run(script.replace("trap lift EXIT", "").replace("\nlift\n", "\nexit 9\n"), "--run")
    assert shell.state["nodes"]["n1"]["cordoned"]
    shell.run(script, "--run")
    assert not shell.state["nodes"]["n1"]["cordoned"]


def test_held_cordons_are_lifted_once_the_next_wave_has_set_its_own(tmp_path: Path) -> None:
    held = plan("w1", "w2", cordon=("n1",))
    first, second = held.waves
    waves = (
        first.model_copy(update={"hold": True}),
        second.model_copy(update={"cordon": ("n2",)}),
    )
    shell = Shell(tmp_path)
    shell.run(eviction_script(held.model_copy(update={"waves": waves})), "--run")
    assert shell.cordons() == [(True, "n1"), (True, "n2"), (False, "n1"), (False, "n2")]


def test_it_ends_with_the_counts_beside_the_planned_ones(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    done = shell.run(eviction_script(promising(plan("w1"), a=2, b=1)), "--run")
    assert done.returncode == 0
    assert "rs/web-1 in default: a 2, b 1, as planned" in done.stdout


def test_counts_that_differ_are_a_negative_answer(tmp_path: Path) -> None:
    shell = Shell(tmp_path, lands={"w1": "n1"})
    done = shell.run(eviction_script(promising(plan("w1"), a=2, b=1)), "--run")
    assert done.returncode == 3
    assert "rs/web-1 in default: a 3, b 0; planned were a 2, b 1" in done.stdout


def test_names_can_never_become_commands(tmp_path: Path) -> None:
    nodes = {HOSTILE: {"zone": HOSTILE, "cordoned": False}}
    shell = Shell(tmp_path, pods=(HOSTILE, "w2", "w3"), nodes=nodes, lands={HOSTILE: HOSTILE})
    document = promising(plan(HOSTILE, node=HOSTILE, cordon=(HOSTILE,)), **{HOSTILE: 1})
    for arguments in ([], ["--run"]):
        shell.run(eviction_script(document), *arguments)
    assert not (tmp_path / "owned").exists()
    assert shell.state["evicted"] == [HOSTILE]


def test_a_script_holds_no_character_that_a_terminal_obeys(tmp_path: Path) -> None:
    text = eviction_script(plan(COLOURED, node=COLOURED, cordon=(COLOURED,)))
    assert "\x1b" not in text
    nodes = {COLOURED: {"zone": "a", "cordoned": False}}
    shell = Shell(tmp_path, pods=(COLOURED, "w2", "w3"), nodes=nodes, lands={COLOURED: COLOURED})
    shell.run(text, "--run")
    assert shell.state["evicted"] == [COLOURED]
    assert shell.cordons() == [(True, COLOURED), (False, COLOURED)]


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    done = Shell(tmp_path).run(eviction_script(plan("w1")), "--force")
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_yaml_has_an_eviction_object_for_each_pod() -> None:
    text = eviction_objects(plan("w1", "w2"))
    assert text.count("kind: Eviction") == 2
    assert text.startswith("# wave 1 of 2\napiVersion: policy/v1\n")


def test_a_rebalancing_plan_has_a_script_too(tmp_path: Path) -> None:
    cluster = planner.load(example="zone-outage")
    document = cluster.solve(rebalance=True)
    lands = {each.pod.partition("/")[2]: each.node for each in document.placements}
    shell = Shell.of(tmp_path, cluster.snapshot, "topology.kubernetes.io/zone", lands=lands)
    done = shell.run(plan_script(document), "--run")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(shell.state["evicted"]) == 12
    assert "wave 4 of 4: 1 eviction" in done.stdout
    assert "deploy/web in default: eu-1a 3, eu-1b 3, eu-1c 3, as planned" in done.stdout


def test_cordons_of_a_plan_are_held_until_it_lifts_them(tmp_path: Path) -> None:
    cluster = planner.load(example="zone-outage")
    document = cluster.solve(rebalance=True)
    node = cluster.snapshot.nodes[0].name
    first, *between, last = document.waves
    waves = (
        first.model_copy(update={"steps": (Step(action="cordon", node=node), *first.steps)}),
        *between,
        last.model_copy(update={"steps": (Step(action="uncordon", node=node), *last.steps)}),
    )
    lands = {each.pod.partition("/")[2]: each.node for each in document.placements}
    shell = Shell.of(tmp_path, cluster.snapshot, "topology.kubernetes.io/zone", lands=lands)
    shell.run(plan_script(document.model_copy(update={"waves": waves})), "--run")
    assert shell.cordons() == [(True, node), (False, node)]
