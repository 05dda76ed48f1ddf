"""From what was read to decisions: which placements there are, and what was odd about the fleet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.documents.fleet_decision import fleet_decision
from planner.fleet.decision import Decision, decide
from planner.fleet.optimum import TIME_LIMIT
from planner.fleet.setting import Setting, make_setting
from planner.fleet.topology_spread import OUTSIDE, Topology
from planner.sources.inventory import Inventory, counted, name_some
from planner_models.fleet import Placement
from planner_models.fleet_binding import PARENT_LABEL
from planner_models.fleet_decision import FleetDecision
from planner_models.notice import Notice


def placements(inventory: Inventory) -> tuple[Placement, ...]:
    """Every placement: the cluster-scoped ones by name, then the others by namespace and name."""
    return (
        *sorted(inventory.cluster_placements, key=lambda each: each.name),
        *sorted(inventory.resource_placements, key=lambda each: each.key),
    )


def setting_of(inventory: Inventory, placement: Placement, now: int | None = None) -> Setting:
    """A placement over the fleet of the input, with its own bindings and snapshots."""
    cluster_scoped = placement in inventory.cluster_placements
    return make_setting(
        placement,
        inventory.member_clusters,
        inventory.cluster_bindings if cluster_scoped else inventory.resource_bindings,
        inventory.cluster_policy_snapshots if cluster_scoped else inventory.policy_snapshots,
        now,
    )


def decide_placements(
    inventory: Inventory,
    chosen: Iterable[Placement],
    now: int | None = None,
    time_limit: float = TIME_LIMIT,
) -> tuple[FleetDecision, ...]:
    """A decision for each of the placements, each by itself."""
    found = []
    for placement in chosen:
        setting = setting_of(inventory, placement, now)
        decision = decide(setting, time_limit)
        unlabelled = _unlabelled(inventory, placement)
        notices = (*inventory.notices, *unlabelled, *_notices(setting), *_counted(decision))
        found.append(fleet_decision(decision, notices))
    return tuple(found)


def _notices(setting: Setting) -> Sequence[Notice]:
    """What was odd about the placement and its clusters."""
    return (
        *_about_placement(setting),
        *_about_clusters(setting),
        *(_splits_nothing(each) for each in setting.topologies if not each.splits),
    )


def _unlabelled(inventory: Inventory, placement: Placement) -> Iterator[Notice]:
    """Bindings that might be meant for the placement, and that Fleet does not find."""
    cluster_scoped = placement in inventory.cluster_placements
    bindings = inventory.cluster_bindings if cluster_scoped else inventory.resource_bindings
    lost = [each.name for each in bindings if not each.parent]
    if lost:
        verb = "has" if len(lost) == 1 else "have"
        text = f"{counted(len(lost), 'binding')} {verb} no label {PARENT_LABEL}: Fleet ignores them"
        yield Notice(code="noParentLabel", text=text, objects=name_some(lost))


def _about_placement(setting: Setting) -> Iterator[Notice]:
    placement, bindings = setting.placement, setting.bindings
    if placement.metadata.deletion_timestamp is not None:
        text = "the placement is being deleted; Fleet only takes its resources down"
        yield Notice(code="deleting", text=text, objects=(placement.name,))
    reported = [each.cluster_name for each in placement.status.placement_statuses if each.scheduled]
    if reported and not bindings.every:
        text = (
            f"Fleet reports {counted(len(reported), 'picked cluster')}, but the input has no "
            f"bindings: it is decided as if nothing were picked"
        )
        yield Notice(code="noBindings", text=text, objects=name_some(reported))
    if bindings.assumed and bindings.snapshot:
        text = (
            f"the input has no policy snapshots: {bindings.snapshot}, the newest that a binding "
            "names, is taken for the one in force, as if the policy had not changed since"
        )
        yield Notice(code="noSnapshots", text=text, objects=(placement.name,))


def _about_clusters(setting: Setting) -> Iterator[Notice]:
    unobserved = [c.name for c in setting.clusters if not c.observed and not c.leaving]
    if unobserved:
        verb, count = ("has", "counts") if len(unobserved) == 1 else ("have", "count")
        text = (
            f"{counted(len(unobserved), 'member cluster')} {verb} no status and {count} as "
            "joined and healthy"
        )
        yield Notice(code="noStatus", text=text, objects=name_some(unobserved))
    outdated = [
        setting.clusters[cluster].name for cluster in setting.current if setting.refusals[cluster]
    ]
    if outdated and setting.policy.placement_type != "PickFixed":
        verb, them = ("stays", "it") if len(outdated) == 1 else ("stay", "them")
        text = (
            f"{counted(len(outdated), 'picked cluster')} {verb}, though the filters would refuse "
            f"{them} now"
        )
        yield Notice(code="staysPicked", text=text, objects=name_some(outdated))


def _counted(decision: Decision) -> Iterator[Notice]:
    """Fleet counts bindings, not clusters, and so may be content with too few."""
    setting, picks = decision.setting, decision.picks
    if setting.policy.placement_type == "PickN" and picks.found > len(picks.picked):
        text = (
            f"Fleet counts {picks.found} bindings on {counted(len(picks.picked), 'cluster')}: "
            "some have more than one"
        )
        yield Notice(code="severalBindings", text=text, objects=(setting.placement.name,))


def _splits_nothing(topology: Topology) -> Notice:
    """With one value alone, picking a cluster without the label costs nothing, with it 1."""
    outside = topology.domain_of.count(OUTSIDE)
    what = "one value" if topology.domains else "no value"
    effect = "has no effect"
    if topology.domains and outside:
        effect = f"refuses nothing, but Fleet prefers {counted(outside, 'cluster')} without it"
    text = f"the label {topology.key} has {what} in this fleet, so its constraint {effect}"
    return Notice(code="noDomains", text=text, objects=(topology.field,))
