"""The rules of `planner check`, one module each."""
