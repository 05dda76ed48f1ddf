"""The manifests of deploy/: kustomize and Helm say the same, with the rights that are needed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner import __version__
from planner.cli.app import COMMANDS, application
from planner.run.metrics import Metrics, registered
from planner.run.policy import policy_in
from planner_models.run_policy import RunPolicy
from tests.live.fake_api import Request
from tests.packaging.helm_subset import rendered_chart, subset
from tests.run.world import OWN, world

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
SWITCHES: dict[str, Json] = {
    "base": {},
    "overlays/apply": {"mode": "Apply"},
    "overlays/cordons": {"mode": "Apply", "cordons": True},
    "overlays/cronjob": {"kind": "CronJob"},
}
OVERLAYS = pytest.mark.parametrize("overlay", SWITCHES)


@cache
def kustomized(overlay: str) -> list[Json]:
    program = ["kustomize", "build"] if shutil.which("kustomize") else ["kubectl", "kustomize"]
    if shutil.which(program[0]) is None:
        pytest.skip("neither kustomize nor kubectl is installed")
    command = [*program, str(DEPLOY / overlay)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [each for each in yaml.safe_load_all(text) if each]


def by_name(objects: Iterable[Json]) -> dict[tuple[str, str, str], Json]:
    """Objects without what says nothing; the policy's text as what it means."""
    found = {}
    for each in objects:
        meta = each["metadata"]
        key = (each["kind"], meta.get("namespace", ""), meta["name"])
        assert key not in found, f"{key} is there twice"
        found[key] = each
        if meta["name"] == "planner-policy":
            found[key] = {**each, "data": yaml.safe_load(each["data"]["policy.yaml"])}
    return found


@OVERLAYS
def test_kustomize_and_helm_make_the_same_objects(overlay: str) -> None:
    ours = by_name(kustomized(overlay))
    ours.pop(("Namespace", "", OWN))  # helm install --create-namespace makes it
    assert by_name(rendered_chart(DEPLOY / "chart", SWITCHES[overlay], OWN)) == ours


def test_a_service_monitor_takes_the_place_of_annotations() -> None:
    made = by_name(rendered_chart(DEPLOY / "chart", {"serviceMonitor": True}, OWN))
    assert ("ServiceMonitor", OWN, "planner") in made
    assert "annotations" not in made["Service", OWN, "planner"]["metadata"]


def test_the_chart_has_the_switches_that_it_names_and_no_others() -> None:
    values = yaml.safe_load((DEPLOY / "chart/values.yaml").read_text())
    schema = json.loads((DEPLOY / "chart/values.schema.json").read_text())
    assert {*values, "global"} == set(schema["properties"])


@pytest.mark.parametrize("text", ["{{ .Values.mode | upper }}", "{{ if }}", "{{ range x }}", "{{"])
def test_the_renderer_of_the_tests_refuses_what_it_does_not_know(text: str, tmp_path: Path) -> None:
    shutil.copytree(DEPLOY / "chart", tmp_path / "chart")
    (tmp_path / "chart/templates/z.yaml").write_text(text)
    with pytest.raises((ValueError, IndexError, KeyError)):
        subset(tmp_path / "chart", {}, OWN)


# Versions and arguments


