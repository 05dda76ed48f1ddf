"""kube-scheduler in many small clusters at once, whose nodes are copies of those of one sample."""

from planner.scheduler.side_by_side.fill import Run, fill, runs_of
from planner.scheduler.side_by_side.sample import Sample, sample_of

__all__ = ["Run", "Sample", "fill", "runs_of", "sample_of"]
