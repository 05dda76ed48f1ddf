"""Emptying nodes: whether it is possible, in which waves, what stands in the way, what helps."""
