"""Notices: what was odd in the input, said once each with the objects' names."""

from __future__ import annotations

from planner_models.base import Document


class Notice(Document):
    """Something a user may want to know about the input; never an error."""

    code: str
    text: str
    objects: tuple[str, ...] = ()
