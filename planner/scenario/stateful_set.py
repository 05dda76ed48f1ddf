"""What a StatefulSet does with its pods: one look of its controller at a time.

As in Kubernetes v1.36 (`pkg/controller/statefulset`). Missing pods are made from the lowest ordinal
up, surplus ones deleted from the highest down, and only then pods of an old revision are deleted,
again from the highest ordinal down to `partition`. `OrderedReady` does one thing at a time and
waits for every pod to be ready in between; `Parallel` does not wait to make and to delete surplus
pods. An update goes one pod at a time in both, unless the API server stores `maxUnavailable`: the
feature behind it is off by default. `OnDelete` leaves it to others to delete pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from planner_models.policy import scaled_down
from planner_models.workload import StatefulSet

State = Literal["ready", "unready", "terminating"]


@dataclass(frozen=True)
class Policy:
    """What a StatefulSet wants; without `unavailable` the number is not stored."""

    replicas: int
    start: int = 0
    partition: int = 0
    unavailable: int | None = None
    parallel: bool = False
    on_delete: bool = False

    @property
    def ordinals(self) -> range:
        """The ordinals that have a pod."""
        return range(self.start, self.start + self.replicas)

    @property
    def updated(self) -> range:
        """The ordinals of the new revision, once an update has ended."""
        return self.ordinals[self.partition :]


@dataclass(frozen=True)
class Replica:
    """The pod of one ordinal; `updated` if it is of the new revision."""

    state: State
    updated: bool = False


@dataclass(frozen=True)
class Acts:
    """Ordinals whose pods are made, and those whose pods are deleted."""

    made: tuple[int, ...] = ()
    deleted: tuple[int, ...] = ()


def policy_of(stateful_set: StatefulSet) -> Policy:
    """Policies in numbers of pods; a percentage rounds down, but never to nothing."""
    spec = stateful_set.spec
    rolling = spec.update_strategy.rolling_update
    unavailable = None if rolling is None else rolling.max_unavailable
    if unavailable is not None:
        unavailable = max(1, scaled_down(unavailable, spec.replicas))
    return Policy(
        replicas=spec.replicas,
        start=spec.ordinals.start,
        partition=0 if rolling is None else rolling.partition,
        unavailable=unavailable,
        parallel=spec.pod_management_policy == "Parallel",
        on_delete=spec.update_strategy.type == "OnDelete",
    )


def look(policy: Policy, replicas: Mapping[int, Replica]) -> Acts:
    """What the controller does when it sees these pods; nothing if it waits or is done."""
    missing = tuple(each for each in policy.ordinals if each not in replicas)
    surplus = sorted(replicas.keys() - set(policy.ordinals), reverse=True)
    if policy.parallel:
        living = tuple(each for each in surplus if replicas[each].state != "terminating")
        return Acts(missing, (*living, *_outdated(policy, replicas)))
    for each in policy.ordinals:
        if each not in replicas:
            return Acts(made=(each,))
        if replicas[each].state != "ready":
            return Acts()
    if surplus:
        return Acts(deleted=_first_surplus(surplus, replicas))
    return Acts(deleted=_outdated(policy, replicas))


def _first_surplus(surplus: list[int], replicas: Mapping[int, Replica]) -> tuple[int, ...]:
    """The highest one, if it is ready; or if it is the lowest of all that are not."""
    first = surplus[0]
    unready = [each for each in surplus if replicas[each].state != "ready"]
    if replicas[first].state == "terminating" or (first in unready and first != unready[-1]):
        return ()
    return (first,)


def _outdated(policy: Policy, replicas: Mapping[int, Replica]) -> tuple[int, ...]:
    """Pods of an old revision that go now; one that is missing or made just now is not ready."""
    if policy.on_delete:
        return ()
    if policy.unavailable is None:
        return _highest(policy, replicas)
    ready = sum(o in replicas and replicas[o].state == "ready" for o in policy.ordinals)
    allowed = policy.unavailable - (policy.replicas - ready)
    old = [o for o in reversed(policy.updated) if _is_old(replicas.get(o))]
    return tuple(old[: max(0, allowed)])


def _highest(policy: Policy, replicas: Mapping[int, Replica]) -> tuple[int, ...]:
    """The highest one, once all above it are ready; whether it is ready itself is not asked."""
    for each in reversed(policy.updated):
        found = replicas.get(each)
        if _is_old(found):
            return (each,)
        if found is None or found.state != "ready":
            return ()
    return ()


def _is_old(replica: Replica | None) -> bool:
    return replica is not None and not replica.updated and replica.state != "terminating"
