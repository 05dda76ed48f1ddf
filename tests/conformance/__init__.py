"""Replays recorded decisions of Kubernetes' own code and compares them with ours.

`data/FORMAT.md` describes the recordings. Run `python -m tests.conformance --help`.
"""
