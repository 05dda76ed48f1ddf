"""Answers as pages: a heat map of failures, and cards of what helps."""

from __future__ import annotations

import re

import planner
from tests.whatif.asking import BEFORE


def test_every_failure_has_a_cell_that_names_it() -> None:
    page = planner.load(example=BEFORE).whatif(each=["zone", "node"], seeds=1).to_html()
    cells = re.findall(r'class="h(\d+)"><title>([^<]*)</title>', page)
    assert len(cells) == 2 * (3 + 12)
    assert ("10", "zone eu-1a: 17 pods down, 12 waiting") in cells
    assert ("0", "a4: 5 pods down, 0 waiting") in cells


def test_what_helps_can_be_copied() -> None:
    page = planner.load(example=BEFORE).whatif(lose=["zone/eu-1c"], seeds=1).to_html()
    assert "kubectl delete node c1 c2 c3 c4" in page
    assert "kubectl patch deploy" in page or "kubectl -n default patch" in page
    assert "12 -&gt; 0 pods waiting" in page
