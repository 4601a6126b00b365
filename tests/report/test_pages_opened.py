"""Every page in Chromium, on a phone, a screen and paper, without errors, requests or clipping.

Axe checks accessibility. The test also measures whether texts overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import needs
from tests.report.page_samples import PAGES, pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = {"phone": 380, "screen": 1280, "paper": 680}

OVERLAPS = """
() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")].filter((each) =>
      each.textContent.trim() !== "" && getComputedStyle(each).opacity !== "0");
    // The box of what is turned by a quarter is also right.
    const boxes = texts.map((each) => each.getBoundingClientRect());
    const least = Math.min, most = Math.max;
    for (const [i, one] of boxes.entries()) for (const [j, two] of boxes.slice(0, i).entries()) {
      const wide = least(one.right, two.right) - most(one.left, two.left);
      const high = least(one.bottom, two.bottom) - most(one.top, two.top);
      if (wide > 1 && high > 3) found.push(texts[i].textContent + " | " + texts[j].textContent);
    }
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with needs.browser() as found:
        yield found


def opened(chromium: Browser, path: Path, text: str) -> tuple[Page, list[str]]:
    """Open a page. Return it with its console messages, errors and requests."""
    path.write_text(text, encoding="utf-8")
    # Axe is injected into the page. The page's security policy would forbid that, so it is
    # disabled.
    page, seen = chromium.new_context(bypass_csp=True, offline=True).new_page(), []
    page.on("console", lambda message: seen.append(f"said: {message.text}"))
    page.on("pageerror", lambda error: seen.append(f"failed: {error}"))
    page.on("request", lambda asked: seen.append(f"asked: {asked.url}"))
    page.goto(path.as_uri())
    return page, seen


def strange(seen: list[str]) -> list[str]:
    """Return everything that a page must not do: console messages, errors and network requests."""
    return [each for each in seen if not each.startswith(("asked: file:", "asked: data:"))]


def findings(page: Page) -> list[str]:
    """Return the accessibility problems that Axe rates as serious or critical."""
    page.add_script_tag(
        content=(resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    )
    answer: dict[str, Any] = page.evaluate("axe.run()")
    return [
        f"{each['id']}: {each['nodes'][0]['html']}"
        for each in answer["violations"]
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(chromium: Browser, tmp_path: Path, name: str) -> None:
    page, seen = opened(chromium, tmp_path / "page.html", pages()[name])
    for form, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(media="print" if form == "paper" else "screen")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, form
        assert page.evaluate(OVERLAPS) == [], form
    assert strange(seen) == []
    page.emulate_media(media="screen")
    assert findings(page) == []
    page.context.close()


@pytest.mark.long
def test_what_is_wrong_would_be_noticed(chromium: Browser, tmp_path: Path) -> None:
    bad = (
        "<html><body><img src='http://example.invalid/x.png'><script>console.log('x')</script>"
        "<svg width='300' height='50'><text y='20'>one word</text><text y='22' x='20'>another"
        "</text></svg></body></html>"
    )
    page, seen = opened(chromium, tmp_path / "bad.html", bad)
    assert "said: x" in strange(seen)
    assert "asked: http://example.invalid/x.png" in strange(seen)
    assert page.evaluate(OVERLAPS) == ["another | one word"]
    assert any(each.startswith("image-alt") for each in findings(page))
    page.context.close()
