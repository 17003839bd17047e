"""The page in a browser: used with the mouse, with the keyboard and without its script."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import reported
from dispatchgen.report.commands import command
from dispatchgen.report.report import MOST_ROWS, report
from dispatchgen.report.table import as_mapping, table_rows
from dispatchgen.results import lean
from dispatchgen.results.schema import DispatchResult

_ROW = "row=mlp/cpu/local/B16/dispatch/matmul_Dx512x784_f32__B16//warm"
Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens addresses. At the end: nothing was told on the console, and nothing was loaded but the page."""
    wrong: list[str] = []
    loaded: list[str] = []
    pages: set[str] = set()
    contexts = []

    def open_page(url: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: loaded.append(request.url))
        page.goto(url)
        pages.add(url.partition("#")[0])
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong
    assert {url.partition("#")[0] for url in loaded} == pages


def names(page: Page) -> list[str]:
    """The benchmarks of the rows that are there."""
    return page.locator("#table tbody th").all_inner_texts()


def choice(page: Page, column: str) -> Locator:
    """Where a value of a column is chosen."""
    return page.locator(f"#filters select[name={column}]")


def number(page: Page) -> str:
    return page.locator("#number").inner_text()


def test_shows_all_rows_the_most_important_first(opened: Open, page_url: str) -> None:
    page = opened(page_url)
    expect(page.locator("#number")).to_have_text("50 of 50 rows, the most important first")
    assert page.locator("#table").get_attribute("aria-rowcount") == "51"
    assert names(page)[:2] == [reported.FAILED] * 2
    assert page.locator("#table tbody tr[aria-rowindex='2'] th").inner_text() == reported.FAILED


def test_sorts_by_a_column(opened: Open, page_url: str) -> None:
    page = opened(page_url)
    header = page.locator("th[data-column=seconds]")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    assert names(page)[0] == "whole model"
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "reduce_D_f32__B1"
    header.get_by_role("button").click()
    expect(header).not_to_have_attribute("aria-sort", "ascending")
    assert "sort" not in page.url


@pytest.mark.parametrize("order", ["", "-"])
def test_rows_without_a_value_come_last_in_both_directions(opened: Open, page_url: str, order: str) -> None:
    page = opened(f"{page_url}#sort={order}seconds")
    page.locator("#scroller").evaluate("(scroller) => { scroller.scrollTop = scroller.scrollHeight; }")
    expect(page.locator("#table tbody tr[aria-rowindex='51'] th")).to_have_text(reported.FAILED)


def test_filters_by_words_and_by_choice(opened: Open, page_url: str) -> None:
    page = opened(page_url)
    page.get_by_label("filter").fill("MATMUL b16")
    expect(page.locator("#number")).to_have_text("4 of 50 rows, the most important first")
    choice(page, "model").select_option("mlp")
    expect(page.locator("#number")).to_have_text("2 of 50 rows, the most important first")
    choice(page, "variant").select_option("by_hand")
    assert names(page) == ["matmul_Dx512x784_f32__B16"]
    page.get_by_role("button", name="Reset").click()
    assert number(page).startswith("50 of 50")
    choice(page, "verdict").select_option("slower")
    assert all(text.endswith("slower") for text in page.locator("#table tbody .verdict").all_inner_texts())


def test_remembers_what_is_chosen_in_the_address(opened: Open, page_url: str) -> None:
    page = opened(page_url)
    page.get_by_label("filter").fill("matmul 100%")
    choice(page, "model").select_option("attention")
    page.get_by_role("button", name="time x count").click()
    assert page.url.endswith("#model=attention&q=matmul%20100%25&sort=-total")
    again = opened(page.url.replace("%20100%25", ""))
    assert again.get_by_label("filter").input_value() == "matmul"
    assert choice(again, "model").input_value() == "attention"
    expect(again.locator("th[data-column=total]")).to_have_attribute("aria-sort", "descending")
    assert number(again) == "8 of 50 rows"


