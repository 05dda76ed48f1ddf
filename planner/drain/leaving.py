"""Which pods have to leave the nodes, which stay there anyway, and which may not be evicted.

As `kubectl drain --ignore-daemonsets` has it: pods of DaemonSets and static pods stay with their
node and are no obstacle. A pod without a controller is evicted only with `--force`, and nobody
makes it anew then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cluster import Cluster
from planner.disruption.budgets import Allowances
from planner.disruption.movability import WHY, WITH_THEIR_NODE, Movability, Stay
from planner.drain.options import DrainOptions

NOT_SELECTED = "--pod-selector leaves it out"


@dataclass(frozen=True, eq=False)
class Leaving:
    """The pods of the nodes: `going` are evicted and come back elsewhere, `lost` ones do not.

    `kept` may not be evicted, each with the reason; `stays` are no obstacle.
    """

    going: tuple[int, ...]
    lost: tuple[int, ...]
    kept: Mapping[int, Stay]
    stays: Mapping[int, str]

    @property
    def number(self) -> int:
        """How many pods have to leave."""
        return len(self.going) + len(self.lost) + len(self.kept)


def leaving_pods(cluster: Cluster, options: DrainOptions, budgets: Allowances) -> Leaving:
    """The pods of the nodes, sorted by what becomes of them."""
    movability = Movability(cluster, options.policy, budgets)
    going: list[int] = []
    lost: list[int] = []
    kept: dict[int, Stay] = {}
    stays: dict[int, str] = {}
    for pod in np.flatnonzero(np.isin(cluster.node_of, options.nodes)).tolist():
        why = movability.why(pod)
        if why is not None and why.kind in WITH_THEIR_NODE:
            stays[pod] = WHY[why.kind]
        elif options.pods is not None and pod not in options.pods:
            stays[pod] = NOT_SELECTED
        elif why is not None:
            kept[pod] = why
        elif cluster.pods[pod].owner is None:
            lost.append(pod)
        else:
            going.append(pod)
    gone, beyond = _within_budgets(lost, budgets)
    kept.update(dict.fromkeys(beyond, Stay("budget", WHY["budget"])))
    return Leaving(tuple(going), tuple(gone), kept, stays)


def _within_budgets(lost: Sequence[int], budgets: Allowances) -> tuple[list[int], list[int]]:
    """Those that budgets let go for good, and those beyond: nobody brings the first ones back."""
    taken: Counter[int] = Counter()
    found: tuple[list[int], list[int]] = ([], [])
    for pod in lost:
        numbers = [n for n in budgets.of_pod(pod) if budgets.each[n].budget]
        allowed = all(taken[n] < budgets.each[n].left for n in numbers)
        taken.update(numbers if allowed else ())
        found[not allowed].append(pod)
    return found
