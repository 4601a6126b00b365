"""The tables of a ledger: the same on every database, but for the names of two types.

    ledger     one row: version, neighbours, the key of ids, when it was made
    accounts   who gives how much, and how much of it is spent, in nano-ε
    releases   what was claimed under which name, and what was released
    charges    who paid how much for which release
    changes    which budget was changed when, and by whose consent
    events     the chain: every change of the others, in its order, with a hash of it

`accounts.budget` is what a person gives. It may be lowered below what is spent, and then nothing is
left; `most` is what `spent` can reach: the budget, or what was spent before it was lowered, or may
still be spent by releases that were open then. An id is tagged bytes; it is null once it was
erased, and `mark`, a keyed hash of it, stays.
"""

from __future__ import annotations

from typing import Final

__all__ = ["STATES", "TABLES", "VERSION"]

VERSION: Final = 1
"""Of the tables."""

STATES: Final = ("open", "drawing", "settled", "failed", "abandoned")
"""What may become of a release."""

TABLES: Final = (
    """
    CREATE TABLE ledger (
        one {integer} PRIMARY KEY CHECK (one = 1),
        version {integer} NOT NULL,
        neighbours TEXT NOT NULL CHECK (neighbours IN ('replace', 'add-remove')),
        secret {bytes} NOT NULL,
        created TEXT NOT NULL
    ) {strict}
    """,
    """
    CREATE TABLE accounts (
        number {integer} PRIMARY KEY,
        person {bytes} UNIQUE,
        mark {bytes} NOT NULL,
        budget {integer} NOT NULL,
        most {integer} NOT NULL,
        spent {integer} NOT NULL,
        CHECK (0 <= budget AND budget <= most),
        CHECK (0 <= spent AND spent <= most)
    ) {strict}
    """,
    "CREATE INDEX lowered ON accounts (number) WHERE most > budget",
    """
    CREATE TABLE releases (
        number {integer} PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        question TEXT NOT NULL,
        state TEXT NOT NULL CHECK (
            state IN ('open', 'drawing', 'settled', 'failed', 'abandoned')
        ),
        at_most {integer} NOT NULL CHECK (at_most > 0),
        part {integer} NOT NULL CHECK (part > 0),
        whole {integer} NOT NULL CHECK (whole >= part),
        result {bytes},
        opened TEXT NOT NULL,
        closed TEXT,
        CHECK ((state = 'settled') = (result IS NOT NULL)),
        CHECK ((state IN ('open', 'drawing')) = (closed IS NULL))
    ) {strict}
    """,
    """
    CREATE TABLE charges (
        release {integer} NOT NULL,
        account {integer} NOT NULL,
        amount {integer} NOT NULL CHECK (amount > 0),
        PRIMARY KEY (release, account)
    ) {clustered}
    """,
    """
    CREATE TABLE changes (
        event {integer} NOT NULL,
        account {integer} NOT NULL,
        was {integer} NOT NULL,
        now {integer} NOT NULL,
        consent TEXT NOT NULL,
        PRIMARY KEY (event, account)
    ) {clustered}
    """,
    """
    CREATE TABLE events (
        number {integer} PRIMARY KEY,
        kind TEXT NOT NULL,
        release {integer},
        content {bytes} NOT NULL,
        at TEXT NOT NULL,
        hash {bytes} NOT NULL
    ) {strict}
    """,
)
"""What makes a ledger. `changes.was` is −1 for a new account."""
