"""Excerpts of the code in pages for contributors: they still stand in the files that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import console

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n# (?P<file>\S+\.py)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
EXCERPTS = [
    pytest.param(found["file"], found["code"], id=f"{page.name}-{found['file']}")
    for page in sorted((ROOT / "docs" / "contributing").glob("*.md"))
    for found in BLOCK.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("file", "code"), EXCERPTS)
def test_an_excerpt_is_what_the_file_says(file: str, code: str) -> None:
    assert console.matches(f"...\n{code}...\n", (ROOT / file).read_text(encoding="utf-8"))


def test_there_are_excerpts() -> None:
    assert EXCERPTS