def test_a_link_opens_a_row(opened: Open, page_url: str) -> None:
    page = opened(f"{page_url}#{_ROW}")
    dialog = page.get_by_role("dialog", name="matmul_Dx512x784_f32__B16")
    expect(dialog).to_be_visible()
    shown = dialog.inner_text()
    assert "IREE's symbol" in shown
    assert "dispatchgen repro mlp --dispatch matmul_Dx512x784_f32 --benchmark matmul_Dx512x784_f32__B16" in shown
    row = page.locator("#table tbody tr[aria-current]")
    expect(row).to_be_in_viewport()
    assert row.locator("th").inner_text() == "matmul_Dx512x784_f32__B16"
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(row).to_have_count(0)
    assert "row=" not in page.url


def test_a_link_to_a_row_that_the_filter_leaves_out(opened: Open, page_url: str) -> None:
    page = opened(f"{page_url}#q=reduce&{_ROW}")
    expect(page.get_by_role("dialog")).to_contain_text("The filter leaves this row out of the table.")


@pytest.mark.parametrize(
    "hash", ["#row=a/b", "#row=%E0%A4%A", "#sort=nothing&model=none&__proto__=x", "#=&&=", "#summary"]
)
def test_addresses_that_lead_nowhere(opened: Open, page_url: str, hash: str) -> None:
    page = opened(page_url + hash)
    assert number(page).startswith("50 of 50 rows")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_other_links_keep_what_is_chosen(opened: Open, page_url: str) -> None:
    page = opened(f"{page_url}#q=reduce")
    page.get_by_role("link", name="Summary").click()
    page.locator("#ranking tbody a").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    assert page.get_by_label("filter").input_value() == "reduce"
    assert page.url.endswith("#q=reduce")


def test_keyboard_alone(opened: Open, page_url: str) -> None:
    page = opened(page_url)
    page.get_by_label("filter").focus()
    page.keyboard.type("matmul")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('tbody') !== null"):
            break
    focused = "document.activeElement.closest('tr').getAttribute('aria-rowindex')"
    assert page.evaluate(focused) == "2"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "4"
    page.keyboard.press("End")
    assert page.evaluate(focused) == "17"
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    name = page.locator("tr[aria-current] th").inner_text()
    expect(page.get_by_role("dialog", name=name)).to_be_visible()
    position = page.locator("tr[aria-current]").get_attribute("aria-rowindex")
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == position
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # the last column's header
    assert page.locator("#table [aria-sort]").count() == 1


def test_rows_of_one_height_are_there_while_one_scrolls(opened: Open, page_url: str) -> None:
    page = opened(page_url, viewport={"width": 1300, "height": 400})
    heights = page.locator("#table tbody tr[aria-rowindex]").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert set(heights) == {32}
    assert len(heights) < 50
    whole = page.locator("#table").evaluate("table => table.offsetHeight")
    page.locator("#scroller").scroll_into_view_if_needed()
    for top in (300, 900, 10_000, 0):
        page.locator("#scroller").evaluate("(scroller, top) => { scroller.scrollTop = top; }", top)
        page.evaluate("new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))")
        blank = page.evaluate(
            """() => {
              const box = document.getElementById("scroller").getBoundingClientRect();
              const places = [box.top + 80, (box.top + box.bottom) / 2, box.bottom - 20];
              return places.filter((y) => document.elementFromPoint(box.left + 20, y).closest(".spacer"));
            }"""
        )
        assert blank == []
        assert page.locator("#table").evaluate("table => table.offsetHeight") == whole


def test_contrast(opened: Open, page_url: str) -> None:
    page = opened(page_url, color_scheme="light")
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    assert page.evaluate(_LOW_CONTRAST) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(_LOW_CONTRAST) == []
    page.evaluate(f"location.hash = '{_ROW}'")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(_LOW_CONTRAST) == []
    page.emulate_media(color_scheme="light")
    assert page.evaluate(_LOW_CONTRAST) == []


