"""What happens if: nodes fail, workloads are scaled, manifests applied. Answers of `whatif`.

    prepared = prepare(cluster, changes, profile)
    answer = what_if(prepared, loss, options)

`prepare` makes the changes and lets kube-scheduler act; then nodes fail, in one manner or both, on
what that leaves. Everything that is said about the future is a run of `planner.scenario`.
"""

from planner.whatif.answer import Answer, what_if
from planner.whatif.course import Course, Loss, Options
from planner.whatif.prepare import Prepared, prepare

__all__ = ["Answer", "Course", "Loss", "Options", "Prepared", "prepare", "what_if"]
