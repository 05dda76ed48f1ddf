"""Everything that `--pools` takes: templates, MachineDeployments, NodePools with their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from planner.pools.machine_deployments import machine_deployment_pool
from planner.pools.node_pools import instance_table, node_pool_pools
from planner.pools.node_templates import node_template
from planner.pools.pool import Pool, checked
from planner.sources.decode import decode_documents
from planner.sources.inventory import name_some
from planner.sources.raw_objects import Json, raw_objects
from planner.sources.read import RawDocument
from planner.sources.validation import from_pydantic
from planner.words import conjoined
from planner_models.instance_types import InstanceTypes
from planner_models.machine_deployment import MachineDeployment
from planner_models.node import ZONE, Node
from planner_models.node_pool import NodePool
from planner_models.notice import Notice

SAMPLE = "sample-instance-types"
"""The word for planner's own table, where a file could stand."""
SAMPLE_FILE = Path(__file__).parent / "data" / "sample-instance-types.yaml"
KINDS: Mapping[tuple[str, str], type[BaseModel]] = {
    ("", "Node"): Node,
    ("cluster.x-k8s.io", "MachineDeployment"): MachineDeployment,
    ("karpenter.sh", "NodePool"): NodePool,
    ("planner", "InstanceTypes"): InstanceTypes,
}
M = TypeVar("M", bound=BaseModel)


class PoolInput(msgspec.Struct, frozen=True):
    """The pools, and what a reader has to know about them."""

    pools: tuple[Pool, ...]
    notices: tuple[Notice, ...] = ()


def pools_in(documents: Iterable[RawDocument], nodes: Sequence[Node] = ()) -> PoolInput:
    """The pools that the documents describe; the cluster's nodes tell what these leave out."""
    found: dict[type[BaseModel], list[tuple[BaseModel, str]]] = {k: [] for k in KINDS.values()}
    unknown: Counter[str] = Counter()
    for document in documents:
        for raw in raw_objects([document]):
            kind = str(raw.get("kind"))
            model = KINDS.get((str(raw.get("apiVersion", "")).rpartition("/")[0], kind))
            if model is None:
                unknown[kind] += 1
            else:
                found[model].append((_object(model, raw, document.file), document.file))
    pools = tuple(_pools(found, nodes))
    _refuse_twice(pools)
    return PoolInput(checked(pools), tuple(_notices(pools, nodes, unknown)))


def _pools(
    found: Mapping[type[BaseModel], Sequence[tuple[BaseModel, str]]], nodes: Sequence[Node]
) -> Iterator[Pool]:
    for template, file in _of(found, Node):
        yield node_template(template, file, nodes)
    for machines, file in _of(found, MachineDeployment):
        yield machine_deployment_pool(machines, file, nodes)
    table = instance_table(list(_of(found, InstanceTypes)))
    for pool, file in _of(found, NodePool):
        yield from node_pool_pools(pool, file, table, nodes)


def _of(
    found: Mapping[type[BaseModel], Sequence[tuple[BaseModel, str]]], kind: type[M]
) -> Iterator[tuple[M, str]]:
    for each, file in found[kind]:
        assert isinstance(each, kind)
        yield each, file


def _object(model: type[BaseModel], raw: Json, file: str) -> BaseModel:
    data = msgspec.json.encode(raw)
    if model is Node:
        return decode_documents([RawDocument(file, data, 1)]).others[Node][0]
    metadata = raw.get("metadata")
    name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise from_pydantic(error, file, f"{raw['kind']} {name}".strip()) from error


def _refuse_twice(pools: Sequence[Pool]) -> None:
    """Two pools of one name in one zone can't be told apart in an answer."""
    seen: set[tuple[str, str]] = set()
    for pool in pools:
        for zone in pool.zones or ("",):
            if (pool.name, zone) in seen:
                where = f" in zone {zone}" if zone else ""
                raise pool.place.error(
                    f"is there twice{where}", field="metadata.name", advice="give each its own name"
                )
            seen.add((pool.name, zone))


def _notices(
    pools: Sequence[Pool], nodes: Sequence[Node], unknown: Mapping[str, int]
) -> Iterator[Notice]:
    """Remarks, each once with the pools that it is about; zones without a node; other objects."""
    about: dict[str, list[str]] = {}
    for pool in pools:
        for remark in pool.remarks:
            about.setdefault(remark, []).append(pool.name)
    for remark, names in about.items():
        yield Notice(code="pool", text=remark, objects=name_some(names))
    if unknown:
        kinds = conjoined([f"{n} {kind}" for kind, n in sorted(unknown.items())])
        text = f"among the pools are objects that are none, and are not used: {kinds}"
        yield Notice(code="unknownKind", text=text)
    there = {node.labels[ZONE] for node in nodes if ZONE in node.labels}
    new = dict.fromkeys(zone for pool in pools for zone in pool.zones if zone not in there)
    if there and new:
        text = f"the cluster has no node in {conjoined(list(new))}, where pools could add some"
        yield Notice(code="newZone", text=text)
