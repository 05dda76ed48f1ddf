"""How a Deployment scales its ReplicaSets: one look of its controller at a time.

As in Kubernetes v1.36 (`pkg/controller/deployment`). `maxSurge` rounds up, `maxUnavailable` down;
where both come to 0, one pod may be unavailable. A rolling update first scales the new ReplicaSet
up as far as the surge allows; only if that changes nothing it scales old ones down: first by the
pods that are not available, then by others as long as enough stay. `Recreate` waits until the last
old pod is gone. A Deployment that is scaled while it rolls out, or that is paused, scales all of
its ReplicaSets in proportion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner_models.policy import scaled, scaled_down
from planner_models.workload import Deployment


@dataclass(frozen=True)
class Strategy:
    """What a Deployment wants, in numbers of pods."""

    replicas: int
    surge: int = 0
    unavailable: int = 0
    recreate: bool = False
    paused: bool = False

    @property
    def least(self) -> int:
        """So many pods stay available."""
        return self.replicas - self.unavailable

    @property
    def most(self) -> int:
        """So many pods may be there."""
        return self.replicas + self.surge


@dataclass(frozen=True)
class Revision:
    """A ReplicaSet of a Deployment: how many pods it is to have, and what it has.

    `created` orders the ReplicaSets. `desired` and `most` are annotations that the Deployment
    leaves when it scales one: its replicas at that time, without the surge and with it.
    """

    name: str
    size: int = 0
    available: int = 0
    pods: int = 0
    """Those that are leaving not counted."""
    leaving: int = 0
    created: int = 0
    desired: int | None = None
    most: int | None = None
    exists: bool = True
    """The new ReplicaSet is made in the course of the rollout."""


Revisions = tuple[Revision, tuple[Revision, ...]]
"""The ReplicaSet with the Deployment's present template, and the others."""


def strategy_of(deployment: Deployment) -> Strategy:
    """The strategy in numbers of pods."""
    spec = deployment.spec
    if spec.strategy.type == "Recreate":
        return Strategy(spec.replicas, recreate=True, paused=spec.paused)
    rolling = spec.strategy.rolling_update
    surge = scaled(rolling.max_surge, spec.replicas)
    unavailable = scaled_down(rolling.max_unavailable, spec.replicas)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return Strategy(spec.replicas, surge, min(unavailable, spec.replicas), paused=spec.paused)


def look(strategy: Strategy, new: Revision, old: Iterable[Revision]) -> Revisions:
    """The ReplicaSets after the controller has looked at them once; equal if nothing is to do."""
    before = tuple(sorted(old, key=_age))
    if strategy.paused or _is_scaled(strategy, (*before, new)):
        return _in_proportion(strategy, new, before)
    if strategy.recreate:
        return _recreated(strategy, new, before)
    return _rolled(strategy, new, before)


def _age(revision: Revision) -> tuple[int, str]:
    return revision.created, revision.name


def _resized(
    strategy: Strategy, revision: Revision, size: int, *, anyhow: bool = False
) -> Revision:
    """With another size and its annotations; `anyhow` even if the size stays the same."""
    if size == revision.size and not anyhow:
        return revision
    return replace(revision, size=size, desired=strategy.replicas, most=strategy.most, exists=True)


# Rolling updates


def _rolled(strategy: Strategy, new: Revision, old: tuple[Revision, ...]) -> Revisions:
    """A new ReplicaSet that was just made does not end the look; one that was scaled does."""
    size = _new_size(strategy, new, old)
    if not new.exists:
        new = _resized(strategy, new, size, anyhow=True)
    elif size != new.size:
        return _resized(strategy, new, size), old
    return new, _old_scaled_down(strategy, new, old)


def _new_size(strategy: Strategy, new: Revision, old: Sequence[Revision]) -> int:
    if new.size >= strategy.replicas:
        return strategy.replicas
    room = strategy.most - new.size - sum(each.size for each in old)
    return new.size + max(0, min(room, strategy.replicas - new.size))


def _old_scaled_down(
    strategy: Strategy, new: Revision, old: tuple[Revision, ...]
) -> tuple[Revision, ...]:
    """Unhealthy pods go first; new pods that are not available keep as many old ones alive."""
    everybody = new.size + sum(each.size for each in old)
    room = everybody - strategy.least - (new.size - new.available)
    if room <= 0 or not any(each.size for each in old):
        return old
    cleaned: list[Revision] = []
    for each in old:
        fewer = min(room, max(0, each.size - each.available))
        cleaned.append(_resized(strategy, each, each.size - fewer))
        room -= fewer
    spare = new.available + sum(each.available for each in old if each.size) - strategy.least
    scaled_down: list[Revision] = []
    for each in cleaned:
        fewer = min(max(0, spare), each.size)
        scaled_down.append(_resized(strategy, each, each.size - fewer))
        spare -= fewer
    return tuple(scaled_down)


# Recreate


def _recreated(strategy: Strategy, new: Revision, old: tuple[Revision, ...]) -> Revisions:
    if any(each.size for each in old):
        return new, tuple(_resized(strategy, each, 0) for each in old)
    if any(each.pods or each.leaving for each in old):
        return new, old
    return _resized(strategy, new, strategy.replicas, anyhow=not new.exists), old


# Scaling in the middle, and while paused


def _is_scaled(strategy: Strategy, revisions: Iterable[Revision]) -> bool:
    """Whether the Deployment has other replicas now than when it last scaled a ReplicaSet."""
    return any(
        each.size and each.desired is not None and each.desired != strategy.replicas
        for each in revisions
    )


def _in_proportion(strategy: Strategy, new: Revision, old: tuple[Revision, ...]) -> Revisions:
    active = [each for each in (*old, new) if each.size]
    sizes: dict[str, Revision] = {}
    if len(active) <= 1:
        only = active or [new] * new.exists or list(old[-1:])
        sizes = {each.name: _resized(strategy, each, strategy.replicas) for each in only}
    elif _saturated(strategy, new):
        sizes = {each.name: _resized(strategy, each, 0) for each in old}
    elif not strategy.recreate:
        status = sum(each.pods for each in (*old, new))
        shares = _shares(strategy, active, status)
        sizes = {e.name: _resized(strategy, e, shares[e.name], anyhow=True) for e in active}
    return sizes.get(new.name, new), tuple(sizes.get(each.name, each) for each in old)


def _saturated(strategy: Strategy, new: Revision) -> bool:
    return new.size == new.desired == new.available == strategy.replicas


def _shares(strategy: Strategy, active: Sequence[Revision], status: int) -> dict[str, int]:
    """The new sizes: by the part of all pods that each has, the rest to the largest."""
    allowed = strategy.most if strategy.replicas else 0
    more = allowed - sum(each.size for each in active)
    oldest_first = sorted(active, key=_age)
    if more > 0:
        oldest_first.reverse()
    order = sorted(oldest_first, key=lambda each: -each.size)
    open_, sizes = more, {}
    for each in order:
        share = _share(strategy, each, status)
        share = min(share, open_) if more > 0 else max(share, open_)
        if not open_:
            share = 0
        sizes[each.name] = each.size + share
        open_ -= share
    largest = order[0].name
    sizes[largest] = max(0, sizes[largest] + open_)
    return sizes


def _share(strategy: Strategy, each: Revision, status: int) -> int:
    """How many more pods keep the ReplicaSet's part of the whole; rounded half up."""
    if not strategy.replicas:
        return -each.size
    before = each.most or status
    if not before:
        return 0
    return (2 * each.size * strategy.most + before) // (2 * before) - each.size
