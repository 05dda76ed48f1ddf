"""Twenty manifests checked against a large cluster, and by their text alone.

Two of them have a defect that has to be named: a zone that no node is in, and a budget that never
allows an eviction. Of the others no pod may be left waiting by kube-scheduler itself unless the
check says so.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump
from planner.checks import Checked, CheckOptions, Subject, check, manifests_of, subject_of
from planner.garbage import THRESHOLD
from planner.scheduler.profile import default_profile
from planner.scheduler.simulate import simulate
from planner.sources.load import load_documents, load_paths
from planner.sources.options import ReadOptions
from planner.sources.read import RawDocument

Json = dict[str, Any]
MANIFESTS = 20
LOST, BLOCKED = 3, 7
"""Which of the manifests have a defect."""
NAMESPACE = "checkout"
ZONE = "topology.kubernetes.io/zone"


def dump_path(case: Case, cache: Path) -> Path:
    """Where the input of a case is kept."""
    return cache / f"check-{case.integer('nodes')}-{case.integer('pods')}-{case.seed}.json"


def prepare(case: Case, cache: Path) -> None:
    """The dump, written once for all methods; an interrupted writer leaves no such name."""
    path = dump_path(case, cache)
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        wanted = Parameters(case.integer("nodes"), case.integer("pods"), case.seed)
        write_dump(random_cluster(wanted), unfinished, Style(False, True))
        unfinished.rename(path)


def manifests() -> Iterator[Json]:
    """Deployments of three to seven replicas with hard zone spread, and a budget over each."""
    for number in range(MANIFESTS):
        name = f"checked-{number:02}"
        labels, replicas = {"app": name}, 3 + number % 5
        spread = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
        requests = {"cpu": "250m", "memory": "256Mi"}
        spec: Json = {
            "containers": [{"name": "main", "resources": {"requests": requests}}],
            "topologySpreadConstraints": [spread],
        }
        if number == LOST:
            spec["nodeSelector"] = {ZONE: "nowhere"}
        yield {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        }
        allows = {"minAvailable": replicas} if number == BLOCKED else {"maxUnavailable": 1}
        yield {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"selector": {"matchLabels": labels}, **allows},
        }


def measure(case: Case, cache: Path) -> Measured:
    """The load alone, the check after it, or the text without any cluster.

    Garbage is looked for as rarely as the command does.
    """
    gc.set_threshold(THRESHOLD)
    path, own = dump_path(case, cache), [*map(_document, manifests())]
    lenient = ReadOptions(skip_invalid=True)
    if case.method == "load":
        with Stopwatch() as watch:
            read = load_paths([str(path)], options=lenient)
        pods = len(read.pods)
        wrong = () if pods == case.integer("pods") else (f"{pods} pods were read",)
        return Measured(watch.seconds, watch.cpu, {"pods": pods}, wrong)
    given = load_documents(own, lenient)
    everything = load_paths([str(path)], options=lenient, on_top=own)
    inventory = given if case.method == "text alone" else everything
    with Stopwatch() as watch:
        subject = subject_of(inventory, manifests_of(given), default_profile, CheckOptions())
        found = check(subject)
    values = {
        "errors": sum(each.severity == "error" for each in found.findings),
        "warnings": sum(each.severity == "warning" for each in found.findings),
        "undecided": len(found.undecided),
    }
    return Measured(watch.seconds, watch.cpu, values, tuple(_wrong(subject, found)))


def _document(content: Json) -> RawDocument:
    return RawDocument(file="", data=json.dumps(content).encode(), line=1)


def _wrong(subject: Subject, found: Checked) -> Iterator[str]:
    errors = {(each.rule, each.objects[0].name) for each in found.findings}
    wanted = {("pdb-blocks", f"checked-{BLOCKED:02}")}
    if subject.has_nodes:
        wanted.add(("label-unknown", f"checked-{LOST:02}"))
        ended = simulate(subject.cluster, [default_profile()])
        told = {each.objects[0].name for each in found.findings}
        for result in ended.unschedulable:
            name = subject.cluster.pods[result.pod].labels.get("app", "")
            if name.startswith("checked-") and name not in told:
                yield f"{name} waits, and nothing is said about it"
    yield from (f"{rule} of {name} is missing" for rule, name in sorted(wanted - errors))
