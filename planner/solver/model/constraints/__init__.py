"""One encoding per scheduling rule, named like the scheduler's plugin."""
