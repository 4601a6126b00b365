"""Pages in a real browser, as wide as a phone: no failures, and no network requests.

Chromium runs as a separate process. Its messages and its network log show what a page does. The
layout of each page is measured in a frame of another page.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.report.page_samples import LONG, PAGES, pages

WIDE = 380
OPENED = ["mean", "nasty", "private mean", "several", "plan"]
"""The pages that are opened one by one. Layout is measured for all pages."""

MEASURE = """
window.addEventListener("load", () => {
  const answers = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, view = frame.contentWindow;
    const shown = (each) => each.getClientRects().length > 0 && each.textContent.trim() !== "";
    const drawings = [...page.querySelectorAll("svg")].map((svg) => {
      const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      const texts = [...svg.querySelectorAll("text")].filter(shown);
      const out = (text) => {
        const at = text.getBoundingClientRect();
        return Math.max(box.left - at.left, at.right - box.right, box.top - at.top,
                        at.bottom - box.bottom);
      };
      const marks = [...svg.querySelectorAll(".role-mark path, .role-mark line")];
      const drawn = (mark) => { const at = mark.getBoundingClientRect();
                                return at.width + at.height > 0; };
      return {
        left: box.left, right: box.right, width: box.width, height: box.height,
        texts: texts.length,
        least: Math.min(...texts.map((t) => scale * parseFloat(view.getComputedStyle(t).fontSize))),
        outside: Math.max(...texts.map(out)),
        marks: marks.filter(drawn).length,
      };
    });
    const words = [...page.querySelectorAll("main *:not(svg):not(svg *)")].filter(shown);
    answers[frame.title] = {
      width: view.innerWidth,
      scroll: page.documentElement.scrollWidth,
      least: Math.min(...words.map((each) => parseFloat(view.getComputedStyle(each).fontSize))),
      regions: [...page.querySelectorAll("div.wide")].map((each) => ({
        right: each.getBoundingClientRect().right, scrolls: each.scrollWidth > each.clientWidth})),
      drawings: drawings,
    };
  }
  document.getElementById("answers").textContent = JSON.stringify(answers);
});
"""


@dataclass(frozen=True)
class Seen:
    """The messages and requests that Chromium recorded for a page."""

    dom: str
    console: list[str]
    asked: list[str]


@dataclass(frozen=True)
class Browser:
    """Chromium, with a fresh profile for each page."""

    program: str
    folder: Path

    def open(self, name: str, text: str) -> Seen:
        place = self.folder / name.replace(" ", "-")
        place.mkdir()
        file, log = place / "page.html", place / "net.json"
        file.write_text(text, encoding="utf-8")
        flags = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--no-first-run", f"--user-data-dir={place / 'profile'}", "--hide-scrollbars"),
            *(f"--window-size={WIDE},800", "--host-resolver-rules=MAP * ~NOTFOUND"),
            *("--enable-logging=stderr", "--v=0", f"--log-net-log={log}"),
        ]
        ran = subprocess.run(
            [self.program, *flags, "--dump-dom", file.as_uri()],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=True,
        )
        console = [line for line in ran.stderr.splitlines() if ":CONSOLE" in line]
        events = json.loads(log.read_text(encoding="utf-8"))["events"]
        # Chromium also makes requests that are not caused by a page. These have no initiator.
        asked = [
            each["params"]["url"]
            for each in events
            if each.get("params", {}).get("initiator", "not an origin") != "not an origin"
        ]
        return Seen(ran.stdout, console, asked)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(needs.chromium(), tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def measured(browser: Browser) -> dict[str, Any]:
    """The layout of all pages, each measured in a frame as wide as a phone.

    All are measured in one run.
    """
    shown = dict(pages()) | {
        "too wide": f"<main><p style='white-space:nowrap'>{LONG * 3}</p></main>",
        "too small": "<main><p style='font-size:6px'>small</p><svg viewBox='0 0 1000 100' "
        "width='340'><text y='50' x='900'>a text that leaves the drawing</text></svg></main>",
    }
    return measure(browser, "measured", shown)


def measure(browser: Browser, called: str, shown: dict[str, str]) -> dict[str, Any]:
    """Measure the layout of pages in frames as wide as a phone."""
    frames = "".join(
        f'<iframe title="{name}" style="width:{WIDE}px;height:800px;border:0" '
        f'srcdoc="{html.escape(text)}"></iframe>'
        for name, text in shown.items()
    )
    outer = (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{frames}'
        f'<pre id="answers"></pre><script>{MEASURE}</script></body></html>'
    )
    seen = browser.open(called, outer)
    found = re.search(r'<pre id="answers">(.+?)</pre>', seen.dom, re.DOTALL)
    assert found, seen.console
    answers: dict[str, Any] = json.loads(html.unescape(found[1]))
    return answers


@pytest.mark.rotates(2)
@pytest.mark.parametrize("name", OPENED)
def test_a_page_opens_without_a_message_and_without_a_request(browser: Browser, name: str) -> None:
    seen = browser.open(name, pages()[name])
    assert "</main>" in seen.dom
    assert "<svg" in seen.dom
    assert seen.console == []
    assert seen.asked == []


def test_messages_and_requests_would_be_seen(browser: Browser) -> None:
    bad = '<img src="http://example.invalid/x.png"><script>console.error("seen")</script>'
    seen = browser.open("bad", f"<!DOCTYPE html><html><body>{bad}</body></html>")
    assert any("seen" in line for line in seen.console)
    assert seen.asked == ["http://example.invalid/x.png"]


def test_a_page_forbids_what_it_does_not_hold(browser: Browser) -> None:
    """If external content were on a page, the browser would neither load it nor run it."""
    bad = '<img src="http://example.invalid/x.png"><script>document.title = "ran"</script></body>'
    seen = browser.open("forbidden", pages()["mean"].replace("</body>", bad))
    assert seen.asked == []
    assert "<title>ran" not in seen.dom
    assert any("Content Security Policy" in line for line in seen.console)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_phone_and_can_be_read(measured: dict[str, Any], name: str) -> None:
    answer = measured[name]
    assert answer["width"] == WIDE
    assert answer["scroll"] <= WIDE
    assert answer["least"] >= 12.0
    assert all(region["right"] <= WIDE for region in answer["regions"])


@pytest.mark.parametrize("name", PAGES)
def test_plots_are_drawn_and_their_text_can_be_read(measured: dict[str, Any], name: str) -> None:
    drawings = measured[name]["drawings"]
    assert drawings
    for each in drawings:
        assert 0.0 <= each["left"] < each["right"] <= WIDE
        assert each["width"] >= 300.0
        assert each["height"] >= 60.0
        assert each["marks"] >= 1
        assert each["texts"] >= 3
        assert each["least"] >= 9.0
        # Fonts differ between machines, so a letter can extend slightly over the edge.
        assert each["outside"] <= 6.0


def test_the_table_of_methods_needs_no_scrolling(measured: dict[str, Any]) -> None:
    assert not any(region["scrolls"] for region in measured["plan"]["regions"])


def test_the_measures_notice_what_is_too_wide_or_too_small(measured: dict[str, Any]) -> None:
    assert measured["too wide"]["scroll"] > WIDE
    small = measured["too small"]
    assert small["least"] < 12.0
    assert small["drawings"][0]["least"] < 9.0
    assert small["drawings"][0]["outside"] > 4.0
    assert small["drawings"][0]["marks"] == 0
