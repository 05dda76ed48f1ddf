"""Which nodes to add, so that everybody who waits has a place by the rules, for the least cost."""
