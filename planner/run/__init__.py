"""`planner run`: rounds of `planner evict` and `planner apply`, within the limits of a policy."""
