"""The review page in a real browser: keyboard, filters, ticks, themes, and nothing that leaves the page.

Needs Chromium (Debian: `apt-get install chromium`) and playwright (`pip install playwright`; no download of browsers).
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import Run
from tritonport.report.review import review_html
from tritonport.report.since import hunks

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine"),
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def file(full: Run, tmp_path: Path) -> Path:
    """The page of a run, compared with one in which a rule was another."""
    old = copy.deepcopy(full)
    old["changes"]["rules"]["early-return"] = f"sha256:{'0' * 64}"
    for _, hunk in hunks(old):
        if any("early-return" in line[2] for line in hunk["lines"] if len(line) > 2):
            hunk["fingerprint"] = hunk["fingerprint"][::-1]
    (tmp_path / "review.html").write_text(review_html(full, old), encoding="utf-8")
    return tmp_path / "review.html"


class Opened:
    """A page with all that it said and asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": WIDE, **options})
        self.said: list[str] = []
        self.asked: list[str] = []
        self.file = file
        self.page = self.open(file)

    def open(self, file: Path) -> Any:
        page = self.context.new_page()
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(file.as_uri())
        return page

    def close(self) -> None:
        """Nothing was said on the console, nothing was asked for but the file itself."""
        self.context.close()
        assert self.said == []
        assert {url for url in self.asked if not url.startswith("blob:")} == {self.file.as_uri()}


@pytest.fixture
def opened(browser: Any, file: Path) -> Iterator[Opened]:
    made = Opened(browser, file)
    yield made
    made.close()


def visible(page: Any) -> int:
    return page.locator(".hunk:visible").count()


