"""Draws the pictures of the documentation: `python -m tests.browser.pictures`.

The reports are what the command line writes; each picture is the top of one.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from tests.browser.chromium import chromium
from tests.browser.reports import ROOT, write_reports

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect

FOLDER = ROOT / "docs" / "pictures"


class Picture(NamedTuple):
    """A part of a report: from its top down to the end of the section that comes last."""

    report: str
    last: str
    width: int = 1200
    steps_back: int = 0


PICTURES = {
    "solve-zone-outage": Picture("solve", ".map"),
    "solve-zone-outage-wave": Picture("solve", ".map", steps_back=3),
    "explain-conflict": Picture("explain", ".conflict"),
    "explain-repairs": Picture("explain", ".cards"),
    "evict": Picture("evict", ".spread"),
    "fleet": Picture("fleet", ".fleet"),
    "simulate": Picture("simulate", ".list"),
}


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, chromium() as browser:
        reports = write_reports(Path(folder))
        for name, picture in PICTURES.items():
            page = browser.new_page(
                viewport={"width": picture.width, "height": 800}, color_scheme="light"
            )
            page.goto(reports[picture.report].as_uri())
            page.add_style_tag(content=".filter { position: static !important }")
            for _ in range(picture.steps_back):
                page.locator(".prev").click()
            box = page.locator(picture.last).first.bounding_box()
            assert box is not None
            height = box["y"] + box["height"] + 16
            area: FloatRect = {"x": 0, "y": 0, "width": picture.width, "height": height}
            page.screenshot(path=FOLDER / f"{name}.png", full_page=True, clip=area)
            page.close()


if __name__ == "__main__":
    main()
