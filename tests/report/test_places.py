from __future__ import annotations

from pathlib import Path

import pytest

import planner
from planner.report import places

NODE = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}}
---
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web}]
      nodeSelector: {disk: ssd}
"""


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Deployment without pods, seen from its own folder."""
    monkeypatch.chdir(tmp_path)
    Path("web.yaml").write_text(NODE + DEPLOYMENT)
    return Path("web.yaml")


def test_a_rule_is_shown_where_it_is_written(manifest: Path) -> None:
    found = planner.load(manifest).explain("deploy/web")
    assert found.where == ("web.yaml:15: deploy/web spec.template.spec.nodeSelector",)
    assert "--> web.yaml:15: deploy/web spec.template" in found.to_text()
    assert "web.yaml:15: deploy/web" in found.to_html()


def test_parts_have_places_of_their_own(manifest: Path) -> None:
    found = planner.load(manifest).explain_pending()
    assert found.parts[0].where == ("web.yaml:15: deploy/web spec.template.spec.nodeSelector",)


def test_large_dumps_are_not_read_again(manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_BYTES", 100)
    found = planner.load(manifest).explain("deploy/web")
    assert found.where == ("deploy/web spec.template.spec.nodeSelector",)


def test_other_namespaces_are_named(manifest: Path) -> None:
    manifest.write_text(
        NODE + DEPLOYMENT.replace("name: web}\nspec", "name: web, namespace: p}\nspec")
    )
    found = planner.load(manifest).explain("deploy/web", namespace="p")
    assert found.where == ("web.yaml:15: p/deploy/web spec.template.spec.nodeSelector",)


def test_a_pod_s_own_fields_are_not_a_template_s() -> None:
    found = planner.load(example="docs-conflicting-constraints").explain("mypod")
    assert found.where == ("pod/mypod spec.topologySpreadConstraints[0] and [1]",)


def test_names_are_those_of_workloads(manifest: Path) -> None:
    assert planner.load(manifest).explain_pending().to_text("name") == "deploy/web\n"
