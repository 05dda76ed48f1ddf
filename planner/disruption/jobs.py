"""What a Job makes of an evicted pod.

The Job controller counts a deleted pod as a failed one, and ends the Job (with all its pods) when
more have failed than `backoffLimit`. A `podFailurePolicy` may ignore pods that the Eviction API
took away: they carry the condition DisruptionTarget. Its rules are asked in order, and one about
exit codes may fit as well: what a container answers to being stopped is not known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from planner_models.pod import Pod
from planner_models.workload import Job

DISRUPTION = "DisruptionTarget"


def job_replacement(
    job: Job, pods: Sequence[Pod], going: int | None = None
) -> tuple[Literal["equal", "none", "unknown"], str]:
    """Whether the Job brings a pod back if `going` of its running pods go; None: all of them."""
    name = f"job/{job.name}"
    gone = _makes_none(job, len(pods), name)
    if gone:
        return "none", gone
    if job.spec.managed_by not in ("", "kubernetes.io/job-controller"):
        return "unknown", f"{name} is managed by {job.spec.managed_by}"
    action = _on_eviction(job)
    if action == "Ignore":
        return "equal", ""
    if action != "Count":
        return "none", f"the podFailurePolicy of {name} may fail it ({action})"
    if job.spec.backoff_limit_per_index is not None:
        return "unknown", f"{name} counts failures per index, and an eviction is one"
    failures = job.status.failed + sum(pod.restarts for pod in pods)
    if failures + (len(pods) if going is None else going) > job.spec.backoff_limit:
        limit = f"backoffLimit {job.spec.backoff_limit}, {failures} so far, {len(pods)} running"
        return "none", f"{name} counts it as a failure, and could fail ({limit})"
    return "equal", ""


def job_fails(job: Job, lost: int) -> bool:
    """Whether the Job ends for sure, with all its pods, if so many of them are taken away.

    Restarts of containers may end it sooner.
    """
    known = job.spec.managed_by in ("", "kubernetes.io/job-controller")
    if not known or job.finished or _on_eviction(job) != "Count":
        return False
    if job.spec.backoff_limit_per_index is not None:
        return False
    return job.status.failed + lost > job.spec.backoff_limit


def _makes_none(job: Job, pods: int, name: str) -> str:
    """Why the Job makes no pod now that could take the place of another."""
    if job.metadata.deletion_timestamp is not None:
        return f"{name} is being deleted"
    if pods > job.wanted:
        return f"{name} has more pods than it wants"
    if job.spec.template.spec.scheduling_gates:
        return "a new pod would wait for its scheduling gates"
    return ""


def _on_eviction(job: Job) -> str:
    """What its rules do with an evicted pod: the first that fits decides, and Count if none does.

    A rule about exit codes may fit; one that ends the Job or an index is then the answer.
    """
    for rule in job.spec.pod_failure_policy.rules:
        by_exit_code = not rule.on_pod_conditions
        disruption = any(
            c.type == DISRUPTION and c.status == "True" for c in rule.on_pod_conditions
        )
        if disruption or (by_exit_code and rule.action not in ("Ignore", "Count")):
            return rule.action
        if by_exit_code and rule.action == "Count":
            return "Count"
    return "Count"
