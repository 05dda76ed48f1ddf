"""NodePorts: two pods of a node can't have the same host port.

A port (protocol, number) on an address is a resource of which a node has one; a pod that takes it
on every address (0.0.0.0) takes it on each. So for each node and each address that some pod names:

    sum of y over groups with the port on this address or on all <= 1, wherever one of them lands

Terminating pods hold their ports.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from planner.solver.model.linear import Linear
from planner.solver.model.model import Model

ANY_ADDRESS = "0.0.0.0"


def add(model: Model) -> None:
    """One row per node, port and address."""
    with model.rule("NodePorts"):
        for users in _users(model):
            _add_port(model, users)


def _users(model: Model) -> list[list[int]]:
    """The groups that can't share a node, for each port and address."""
    by_port: dict[tuple[str, int], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for group in model.problem.cluster.groups:
        for address, protocol, port in group.spec.host_ports:
            by_port[protocol, port][address].add(group.index)
    found: list[list[int]] = []
    for _, by_address in sorted(by_port.items()):
        everywhere = by_address.get(ANY_ADDRESS, set())
        named = [users for address, users in sorted(by_address.items()) if address != ANY_ADDRESS]
        found += [sorted(users | everywhere) for users in named or [set[int]()]]
    return found


def _add_port(model: Model, users: list[int]) -> None:
    nodes = np.arange(len(model.problem.cluster.nodes))
    size = len(nodes)
    sums = model.by_domain(users, nodes, size)
    landing = model.arrivals_by_domain(users, nodes, size)
    fixed = model.fixed_by_domain(users, nodes, size, terminating=True)
    now = fixed + model.now_by_domain(users, nodes, size)
    for node in range(size):
        if sums[node].vars:
            used = sums[node].plus(Linear(constant=int(fixed[node])))
            model.shared(used, landing[node], 1, int(now[node]))
