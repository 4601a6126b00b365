"""The pages in a real Chromium: people choose, answer and send, and the estimate changes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from epsilons import collector
from epsilons.collector.serving import offline_page
from tests import needs
from tests.collector.served import CLOSES, SURVEYS, VALUES, Served, made

PHONE = {"width": 380, "height": 800}
LABELS = {"lunch": "Yes", "way": "by bus"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with needs.browser() as found:
        yield found


class Opened:
    """A separate browser window as wide as a phone. It records messages, requests and reports."""

    def __init__(self, chromium: Any, scheme: str = "light") -> None:
        self.context = chromium.new_context(viewport=PHONE, color_scheme=scheme)
        self.context.set_default_timeout(90_000)  # a long timeout, for busy machines
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.asked: list[str] = []
        self.sent: list[tuple[str, bytes]] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda problem: self.messages.append(str(problem)))
        self.page.on("request", self._noted)

    def _noted(self, request: Any) -> None:
        self.asked.append(request.url)
        if request.method == "PUT" and request.url.count("/") > 4:  # not a reservation
            self.sent.append((request.url, request.post_data_buffer))

    def outcome(self, status: int) -> None:
        self.page.wait_for_selector(f"#outcome[data-status='{status}']")

    def clean(self, *hosts: str) -> None:
        """Check that there were no messages, and no requests to any other host."""
        assert self.messages == []
        assert [url for url in self.asked if not url.startswith(hosts)] == []


@pytest.fixture
def phone(chromium: Any) -> Iterator[Opened]:
    found = Opened(chromium)
    yield found
    found.context.close()


def answer(page: Any, name: str, level: str = "light") -> None:
    page.get_by_role("radio", name=level).check()
    if name not in LABELS:
        page.get_by_role("spinbutton").fill(str(VALUES[name]))
    else:
        page.get_by_role("radio", name=LABELS[name], exact=True).check()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Show me what will be sent").click()


def noted(page: Any) -> list[Any]:
    """Return a list to which every later request is appended."""
    found: list[Any] = []

    def note(request: Any) -> None:
        found.append(request)

    page.on("request", note)
    return found


def shown_bytes(page: Any) -> str:
    return str(page.locator("#bytes").inner_text().replace(" ", ""))


def accessible(page: Any) -> None:
    needs.module("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def shoot(page: Any, name: str) -> None:
    """Save screenshots if EPSILONS_PICTURES names a folder."""
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


@pytest.mark.rotates(6)
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
    shown = shown_bytes(page)
    assert phone.sent == [], "it is shown before it is sent"
    shoot(page, f"{name}-made")
    page.reload()
    page.wait_for_selector("#made:not([hidden])")
    assert shown_bytes(page) == shown, "it was kept before it was shown"
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    assert served.count(name) == before + 1
    page.reload()
    page.wait_for_selector("#made:not([hidden])")
    assert page.locator("#form").is_hidden(), "a report is made once"
    assert page.locator("#title-made").inner_text() == "This was sent"
    assert page.get_by_role("button", name="Send").count() == 0
    ((_, data),) = phone.sent
    assert data.hex() == shown
    assert served.count(name) == before + 1
    assert "#" not in "".join(phone.asked), "the invitation is in no address that is sent"
    assert page.title() == "A private survey", "a question in a title is in the browser's history"
    phone.clean(home)


@pytest.mark.long
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
    assert len(phone.sent) == 2
    assert len({data for _, data in phone.sent}) == 1
    assert len({url for url, _ in phone.sent}) == 1


@pytest.mark.long
def test_a_report_that_arrived_is_not_announced_as_to_be_sent(
    served: Served, phone: Opened
) -> None:
    """If the response to a report is lost, a reloaded page asks the server again.

    It shows "sent".
    """
    page, before = phone.page, served.count("lunch")
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    answer(page, "lunch")

    def lost(route: Any) -> None:
        route.fetch()
        route.abort()

    page.route("**/r/lunch/*", lost)
    page.get_by_role("button", name="Send it").click()
    page.wait_for_selector("#outcome[data-status='none']")
    assert served.count("lunch") == before + 1
    page.reload()
    page.wait_for_selector("#made:not([hidden])")
    assert page.locator("#title-made").inner_text() == "This was sent"
    assert page.get_by_role("button", name="Send").count() == 0


@pytest.mark.long
def test_two_clicks_and_two_windows_make_one_report(served: Served, phone: Opened) -> None:
    """While a report is being made, a second click or window does not make another report."""
    phone.context.add_init_script(
        "const set = Storage.prototype.setItem; window.kept = [];"
        "Storage.prototype.setItem = function (...given) {"
        "  if (JSON.parse(given[1]).report) window.kept.push(given[1]);"
        "  return set.apply(this, given); };"
    )
    link, page, other = served.link("way"), phone.page, phone.context.new_page()
    for each in (page, other):
        each.goto(link)
        each.wait_for_selector("#form:not([hidden])")
        each.get_by_role("radio", name="light").check()
        each.get_by_role("radio", name="by bus", exact=True).check()
        each.get_by_role("button", name="Go on").click()
    page.evaluate("for (const _ of [1, 2]) document.getElementById('make').click();")
    page.wait_for_selector("#made:not([hidden])")
    other.get_by_role("button", name="Show me what will be sent").click()
    other.wait_for_selector("#made:not([hidden])")
    (made,) = page.evaluate("window.kept")
    assert other.evaluate("window.kept") == []
    for each in (page, other):
        assert json.loads(made)["report"] == shown_bytes(each)
    for each, status in ((page, 201), (other, 200)):
        each.get_by_role("button", name="Send it").click()
        each.wait_for_selector(f"#outcome[data-status='{status}']")


@pytest.mark.rotates(6)
@pytest.mark.parametrize("call", ["getItem", "setItem"])
def test_where_nothing_can_be_kept_nothing_is_asked(
    served: Served, phone: Opened, call: str
) -> None:
    """If the browser cannot store the key, the page asks nothing.

    Without its key, a reloaded page would make a second report.
    """
    phone.context.add_init_script(f"Storage.prototype.{call} = () => {{ throw new Error('no'); }}")
    page, link = phone.page, served.link("lunch")
    page.goto(link)
    page.get_by_text("forbids pages to remember").wait_for()
    assert page.locator("#form").is_hidden()
    assert page.locator("#made").is_hidden()
    assert phone.sent == []
    token = link.partition("#")[2]
    assert served.reserve("lunch", token, "0" * 64).status == 201, "nothing was reserved"


@pytest.mark.long
def test_a_way_back_before_chance_decides(served: Served, phone: Opened) -> None:
    """People can go back only before the draw. Otherwise they could choose among several draws."""
    page = phone.page
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    page.get_by_role("radio", name="strong").check()
    page.get_by_role("radio", name="No", exact=True).check()
    page.get_by_role("button", name="Go on").click()
    assert page.locator("#chosen-answer").inner_text() == "No"
    shoot(page, "review")
    page.get_by_role("button", name="Back").click()
    page.get_by_role("radio", name="Yes", exact=True).check()
    page.get_by_role("button", name="Go on").click()
    assert page.locator("#chosen-answer").inner_text() == "Yes"
    assert "62" in page.locator("#chosen-level").inner_text()
    assert page.evaluate("Object.values(localStorage).some((each) => each.includes('report'))") is (
        False
    )
    page.get_by_role("button", name="Show me what will be sent").click()
    page.wait_for_selector("#made:not([hidden])")
    assert page.get_by_role("button", name="Back").count() == 0
    assert page.locator("#chosen-answer").text_content() == "", "the answer is not kept"


@pytest.mark.long
def test_a_report_that_a_page_of_old_has_made_is_the_one_that_is_sent(
    served: Served, phone: Opened
) -> None:
    """A report that version 0.2.0 stored without a key is sent, and no new report is made."""
    page, link = phone.page, served.link("lunch")
    place = hashlib.sha256(link.partition("#")[2].encode()).hexdigest()[:16]
    kept = json.dumps({"id": "ab" * 16, "report": made(SURVEYS[0]).hex()})
    page.goto(link.partition("#")[0])
    page.evaluate("given => localStorage.setItem(...given)", [f"epsilons/lunch/{place}", kept])
    page.goto(link)
    page.wait_for_selector("#made:not([hidden])")
    assert shown_bytes(page) == json.loads(kept)["report"]
    assert page.locator("#form").is_hidden()
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    ((url, data),) = phone.sent
    assert url.endswith("/" + "ab" * 16)
    assert data == bytes.fromhex(json.loads(kept)["report"])


@pytest.mark.long
def test_all_of_what_is_sent_is_shown(served: Served, phone: Opened) -> None:
    page, link = phone.page, served.link("sleep")
    requests = noted(page)
    page.goto(link)
    page.wait_for_selector("#form:not([hidden])")
    answer(page, "sleep")
    page.wait_for_selector("#made:not([hidden])")
    said = page.locator("#made").inner_text()
    groups = page.locator("#bytes").inner_text().split(" ")
    assert {len(group) for group in groups[:-1]} == {8}, "bytes are in groups"
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    sent = requests[-1]
    assert sent.post_data_buffer.hex() == "".join(groups)
    for part in (sent.url.rpartition("/")[2], link.partition("#")[2], sent.headers["reservation"]):
        assert part in said


def test_one_invitation_in_four_places_is_one_report(
    served: Served, chromium: Any, tmp_path: Path
) -> None:
    """An invitation that is open on one page cannot be used on another.

    The other pages have another host name, are in a file, or are in another browser.
    """
    before, link = served.count("lunch"), served.link("lunch")
    file = tmp_path / "survey.html"
    file.write_text(offline_page(served.surveys["lunch"]), "utf-8")
    first, second = Opened(chromium), Opened(chromium)
    first.page.goto(link)
    first.page.wait_for_selector("#form:not([hidden])")
    named = first.context.new_page()
    named.goto(link.replace("localhost", "127.0.0.1"))
    opened = first.context.new_page()
    opened.goto(file.as_uri())
    opened.get_by_role("textbox").fill(link)
    opened.get_by_role("button", name="Go on").click()
    second.page.goto(link)
    for each in (named, opened, second.page):
        each.get_by_text("in use elsewhere").wait_for()
        for part in ("form", "review", "made"):
            assert each.locator(f"#{part}").is_hidden()
    answer(first.page, "lunch")
    first.page.get_by_role("button", name="Send it").click()
    first.outcome(201)
    second.page.reload()
    second.page.get_by_text("in use elsewhere").wait_for()
    assert served.count("lunch") == before + 1
    assert len(first.sent) == 1
    assert second.sent == []
    for each in (first, second):
        each.context.close()


def test_the_key_is_handed_on_to_the_file_once(
    served: Served, chromium: Any, tmp_path: Path
) -> None:
    before, link = served.count("way"), served.link("way")
    file = tmp_path / "survey.html"
    file.write_text(offline_page(served.surveys["way"]), "utf-8")
    first, second = Opened(chromium), Opened(chromium)
    page = first.page
    page.goto(link)
    page.wait_for_selector("#form:not([hidden])")
    page.get_by_role("button", name="Answer in a file").click()
    page.wait_for_selector("#handed:not([hidden])")
    accessible(page)
    given = page.locator("#handed-link").inner_text()
    page.reload()
    page.wait_for_selector("#handed:not([hidden])")
    assert page.locator("#handed-link").inner_text() == given
    assert page.locator("#form").is_hidden(), "the page no longer asks"
    second.page.goto(given)
    second.page.get_by_text("This link is for the file").wait_for()
    opened = first.context.new_page()
    opened.goto(f"{file.as_uri()}#{given}")
    opened.get_by_role("button", name="Go on").click()
    opened.wait_for_selector("#form:not([hidden])")
    second.page.goto(f"{file.as_uri()}#{given}")
    second.page.get_by_role("button", name="Go on").click()
    second.page.get_by_text("in use elsewhere").wait_for()
    assert second.page.locator("#form").is_hidden()
    answer(opened, "way")
    opened.get_by_role("button", name="Send it").click()
    opened.wait_for_selector("#outcome[data-status='201']")
    assert served.count("way") == before + 1
    for each in (first, second):
        each.context.close()


def test_a_second_link_in_the_same_tab_is_a_second_person(served: Served, phone: Opened) -> None:
    before, page = served.count("lunch"), phone.page
    for many in (1, 2):
        page.goto(served.link("lunch"))  # the second link differs only in the part after the #
        page.wait_for_selector("#form:not([hidden])")
        answer(page, "lunch")
        page.get_by_role("button", name="Send it").click()
        phone.outcome(201)
        assert served.count("lunch") == before + many
    assert len({url for url, _ in phone.sent}) == 2


@pytest.mark.long
def test_a_second_key_in_the_same_tab_is_taken(served: Served, phone: Opened) -> None:
    page, there = phone.page, f"http://localhost:{served.port}/o/lunch#"
    page.goto(there + "0" * 32)
    page.get_by_text("This key does not open").wait_for()
    page.goto(there + served.made["lunch"].key)
    page.wait_for_selector("#live:not([hidden])")
    page.goto(there + "1" * 32)
    page.get_by_text("This key does not open").wait_for()
    assert page.locator("#live").is_hidden()


def test_the_key_is_kept_before_it_is_bound_and_is_none_of_the_coins(
    served: Served, phone: Opened
) -> None:
    """The page stores its key before it reserves the invitation.

    If the response to the reservation is lost, the page uses the same key again.
    """
    phone.context.add_init_script(
        "const draw = crypto.getRandomValues.bind(crypto); window.drawn = [];"
        "crypto.getRandomValues = (given) => {"
        "  draw(given); window.drawn.push(given.length); return given; };"
    )
    page, locks = phone.page, []

    def lost(route: Any) -> None:
        locks.append(route.request.post_data)
        route.fetch()
        route.abort()

    page.route("**/r/lunch", lost)
    page.goto(served.link("lunch"))
    page.get_by_text("The question could not be shown").wait_for()
    assert page.locator("#form").is_hidden()
    assert page.evaluate("window.drawn") == [16], "the key"
    page.unroute("**/r/lunch")
    requests = noted(page)
    page.reload()
    page.wait_for_selector("#form:not([hidden])")
    locks += [each.post_data for each in requests if each.url.endswith("/r/lunch")]
    assert page.evaluate("window.drawn") == []
    answer(page, "lunch")
    page.wait_for_selector("#made:not([hidden])")
    assert page.evaluate("window.drawn") == [8, 16], "a word for the coin, then the id"
    assert len(locks) == 2
    assert len(set(locks)) == 1


@pytest.mark.rotates(6)
@pytest.mark.parametrize(
    ("token", "said"),
    [("0" * 32, "not known here"), ("0" * 31, "only a part of one"), ("", "no invitation")],
)
def test_a_wrong_link_is_told_before_anything_is_asked(
    served: Served, phone: Opened, token: str, said: str
) -> None:
    phone.page.goto(f"http://localhost:{served.port}/s/lunch#{token}")
    phone.page.get_by_text(said).wait_for()
    assert phone.page.locator("#form").is_hidden()


@pytest.mark.rotates(6)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_the_keyboard_alone_in_both_schemes(
    served: Served, chromium: Any, scheme: str
) -> None:
    phone = Opened(chromium, scheme)
    page = phone.page
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    accessible(page)
    for key in ("Tab", "Tab", "Space", "Tab", "Space", "Tab", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#review:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "title-review"
    accessible(page)
    for key in ("Tab", "Enter"):
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


@pytest.mark.rotates(6)
@pytest.mark.parametrize("name", [survey.id for survey in SURVEYS])
def test_the_organiser_sees_it_live(
    served: Served, phone: Opened, chromium: Any, tmp_path: Path, name: str
) -> None:
    page = phone.page
    for _ in range(20 - served.count(name) % 10 - 1):
        assert served.put(name, made(served.surveys[name]), served.token(name)).status == 201
    many = served.count(name)
    page.goto(f"http://localhost:{served.port}/o/{name}#{served.made[name].key}")
    page.get_by_text(f"{many - 19} reports are shown;").wait_for()
    someone = Opened(chromium)
    someone.page.goto(served.link(name))
    someone.page.wait_for_selector("#form:not([hidden])")
    answer(someone.page, name)
    someone.page.get_by_role("button", name="Send it").click()
    someone.outcome(201)
    someone.context.close()
    page.get_by_text(f"{many - 9} reports are shown;").wait_for()
    assert "95 %" in page.locator("#results").inner_text()
    assert "dishonest" in page.locator("#influence").inner_text()
    assert "fixed beforehand" in page.locator("#honest").inner_text()
    assert page.get_by_role("button", name="Download").count() == 0, "not while it is open"
    accessible(page)
    shoot(page, f"{name}-organiser")
    phone.clean(f"http://localhost:{served.port}/")


@pytest.mark.long
def test_the_organiser_closes_it(phone: Opened, chromium: Any, tmp_path: Path) -> None:
    with Served(tmp_path, SURVEYS[:1]) as served:
        for k in range(4):
            data = made(SURVEYS[0], k > 1, (0.5, 1.0, 2.0)[k % 3])
            assert served.put("lunch", data, served.token("lunch")).status == 201
        someone = Opened(chromium)
        someone.page.goto(served.link("lunch"))
        someone.page.wait_for_selector("#form:not([hidden])")
        page = phone.page
        page.goto(f"http://localhost:{served.port}/o/lunch#{served.made['lunch'].key}")
        page.get_by_text("Nothing is shown before twenty").wait_for()
        page.get_by_text("Close this survey now").click()
        page.get_by_role("button", name="Close it for good").click()
        page.get_by_role("button", name="No, leave it open").click()
        page.get_by_role("button", name="Close it for good").click()
        assert "Open until" in page.locator("#state").inner_text(), "it asks once more"
        shoot(page, "closing")
        page.get_by_role("button", name="Yes, close it now").click()
        page.get_by_text("This survey is closed for good.").wait_for()
        page.wait_for_timeout(2500)  # the text must still be shown after the next update
        assert page.get_by_text("This survey is closed for good.").is_visible()
        assert "Close this survey now" not in page.locator("main").inner_text()
        said = page.locator("#honest").inner_text()
        for words in ("whatever people chose", "says nothing about the answer", "before its time"):
            assert words in said
        numbers = page.locator("#results").inner_text()
        assert re.search(r"\d\.\d", numbers) is None, "four reports carry no decimals"
        assert "If the choice of a level says nothing" in numbers
        with page.expect_download() as saved:
            page.get_by_role("button", name="Download").click()
        saved.value.save_as(tmp_path / "reports.parquet")
        assert SURVEYS[0].mechanism.estimate(data=tmp_path / "reports.parquet").n == 4
        shoot(page, "closed-organiser")
        answer(someone.page, "lunch")
        someone.page.get_by_role("button", name="Send it").click()
        someone.outcome(410)
        someone.page.goto(served.link("lunch"))
        someone.page.get_by_text("This survey is closed.").wait_for()
        assert someone.page.locator("#form").is_hidden()
        assert "Open until" not in someone.page.locator("main").inner_text()
        assert served.count("lunch") == 4
        someone.context.close()


def test_times_are_in_utc_and_where_the_reader_is(served: Served, chromium: Any) -> None:
    context = chromium.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.goto(served.link("lunch"))
    page.wait_for_selector("#form:not([hidden])")
    said = page.locator("#asker").inner_text()
    assert "1 December 2099 at 18:00 UTC (2 December 2099 at 03:00 where you are)" in said
    context.close()


def test_a_wrong_key_shows_nothing(served: Served, phone: Opened) -> None:
    phone.page.goto(f"http://localhost:{served.port}/o/lunch#{'0' * 32}")
    phone.page.get_by_text("This key does not open").wait_for()
    assert phone.page.locator("#live").is_hidden()


@pytest.mark.rotates(6)
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
    assert page.locator("#file").is_hidden(), "it is the file"
    answer(page, name)
    shoot(page, f"{name}-offline")
    page.get_by_role("button", name="Send it").click()
    phone.outcome(201)
    assert served.count(name) == before + 1
    phone.clean(file.as_uri(), f"http://localhost:{served.port}/r/{name}")


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


@pytest.mark.long
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
        page.get_by_role("button", name="Go on").click()
        page.get_by_role("button", name="Show me what will be sent").click()
        page.get_by_role("button", name="Send it").click()
        phone.outcome(201)
        phone.clean(f"http://localhost:{served.port}/")