def test_images_and_charts_are_of_this_version() -> None:
    chart = yaml.safe_load((DEPLOY / "chart/Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__
    images = {pod(each)["containers"][0]["image"] for o in SWITCHES for each in workloads(o)}
    assert images == {f"pod-planner:{__version__}"}


def workloads(overlay: str) -> list[Json]:
    return [each for each in kustomized(overlay) if each["kind"] in ("Deployment", "CronJob")]


def pod(workload: Json) -> Json:
    spec = workload["spec"]
    spec = spec["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else spec
    found: Json = spec["template"]["spec"]
    return found


@OVERLAYS
def test_planner_takes_the_arguments_that_it_is_started_with(overlay: str) -> None:
    import typer

    (workload,) = workloads(overlay)
    arguments = pod(workload)["containers"][0]["args"]
    group: Any = typer.main.get_command(application(COMMANDS))
    context = group.commands[arguments[0]].make_context(arguments[0], list(arguments[1:]))
    assert context.params["mode"] == SWITCHES[overlay].get("mode", "DryRun")
    assert context.params["cordons"] is SWITCHES[overlay].get("cordons", False)
    assert context.params["once"] is (overlay == "overlays/cronjob")
    assert context.params["in_cluster"]


def test_the_policy_that_ships_says_what_is_the_default() -> None:
    found = policy_in(DEPLOY / "base/policy.yaml")
    assert found == RunPolicy(api_version="planner/v1", kind="RunPolicy")


@OVERLAYS
def test_pods_keep_to_the_restricted_standard(overlay: str) -> None:
    (workload,) = workloads(overlay)
    spec, container = pod(workload), pod(workload)["containers"][0]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


# Rights

Right = tuple[str, str, str, str, str]
"""Namespace ("" is everywhere), group, resource, name ("" is any), verb."""


def rights(objects: Iterable[Json]) -> set[Right]:
    """What the roles among the objects allow."""
    return {
        (each["metadata"].get("namespace", ""), group, resource, name, verb)
        for each in objects
        if each["kind"] in ("Role", "ClusterRole")
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    }


def printed(**options: bool) -> set[Right]:
    return rights(yaml.safe_load_all(planner.rbac(**options)))


def test_a_dry_run_may_read_write_events_and_keep_its_own_objects() -> None:
    own = {
        (OWN, "coordination.k8s.io", "leases", "planner-run", "get"),
        (OWN, "coordination.k8s.io", "leases", "planner-run", "patch"),
        (OWN, "", "configmaps", "planner-state", "get"),
        (OWN, "", "configmaps", "planner-state", "patch"),
        ("kube-system", "coordination.k8s.io", "leases", "descheduler", "get"),
    }
    assert rights(kustomized("base")) == printed(events=True) | own


def test_each_overlay_adds_what_carrying_out_needs_and_no_more() -> None:
    base, apply, cordons = (rights(kustomized(each)) for each in list(SWITCHES)[:3])
    assert cordons - apply == {("", "", "nodes", "", "patch")}
    created = ("kube-system", "coordination.k8s.io", "leases", "", "create")
    needed = printed(apply=True) - printed() - {created} - (cordons - apply)
    assert apply - base == needed
    assert rights(kustomized("overlays/cronjob")) == base


def asked_for(request: Request) -> Right:
    """The right that a request needs."""
    parts = request.path.strip("/").split("/")
    group, parts = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    resource, name = parts[0], parts[1] if len(parts) > 1 else ""
    verbs = {"GET": "get" if name else "list", "POST": "create", "PATCH": "patch"}
    return namespace, group, resource, name, verbs[request.method]


def allowed(right: Right, by: set[Right]) -> bool:
    namespace, group, resource, name, verb = right
    return any(
        (where, group, resource, which, verb) in by
        for where in ("", namespace)
        for which in ("", name)
    )


def test_every_request_of_a_dry_run_is_one_that_its_roles_allow(tmp_path: Path) -> None:
    with world(tmp_path) as found:
        for each in kustomized("base"):
            if each["kind"] in ("Lease", "ConfigMap"):
                found.api.put(each)
        from tests.run.test_loop import waiting_pod

        waiting_pod(found)
        found.policy("pauseWhen: {pendingPods: 50%}")
        found.rounds(2)
        requests = [asked_for(each) for each in found.api.requests]
    by = rights(kustomized("base"))
    assert {right for right in requests if not allowed(right, by)} == set()
    assert {right[2] for right in requests} >= {"nodes", "pods", "leases", "configmaps", "events"}


# The image


def test_the_image_is_built_in_two_stages_and_runs_without_pip_and_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert stages == ["python:3.13-slim"] * 2
    last = text[text.rindex("\nFROM ") :]
    assert "uninstall -y pip" in last
    assert re.search(r"^USER 65532:65532$", last, re.MULTILINE)
    assert text.count("-c constraints.txt") == 2
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
    assert all((ROOT / name).exists() for line in copied for name in line.split())


def test_what_the_image_is_made_of_is_not_ignored() -> None:
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().split()
    text = (DEPLOY / "Dockerfile").read_text()
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
    assert {f"!{name}" for line in copied for name in line.split()} <= set(kept)


# Alerts and the dashboard

METRIC = re.compile(r"\bplanner_[a-z_]+")


def test_every_metric_of_rules_and_dashboard_exists() -> None:
    files = [DEPLOY / "monitoring/rules.yaml", DEPLOY / "monitoring/dashboard.json"]
    known = registered(Metrics().registry)
    for file in files:
        used = set(METRIC.findall(file.read_text()))
        assert used
        assert used <= known, file.name


def test_every_metric_that_tells_of_trouble_is_watched() -> None:
    text = (DEPLOY / "monitoring/rules.yaml").read_text()
    assert {
        *("planner_leader", "planner_policy_valid", "planner_rounds_total", "planner_not_read"),
        *("planner_last_round_timestamp_seconds", "planner_suspended_workloads"),
        *("planner_pending_pods", "planner_excess"),
    } <= set(METRIC.findall(text))


def test_alerts_say_what_to_do() -> None:
    rules = yaml.safe_load((DEPLOY / "monitoring/rules.yaml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("warning", "critical")
            assert set(rule["annotations"]) == {"summary", "description"}


def test_every_panel_has_a_query_and_a_place_of_its_own() -> None:
    board = json.loads((DEPLOY / "monitoring/dashboard.json").read_text())
    cells: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        assert all(target["expr"] for target in panel["targets"])
        at = panel["gridPos"]
        mine = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not mine & cells, panel["title"]
        assert max(x for x, _ in mine) < 24
        cells |= mine
