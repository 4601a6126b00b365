"""The pages in a real Chromium: people choose, answer and send, and the estimate changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import needs
from tests.collector.served import SURVEYS, VALUES, Served

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