def test_keys_move_from_hunk_to_hunk(opened: Opened) -> None:
    page = opened.page
    ids = page.locator(".hunk").evaluate_all("all => all.map(e => e.id)")
    focused = "document.activeElement.id"
    for expected, key in (
        (ids[0], "j"),
        (ids[1], "j"),
        (ids[2], "j"),
        (ids[1], "k"),
        (ids[0], "k"),
        (ids[0], "k"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(focused) == expected
    box = page.locator(f"#{ids[0]}").bounding_box()
    assert 0 <= box["y"] < WIDE["height"]


def test_filters_by_rule_class_outcome_and_cause(opened: Opened, full: Run) -> None:
    page = opened.page
    every = list(hunks(full))
    assert visible(page) == len(every)
    page.keyboard.press("r")
    assert page.evaluate("document.activeElement.id") == "by-rule"
    page.select_option("#by-rule", "early-return")
    own = [h for _, h in every if any("early-return" in line[2] for line in h["lines"] if len(line) > 2)]
    assert 0 < visible(page) == len(own) < len(every)
    assert f"{len(own)} shown" in page.inner_text("#tally")
    assert page.locator(".kernels tbody tr:visible").count() == 1
    page.keyboard.press("Escape")
    assert visible(page) == len(every)
    page.select_option("#by-cause", "rule")
    assert visible(page) == len(own)
    page.select_option("#by-outcome", "not-converted")
    assert visible(page) == 0 and page.locator(".stuck:visible").count() == 1
    page.keyboard.press("Escape")
    page.select_option("#by-class", "manual")
    assert visible(page) == 0


def test_a_tick_stays_and_only_changed_hunks_are_open_next_time(opened: Opened, full: Run) -> None:
    page = opened.page
    total = page.locator(".hunk").count()
    page.keyboard.press("j")
    for _ in range(total):
        page.keyboard.press("x")
    assert f"{total} of {total} reviewed" in page.inner_text("#tally")
    assert page.locator(".hunk > details[open]").count() == 0
    back = opened.open(opened.file)
    assert back.locator(".hunk > details[open]").count() == 0
    # The next release: another page beside it, with one hunk that is not the same.
    changed = copy.deepcopy(full)
    hunk = changed["changes"]["files"][0]["hunks"][1]
    hunk["fingerprint"] = "f" * 32
    next(line for line in hunk["lines"] if len(line) > 2)[1] += "  # new"
    other = opened.file.with_name("next.html")
    other.write_text(review_html(changed), encoding="utf-8")
    opened.context.pages[0].goto(other.as_uri())
    opened.asked.remove(other.as_uri())
    open_ = opened.context.pages[0].locator(".hunk:has(> details[open])")
    assert open_.evaluate_all("all => all.map(e => e.id)") == [f"h-{'f' * 32}"]


def test_a_tick_follows_its_file(opened: Opened, full: Run) -> None:
    page = opened.page
    page.keyboard.press("j")
    for _ in range(page.locator(".hunk").count()):
        page.keyboard.press("x")
    moved = copy.deepcopy(full)
    for at, file in enumerate(moved["changes"]["files"]):
        file["path"] = f"demo/elsewhere/{at}.py"
        for number, hunk in enumerate(file["hunks"]):
            hunk["fingerprint"] = f"{at:016x}{number:016x}"
    changed = moved["changes"]["files"][0]["hunks"][1]
    next(line for line in changed["lines"] if len(line) > 2)[1] += "  # new"
    other = copy.deepcopy(moved)
    other["source"]["entry"] = "another"
    for _, hunk in hunks(other):
        hunk["fingerprint"] = f"e{hunk['fingerprint'][1:]}"
    for run, open_ in (
        (moved, [f"h-{changed['fingerprint']}"]),
        (other, [f"h-{h['fingerprint']}" for _, h in hunks(other)]),
    ):
        opened.file.write_text(review_html(run), encoding="utf-8")
        page.reload()
        found = page.locator(".hunk:has(> details[open])").evaluate_all("all => all.map(e => e.id)")
        assert found == open_


def test_a_tick_can_be_taken_back_and_is_kept_by_mouse_too(opened: Opened) -> None:
    page = opened.page
    box = page.locator(".tick input").first
    box.check()
    assert page.locator(".hunk.done").count() == 1
    box.uncheck()
    assert page.locator(".hunk.done").count() == 0
    assert page.evaluate("Object.keys(localStorage).length") == 0


def test_ticks_go_from_one_reader_to_another(opened: Opened, browser: Any, tmp_path: Path) -> None:
    page = opened.page
    page.keyboard.press("j")
    page.keyboard.press("x")
    with page.expect_download() as download:
        page.click("#keep")
    download.value.save_as(tmp_path / "ticks.json")
    saved = json.loads((tmp_path / "ticks.json").read_text())
    assert len(saved["reviewed"]) == 1
    other = Opened(browser, opened.file)
    other.page.set_input_files("#load", tmp_path / "ticks.json")
    other.page.wait_for_selector(".hunk.done")
    for wrong in ("[", "{}", json.dumps({**saved, "source": "pkg:other"})):
        other.page.evaluate("document.getElementById('tally').textContent = ''")
        (tmp_path / "wrong.json").write_text(wrong)
        other.page.set_input_files("#load", tmp_path / "wrong.json")
        playwright.expect(other.page.locator("#tally")).to_contain_text("holds no ticks")
    other.close()


def test_dark_and_light(browser: Any, file: Path) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = Opened(browser, file, color_scheme="dark")
    light = Opened(browser, file, color_scheme="light")
    at_first = dark.page.evaluate(colour), light.page.evaluate(colour)
    assert at_first[0] != at_first[1]
    dark.page.click("#theme")
    assert dark.page.evaluate(colour) == at_first[1]
    again = dark.open(file)
    assert again.evaluate(colour) == at_first[1], "the choice is kept"
    dark.close()
    light.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, file: Path, scheme: str) -> None:
    opened = Opened(browser, file, color_scheme=scheme)
    low = opened.page.evaluate(CONTRAST)
    opened.close()
    assert low == []


CONTRAST = """() => {
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const rgba = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgba(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const low = new Set();
  for (const e of document.querySelectorAll("main *, header *, nav *, form *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (e.closest("[aria-hidden], .sr") || !e.checkVisibility()) continue;
    const [a, b] = [rgba(getComputedStyle(e).color).slice(0, 3), ground(e)].map(luminance);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(`${e.tagName}.${e.className} ${ratio.toFixed(2)}`);
  }
  return [...low];
}"""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_nothing_is_wider_than_the_window(browser: Any, file: Path, size: dict[str, int]) -> None:
    opened = Opened(browser, file, viewport=size)
    page = opened.page
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    opened.close()


def test_filters_open_on_a_phone(browser: Any, file: Path) -> None:
    opened = Opened(browser, file, viewport=PHONE)
    assert not opened.page.is_visible("#by-rule")
    opened.page.click("#more")
    assert opened.page.is_visible("#by-rule")
    assert opened.page.get_attribute("#more", "aria-expanded") == "true"
    opened.page.click("#next")
    assert opened.page.evaluate("document.activeElement.className") == "hunk"
    opened.close()


def test_without_a_script_everything_can_be_read(browser: Any, file: Path) -> None:
    opened = Opened(browser, file, java_script_enabled=False)
    page = opened.page
    assert not page.is_visible("#tools") and not page.locator(".tick").first.is_visible()
    assert page.is_visible(".hunk .diff") and page.is_visible("#rule-grid-collapse p")
    page.click(".hunk a.chip >> nth=0")
    assert "#rule-" in page.url
    opened.close()


def test_help_and_skip_link(opened: Opened) -> None:
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("?")
    assert page.is_visible("#keys")
    page.keyboard.press("j")
    assert page.is_visible("#keys"), "keys of the page rest while the help is open"
    page.keyboard.press("Escape")
    assert not page.is_visible("#keys")


def test_a_storage_that_refuses_is_no_error(browser: Any, file: Path) -> None:
    opened = Opened(browser, file)
    opened.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })"
    )
    page = opened.open(file)
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert page.locator(".hunk.done").count() == 1
    opened.close()
