"""The `DrainPlan` of a rolling drain: its rounds, its bounds, and the choices there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from planner.documents.drain_plan import drain_plan
from planner.drain.choices import Choice
from planner.drain.empty_nodes import EmptyingNodes
from planner.drain.fewest_rounds import AtOnce
from planner.drain.find import Drain
from planner.drain.rolling import RollingDrain, RollingOptions
from planner.replay.trial_work import USUAL_SEEDS
from planner_models import drain as model
from planner_models.drain import DrainPlan
from planner_models.notice import Notice


def rolling_plan(
    found: RollingDrain, asked: RollingOptions, pod_selector: str | None = None
) -> DrainPlan:
    """All rounds in one document."""
    rolling, names = found.rolling, [node.name for node in found.rolling.start.nodes]
    parts = [drain_plan(each, pod_selector, kubectl=False) for each in rolling.rounds]
    blocked = None if found.blocked is None else drain_plan(found.blocked, pod_selector)
    base = blocked or (parts[0] if parts else drain_plan(_nothing(found), pod_selector))
    return base.model_copy(
        update={
            "nodes": tuple(found.given.nodes[node].name for node in found.options.nodes),
            "options": base.options.model_copy(
                update={
                    "rolling": True,
                    "seeds": found.options.seeds,
                    "nodes_at_once": asked.nodes_at_once,
                    "extra_nodes": asked.extra_nodes,
                }
            ),
            "status": _status(found),
            "rounds": tuple(_rounds(found, parts, names)),
            "evictions": tuple(evictions_of(parts)),
            "leaving": found.evictions,
            "bounds": _bounds(found),
            "choices": tuple(_choice(each) for each in found.choices),
            "kubectl": None,
            "budgets": _budgets(parts),
            "converges": all(part.converges for part in parts),
            "checked_seeds": min((part.checked_seeds for part in parts), default=0),
            "at_once": at_once(found.at_once, rolling.start.resources.names),
            "later": _later(found),
            "notices": (*base.notices, *fewer_seeds(found.options.seeds, parts)),
        }
    )


def fewer_seeds(asked: int | None, parts: Iterable[DrainPlan]) -> Iterator[Notice]:
    """Where a plan is too large for the usual number of seeds, that is said once."""
    seeds = min((part.checked_seeds for part in parts), default=USUAL_SEEDS)
    if asked is None and seeds < USUAL_SEEDS:
        text = f"large plan: {seeds} of the usual {USUAL_SEEDS} tie seeds tried"
        yield Notice(code="fewerSeeds", text=f"{text}; --seeds {USUAL_SEEDS} tries all")


def at_once(found: AtOnce, resources: tuple[str, ...]) -> model.AtOnce:
    """How many nodes can be empty together, and which domains say so."""
    domains = tuple(
        model.KeptInDomain(
            topology_key=need.key,
            domain=need.domain,
            keeps=need.kept,
            nodes=need.nodes,
            requested={
                name: int(amount)
                for name, amount in zip(resources, need.needed.tolist(), strict=True)
                if amount
            },
        )
        for need in found.needs
    )
    return model.AtOnce(most=found.most, domains=domains if found.explained else ())


def _nothing(found: RollingDrain) -> Drain:
    """A drain of no nodes stands for rounds that did not begin."""
    return EmptyingNodes(found.given, found.profile, found.options).empty(())


def _status(found: RollingDrain) -> model.DrainStatus:
    if found.rolling.possible:
        return "possible"
    impossible = found.blocked is not None and found.blocked.status == "impossible"
    return "impossible" if impossible or found.too_many else "undecided"


def _rounds(
    found: RollingDrain, parts: list[DrainPlan], names: list[str]
) -> Iterator[model.DrainRound]:
    for number, part in enumerate(parts):
        extra = tuple(names[node] for node in found.rolling.extra) if number == 0 else ()
        (each,) = part.rounds
        waves = each.waves
        if extra and waves:
            old = tuple(found.given.nodes[node].name for node in found.options.nodes)
            waves = (waves[0].model_copy(update={"drain": old}), *waves[1:])
        changed = {"extra_nodes": extra, "uncordon": each.nodes, "waves": waves}
        yield each.model_copy(update=changed)


def evictions_of(parts: Iterable[DrainPlan]) -> Iterator[model.DrainEviction]:
    """Round by round; who was evicted before has another name by then."""
    seen: set[str] = set()
    for number, part in enumerate(parts, start=1):
        for each in part.evictions:
            again = each.pod in seen
            seen.add(each.pod)
            changed = {"round": number, "again": again, "uid": "" if again else each.uid}
            yield each.model_copy(update=changed)


def _bounds(found: RollingDrain) -> model.DrainBounds:
    waves, tightest = 1, None
    if found.tightest is not None:
        budget, pods = found.tightest
        share = max(1, budget.left)
        waves = -(-pods // share)
        tightest = model.BudgetShare(budget=budget.name, pods=pods, at_once=share)
    return model.DrainBounds(
        evictions=found.evictions, waves=waves, rounds=found.rounds_at_least, tightest=tightest
    )


def _budgets(parts: list[DrainPlan]) -> tuple[model.DrainBudget, ...]:
    most: dict[str, model.DrainBudget] = {}
    for each in (budget for part in parts for budget in part.budgets):
        known = most.setdefault(each.budget, each)
        if each.down > known.down:
            most[each.budget] = each
    return tuple(most[name] for name in sorted(most))


def _choice(found: Choice) -> model.DrainChoice:
    plan = found.rolling
    done = plan.possible
    return model.DrainChoice(
        rounds=len(plan.rounds) if done else None,
        nodes_at_once=plan.shape.nodes_at_once,
        extra_nodes=plan.shape.extra_nodes,
        evictions=plan.evictions if done else None,
        waves=plan.waves if done else None,
        status=found.status,
        per_domain=found.per_domain,
        topology_key=found.key,
    )


def _later(found: RollingDrain) -> model.LaterRounds | None:
    later = found.later
    if later is None:
        return None
    return model.LaterRounds(rounds=later.rounds, nodes=later.nodes, evictions=later.evictions)
