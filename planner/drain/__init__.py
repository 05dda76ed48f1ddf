"""Emptying nodes: which can be, in which order, and what kube-scheduler makes of it."""
