"""Words about failures, which tables and pages share."""

from __future__ import annotations

from planner.words import count_of
from planner_models.whatif import WhatIfLoss, WhatIfRequested, WhatIfSeeds, WhatIfWorkload


def fails(loss: WhatIfLoss) -> str:
    """`eu-1c fails`, `a1 and a2 fail`."""
    return f"{loss.name} {'fails' if one_name(loss) else 'fail'}"


def one_name(loss: WhatIfLoss) -> bool:
    """Whether it is one thing that fails."""
    return " and " not in loss.name and not loss.name.endswith(" nodes")


def nodes_gone(loss: WhatIfLoss) -> str:
    """`its nodes are`, which somebody then removes."""
    if loss.kind == "node":
        return "it is" if len(loss.nodes) == 1 else "they are"
    if len(loss.nodes) == 1:
        return "its node is"
    return f"{'its' if one_name(loss) else 'their'} nodes are"


def number(seeds: WhatIfSeeds) -> str:
    """`12`, or `12 to 13` where ties matter."""
    return str(seeds.most) if seeds.least == seeds.most else f"{seeds.least} to {seeds.most}"


def percent(requested: WhatIfRequested) -> str:
    """`39%`."""
    return f"{round(100 * requested.used / max(1, requested.allocatable))}%"


def short(workload: str, *, kind: bool = True) -> str:
    """`deploy/web`, with its namespace unless that is `default`; without the kind `web`."""
    namespace, _, name = workload.partition("/")
    shown = name if kind else name.rpartition("/")[2]
    return shown if namespace == "default" else f"{namespace}/{shown}"


def duration(seconds: int) -> str:
    """`50 seconds`, `5 minutes`, `4 hours 38 minutes`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "hour"), (minutes, "minute"), (0 if hours else rest, "second")]
    return " ".join(count_of(n, noun) for n, noun in parts if n) or "0 seconds"


def hurt(each: WhatIfWorkload) -> bool:
    """Whether pods of the workload do not run then."""
    return each.missing > 0
