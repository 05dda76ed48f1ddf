"""Pods by column: what many of them have in common is written once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import msgspec
import numpy as np

from planner.sources.kept.object_graph import GraphWriter, NotKeptError
from planner_models.pod import Pod

FIELDS = (
    *("namespace", "name", "spec", "labels", "annotations", "owner", "other_owners", "volumes"),
    *("uid", "node_name", "nominated_node_name", "phase", "terminating", "preempted", "ready"),
    *("created", "started", "qos_class", "reason", "container_states", "condition_kinds"),
    *("condition_times", "scheduler_message", "synthesised", "finalizers"),
)


class Column(msgspec.Struct, array_like=True):
    """One field of all pods: plain values, or the rows of a graph and which pod has which."""

    plain: list[str | int | None] | None = None
    rows: list[int] = []
    codes: bytes = b""


class PodColumns(msgspec.Struct, array_like=True):
    """The fields by name."""

    count: int
    columns: dict[str, Column]


def columns_of(pods: Sequence[Pod], graph: GraphWriter) -> PodColumns:
    """The pods; objects that they share go into the graph."""
    columns = {name: _column([getattr(pod, name) for pod in pods], graph) for name in FIELDS}
    return PodColumns(len(pods), columns)


def _column(values: list[Any], graph: GraphWriter) -> Column:
    words = all(type(value) in (str, int) or value is None for value in values)
    if words and 2 * len(set(values)) > len(values):
        return Column(plain=values)
    codes: dict[Any, int] = {}
    rows: list[int] = []
    coded = np.empty(len(values), "<i4")
    for i, value in enumerate(values):
        key = value if words else id(value)
        code = codes.get(key)
        if code is None:
            code = codes[key] = len(rows)
            rows.append(graph.number(value))
        coded[i] = code
    return Column(rows=rows, codes=b"" if len(rows) == 1 else coded.tobytes())


def pods_of(stored: PodColumns, objects: Sequence[Any]) -> list[Pod]:
    """The pods again."""
    if tuple(stored.columns) != FIELDS:
        raise NotKeptError("pods have other fields now")
    every = [_values(column, stored.count, objects) for column in stored.columns.values()]
    return [
        Pod(
            namespace=namespace,
            name=name,
            spec=spec,
            labels=labels,
            annotations=annotations,
            owner=owner,
            other_owners=other_owners,
            volumes=volumes,
            uid=uid,
            node_name=node_name,
            nominated_node_name=nominated_node_name,
            phase=phase,
            terminating=terminating,
            preempted=preempted,
            ready=ready,
            created=created,
            started=started,
            qos_class=qos_class,
            reason=reason,
            container_states=container_states,
            condition_kinds=condition_kinds,
            condition_times=condition_times,
            scheduler_message=scheduler_message,
            synthesised=synthesised,
            finalizers=finalizers,
        )
        for (
            namespace,
            name,
            spec,
            labels,
            annotations,
            owner,
            other_owners,
            volumes,
            uid,
            node_name,
            nominated_node_name,
            phase,
            terminating,
            preempted,
            ready,
            created,
            started,
            qos_class,
            reason,
            container_states,
            condition_kinds,
            condition_times,
            scheduler_message,
            synthesised,
            finalizers,
        ) in zip(*every, strict=True)
    ]


def _values(column: Column, count: int, objects: Sequence[Any]) -> Iterable[Any]:
    if column.plain is not None:
        return column.plain
    found = [objects[row] for row in column.rows]
    if not column.codes:
        return repeat(found[0], count) if count else ()
    codes: Iterator[int] = iter(np.frombuffer(column.codes, "<i4").tolist())
    return map(found.__getitem__, codes)
