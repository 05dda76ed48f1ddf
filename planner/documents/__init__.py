"""The documents that planner writes, built from what was decided, simulated and checked."""
