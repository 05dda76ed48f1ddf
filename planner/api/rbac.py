"""`planner.rbac`: the rights that reading a running cluster needs."""

from __future__ import annotations


def rbac(*, apply: bool = False, events: bool = False) -> str:
    """The roles as YAML: to read, and with `apply` and `events` to do what these words say."""
    from planner.sources.live.rbac import roles

    return roles(apply=apply, events=events)
