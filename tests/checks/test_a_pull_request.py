"""Manifests as a pull request brings them, checked against the shared scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner

ETCD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: etcd}
spec:
  replicas: 5
  selector: {matchLabels: {app: etcd}}
  template:
    metadata: {labels: {app: etcd}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: etcd}}
      containers: [{name: etcd, image: etcd, resources: {requests: {cpu: 500m, memory: 1Gi}}}]
"""
PAYMENTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: payments}
spec:
  replicas: 2
  selector: {matchLabels: {app: payments}}
  template:
    metadata: {labels: {app: payments}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: payment}}
      containers: [{name: main, image: payments, resources: {requests: {cpu: 100m}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: payments}
spec:
  minAvailable: 2
  selector: {matchLabels: {app: payments}}
"""
REPORT = """
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  template:
    metadata: {labels: {app: report}}
    spec:
      restartPolicy: Never
      nodeSelector: {topology.kubernetes.io/zone: eu-1d}
      containers: [{name: main, image: report}]
"""
MY_APP = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: my-app}
spec:
  replicas: 3
  selector: {matchLabels: {app: my-app}}
  template:
    metadata: {labels: {app: my-app}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
      containers: [{name: main, image: my-app}]
"""
FRAUD = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: critical}
value: 1000
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fraud}
spec:
  replicas: 16
  selector: {matchLabels: {app: fraud}}
  template:
    metadata: {labels: {app: fraud}}
    spec:
      priorityClassName: critical
      containers: [{name: main, image: fraud, resources: {requests: {cpu: 2, memory: 1Gi}}}]
"""


def checked(folder: Path, *asked: str, **manifests: str) -> planner.Check:
    for name, text in manifests.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return planner.check(folder, example="zone-outage-before", rules=asked)


def rules(found: planner.Check) -> list[tuple[str, str]]:
    return [(each.rule, Path(each.file or "").stem) for each in found.findings]


def test_each_defect_is_named_once_with_its_line_and_what_helps(tmp_path: Path) -> None:
    found = checked(tmp_path, etcd=ETCD, payments=PAYMENTS, report=REPORT)
    assert rules(found) == [
        ("label-unknown", "report"),
        ("too-many-replicas", "etcd"),
        ("pdb-blocks", "payments"),
        ("selector-misses-itself", "payments"),
        ("no-budget", "etcd"),
    ]
    unknown, many, blocks, misses, _ = found.findings
    assert unknown.text[0].endswith("Did you mean eu-1a, eu-1b or eu-1c?")
    assert many.title == "2 of 5 etcd pods can never run"
    assert [each.text for each in many.fixes] == [
        "replicas 5 -> 3",
        "anti-affinity by kubernetes.io/hostname",
    ]
    assert blocks.line == 22
    assert [each.text for each in blocks.fixes] == ["maxUnavailable: 1", "3 replicas"]
    assert "the second may go to 12 nodes, 4 of them in the same zone" in misses.text[1]
    assert found.fails()


@pytest.mark.parametrize(
    ("rule", "text", "old", "new"),
    [
        ("too-many-replicas", ETCD, "replicas: 5", "replicas: 3"),
        (
            *("too-many-replicas", ETCD, "topologyKey: topology.kubernetes.io/zone"),
            "topologyKey: kubernetes.io/hostname",
        ),
        ("pdb-blocks", PAYMENTS, "minAvailable: 2", "maxUnavailable: 1"),
        ("pdb-blocks", PAYMENTS, "replicas: 2", "replicas: 3"),
        ("selector-misses-itself", PAYMENTS, "app: payment}", "app: payments}"),
        ("label-unknown", REPORT, "eu-1d", "eu-1a"),
        ("spread-key-unknown", MY_APP, "topology.kubernetes.io/hostname", "kubernetes.io/hostname"),
        (
            *("spread-no-selector", MY_APP, "DoNotSchedule"),
            "DoNotSchedule\n          labelSelector: {matchLabels: {app: my-app}}",
        ),
        ("priority-preempts", FRAUD, "replicas: 16", "replicas: 12"),
        ("priority-preempts", FRAUD, "value: 1000", "value: 1000\npreemptionPolicy: Never"),
    ],
)
def test_whoever_edits_the_file_as_it_was_shown_has_no_such_finding(
    rule: str, text: str, old: str, new: str, tmp_path: Path
) -> None:
    """By hand, not by the code that tried it on a copy."""
    assert old in text
    before = dict(rules(checked(tmp_path, rule, it=text)))
    after = dict(rules(checked(tmp_path, rule, it=text.replace(old, new))))
    assert rule in before
    assert rule not in after


def test_issue_135797_a_mistyped_key_and_no_selector(tmp_path: Path) -> None:
    found = checked(tmp_path, app=MY_APP)
    assert [each.rule for each in found.findings] == [
        *("spread-key-unknown", "spread-no-selector", "no-budget"),
    ]
    key, selector, _ = found.findings
    assert key.text == (
        "A node without the key takes no pod: 0 of 3 run. "
        "Did you mean kubernetes.io/hostname? All 12 nodes have it.",
    )
    assert selector.text[1] == "Tried with the key corrected: all 3 run, 2 of them on one node."
    assert [each.text for each in selector.fixes] == ["labelSelector: {matchLabels: {app: my-app}}"]


def test_priority_that_others_pay_for(tmp_path: Path) -> None:
    found = checked(tmp_path, fraud=FRAUD)
    assert "too-many-replicas" not in dict(rules(found))
    (preempts,) = (each for each in found.findings if each.rule == "priority-preempts")
    assert preempts.title == "fraud runs at the cost of 16 running pods"
    assert preempts.text == (
        "12 of its 16 pods find room; the others preempt api 4, batch 4, cart 3, search 2, web 2 "
        "and feed 1 (lower priority). 7 of those 16 find another node, 9 stay pending: batch 4, "
        "api 2, web 2 and cart 1. Of the budgets that of api (1) and that of web (1) do not hold.",
    )
    assert {each.text: each.then for each in preempts.fixes} == {
        "replicas 16 -> 12": "nobody is driven off",
        "a PriorityClass with preemptionPolicy: Never": "then 4 fraud pods wait",
    }
    assert not found.fails()