def test_the_scheme_can_be_chosen(opened: Open, page_url: str) -> None:
    page = opened(page_url, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.get_by_label("colours").select_option("light")
    assert page.evaluate(background) == "rgb(255, 255, 255)" != dark
    page.get_by_label("colours").select_option("system")
    assert page.evaluate(background) == dark


@pytest.mark.parametrize("width", [400, 1900])
def test_the_page_itself_does_not_scroll_sideways(opened: Open, page_url: str, width: int) -> None:
    page = opened(page_url, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_on_paper(opened: Open, page_url: str) -> None:
    page = opened(page_url, color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#table tbody tr[aria-rowindex]").count() == 50
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.locator("nav")).to_be_hidden()


def test_without_the_script(opened: Open, page_url: str) -> None:
    page = opened(f"{page_url}#{_ROW}", java_script_enabled=False)
    assert "50 rows" in number(page)
    assert len(names(page)) == 50
    assert page.get_by_role("link", name="matmul_Dx512x784_f32__B16").count() > 0
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator(f"[id='{_ROW}']")).to_be_in_viewport()


def also_cold(dispatch: DispatchResult) -> DispatchResult:
    """What fails fails cold as well."""
    return dispatch.model_copy(update={"cold_failure": dispatch.failure})


def test_names_that_hold_markup(opened: Open, tmp_path: Path) -> None:
    evil = (
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(2)>",
        "a'b\"c & ${d} {{ 7 * 7 }}",
        "\u05d0\u202e<b>",
    )
    found = reported.results(models=evil, device="<i onclick=alert(3)>")
    calls = [call.model_copy(update={"dispatches": tuple(map(also_cold, call.dispatches))}) for call in found.calls]
    result = reported.as_lean(found.model_copy(update={"calls": tuple(calls)}))
    path = tmp_path / "report.html"
    path.write_text(report([result]), encoding="utf-8")
    page = opened(path.as_uri())
    assert page.evaluate("document.querySelectorAll('img, b, i, body script:not([type])').length") == 1
    assert choice(page, "model").locator("option").all_inner_texts()[0] == "all"
    for model in evil:
        choice(page, "model").select_option(model)
        assert number(page).startswith("26 of 104")
        for caches in ("warm", "cold"):
            choice(page, "caches").select_option(caches)
            link = page.locator("#table tbody a").first
            assert link.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"
            link.click()
            dialog = page.get_by_role("dialog")
            assert model in dialog.locator("dd").all_inner_texts()
            row = next(row for row in table_rows([result], None) if (row.model, row.caches) == (model, caches))
            assert row.link in page.url
            assert dialog.locator("#details-command pre").inner_text() == command(as_mapping(row))
            assert shlex.split(command(as_mapping(row)))[2] == model
            dialog.get_by_role("button", name="Close").click()
        choice(page, "caches").select_option("")


def test_several_results_in_one_page(opened: Open, tmp_path: Path, base: lean.Results, new: lean.Results) -> None:
    path = tmp_path / "report.html"
    path.write_text(report([base, new]), encoding="utf-8")
    page = opened(f"{path.as_uri()}#{_ROW.replace('row=', 'row=base/')}")
    assert "base" in page.get_by_role("dialog").locator("dd").all_inner_texts()
    page.keyboard.press("Escape")
    choice(page, "run").select_option("new")
    assert number(page).startswith("50 of 100")


def test_few_of_many_rows_are_elements(opened: Open, tmp_path: Path) -> None:
    one = reported.results(models=("m",))
    calls = tuple(call.model_copy(update={"model": f"m{number}"}) for number in range(100) for call in one.calls)
    result = reported.as_lean(one.model_copy(update={"calls": calls}))
    path = tmp_path / "report.html"
    text = report([result])
    path.write_text(text, encoding="utf-8")
    assert text.count('<tr id="row=') == MOST_ROWS
    page = opened(path.as_uri())
    assert number(page) == "2\u202f500 of 2\u202f500 rows, the most important first"
    assert page.locator("#table tr").count() < 100
    page.locator("#table tbody a").first.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.closest('tr').getAttribute('aria-rowindex')") == "2501"
    expect(page.locator("#table tr[aria-rowindex='2501']")).to_be_in_viewport()


#: Texts whose contrast with what is behind them is below that of WCAG AA.
_LOW_CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const linear = (c) => c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    const text = texts.map((node) => node.data).join("").trim();
    const isShown = element.getClientRects().length > 0 && !["SCRIPT", "title", "OPTION"].includes(element.tagName);
    if (!text || !isShown) continue;
    const style = getComputedStyle(element);
    const colour = parse(element instanceof SVGElement ? style.fill : style.color);
    const [dark, light] = [luminance(colour), luminance(behind(element))].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) found.push(`${text.slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return found;
}"""
