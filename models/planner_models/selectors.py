"""Label selectors (of pods, namespaces) and node selectors: what they accept and what they match.

All are values: hashable and comparable, because matching results are cached by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from planner_models.base import KubeModel
from planner_models.labels import LabelKey, Labels, LabelValue, check_dns_subdomain

LabelOperator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
NodeOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
CanonicalSelector = tuple[tuple[str, str, tuple[str, ...]], ...]

_INTEGER = re.compile(r"[+-]?[0-9]{1,63}")


@lru_cache(maxsize=4096)
def _int64(text: str) -> int | None:
    """The number the scheduler reads from a label value for Gt and Lt, if it reads one."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


class _Requirement(KubeModel):
    """What label and node requirements share; `operator` precedes `values`, which it governs."""

    key: LabelKey
    operator: NodeOperator
    values: tuple[LabelValue, ...] = Field(default=(), validate_default=True)

    @field_validator("values")
    @classmethod
    def _fit_the_operator(cls, values: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        operator = info.data.get("operator")
        if operator in ("In", "NotIn") and not values:
            raise ValueError(f"must not be empty with operator {operator}")
        if operator in ("Exists", "DoesNotExist") and values:
            raise ValueError(f"must be empty with operator {operator}")
        if operator in ("Gt", "Lt") and len(values) != 1:
            raise ValueError(f"must be exactly one value with operator {operator}")
        return values

    @cached_property
    def _value_set(self) -> frozenset[str]:
        return frozenset(self.values)

    @property
    def unreadable(self) -> bool:
        """Whether Gt or Lt names no integer: the API server stores that, and no node matches it."""
        return self.operator in ("Gt", "Lt") and _int64(self.values[0]) is None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """NotIn and DoesNotExist match when the key is absent; Gt and Lt only integer labels."""
        value = labels.get(self.key)
        if value is None:
            return self.operator in ("NotIn", "DoesNotExist")
        match self.operator:
            case "In":
                return value in self._value_set
            case "NotIn":
                return value not in self._value_set
            case "Exists":
                return True
            case "DoesNotExist":
                return False
            case "Gt" | "Lt":
                return self._compares(value)

    def _compares(self, value: str) -> bool:
        number, bound = _int64(value), _int64(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if self.operator == "Gt" else number < bound


class LabelSelectorRequirement(_Requirement):
    """One entry of a label selector's `matchExpressions`."""

    operator: LabelOperator


class LabelSelector(KubeModel):
    """`matchLabels` and `matchExpressions`, all of which must hold; `{}` matches everything."""

    match_labels: Labels = Field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self.match_labels.items()), self.match_expressions))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, so that every object matches."""
        return not self.match_labels and not self.match_expressions

    def keys(self) -> frozenset[str]:
        """Every label key the selector looks at."""
        return frozenset(self.match_labels).union(e.key for e in self.match_expressions)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        for key, value in self.match_labels.items():
            if labels.get(key) != value:
                return False
        return all(requirement.matches(labels) for requirement in self.match_expressions)

    def canonical(self) -> CanonicalSelector:
        """Equal for selectors that differ only in spelling.

        `matchLabels` become `In` requirements; order and repetition, which mean nothing, are lost.
        """
        return self._canonical

    @cached_property
    def _canonical(self) -> CanonicalSelector:
        asked: set[tuple[str, str, tuple[str, ...]]] = {
            (requirement.key, requirement.operator, tuple(sorted(set(requirement.values))))
            for requirement in self.match_expressions
        }
        asked.update((key, "In", (value,)) for key, value in self.match_labels.items())
        return tuple(sorted(asked))


def selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """An absent selector matches nothing, an empty one everything."""
    return selector is not None and selector.matches(labels)


def with_match_label_keys(
    selector: LabelSelector, keys: Iterable[str], labels: Mapping[str, str]
) -> LabelSelector:
    """`matchLabelKeys`: also ask for the incoming pod's own values; keys it lacks are ignored."""
    return _with_keys(selector, keys, labels, "In")


def with_mismatch_label_keys(
    selector: LabelSelector, keys: Iterable[str], labels: Mapping[str, str]
) -> LabelSelector:
    """`mismatchLabelKeys`: also refuse the incoming pod's own values; keys it lacks are ignored."""
    return _with_keys(selector, keys, labels, "NotIn")


def _with_keys(
    selector: LabelSelector,
    keys: Iterable[str],
    labels: Mapping[str, str],
    operator: Literal["In", "NotIn"],
) -> LabelSelector:
    added = tuple(
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for key in keys
        if key in labels
    )
    return LabelSelector(
        match_labels=selector.match_labels,
        match_expressions=selector.match_expressions + added,
    )


class NodeSelectorRequirement(_Requirement):
    """One entry of a node selector term's `matchExpressions`."""


class NodeFieldRequirement(KubeModel):
    """One entry of `matchFields`; the API knows the node's name as the only field."""

    key: Literal["metadata.name"]
    operator: Literal["In", "NotIn"]
    values: tuple[Annotated[str, AfterValidator(check_dns_subdomain)], ...] = Field(
        default=(), validate_default=True
    )

    @field_validator("values")
    @classmethod
    def _exactly_one(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        if len(values) != 1:
            raise ValueError("must be exactly one node name")
        return values

    def matches(self, node_name: str) -> bool:
        """Whether the node of this name is meant."""
        return (node_name == self.values[0]) == (self.operator == "In")


class NodeSelectorTerm(KubeModel):
    """Requirements on labels and fields, all of which must hold; an empty term matches no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeFieldRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked, so that no node matches."""
        return not self.match_expressions and not self.match_fields

    @property
    def unreadable(self) -> bool:
        """Whether kube-scheduler can't read the term, which then matches no node."""
        return any(requirement.unreadable for requirement in self.match_expressions)

    def matches(self, labels: Mapping[str, str], node_name: str) -> bool:
        """Whether the node of this name and these labels fulfils the term."""
        return (
            not self.is_empty
            and all(requirement.matches(labels) for requirement in self.match_expressions)
            and all(requirement.matches(node_name) for requirement in self.match_fields)
        )


class NodeSelector(KubeModel):
    """Terms of which one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...]

    @field_validator("node_selector_terms")
    @classmethod
    def _at_least_one(cls, terms: tuple[NodeSelectorTerm, ...]) -> tuple[NodeSelectorTerm, ...]:
        if not terms:
            raise ValueError("must have at least one term")
        return terms

    def matches(self, labels: Mapping[str, str], node_name: str) -> bool:
        """Whether the node of this name and these labels fulfils any term."""
        return any(term.matches(labels, node_name) for term in self.node_selector_terms)
