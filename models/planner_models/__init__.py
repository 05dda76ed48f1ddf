"""Typed models: what Kubernetes says (its API objects) and what planner says (its documents).

This package imports nothing of ours; everything else builds on it.
"""
