"""Replaying the steps of a queue case."""

from __future__ import annotations

import msgspec

from planner.scheduler.queue import SchedulingQueue
from planner.sources.load import load_documents
from planner.sources.read import RawDocument
from planner_models.pod import Pod
from tests.conformance.case import QueueCase, as_list
from tests.conformance.report import Comparison


def replay_queue(case: QueueCase) -> Comparison:
    """Run all steps; compare what was popped, step by step, and what is left."""
    queue = SchedulingQueue()
    popped: list[str | None] = []
    for step in case.ops:
        if step.op == "pop":
            pod = queue.pop(step.at)
            popped.append(None if pod is None else pod.key)
        elif step.op == "add":
            queue.add(_pod(step.pod), step.at)
        elif step.op == "update":
            queue.update(_pod(step.pod), step.at)
        elif step.op == "delete":
            queue.delete(msgspec.json.decode(step.pod, type=str))
        else:
            raise ValueError(f"{case.id}: unknown step {step.op!r} at {step.at}")
    added = sum(step.op == "add" for step in case.ops)
    result = Comparison(case.family, cases=1, pods=added)
    result.check(case.id, "queue", "popped", popped, list(case.expect["popped"]))
    result.check(case.id, "queue", "active", list(queue.active()), list(case.expect["active"]))
    result.check(case.id, "queue", "gated", list(queue.gated()), list(case.expect["gated"]))
    return result


def _pod(text: msgspec.Raw) -> Pod:
    (pod,) = load_documents([RawDocument(file="step", data=as_list([text]), line=1)]).pods
    return pod
