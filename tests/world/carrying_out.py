"""Plans carried out in a world, as their scripts do, and what became of its pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from planner_models.evictions import EvictionWave, PlannedEviction
from tests.world.world import RefusedError, World, leaving, owner_reference


def idle_world(start: World, seed: int) -> World:
    """What becomes of the world if nobody does anything."""
    world = start.again(seed)
    world.settle()
    return world


def places(world: World) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["spec"].get("nodeName", "") for pod in world.pods}


def carry_out(
    world: World,
    waves: Sequence[EvictionWave],
    evictions: Sequence[PlannedEviction],
    converges: bool,
) -> None:
    """Wave by wave as the script does: cordon, evict, wait, lift.

    A plan that is not said to converge may meet a refusal, where the script stops.
    """
    world.settle()
    drive_offs = len(world.preempted)
    held: tuple[str, ...] = ()
    uids = {each.pod: each.uid for each in evictions}
    for wave in waves:
        for node in (*wave.drain, *wave.cordon):
            world.cordon(node, on=True)
        for node in set(held) - set(wave.cordon):
            world.cordon(node, on=False)
        order = list(wave.evictions)
        world.random.shuffle(order)
        try:
            for pod in order:
                world.evict(pod, uids[pod])
        except RefusedError:
            if converges:
                raise
            world.settle()
            return
        world.settle()
        held = wave.cordon if wave.hold else ()
        for node in () if wave.hold else wave.cordon:
            world.cordon(node, on=False)
        world.settle()
    if converges:
        assert world.preempted[drive_offs:] == []


def lost_pods(idle: World, now: World) -> Counter[str]:
    """Pods per owner that would still be there and have no successor."""
    return _pods(idle) - _pods(now)


def _pods(world: World) -> Counter[str]:
    owners = (owner_reference(pod) for pod in world.pods if not leaving(pod))
    return Counter("" if owner is None else f"{owner['kind']}/{owner['name']}" for owner in owners)
