"""All rules of kube-scheduler's default profile (v1.36), in the order of its filters.

A new rule starts with its card here; `tests/rules` then names what is missing elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from planner.rules.card import Reach, RuleCard
from planner.rules.events import Event
from planner_models.affinity import REQUIRED
from planner_models.declared_features import ASKED_FOR_BY
from planner_models.diagnosis import RuleKind

_RIVALS_LEAVE = frozenset(
    (Event.POD_REMOVED, Event.POD_LABELS_CHANGED, Event.NODE_ADDED, Event.NODE_LABELS_CHANGED)
)


def _volume_rule(
    plugin: str, *, reach: Reach, helped_by: tuple[Event, ...], counts_pods: bool = True
) -> RuleCard:
    """Four plugins judge the volumes of a pod, which is one rule to people."""
    return RuleCard(
        kind="volumes",
        plugin=plugin,
        name="volume",
        fields=("spec.volumes",),
        counts_pods=counts_pods,
        reach=reach,
        monotone=True,
        helped_by=frozenset((Event.NODE_ADDED, *helped_by)),
    )


CARDS: tuple[RuleCard, ...] = (
    RuleCard(
        kind="unschedulable",
        plugin="NodeUnschedulable",
        name="cordon",
        fields=("spec.unschedulable",),
        stated_by="node",
        counts_pods=False,
        reach="node",
        monotone=True,
        helped_by=frozenset(
            (Event.NODE_ADDED, Event.NODE_TAINTS_CHANGED, Event.POD_TOLERATIONS_CHANGED)
        ),
        refusal="cordoned",
    ),
    RuleCard(
        kind="nodeName",
        plugin="NodeName",
        name="nodeName",
        fields=("spec.nodeName",),
        counts_pods=False,
        reach="node",
        monotone=True,
        helped_by=frozenset((Event.NODE_ADDED,)),
        refusal="another node is named",
    ),
    RuleCard(
        kind="taints",
        plugin="TaintToleration",
        name="taints",
        fields=("spec.tolerations",),
        counts_pods=False,
        reach="node",
        monotone=True,
        separable=True,
        breakable=True,
        helped_by=frozenset(
            (Event.NODE_ADDED, Event.NODE_TAINTS_CHANGED, Event.POD_TOLERATIONS_CHANGED)
        ),
        broken_name="tolerations",
        breach="it does not tolerate a taint of {}",
        refusal="untolerated taints",
    ),
    RuleCard(
        kind="nodeAffinity",
        plugin="NodeAffinity",
        name="node affinity",
        fields=("spec.affinity.nodeAffinity", "spec.nodeSelector"),
        counts_pods=False,
        reach="node",
        monotone=True,
        separable=True,
        breakable=True,
        helped_by=frozenset((Event.NODE_ADDED, Event.NODE_LABELS_CHANGED)),
        broken_name="node affinity",
        breach="{} does not match its node affinity",
        refusal="node affinity or selector",
    ),
    RuleCard(
        kind="ports",
        plugin="NodePorts",
        name="host ports",
        fields=("spec.containers[*].ports[*].hostPort",),
        counts_pods=True,
        reach="node",
        monotone=True,
        helped_by=frozenset((Event.NODE_ADDED, Event.POD_REMOVED)),
        refusal="host port taken",
    ),
    RuleCard(
        kind="capacity",
        plugin="NodeResourcesFit",
        name="capacity",
        fields=("spec.containers[*].resources.requests",),
        counts_pods=True,
        reach="node",
        monotone=True,
        helped_by=frozenset(
            (
                Event.NODE_ADDED,
                Event.NODE_ALLOCATABLE_CHANGED,
                Event.POD_REMOVED,
                Event.POD_SCALED_DOWN,
            )
        ),
    ),
    # A ReadWriteOncePod claim has one user, wherever that runs.
    _volume_rule("VolumeRestrictions", reach="cluster", helped_by=(Event.POD_REMOVED,)),
    # Limits stand in CSINodes: one comes with its node.
    _volume_rule("NodeVolumeLimits", reach="node", helped_by=(Event.POD_REMOVED,)),
    # Pods take free volumes away from each other.
    _volume_rule("VolumeBinding", reach="cluster", helped_by=(Event.NODE_LABELS_CHANGED,)),
    _volume_rule(
        "VolumeZone", reach="node", helped_by=(Event.NODE_LABELS_CHANGED,), counts_pods=False
    ),
    # Not monotone: one more pod in the emptiest domain raises the minimum for all others.
    RuleCard(
        kind="topologySpread",
        plugin="PodTopologySpread",
        name="spread",
        fields=("spec.topologySpreadConstraints[{}]",),
        counts_pods=True,
        reach="domain",
        monotone=False,
        separable=True,
        relaxable=True,
        breakable=True,
        helped_by=frozenset(
            (
                Event.POD_ADDED,
                Event.POD_REMOVED,
                Event.POD_LABELS_CHANGED,
                Event.POD_TOLERATIONS_CHANGED,
                Event.NODE_ADDED,
                Event.NODE_REMOVED,
                Event.NODE_LABELS_CHANGED,
                Event.NODE_TAINTS_CHANGED,
            )
        ),
        broken_name="spread",
    ),
    # Not monotone: the pod that it wants to be near may come yet.
    RuleCard(
        kind="podAffinity",
        plugin="InterPodAffinity",
        name="pod affinity",
        fields=(f"spec.affinity.podAffinity.{REQUIRED}",),
        counts_pods=True,
        reach="domain",
        monotone=False,
        separable=True,
        relaxable=True,
        helped_by=frozenset(
            (
                Event.POD_ADDED,
                Event.POD_LABELS_CHANGED,
                Event.NODE_ADDED,
                Event.NODE_LABELS_CHANGED,
            )
        ),
        broken_name="affinity",
    ),
    RuleCard(
        kind="podAntiAffinity",
        plugin="InterPodAffinity",
        name="anti-affinity",
        fields=(f"spec.affinity.podAntiAffinity.{REQUIRED}[{{}}]",),
        counts_pods=True,
        reach="domain",
        monotone=True,
        separable=True,
        relaxable=True,
        breakable=True,
        helped_by=_RIVALS_LEAVE,
        broken_name="anti-affinity",
        breach="anti-affinity to another pod in {}",
    ),
    # Broken, it is a violation of the pods that state it, not of the one that came.
    RuleCard(
        kind="podAntiAffinityOfOthers",
        plugin="InterPodAffinity",
        name="anti-affinity of others",
        fields=(f"spec.affinity.podAntiAffinity.{REQUIRED}",),
        stated_by="otherPods",
        counts_pods=True,
        reach="domain",
        monotone=True,
        relaxable=True,
        helped_by=_RIVALS_LEAVE,
    ),
    RuleCard(
        kind="declaredFeatures",
        plugin="NodeDeclaredFeatures",
        name="declared features",
        fields=tuple(ASKED_FOR_BY.values()),
        counts_pods=False,
        reach="node",
        monotone=True,
        helped_by=frozenset((Event.NODE_ADDED, Event.NODE_FEATURES_CHANGED)),
        refusal="lacks a feature",
    ),
)

NOT_MODELLED: Mapping[str, str] = MappingProxyType(
    {
        "DynamicResources": "pods with resource claims are named in a notice",
    }
)
"""Filters of the default profile that planner leaves out."""


def card_of(kind: RuleKind) -> RuleCard:
    """The card of a kind; of those that share one, the first: they agree in name and fields."""
    return next(card for card in CARDS if card.kind == kind)


def cards_of_plugin(plugin: str) -> tuple[RuleCard, ...]:
    """The rules that a filter plugin holds."""
    return tuple(card for card in CARDS if card.plugin == plugin)


def breakable_rules(plugins: Iterable[str]) -> frozenset[RuleKind]:
    """The rules of these plugins that running pods can break."""
    enforced = frozenset(plugins)
    return frozenset(card.kind for card in CARDS if card.breakable and card.plugin in enforced)


def _kinds(holds: Callable[[RuleCard], bool]) -> frozenset[RuleKind]:
    """Kinds of which it holds for every card."""
    return frozenset(card.kind for card in CARDS) - {c.kind for c in CARDS if not holds(c)}


def _plugins(holds: Callable[[RuleCard], bool]) -> frozenset[str]:
    """Plugins of which it holds for every card."""
    return frozenset(card.plugin for card in CARDS) - {c.plugin for c in CARDS if not holds(c)}


STATIC = _kinds(lambda card: not card.counts_pods)
"""Rules that no other pod changes."""
MONOTONE = _kinds(lambda card: card.monotone)
"""Rules that more pods never open: what refuses a node without some pods always does."""
SEPARABLE = _kinds(lambda card: card.separable)
"""Rules that a copy of the pod can go without."""
TAKEN_ON_NODE = _kinds(lambda card: card.counts_pods and card.reach == "node")
"""Rules about what the pods of a node take up: without one of them it may take another."""
LOCAL_PLUGINS = _plugins(lambda card: card.reach == "node")
"""Filters that look at one node and the pods on it."""
RELAXABLE_PLUGINS = _plugins(lambda card: card.relaxable)
"""The filters that `--relax` does without."""
HELPED_BY: Mapping[str, frozenset[Event]] = MappingProxyType(
    {
        card.plugin: frozenset().union(*(each.helped_by for each in cards_of_plugin(card.plugin)))
        for card in CARDS
    }
)
"""By plugin, the events after which a pod that it refused is tried again."""
