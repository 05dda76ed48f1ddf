"""HTML reports in a real browser: clicked through, at three widths, in light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from planner.report.html.render import write_report
from planner.report.html.solve_page import solve_page
from tests.browser.chromium import chromium
from tests.browser.reports import REPORTS, write_reports
from tests.report.html.large import large_cluster, large_plan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

WIDTHS = (390, 768, 1280)
SECONDS = 3.0
CONTRAST = Path(__file__).with_name("contrast.js")
Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture
def complaints() -> list[str]:
    """What the console of the browser says; nothing, in the end."""
    return []


@pytest.fixture
def page(browser: Browser, complaints: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    opened = context.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: _no_network(request.url, complaints))
    yield opened
    context.close()
    assert complaints == []


def _no_network(url: str, complaints: list[str]) -> None:
    if not url.startswith("file:"):
        complaints.append(f"asks for {url}")


def visible_rows(page: Page) -> Locator:
    return page.locator(".rows").first.locator("tbody tr:visible")


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_fits_the_screen_in_light_and_dark(
    page: Page, reports: dict[str, Path], name: str
) -> None:
    page.goto(reports[name].as_uri())
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} wide at {width}"


def test_the_slider_steps_the_map_through_the_waves(page: Page, reports: dict[str, Path]) -> None:
    page.goto(reports["solve"].as_uri())
    arrived = page.locator(".after .zone:nth-child(3) .p:visible")
    caption = page.locator(".caption")
    assert arrived.count() == 12
    page.locator(".stepper input").focus()
    page.keyboard.press("Home")
    assert arrived.count() == 0
    assert caption.inner_text() == "Now, before anything moves"
    page.keyboard.press("ArrowRight")
    assert arrived.count() == 7
    assert caption.inner_text() == "Wave 1 of 4: 7 moves"
    assert page.locator(".now .p.out").count() == 7
    page.locator(".next").click()
    assert arrived.count() == 9
    assert page.locator("tr.at").count() == 2
    page.locator(".prev").click()
    assert arrived.count() == 7
    assert page.locator(".after .tile[data-n='9'] .used").inner_text() != "0/4"


def test_play_goes_through_all_waves_and_stops(page: Page, reports: dict[str, Path]) -> None:
    page.goto(reports["solve"].as_uri())
    page.clock.install()
    page.locator(".play").click()
    assert page.locator(".play").get_attribute("aria-pressed") == "true"
    page.clock.run_for(60_000)
    assert page.locator(".caption").inner_text() == "After: 12 pods moved"
    assert page.locator(".play").get_attribute("aria-pressed") == "false"


def test_the_filter_finds_workloads_nodes_and_namespaces(
    page: Page, reports: dict[str, Path]
) -> None:
    page.goto(reports["solve"].as_uri())
    assert visible_rows(page).count() == 12
    page.get_by_label("Workload").fill("cart")
    assert visible_rows(page).count() == 2
    assert page.locator(".charts figure:visible").count() == 1
    assert page.locator(".found").inner_text() == "2 rows"
    page.get_by_label("Node", exact=True).fill("b1")
    assert visible_rows(page).count() == 1
    assert page.locator(".now .tile:not(.off)").count() == 1
    page.get_by_role("button", name="Clear").click()
    visible_rows(page).nth(11).wait_for()
    assert visible_rows(page).count() == 12
    page.get_by_label("Namespace").select_option("default")
    assert visible_rows(page).count() == 12
    page.get_by_role("button", name="deploy/auth").click()
    assert visible_rows(page).count() == 1


def test_a_repair_is_copied_whole(page: Page, reports: dict[str, Path]) -> None:
    page.goto(reports["explain"].as_uri())
    card = page.locator(".card").filter(has_text="delete pod4 or pod5")
    card.get_by_role("button").click()
    assert card.get_by_role("button").inner_text() == "Copied"
    page.get_by_label("Workload").click()
    page.keyboard.press("Control+V")
    pasted = page.get_by_label("Workload").input_value()
    assert pasted.startswith("kubectl -n default delete pod pod4")


def test_a_rule_points_at_the_nodes_it_leaves(page: Page, reports: dict[str, Path]) -> None:
    page.goto(reports["explain"].as_uri())
    page.locator(".rule").first.focus()
    assert page.locator(".tile.hit b").all_inner_texts() == ["node3"]


def test_dark_mode_follows_the_system_and_can_be_switched(
    page: Page, reports: dict[str, Path]
) -> None:
    page.goto(reports["solve"].as_uri())
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert light != dark
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) == light
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["solve", "explain", "deadlock"])
def test_every_text_has_the_contrast_that_wcag_asks_for(
    page: Page, reports: dict[str, Path], name: str, scheme: Scheme
) -> None:
    page.goto(reports[name].as_uri())
    page.emulate_media(color_scheme=scheme)
    assert page.evaluate(CONTRAST.read_text()) == []


def test_details_come_with_the_pointer_and_with_the_keyboard(
    page: Page, reports: dict[str, Path]
) -> None:
    page.goto(reports["solve"].as_uri())
    tip = page.locator("#tip")
    page.locator(".now .tile").first.focus()
    assert "a1: 2.4/4 CPU" in tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("a2: ")
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator(".now .tile .p").first.hover()
    assert re.match(r"default/api-\S+\ndeploy/api in default", tip.inner_text())


def test_rounds_of_a_fleet_are_stepped_through(page: Page, reports: dict[str, Path]) -> None:
    page.goto(reports["fleet"].as_uri())
    assert page.locator(".member.later").count() == 0
    page.locator(".stepper input").focus()
    page.keyboard.press("Home")
    assert page.locator(".member.later").count() == 2
    page.keyboard.press("ArrowRight")
    assert page.locator(".member.fresh b").all_inner_texts() == ["smartfish"]


def test_without_javascript_the_report_shows_all_but_the_controls(
    browser: Browser, reports: dict[str, Path]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(reports["solve"].as_uri())
    assert opened.locator(".after .zone:nth-child(3) .p:visible").count() == 12
    assert opened.locator(".stepper, .filter, .copy").locator("visible=true").count() == 0
    context.close()


def test_a_print_is_light_and_has_both_maps_but_no_controls(
    page: Page, reports: dict[str, Path]
) -> None:
    page.goto(reports["solve"].as_uri())
    background = "getComputedStyle(document.documentElement).getPropertyValue('--bg')"
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(background).strip() == "#fff"
    assert page.locator(".side").locator("visible=true").count() == 2
    assert page.locator("h1").is_visible()
    assert page.locator(".stepper, .filter, #theme").locator("visible=true").count() == 0


def test_a_cluster_of_5000_nodes_opens_in_below_3_seconds_and_can_be_searched(
    page: Page, tmp_path: Path
) -> None:
    cluster = large_cluster()
    file = tmp_path / "large.html"
    write_report(str(file), solve_page(cluster, large_plan(cluster)))
    page.goto(file.as_uri())
    assert _work(page) < SECONDS
    assert page.locator(".after .heat rect").count() == len(cluster.nodes)
    page.get_by_label("Node", exact=True).fill("node-4999")
    rows = visible_rows(page)
    assert rows.count() == 4
    assert "node-4999.example.internal" in rows.last.inner_text()
    page.locator(".stepper input").focus()
    page.keyboard.press("Home")
    empty = page.locator(".after .zone:nth-child(3) .summary")
    assert empty.inner_text() == "1,666 nodes, 0 pods, 0% CPU"


def _work(page: Page) -> float:
    """The seconds that the page kept the main thread of the browser busy."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
