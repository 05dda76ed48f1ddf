"""Where independent tasks run: in this process, in more of this machine, or on a Dask cluster.

Whoever has many questions that know nothing of each other asks `Workers` for the answers: one
failure each, one draw of ties each, one cluster each. What all of them look at, a snapshot above
all, reaches every worker once. Answers are the same wherever they come from.
"""

from planner.workers.here import HERE
from planner.workers.workers import WorkerDiedError, Workers

__all__ = ["HERE", "WorkerDiedError", "Workers"]
