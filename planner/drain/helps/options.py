"""What `--force` and `--delete-emptydir-data` would do: both lose something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from planner.drain.blocked import Obstacle
from planner.drain.find import Drain
from planner.drain.helps.carried_out import carried_out, outcome
from planner.words import count_of
from planner_models.diagnosis import Repair
from planner_models.drain import BlockedBy

COST = 60
FLAGS: Mapping[BlockedBy, str] = {
    "barePod": "--force",
    "localStorage": "--delete-emptydir-data",
}
LOST = {
    "--force": "pod does not come back",
    "--delete-emptydir-data": "pod loses its data",
}
LOST_SEVERAL = {
    "--force": "pods do not come back",
    "--delete-emptydir-data": "pods lose their data",
}


def propose(drain: Drain, obstacles: Sequence[Obstacle]) -> Iterator[Repair]:
    """The options that the pods need, if nothing else stands in the way."""
    pods: dict[str, int] = {}
    for each in obstacles:
        if each.by in FLAGS:
            pods[FLAGS[each.by]] = pods.get(FLAGS[each.by], 0) + len(each.pods)
    if not pods:
        return
    asked = replace(
        drain.options,
        force=drain.options.force or "--force" in pods,
        delete_emptydir_data=drain.options.delete_emptydir_data or "--delete-emptydir-data" in pods,
    )
    found = carried_out(drain, options=asked)
    if found is not None:
        notes = [count_of(n, LOST[flag], LOST_SEVERAL[flag]) for flag, n in pods.items()]
        yield Repair(
            kind="drainOption",
            object="planner drain",
            cost=COST,
            data_loss=True,
            text=" ".join(pods),
            then=outcome(found),
            notes=tuple(notes),
        )
