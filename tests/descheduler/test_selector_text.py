from __future__ import annotations

import pytest

from planner.descheduler.strategies.selector_text import parse_selector, selects

LABELS = {"pool": "a", "cores": "16"}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("pool=a", True),
        ("pool == a", True),
        ("pool!=a", False),
        ("zone!=a", True),
        ("pool in (a, b)", True),
        ("pool notin (a,b)", False),
        ("pool", True),
        ("!pool", False),
        ("cores>8,pool=a", True),
        ("cores<8", False),
    ],
)
def test_selectors_in_text_form(text: str, matches: bool) -> None:
    assert selects(parse_selector(text), LABELS) == matches


@pytest.mark.parametrize("text", ["a=b,", "a in b", "=x", "a b", "a>1.5"])
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="selector"):
        parse_selector(text)
