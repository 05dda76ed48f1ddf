"""From a dump on disk to a `Cluster`, beside what plain parsers and clients do with the same file.

The peers stop earlier than planner does: none of them groups pods, follows owners or builds arrays.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from benchmarks.case import Case, Measured, Stopwatch
from benchmarks.generate.cluster import Parameters, random_cluster
from benchmarks.generate.dump import Style, write_dump

PODS_PER_NODE = 30
Counts = tuple[int, int]
"""Nodes and pods."""


def parameters(case: Case) -> Parameters:
    """A cluster with thirty pods a node."""
    pods = case.integer("pods")
    return Parameters(max(10, pods // PODS_PER_NODE), pods, case.seed)


def dump_path(case: Case, cache: Path) -> Path:
    """Where the input of a case is kept."""
    form = case.text("form").replace(" ", "-")
    return cache / f"load-{case.integer('pods')}-{case.seed}.{form}"


def prepare(case: Case, cache: Path) -> None:
    """Makes the dump once; an interrupted writer leaves no such name."""
    path = dump_path(case, cache)
    if path.exists():
        return
    unfinished = path.with_suffix(".unfinished")
    indented = case.text("form") == "indented json"
    write_dump(random_cluster(parameters(case)), unfinished, Style(True, not indented))
    if case.text("form") == "yaml":
        document = json.loads(unfinished.read_bytes())
        with unfinished.open("w", encoding="utf-8") as file:
            yaml.dump(document, file, Dumper=yaml.CSafeDumper, sort_keys=False)
    unfinished.rename(path)


def by_planner(path: Path) -> Counts:
    """Models, owners, groups, topologies, integer arrays."""
    import planner

    cluster = planner.load(path).snapshot
    return len(cluster.nodes), len(cluster.pods) + cluster.finished


def parse(path: Path) -> Any:
    """Dictionaries and lists, by the standard library or libyaml."""
    with path.open("rb") as file:
        if path.suffix == ".yaml":
            return yaml.load(file, Loader=yaml.CSafeLoader)
        return json.load(file)


def by_parser(path: Path) -> Counts:
    """Dictionaries alone."""
    return _count(item["kind"] for item in parse(path)["items"])


def by_pydantic(path: Path) -> Counts:
    """A model for every node's and every pod's metadata and specification."""
    from planner_models.meta import ObjectMeta
    from planner_models.node import Node
    from planner_models.pod import PodSpec

    kinds = []
    for item in parse(path)["items"]:
        if item["kind"] == "Pod":
            ObjectMeta.model_validate(item["metadata"])
            PodSpec.model_validate(item["spec"])
        elif item["kind"] == "Node":
            Node.model_validate(item)
        kinds.append(item["kind"])
    return _count(kinds)


def by_client(path: Path) -> Counts:
    """The official Python client's deserialisation of nodes and pods, as after `list_*` calls."""
    from kubernetes.client import ApiClient

    client = ApiClient()
    items = parse(path)["items"]
    found = []
    for kind, type_ in (("Node", "V1NodeList"), ("Pod", "V1PodList")):
        text = json.dumps({"items": [item for item in items if item["kind"] == kind]})
        found.append(len(client.deserialize(text, type_, "application/json").items))
    return found[0], found[1]


METHODS: dict[str, Callable[[Path], Counts]] = {
    "planner": by_planner,
    "parser": by_parser,
    "pydantic": by_pydantic,
    "client": by_client,
}


def measure(case: Case, cache: Path) -> Measured:
    """One load, checked by the numbers of nodes and pods."""
    path, wanted = dump_path(case, cache), parameters(case)
    with Stopwatch() as watch:
        found = METHODS[case.method](path)
    size = path.stat().st_size / 1e6
    expected = wanted.nodes, wanted.pods
    wrong = () if found == expected else (f"found {found} nodes and pods, not {expected}",)
    values = {"mb": round(size, 1), "mb_per_second": size / watch.seconds}
    return Measured(watch.seconds, watch.cpu, values, wrong)


def _count(kinds: Iterable[str]) -> Counts:
    numbers = Counter(kinds)
    return numbers["Node"], numbers["Pod"]
