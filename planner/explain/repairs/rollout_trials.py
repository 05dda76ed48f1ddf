"""Whether the rollout that a change brings with it ends, with old and new pods side by side.

Old pods keep the rules of the old template until they are gone, and hold their room: a change that
lets one pod run may still leave a Deployment between two templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.cluster.owners import WorkloadRef
from planner.errors import PlannerError
from planner.explain.repairs.proposal import Case, Proposal
from planner.explain.situation.overlay import SpecEdit, state_under
from planner.replay.trial import Manner
from planner.scenario.deployment_rollout import deployment_rollouts
from planner.scenario.rollout_run import RolloutRun
from planner_models.pod import PodSpec
from planner_models.workload import Deployment, DeploymentStrategy

MANNERS = (Manner(0), Manner(1, terminating=True), Manner(2))
MOST_WORK = 20_000
"""Replicas times nodes up to which rollouts are tried."""
NOT_TRIED = "not tried with old and new pods side by side"
STOPS = 20
"""What a rollout that does not end by itself costs more than the change."""


def with_rollout(case: Case, proposal: Proposal) -> Proposal:
    """The change, with what its rollout comes to if that does not end by itself."""
    if proposal.all_at_once or not case.rollouts:
        return proposal
    workload, edits = _changed(case, proposal)
    found = case.subject.cluster.owners.controllers.get(workload)
    if not edits or not isinstance(found, Deployment):
        return proposal
    if found.spec.replicas * case.subject.nodes.total > MOST_WORK:
        return replace(proposal, notes=(*proposal.notes, NOT_TRIED))
    try:
        worst = _worst(case, proposal, found, edits)
    except PlannerError:
        return replace(proposal, notes=(*proposal.notes, NOT_TRIED))
    if worst.complete:
        return proposal
    notes = [*proposal.notes, f"stops at {worst.replaced} of {worst.of}: old pods in the way"]
    recreated = found.replace(spec=found.spec.replace(strategy=DeploymentStrategy(type="Recreate")))
    if _worst(case, proposal, recreated, edits).complete:
        notes.append("strategy Recreate ends it")
    return replace(proposal, notes=tuple(notes), cost=proposal.cost + STOPS)


def _changed(case: Case, proposal: Proposal) -> tuple[WorkloadRef, Sequence[SpecEdit]]:
    """Whose template is changed, and how; nothing where no patch of a template is meant."""
    if proposal.owner is not None:
        return proposal.owner[0], tuple(dict.fromkeys(proposal.overlay.others.values()))
    patches = proposal.ops or any(part.ops for part in proposal.parts)
    return case.subject.workload, proposal.overlay.edits if patches else ()


def _worst(
    case: Case, proposal: Proposal, deployment: Deployment, edits: Sequence[SpecEdit]
) -> RolloutRun:
    """The run that replaces the fewest pods."""
    subject = case.subject
    before = state_under(subject, replace(proposal.overlay, edits=(), rollout=False, others={}))
    template = deployment.spec.template
    spec: PodSpec = template.spec
    for edit in edits:
        spec = edit(spec)
    wanted = (deployment, template.replace(spec=spec))
    (rollout,) = deployment_rollouts(before.snapshot(), subject.profile, [wanted])
    runs = [rollout.run(manner) for manner in MANNERS]
    return min(runs, key=lambda run: (run.complete, run.replaced))
