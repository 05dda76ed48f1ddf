"""Short ways to ask what happens, and what is worth comparing in the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.cli.app import main
from tests.objects import HOSTNAME, ZONE, Json, document, node, owned, pod, template, workload

BEFORE = "zone-outage-before"


def asked(*objects: Any, **options: Any) -> planner.WhatIf:
    """What happens to a cluster of these objects."""
    return planner.load(as_file(*objects)).whatif(**options)


def as_file(*objects: Any) -> Any:
    """An open file with these objects."""
    from io import BytesIO

    return BytesIO(document(*objects).data)


def waiting(found: planner.WhatIf) -> dict[str, int]:
    """Pods that do not run, by manner."""
    return {each.manner: each.seeds.most for each in found.manners}


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int | None = None) -> str:
    """What `planner whatif` prints."""
    ended = main(["whatif", *arguments])
    said = capsys.readouterr()
    if code is not None:
        assert ended == code, said.err or said.out
    return said.out + said.err


def deployed(
    name: str, nodes: list[str], *, spec: Json | None = None, replicas: int | None = None
) -> list[Json]:
    """A Deployment with its ReplicaSet and a pod on each of these nodes."""
    labels = {"app": name}
    made = template(labels, spec)
    number = len(nodes) if replicas is None else replicas
    selected = {"replicas": number, "selector": {"matchLabels": labels}, "template": made}
    hashed = {**selected, "template": {**made, "metadata": {"labels": {**labels, **HASH}}}}
    return [
        workload("Deployment", name, selected),
        workload("ReplicaSet", f"{name}-1", hashed, metadata=owned("Deployment", name)),
        *(
            pod(
                f"{name}-1-{index}",
                place,
                spec=made["spec"],
                metadata={"labels": {**labels, **HASH}, **owned("ReplicaSet", f"{name}-1")},
            )
            for index, place in enumerate(nodes)
        ),
    ]


HASH = {"pod-template-hash": "1"}


def spread(name: str, key: str = ZONE, skew: int = 1, **more: Any) -> Json:
    """A pod spec with one hard constraint over its own pods."""
    constraint = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
        **more,
    }
    return {"topologySpreadConstraints": [constraint]}


def zones(**sizes: int) -> list[Json]:
    """Nodes a1, a2, ... of zone a, and so on."""
    return [node(f"{zone}{i}", zone) for zone, n in sizes.items() for i in range(1, n + 1)]


def written(folder: Path, name: str, *objects: Any) -> str:
    """A file with these objects."""
    path = folder / name
    path.write_text(json.dumps({"kind": "List", "items": list(objects)}))
    return str(path)


__all__ = ["BEFORE", "HOSTNAME", "asked", "deployed", "run", "spread", "waiting", "zones"]
