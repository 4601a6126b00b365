"""Programs and modules that only some tests need.

If one is missing, those tests are skipped. If `EPSILONS_SKIP_NOTHING` is set, they fail instead.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--no-first-run",
]
"""Flags to run Chromium as root, headless and without background requests."""


def lacking(reason: str) -> NoReturn:
    """Skip a test, or fail it if `EPSILONS_SKIP_NOTHING` is set."""
    if os.environ.get("EPSILONS_SKIP_NOTHING"):
        pytest.fail(f"EPSILONS_SKIP_NOTHING is set, and {reason}")
    pytest.skip(reason)


def module(name: str) -> None:
    """Skip a test if a module that it needs is not installed."""
    if importlib.util.find_spec(name) is None:
        lacking(f"this test needs {name}, and it is not here")


def node() -> str:
    """Return the path of Node."""
    return shutil.which("node") or lacking("scripts are run in Node, and it is not here")


def chromium() -> str:
    """Return the path of Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for each in names if (found := shutil.which(each))), None)
    return program or lacking("pages are opened in Chromium, and it is not here")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Yield Chromium, controlled by Playwright."""
    program = chromium()
    module("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=FLAGS, timeout=120_000)
        yield started
        started.close()
