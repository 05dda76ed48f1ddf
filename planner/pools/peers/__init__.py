"""What other autoscalers would add, by their published rules: emulated, not their code."""

from planner.pools.peers.compare import Baseline, Emulated, baselines, baselines_of

__all__ = ["Baseline", "Emulated", "baselines", "baselines_of"]
