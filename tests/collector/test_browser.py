"""The pages in a real Chromium: choose, answer, send, see the estimate change."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epsilons import collector
from epsilons.collector.offline import offline_page
from tests import needs
from tests.collector.served import CLOSES, SURVEYS, VALUES, Served

PHONE = {"width": 380, "height": 800}
LABELS = {"lunch": "Yes", "sleep": None, "way": "by bus"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with needs.browser() as found:
        yield found


class Opened:
    """A window of its own, as wide as a phone; it notes messages, requests and what was sent."""

    def __init__(self, chromium: Any, scheme: str = "light") -> None:
        self.context = chromium.new_context(viewport=PHONE, color_scheme=scheme)
        self.context.set_default_timeout(90_000)  # a busy machine is not a fault
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.asked: list[str] = []
        self.sent: list[tuple[str, bytes]] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda problem: self.messages.append(str(problem)))
        self.page.on("request", self._noted)

    def _noted(self, request: Any) -> None:
        self.asked.append(request.url)
        if request.method == "PUT":
            self.sent.append((request.url, request.post_data_buffer))

    def outcome(self, status: int) -> None:
        self.page.wait_for_selector(f"#outcome[data-status='{status}']")

    def clean(self, *hosts: str) -> None:
        """No message, and no request to any other host."""
        assert self.messages == []
        assert [url for url in self.asked if not url.startswith(hosts)] == []


@pytest.fixture
def phone(chromium: Any) -> Iterator[Opened]:
    found = Opened(chromium)
    yield found
    found.context.close()


def answer(page: Any, name: str, level: str = "light") -> None:
    page.get_by_role("radio", name=level).check()
    if name == "sleep":
        page.get_by_role("spinbutton").fill(str(VALUES[name]))
    else:
        page.get_by_role("radio", name=LABELS[name], exact=True).check()
    page.get_by_role("button", name="Show me what will be sent").click()


def accessible(page: Any) -> None:
    needs.module("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def shoot(page: Any, name: str) -> None:
    """Keep a picture, where pictures are wanted."""
    folder = os.environ.get("EPSILONS_PICTURES")
    if not folder:
        return
    for scheme in ("light", "dark"):
        for width in (380, 1280):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            path = Path(folder) / f"{name}-{scheme}-{width}.png"
            page.screenshot(path=str(path), full_page=True)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("name", [survey.id for survey in SURVEYS])
def test_a_person_answers_and_the_same_bytes_are_sent_again(
    served: Served, phone: Opened, name: str
) -> None:
    link, home = served.link(name), f"http://localhost:{served.port}/"
    before = served.count(name)
    page = phone.page
    page.goto(link)
    page.wait_for_selector("#form:not([hidden])")
    assert page.locator("input:checked").count() == 0, "nothing is preselected"
    shoot(page, f"{name}-question")
    answer(page, name)
    page.wait_for_selector("#made:not([hidden])")
    shown = page.locator("#bytes").inner_text()
    assert phone.sent == [], "it is shown before it is sent"
    shoot(page, f"{name}-made")
    page.reload()
    page.wait_for_selector("#made:not([hidden])")
    assert page.locator("#bytes").inner_text() == shown, "it was kept before it was shown"
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    assert served.count(name) == before + 1
    page.reload()
    page.wait_for_selector("#made:not([hidden])")
    assert page.locator("#form").is_hidden(), "a report is made once"
    assert "This was sent" in page.locator("#title-made").inner_text()
    page.get_by_role("button", name="Send the same report again").click()
    phone.outcome(200)
    (first, data), (second, again) = phone.sent
    assert (first, data) == (second, again)
    assert data.hex() == shown
    assert served.count(name) == before + 1
    assert "#" not in "".join(phone.asked), "the invitation is in no address that is sent"
    phone.clean(home)


def test_after_a_failure_the_same_report_is_sent(served: Served, phone: Opened) -> None:
    page = phone.page
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    answer(page, "lunch")
    page.wait_for_selector("#made:not([hidden])")
    served.stop(signal.SIGKILL)
    page.get_by_role("button", name="Send it").click()
    page.wait_for_selector("#outcome[data-status='none']")
    served.start()
    page.get_by_role("button", name="Send").click()
    phone.outcome(201)
    assert len({data for _, data in phone.sent}) == 1
    assert len({url for url, _ in phone.sent}) == 1


def test_two_clicks_and_two_windows_make_one_report(served: Served, phone: Opened) -> None:
    """Also if the second begins while the first is being made."""
    phone.context.add_init_script(
        "const set = Storage.prototype.setItem; window.kept = [];"
        "Storage.prototype.setItem = function (...given) {"
        "  window.kept.push(given[1]); return set.apply(this, given); };"
    )
    link, page, other = served.link("way"), phone.page, phone.context.new_page()
    for each in (page, other):
        each.goto(link)
        each.wait_for_selector("#form:not([hidden])")
        each.get_by_role("radio", name="light").check()
        each.get_by_role("radio", name="by bus", exact=True).check()
    page.evaluate("for (const _ of [1, 2]) document.getElementById('form').requestSubmit();")
    page.wait_for_selector("#made:not([hidden])")
    other.get_by_role("button", name="Show me what will be sent").click()
    other.wait_for_selector("#made:not([hidden])")
    (made,) = page.evaluate("window.kept")
    assert other.evaluate("window.kept") == []
    for each in (page, other):
        assert json.loads(made)["report"] == each.locator("#bytes").inner_text()


@pytest.mark.parametrize("call", ["getItem", "setItem"])
def test_where_nothing_can_be_kept_nothing_is_made(
    served: Served, phone: Opened, call: str
) -> None:
    """A report that is not kept would be made again after a reload."""
    phone.context.add_init_script(f"Storage.prototype.{call} = () => {{ throw new Error('no'); }}")
    page = phone.page
    page.goto(served.link("lunch"))
    if call == "getItem":
        page.get_by_text("forbids pages to remember").wait_for()
        assert page.locator("#form").is_hidden()
    else:
        page.wait_for_selector("#form:not([hidden])")
        answer(page, "lunch")
        page.get_by_text("none was made").wait_for()
    assert page.locator("#made").is_hidden()
    assert phone.sent == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_the_keyboard_alone_in_both_schemes(
    served: Served, chromium: Any, scheme: str
) -> None:
    phone = Opened(chromium, scheme)
    page = phone.page
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    accessible(page)
    keys = ["Tab", "Space", "Tab", "Space", "Tab", "Enter"]
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_selector("#made:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "title-made"
    accessible(page)
    for key in ("Tab", "Enter"):
        page.keyboard.press(key)
    phone.outcome(201)
    for each in page.locator("summary").all():
        each.click()
    accessible(page)
    shoot(page, f"sent-{scheme}")
    phone.clean(f"http://localhost:{served.port}/")
    phone.context.close()


@pytest.mark.parametrize("name", [survey.id for survey in SURVEYS])
def test_the_organiser_sees_it_live(
    served: Served, phone: Opened, chromium: Any, tmp_path: Path, name: str
) -> None:
    page = phone.page
    page.goto(f"http://localhost:{served.port}/o/{name}#{served.made[name].key}")
    page.wait_for_selector("#live:not([hidden])")
    many = served.count(name)
    page.get_by_text(f"{many} reports;").wait_for()
    someone = Opened(chromium)
    someone.page.goto(served.link(name))
    someone.page.wait_for_selector("#form:not([hidden])")
    answer(someone.page, name)
    someone.page.get_by_role("button", name="Send it").click()
    someone.outcome(201)
    someone.context.close()
    page.get_by_text(f"{many + 1} reports;").wait_for()
    assert "95 %" in page.locator("#results").inner_text()
    assert "dishonest" in page.locator("#influence").inner_text()
    assert "fixed beforehand" in page.locator("#honest").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    mechanism = served.surveys[name].mechanism
    saved.value.save_as(tmp_path / "reports.parquet")
    assert mechanism.estimate(data=tmp_path / "reports.parquet").n == many + 1
    accessible(page)
    shoot(page, f"{name}-organiser")
    phone.clean(f"http://localhost:{served.port}/", "blob:")


def test_the_organiser_closes_it(phone: Opened, chromium: Any, tmp_path: Path) -> None:
    with Served(tmp_path, SURVEYS[:1]) as served:
        someone = Opened(chromium)
        someone.page.goto(served.link("lunch"))
        someone.page.wait_for_selector("#form:not([hidden])")
        page = phone.page
        page.goto(f"http://localhost:{served.port}/o/lunch#{served.made['lunch'].key}")
        page.get_by_text("Close this survey now").click()
        page.get_by_role("button", name="Close it for good").click()
        page.get_by_text("closed before its time").wait_for()
        answer(someone.page, "lunch")
        someone.page.get_by_role("button", name="Send it").click()
        someone.outcome(410)
        someone.page.goto("about:blank")
        someone.page.goto(served.link("lunch"))
        someone.page.get_by_text("This survey is closed.").wait_for()
        assert someone.page.locator("#form").is_hidden()
        assert served.count("lunch") == 0
        someone.context.close()


def test_a_wrong_key_shows_nothing(served: Served, phone: Opened) -> None:
    phone.page.goto(f"http://localhost:{served.port}/o/lunch#{'0' * 32}")
    phone.page.get_by_text("This key does not open").wait_for()
    assert phone.page.locator("#live").is_hidden()


@pytest.mark.parametrize("name", [survey.id for survey in SURVEYS])
def test_the_offline_file_does_the_same(
    served: Served, phone: Opened, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "survey.html"
    file.write_text(offline_page(served.surveys[name]), "utf-8")
    before = served.count(name)
    page = phone.page
    page.goto(file.as_uri())
    page.wait_for_selector("#link:not([hidden])")
    assert "tested itself" in page.locator("#tested").inner_text()
    accessible(page)
    page.get_by_role("textbox").fill("https://elsewhere.example/s/other#" + "0" * 32)
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("This is not an invitation").wait_for()
    page.get_by_role("textbox").fill(served.link(name))
    page.get_by_role("button", name="Go on").click()
    page.wait_for_selector("#form:not([hidden])")
    answer(page, name)
    shoot(page, f"{name}-offline")
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    assert served.count(name) == before + 1
    phone.clean(file.as_uri(), f"http://localhost:{served.port}/r/")


def test_an_offline_file_that_fails_its_test_asks_nothing(
    served: Served, phone: Opened, tmp_path: Path
) -> None:
    file = tmp_path / "survey.html"
    text = offline_page(served.surveys["lunch"])
    assert text.count("005a5bab4024d944") == 1
    file.write_text(text.replace("005a5bab4024d944", "f" * 16), "utf-8")
    phone.page.goto(file.as_uri())
    phone.page.get_by_text("its test failed").wait_for()
    assert phone.page.locator("#link").is_hidden()
    assert phone.page.locator("#form").is_hidden()


def test_scripts_in_texts_are_shown_as_texts(phone: Opened, tmp_path: Path) -> None:
    bad = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    survey = collector.Survey(
        id="bad",
        question=bad,
        kind="one-of",
        options=(bad, "'\"><b>"),
        organiser=bad,
        closes=CLOSES,
        levels=(collector.Level("<i>a", 1.0), collector.Level("</label>", 2.0)),
    )
    with Served(tmp_path, [survey]) as served:
        page = phone.page
        page.goto(served.link("bad"))
        page.wait_for_selector("#form:not([hidden])")
        assert page.locator("h1").inner_text() == bad
        assert page.locator("img, b, i").count() == 0
        page.get_by_role("radio", name="</label>").check()
        page.get_by_role("radio", name="'\"><b>").check()
        page.get_by_role("button", name="Show me what will be sent").click()
        page.get_by_role("button", name="Send it").click()
        phone.outcome(201)
        phone.clean(f"http://localhost:{served.port}/")
