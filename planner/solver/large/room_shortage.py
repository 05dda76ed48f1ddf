"""Where only room is in the way: nodes are rearranged a few at a time, see `packing.rearrange`.

That also says how many pods can be placed at the most.
"""

from __future__ import annotations

from planner.solver.large.incumbent import Incumbent
from planner.solver.large.state import State
from planner.solver.packing.question import Stock, stock_of
from planner.solver.packing.rearrange import Budget, Rearranging


def rearrange(fresh: State, best: Incumbent) -> None:
    """Offer a better state, also if Ctrl-C comes, and prove how many pods no state places."""
    stock = stock_of(fresh.problem)
    if stock is None:
        return
    options = fresh.problem.options
    search = Rearranging(stock, stock.now, options.seed, most_moves=options.max_moves)
    priorities = sorted({t.priority for t in fresh.tasks.values() if t.waiting}, reverse=True)
    ranks = [stock.priorities.index(priority) for priority in priorities]
    everybody = stock.placed(stock.total[:, None])

    def unplaced(placed: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(everybody[rank] - placed[rank] for rank in ranks)

    best.prove_unplaced(unplaced(search.most))
    budget = Budget(best.clock.left, best.clock.until)
    try:
        search.run(budget, lambda placed: best.announce(unplaced(placed)))
    finally:
        best.clock.spent += budget.spent
        best.offer(_restated(fresh, stock, search))


def _restated(fresh: State, stock: Stock, search: Rearranging) -> State:
    """The packing as a state; who has no node there is in hand."""
    state = fresh.copy()
    by_group: dict[int, dict[int, int]] = {group: {} for group in state.tasks}
    for (group, node), pods in stock.state(search.counts).items():
        by_group[group][node] = pods
    for group, nodes in by_group.items():
        task = state.tasks[group]
        task.hand += task.waiting
        state.put(task, nodes)
    return state
