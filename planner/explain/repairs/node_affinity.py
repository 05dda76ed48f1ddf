"""relaxAffinity, of nodes: what the pod asks of its node is given up, one wish or all of them."""

from __future__ import annotations

from collections.abc import Iterator

from planner.explain.repairs.commands import Op
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.rules.node_affinity import NodeAffinityRule, requirement_words
from planner.explain.situation.overlay import SpecEdit
from planner_models.affinity import REQUIRED, NodeAffinity
from planner_models.pod import PodSpec
from planner_models.selectors import NodeSelector, NodeSelectorTerm

_PATH = ("affinity", "nodeAffinity", REQUIRED)
_FIELD = f"spec.{'.'.join(_PATH)}"


def drop_node_affinity(case: Case, rule: NodeAffinityRule) -> Iterator[Proposal]:
    """Each entry of the selector and each expression by itself, and all of a kind."""
    yield from _selector(case)
    yield from _affinity(case)


def _selector(case: Case) -> Iterator[Proposal]:
    selector = dict(sorted(case.subject.group.spec.node_selector.items()))
    for key, value in selector.items():
        yield case.spec_change(
            "relaxAffinity",
            f"spec.nodeSelector[{key}]",
            f"nodeSelector: drop {key}={value}",
            [_selecting({k: v for k, v in selector.items() if k != key})],
            [Op("remove", ("nodeSelector", key), None, value)],
            before=value,
        )
    if len(selector) > 1:
        yield case.spec_change(
            "relaxAffinity",
            "spec.nodeSelector",
            "drop nodeSelector",
            [_selecting({})],
            [Op("remove", ("nodeSelector",), None, dict(selector))],
            before="required",
            extra=5,
        )


def _selecting(selector: dict[str, str]) -> SpecEdit:
    return lambda spec: spec.replace(node_selector=selector)


def _affinity(case: Case) -> Iterator[Proposal]:
    required = case.subject.group.spec.affinity.node_affinity.required
    if required is None:
        return
    text, op = "drop required node affinity", Op("remove", _PATH, None, "...")
    yield case.spec_change("relaxAffinity", _FIELD, text, [_without], [op], before="required")
    for t, term in enumerate(required.node_selector_terms):
        if len(term.match_expressions) + len(term.match_fields) < 2:
            continue
        for e, expression in enumerate(term.match_expressions):
            asked = requirement_words(expression)
            path = (*_PATH, "nodeSelectorTerms", t, "matchExpressions", e)
            old = expression.model_dump(mode="json", by_alias=True)
            yield case.spec_change(
                "relaxAffinity",
                f"{_FIELD}.nodeSelectorTerms[{t}].matchExpressions[{e}]",
                f"node affinity: drop {asked}",
                [_without_expression(t, e)],
                [Op("remove", path, None, old)],
                before=asked,
            )


def _without(spec: PodSpec) -> PodSpec:
    kept = NodeAffinity(preferred=spec.affinity.node_affinity.preferred)
    return spec.replace(affinity=spec.affinity.replace(node_affinity=kept))


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
