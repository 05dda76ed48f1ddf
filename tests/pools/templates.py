"""Templates of pools, as users write them."""

from __future__ import annotations

from tests.objects import Json


def pool(name: str, cpu: str = "2", memory: str = "8Gi", **annotations: str) -> Json:
    """A Node object with annotations of planner: `price`, `min`, `max`, `zones`."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {f"planner/{key}": value for key, value in annotations.items()},
        },
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}},
    }
