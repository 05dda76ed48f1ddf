"""The `DrainPlan` of `--most`: the nodes that can go, what that saves, and what is at risk then."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from planner.cluster import Cluster
from planner.documents.drain_plan import drain_plan
from planner.documents.drain_rounds import at_once, evictions_of
from planner.drain.empty_nodes import state_after
from planner.drain.most import MostAnswer, SavedSet
from planner.scenario.single_failures import Failing, without_nodes
from planner.words import count_of
from planner_models import drain as model
from planner_models.drain import DrainPlan
from planner_models.node import CONTROL_PLANE
from planner_models.notice import Notice
from planner_models.resources import CPU


def most_plan(found: MostAnswer, keep: str | None, pod_selector: str | None = None) -> DrainPlan:
    """The drain of the set that was chosen, with what is known about it."""
    most, asked = found.most, found.asked
    plan = drain_plan(most.drain, pod_selector, kubectl=False)
    limited = at_once(found.at_once, found.start.resources.names)
    return plan.model_copy(
        update={
            "options": plan.options.model_copy(
                update={"most": True, "keep": keep, "survive": asked.survive}
            ),
            "status": "possible",
            "notices": (*plan.notices, *_control_plane(found.start)),
            "evictions": tuple(evictions_of([plan])),
            "most": model.MostNodes(
                of=len(found.start.nodes),
                bound=most.bound if asked.unit is None else None,
                optimal=most.proven,
                sets_tried=most.sets_tried,
                at_once=limited if limited.most == len(most.drain.aim.drained) else None,
            ),
            "savings": _savings(found),
            "after": model.AfterDrain(
                requested=_requested(found),
                sets=tuple(_set(found, each) for each in found.sets),
            ),
        }
    )


def _control_plane(cluster: Cluster) -> Iterator[Notice]:
    """Its nodes often look empty, for their pods are mirrors of files; they are no spares."""
    names = tuple(node.name for node in cluster.nodes if CONTROL_PLANE in node.labels)
    if names:
        nodes = count_of(len(names), "node")
        text = f"{nodes} of the control plane may not go; name them to drain them"
        yield Notice(code="controlPlaneKept", text=text, objects=names)


def _savings(found: MostAnswer) -> model.Savings | None:
    unit, prices = found.asked.unit, found.asked.prices
    if unit is None:
        return None
    return model.Savings(
        per_hour=_money(found.most.price, unit),
        of=_money(sum(prices.values()), unit),
        bound=_money(found.most.bound, unit),
    )


def _money(price: int, unit: Decimal) -> float:
    return float(price * unit)


def _requested(found: MostAnswer) -> float:
    """The part of the CPU of the nodes that stay which is requested then."""
    drain = found.most.drain
    left: Cluster = without_nodes(state_after(drain), drain.aim.drained)
    column = left.resources.column(CPU)
    return float(left.used[:, column].sum() / max(1, left.resources.allocatable[:, column].sum()))


def _set(found: MostAnswer, each: SavedSet) -> model.SavedNodes:
    unit = found.asked.unit
    return model.SavedNodes(
        nodes=tuple(found.start.nodes[node].name for node in each.nodes),
        nodes_left=len(found.start.nodes) - len(each.nodes),
        evictions=each.evictions,
        waves=each.waves,
        per_hour=None if unit is None else _money(each.price, unit),
        node=_waiting(each, "node"),
        zone=_waiting(each, "zone"),
        survives=each.survives,
    )


def _waiting(each: SavedSet, kind: Failing) -> model.Waiting | None:
    if kind not in each.waiting:
        return None
    least, most = each.waiting[kind]
    return model.Waiting(least=least, most=most)
