from __future__ import annotations

import json
import os
import shlex
import subprocess
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

FAKE = """#!/bin/sh
{{ printf '%s\\n' "$@"; echo ====; }} >> {calls}
case "$*" in
  *create*) cat >> {bodies}; echo >> {bodies}; case "$*" in *{refused}*) exit 1 ;; esac ;;
esac
"""
COLOURED = "ns\x1b[31m'%d\\"
HOSTILE = "x'; touch owned; echo '$(touch owned)`touch owned`\n\"; touch owned #"


def plan(*pods: str, node: str = "n1", cordon: tuple[str, ...] = ()) -> EvictionPlan:
    """One wave for each pod."""
    return EvictionPlan(
        options=EvictionOptions(seeds=20),
        evictions=tuple(
            PlannedEviction(
                pod=f"default/{pod}",
                uid=f"uid-{number}",
                workload="deploy/web",
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
                wait_for=("default/deploy/web",),
            )
            for number, pod in enumerate(pods, start=1)
        ),
        converges=True,
        checked_seeds=20,
        convergence=Convergence(seeds=20, gone=20, terminating=20),
        before=Situation(excess=2, pending=0),
        after=Situation(excess=0, pending=0),
    )


class Shell:
    """Runs scripts with a kubectl that only takes notes."""

    def __init__(self, folder: Path, refused: str = "no-such-pod") -> None:
        self.folder = folder
        self.calls = folder / "calls"
        self.bodies = folder / "bodies"
        kubectl = folder / "bin" / "kubectl"
        kubectl.parent.mkdir()
        names = {"calls": str(self.calls), "bodies": str(self.bodies)}
        quoted = {key: shlex.quote(value) for key, value in names.items()}
        kubectl.write_text(FAKE.format(refused=shlex.quote(refused), **quoted))
        kubectl.chmod(0o755)

    def run(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            ["/bin/sh", "-s", "--", *arguments],
            input=script,
            cwd=self.folder,
            env={"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    def seen(self) -> list[list[str]]:
        if not self.calls.exists():
            return []
        return [call.split("\n") for call in self.calls.read_text().split("\n====\n") if call]

    def evicted(self) -> list[str]:
        if not self.bodies.exists():
            return []
        objects = map(json.loads, self.bodies.read_text().splitlines())
        return [found["metadata"]["name"] for found in objects]


@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_without_run_nothing_is_called(tmp_path: Path, arguments: list[str]) -> None:
    shell = Shell(tmp_path)
    done = shell.run(eviction_script(plan("w1", "w2", cordon=("n1",))), *arguments)
    assert done.returncode == 0
    assert shell.seen() == []
    assert "evict default/w2" in done.stdout
    assert "nothing was changed" in done.stdout


def test_with_run_every_pod_is_evicted_by_its_uid_wave_by_wave(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    done = shell.run(eviction_script(plan("w1", "w2")), "--run")
    assert (done.returncode, done.stderr) == (0, "")
    bodies = [json.loads(line) for line in shell.bodies.read_text().splitlines()]
    assert [body["deleteOptions"] for body in bodies] == [
        {"preconditions": {"uid": "uid-1"}},
        {"preconditions": {"uid": "uid-2"}},
    ]
    verbs = [call[0] for call in shell.seen()]
    assert verbs == ["create", "get", "rollout", "create", "get", "rollout"]


def test_the_first_refusal_stops_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path, refused="w1")
    done = shell.run(eviction_script(plan("w1", "w2")), "--run")
    assert done.returncode != 0
    assert shell.evicted() == ["w1"]


def test_cordons_are_lifted_after_the_wave_and_when_it_is_refused(tmp_path: Path) -> None:
    shell = Shell(tmp_path, refused="w2")
    done = shell.run(eviction_script(plan("w1", "w2", cordon=("n1",))), "--run")
    assert done.returncode != 0
    cordons = [call for call in shell.seen() if call[0] in ("cordon", "uncordon")]
    assert cordons == [[verb, "--", "n1"] for verb in ("cordon", "uncordon") * 2]


def test_held_cordons_are_lifted_once_the_next_wave_has_set_its_own(tmp_path: Path) -> None:
    held = plan("w1", "w2", cordon=("n1",))
    first, second = held.waves
    waves = (
        first.model_copy(update={"hold": True, "pending": 1}),
        second.model_copy(update={"cordon": ("n2",)}),
    )
    shell = Shell(tmp_path)
    shell.run(eviction_script(held.model_copy(update={"waves": waves})), "--run")
    cordons = [(call[0], call[-1]) for call in shell.seen() if "cordon" in call[0]]
    assert cordons == [
        ("cordon", "n1"),
        ("cordon", "n2"),
        ("uncordon", "n1"),
        ("uncordon", "n2"),
    ]


def test_names_can_never_become_commands(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    document = plan(HOSTILE, node=HOSTILE, cordon=(HOSTILE,))
    for arguments in ([], ["--run"]):
        shell.run(eviction_script(document), *arguments)
    assert not (tmp_path / "owned").exists()
    assert shell.evicted() == [HOSTILE]


def test_a_script_holds_no_character_that_a_terminal_obeys(tmp_path: Path) -> None:
    text = eviction_script(plan(COLOURED, node=COLOURED, cordon=(COLOURED,)))
    assert "\x1b" not in text
    shell = Shell(tmp_path)
    shell.run(text, "--run")
    assert shell.evicted() == [COLOURED]
    assert ("cordon", COLOURED) in [(call[0], call[-1]) for call in shell.seen()]


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    done = Shell(tmp_path).run(eviction_script(plan("w1")), "--force")
    assert done.returncode == 2
    assert "usage" in done.stderr


def test_yaml_has_an_eviction_object_for_each_pod() -> None:
    text = eviction_objects(plan("w1", "w2"))
    assert text.count("kind: Eviction") == 2
    assert text.startswith("# wave 1 of 2\napiVersion: policy/v1\n")


def test_a_rebalancing_plan_has_a_script_too(tmp_path: Path) -> None:
    document = planner.load(example="zone-outage").solve(rebalance=True)
    shell = Shell(tmp_path)
    done = shell.run(plan_script(document), "--run")
    assert done.returncode == 0
    assert len(shell.evicted()) == 12
    assert "wave 4 of 4: 1 eviction" in done.stdout
