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
    if job.metadata.deletion_timestamp is not None:
        return "none", f"{name} is being deleted"
    if len(pods) > job.wanted:
        return "none", f"{name} has more pods than it wants"
    if job.spec.managed_by not in ("", "kubernetes.io/job-controller"):
        return "unknown", f"{name} is managed by {job.spec.managed_by}"
    if job.spec.template.spec.scheduling_gates:
        return "none", "a new pod would wait for its scheduling gates"
    if _ignores_evictions(job):
        return "equal", ""
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
    if not known or job.finished or _ignores_evictions(job):
        return False
    if job.spec.backoff_limit_per_index is not None:
        return False
    return job.status.failed + lost > job.spec.backoff_limit


def _ignores_evictions(job: Job) -> bool:
    for rule in job.spec.pod_failure_policy.rules:
        if rule.action != "Ignore":
            return False
        if any(c.type == DISRUPTION and c.status == "True" for c in rule.on_pod_conditions):
            return True
    return False
