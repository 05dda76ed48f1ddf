"""Clusters behind the fake server, and ways to it that need no kubectl."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Mapping
from typing import Any

from planner.examples import example_path
from planner.sources.live.snapshot import LiveRead, read_snapshot

Json = dict[str, Any]

KUBE_SYSTEM: Json = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "kube-system", "uid": "1f0c2f5e-0000-4000-8000-000000000001"},
}


def example_objects(name: str = "zone-outage") -> list[Json]:
    """The objects of a cluster that ships with planner, as a server has them."""
    items: list[Json] = json.loads(example_path(name).read_bytes())["items"]
    return [*items, KUBE_SYSTEM]


def many_pods(count: int, nodes: int = 3) -> list[Json]:
    """Nodes, and running pods on them."""
    from tests.objects import node, pod

    machines = [node(f"node-{index}") for index in range(nodes)]
    pods = [pod(f"pod-{index:05}", f"node-{index % nodes}") for index in range(count)]
    return [*machines, *pods, KUBE_SYSTEM]


class Direct:
    """A way to a server without kubectl between."""

    place = "the cluster of context prod-eu"
    context = "prod-eu"
    namespace = "default"

    def __init__(self, address: str) -> None:
        self._host = address.removeprefix("http://")
        self.logins = 0

    def ready(self) -> None:
        """At once."""

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._host, timeout=10.0)

    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.logins}"}

    def log_in_again(self) -> None:
        self.logins += 1

    def login_help(self) -> str:
        return "kubectl get --raw /version --context prod-eu shows whether kubectl can log in"

    def close(self) -> None:
        """Nothing to end."""


def read(address: str, limit: int = 500, **options: Any) -> LiveRead:
    return read_snapshot(Direct(address), limit=limit, **options)


def names(items: Iterable[Any]) -> list[str]:
    return sorted(item.name for item in items)
