"""What `kubectl drain` would do, as a sentence beside a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from planner.words import count_of
from planner_models.drain import DrainPlan


def kubectl_text(document: DrainPlan) -> str:
    """One or two sentences; empty if there is nothing to evict."""
    found = document.kubectl
    if found is None or not document.leaving:
        return ""
    if found.refuses:
        return f"kubectl drain would not begin: {found.refuses}."
    if not found.pending and not found.hanging:
        if document.status == "possible":
            return "kubectl drain does the same here."
        return f"kubectl drain would evict {_all(found.evicted)}."
    nodes = "" if len(document.nodes) == 1 else f" on the {len(document.nodes)} nodes"
    workloads = {each.pod: each.workload for each in document.evictions}
    workloads |= {each.pod: each.workload for each in document.blocked}
    text = f"kubectl drain{nodes} would evict {_others(document)}"
    if not found.pending:
        return f"{text} and then retry for ever."
    text += f" and then {'hang' if found.hanging else 'end'}: {len(found.pending)} of them pending"
    text += f" ({_by_workload(found.pending, workloads)})"
    if found.hanging:
        text += f", and {len(found.hanging)} still there ({_by_workload(found.hanging, workloads)})"
        text += ", for their budgets are used up by what is pending"
    return f"{text}.{'' if found.agree else ' Ties may make it end otherwise.'}"


def _all(evicted: int) -> str:
    return f"all {evicted} pods" if evicted > 1 else "it"


def _others(document: DrainPlan) -> str:
    assert document.kubectl is not None
    evicted = document.kubectl.evicted
    if not document.kubectl.pending:
        return f"the other {evicted}" if evicted else "nothing"
    return count_of(evicted, "pod")


def _by_workload(pods: Iterable[str], workloads: Mapping[str, str]) -> str:
    counts = Counter(workloads.get(pod, pod).rpartition("/")[2] for pod in pods)
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))
