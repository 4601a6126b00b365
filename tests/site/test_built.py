"""The site builds without warnings, its links work, and the browser reports no problems."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from scripts.site.assemble import assemble

from tests import needs

ROOT = Path(__file__).resolve().parents[2]
KINDS = [
    *("", "shares/", "tutorials/web-survey/", "reference/releases/", "proofs/limits/"),
    "benchmarks/results/",
]
"""One page of every kind: start, how-to, tutorial, reference, proof, benchmark."""

FORMULAS = """async () => {
  const page = new DOMParser().parseFromString(await (await fetch(location)).text(), "text/html");
  const letters = (text) => [...text.normalize("NFKD").replace(/[ΣΠˉˆ]|[^\\p{L}\\p{N}]/gu, "")]
    .sort().join("");
  const written = [...page.querySelectorAll(".formula")].map((each) => letters(each.textContent));
  const set = [...document.querySelectorAll(".formula .katex-html")]
    .map((each) => letters(each.textContent));
  return [written, set];
}"""
"""A script that returns the letters and digits of all formulas, in the source and as KaTeX shows
them."""

pytestmark = pytest.mark.slow


@dataclass
class Page(HTMLParser):
    """The links and the anchors of a page."""

    text: str
    links: list[tuple[str, str]] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value is not None:
                self.links.append((tag, value))


def build(folder: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Build the site of a copy of the repository in folder / "site"."""
    assemble(root, folder)
    return subprocess.run(
        [shutil.which("zensical") or Path(sys.executable).with_name("zensical"), "build", "-cs"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "assembled"
    built = build(folder)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stdout + built.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Return all pages, by address."""
    return {
        file.relative_to(site).as_posix().removesuffix("index.html"): Page(file.read_text("utf-8"))
        for file in sorted(site.rglob("*.html"))
    }


def target(site: Path, address: str) -> Path:
    found = site / unquote(address.lstrip("/"))
    return found / "index.html" if found.is_dir() else found


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Page]) -> None:
    checked = 0
    for address, page in pages.items():
        base = "http://site/" if address == "404.html" else f"http://site/{address}"
        for tag, link in page.links:
            at = urlsplit(urljoin(base, link))
            if at.netloc != "site":
                assert tag == "a", f"{address} loads {link}"
                continue
            file = target(site, at.path)
            assert file.is_file(), f"{address} links to {link}"
            if at.fragment and file.suffix == ".html":
                name = file.relative_to(site).as_posix().removesuffix("index.html")
                assert unquote(at.fragment) in pages[name].places, f"{address} links to {link}"
            checked += 1
    assert checked > 5000


def test_every_page_of_the_repository_is_on_the_site(pages: dict[str, Page]) -> None:
    written = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("*.md")]
    for file in written:
        name = file.relative_to(ROOT).as_posix().removeprefix("docs/").removesuffix(".md").lower()
        assert ("" if name == "readme" else f"{name}/") in pages


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    """The build fails if a page has a broken link."""
    root = tmp_path / "copy"
    for folder in ("docs", "scripts", "src", "benchmarks"):
        left = shutil.ignore_patterns("__pycache__", "data")
        shutil.copytree(ROOT / folder, root / folder, ignore=left)
    for file in [*ROOT.glob("*.md"), ROOT / "mkdocs.yml"]:
        shutil.copy(file, root)
    (root / "docs/proofs/planted.md").write_text("# Planted\n\n[nowhere](nowhere.md)\n", "utf-8")
    built = build(tmp_path / "assembled", root)
    assert built.returncode != 0
    said = re.sub(r"\x1b\[[\d;]*m", "", built.stdout + built.stderr)  # without colors
    assert re.search(r"page does not exist[^?]*planted\.md[^?]*nowhere\.md", said)


def test_the_search_knows_names_and_formulas(site: Path) -> None:
    index = json.loads((site / "search.json").read_text("utf-8"))
    places = {entry["location"]: entry["text"] for entry in index["items"]}
    assert "reference/publishing/#epsilons.mean" in places
    assert "k_i/s ≤ e_i ≤ ε_i" in places["proofs/additive/#statement"]


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with needs.browser() as found:
        yield found


@dataclass(eq=False)
class Tab:
    """A browser page, with its messages and requests."""

    page: Any
    messages: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(120_000)
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("response", self._answered)

    def _answered(self, response: Any) -> None:
        if response.status >= 400:
            self.messages.append(f"{response.status} {response.url}")

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="load")
        self.page.evaluate("document.fonts.ready.then(() => true)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 1280])
def test_pages_in_a_browser(chromium: Any, address: str, width: int, scheme: str) -> None:
    """Pages load nothing from other hosts, do not scroll sideways, and have no serious problems."""
    from axe_playwright_python.sync_playwright import Axe

    screen = {"width": width, "height": 900}
    context = chromium.new_context(viewport=screen, color_scheme=scheme)
    tab = Tab(context.new_page())
    for kind in KINDS:
        tab.open(address + kind)
        wide = tab.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, kind
        found = Axe().run(tab.page).response["violations"]
        serious = [
            (each["id"], each["nodes"][0]["html"][:200])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == [], kind
    context.close()
    assert tab.messages == []
    assert [url for url in tab.asked if not url.startswith((address, "data:"))] == []


BLOCKS = """() => [...document.querySelectorAll(".md-content pre > code")].map((each) => [
  Math.max(...each.innerText.split("\\n").map((line) => [...line].length)),
  each.clientWidth - each.scrollWidth,
])"""
"""A script that returns the longest line of each code block, and the free width next to it.

If the free width is negative, the block scrolls.
"""


def test_a_printed_release_fits_the_column(chromium: Any, address: str) -> None:
    """Lines of 96 characters fit between both sidebars, even if there is a scroll bar."""
    tab = Tab(chromium.new_page(viewport={"width": 1280 - 15, "height": 900}))
    longest = 0
    for kind in ("planning/", "groups/", "tutorials/health-survey/"):
        tab.open(address + kind)
        for characters, room in tab.page.evaluate(BLOCKS):
            if characters <= 96:
                assert room >= 0, (kind, characters)
                longest = max(longest, characters)
    assert longest == 96
    assert tab.page.locator(".md-sidebar:visible").count() == 2


def test_every_formula_is_set_with_all_its_letters(
    chromium: Any, address: str, pages: dict[str, Page]
) -> None:
    tab = Tab(chromium.new_page())
    many = 0
    for name in pages:
        if name == "404.html":
            continue
        tab.open(address + name)
        written, shown = tab.page.evaluate(FORMULAS)
        assert shown == written, name
        many += len(shown)
    assert many > 5000
    assert tab.messages == []


def test_the_search_finds(chromium: Any, address: str) -> None:
    tab = Tab(chromium.new_page())
    tab.open(address)
    tab.page.click(".md-search__button")
    tab.page.keyboard.type("staircase")
    found = tab.page.locator("a[role=option]")
    found.first.wait_for()
    assert any("staircase" in each.lower() for each in found.all_inner_texts())
    assert tab.messages == []


def test_a_formula_that_cannot_be_set_is_noticed(chromium: Any, address: str) -> None:
    """A formula with an error is shown as text and logged, so the test above can detect it."""
    tab = Tab(chromium.new_page())
    wrong = '<span class="formula" data-tex="\\frac{">½ of it</span></body>'

    def plant(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("</body>", wrong))

    tab.page.route("**/security/", plant)
    tab.open(f"{address}security/")
    assert "½ of it" in tab.page.inner_text("body")
    assert any("½ of it" in message for message in tab.messages)
