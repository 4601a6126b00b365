"""Fixtures: ledgers on both databases."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import epsilons as ep

DATABASES = ["sqlite", "postgres"]

_numbers = itertools.count()


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> str:
    """The name of a database."""
    name: str = request.param
    return name


@pytest.fixture
def place(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    """A function that returns a new location for a ledger at each call."""

    def fresh() -> str:
        number = next(_numbers)
        if database == "sqlite":
            return str(tmp_path / f"ledger{number}.db")
        import psycopg

        address: str = request.getfixturevalue("postgres")
        schema = f"l{os.getpid()}_{number}"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{address}&options=-csearch_path%3D{schema}"

    return fresh


@pytest.fixture
def where(place: Callable[[], str]) -> str:
    """The location of a new ledger."""
    return place()


@pytest.fixture
def ledger(where: str) -> Iterator[ep.Ledger]:
    """A new ledger under replace."""
    with ep.Ledger.create(where) as made:
        yield made


@pytest.fixture
def private(place: Callable[[], str]) -> Iterator[ep.Ledger]:
    """A new ledger under add/remove."""
    with ep.Ledger.create(place(), neighbours="add-remove") as made:
        yield made
