from __future__ import annotations

from benchmarks.drift import Workload, machine, pods_of
from planner.cluster import build_cluster
from planner.solver.large.carry_out import carry_out
from planner.solver.large.classes import sizes_of
from planner.solver.large.master_problem import Column
from planner.solver.large.node_states import room_of
from planner.solver.large.prices import market_of
from planner.solver.large.state import start
from planner.sources.inventory import Inventory
from tests.solver.large_clusters import rebalancing


def test_a_column_with_two_pods_lands_one_where_a_rule_about_hosts_allows_no_second() -> None:
    machines = tuple(machine(i, i % 3, 0) for i in range(3))
    apart = Workload(2, 1000, 1024, (0, 1, 2, 3), zone=False, host=True)
    pods = tuple(pods_of(machines, [apart], [[]], [2]))
    state = start(rebalancing(build_cluster(Inventory(nodes=machines, pods=pods))))
    (task,) = [task for task in state.tasks.values() if task.waiting]
    market = market_of(room_of(state), sizes_of(state, [task], []))
    task.hand += task.waiting

    carry_out(state, market, [Column(0, int(market.room.first[0]), ((0, 2),), 0)])

    assert (task.now, task.hand) == ({0: 1}, 1)
