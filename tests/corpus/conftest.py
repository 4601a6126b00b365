"""A server, to restore ledgers on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import needs
from tests.ledger import server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server, started by who needs it."""
    reason = server.missing()
    if reason is not None:
        needs.lacking(reason)
    with server.running() as address:
        yield address
