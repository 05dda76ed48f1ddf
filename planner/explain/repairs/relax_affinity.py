"""relaxAffinity: give up what the pod asks of its node, or of the pods around it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.inter_pod_affinity import selector_words
from planner.explain.rules.node_affinity import requirement_words
from planner.explain.situation.overlay import Overlay, SpecEdit
from planner.words import short_key
from planner_models.affinity import REQUIRED, NodeAffinity, PodAffinity
from planner_models.pod import PodSpec
from planner_models.selectors import NodeSelector, NodeSelectorTerm

_NODES = ("affinity", "nodeAffinity", REQUIRED)
_PODS = ("affinity", "podAffinity", REQUIRED)


def propose(case: Case) -> Iterator[Proposal]:
    """Each entry, expression and term by itself, then all of a kind."""
    kinds = {rule.kind for rule in case.rules}
    if "nodeAffinity" in kinds:
        yield from _selector(case)
        yield from _node_affinity(case)
    if "podAffinity" in kinds:
        yield from _pod_affinity(case)


def _selector(case: Case) -> Iterator[Proposal]:
    selector = sorted(case.subject.group.spec.node_selector.items())
    for key, value in selector:
        op = Op("remove", ("nodeSelector", key), None, value)
        text = f"nodeSelector: drop {key}={value}"
        yield _drop(case, f"spec.nodeSelector[{key}]", text, _without_entry(key), op, value)
    if len(selector) > 1:
        op = Op("remove", ("nodeSelector",), None, dict(selector))
        yield _drop(case, "spec.nodeSelector", "drop nodeSelector", _no_selector, op, extra=5)


def _node_affinity(case: Case) -> Iterator[Proposal]:
    required = case.subject.group.spec.affinity.node_affinity.required
    if required is None:
        return
    field, op = f"spec.{'.'.join(_NODES)}", Op("remove", _NODES, None, "...")
    yield _drop(case, field, "drop required node affinity", _no_node_affinity, op)
    for t, term in enumerate(required.node_selector_terms):
        if len(term.match_expressions) + len(term.match_fields) < 2:
            continue
        for e, expression in enumerate(term.match_expressions):
            path = (*_NODES, "nodeSelectorTerms", t, "matchExpressions", e)
            asked = requirement_words(expression)
            old = expression.model_dump(mode="json", by_alias=True)
            yield _drop(
                case,
                f"{field}.nodeSelectorTerms[{t}].matchExpressions[{e}]",
                f"node affinity: drop {asked}",
                _without_expression(t, e),
                Op("remove", path, None, old),
                asked,
            )


def _pod_affinity(case: Case) -> Iterator[Proposal]:
    terms = case.subject.group.spec.affinity.pod_affinity.required
    field, op = f"spec.{'.'.join(_PODS)}", Op("remove", _PODS, None, "...")
    yield _drop(case, field, "drop required pod affinity", _no_pod_affinity, op)
    for index, term in enumerate(terms if len(terms) > 1 else ()):
        asked = f"{selector_words(term.label_selector)} by {short_key(term.topology_key)}"
        text = f"pod affinity: drop {asked}"
        op = Op("remove", (*_PODS, index), None, {"topologyKey": term.topology_key})
        yield _drop(case, f"{field}[{index}]", text, _without_term(index), op, asked)


def _drop(
    case: Case,
    field: str,
    text: str,
    edit: SpecEdit,
    op: Op,
    before: JsonValue = "required",
    extra: int = 0,
) -> Proposal:
    return Proposal(
        kind="relaxAffinity",
        object=case.owner,
        field=field,
        before=before,
        after=None,
        text=text,
        cost=case.costs["relaxAffinity"] + extra,
        overlay=Overlay(edits=(edit,)),
        restarts=case.restarts,
        notes=(case.rollout,),
        ops=case.ops(op),
    )


def _without_entry(key: str) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        return spec.replace(node_selector={k: v for k, v in spec.node_selector.items() if k != key})

    return edit


def _without_expression(term: int, index: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        nodes = spec.affinity.node_affinity
        assert nodes.required is not None
        terms = list(nodes.required.node_selector_terms)
        kept = tuple(e for i, e in enumerate(terms[term].match_expressions) if i != index)
        terms[term] = NodeSelectorTerm(
            match_expressions=kept, match_fields=terms[term].match_fields
        )
        required = NodeSelector(node_selector_terms=tuple(terms))
        changed = spec.affinity.replace(node_affinity=nodes.replace(required=required))
        return spec.replace(affinity=changed)

    return edit


def _without_term(index: int) -> SpecEdit:
    def edit(spec: PodSpec) -> PodSpec:
        near = spec.affinity.pod_affinity
        left = tuple(term for i, term in enumerate(near.required) if i != index)
        changed = spec.affinity.replace(pod_affinity=near.replace(required=left))
        return spec.replace(affinity=changed)

    return edit


def _no_selector(spec: PodSpec) -> PodSpec:
    return spec.replace(node_selector={})


def _no_node_affinity(spec: PodSpec) -> PodSpec:
    kept = NodeAffinity(preferred=spec.affinity.node_affinity.preferred)
    return spec.replace(affinity=spec.affinity.replace(node_affinity=kept))


def _no_pod_affinity(spec: PodSpec) -> PodSpec:
    kept = PodAffinity(preferred=spec.affinity.pod_affinity.preferred)
    return spec.replace(affinity=spec.affinity.replace(pod_affinity=kept))
