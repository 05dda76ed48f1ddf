"""The constraint solver: where pods should go, taken jointly and proven (OR-Tools CP-SAT)."""
