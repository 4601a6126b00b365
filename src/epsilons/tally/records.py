"""Bytes of a CSV file as blocks of whole records, in which nobody's row changes another's.

A record ends at the end of its line, unless that is within quotes. A field is quoted if it begins
with a quote and ends with one, before a separator or the end of a line; between them two quotes are
one. Every other quote is a character like all others, wherever it stands: in the middle of a field,
at the start of one that is not closed, or before something else than a separator.

Polars takes every second quote for a closing one, also a stray one, and then reads the rows of
others otherwise. So it is given blocks in which all quotes open or close a field: most files have
no others, which NumPy sees at once, and what has others is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from epsilons.types import Integers

__all__ = ["LONGEST", "NEWLINE", "QUOTE", "records", "without_blank_lines"]

QUOTE: Final = b'"'
NEWLINE: Final = b"\n"

BLOCK: Final = 2**22
"""Bytes that are read at a time."""

FIRST: Final = 2**18
"""Bytes that are read first: enough for the header, and for a look at a few thousand rows."""

LONGEST: Final = 2**24
"""Bytes of the longest quoted field. A quote that is not closed within these opens no field, so
that an open one neither takes the rest of the file, nor keeps it in memory."""

_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)
_QUOTED_OR_BLANK = re.compile(rb'("[^"]*")|^\r?\n', re.MULTILINE)


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


def records(file: Readable, separator: bytes) -> Iterator[bytes]:
    """Yield the records of a file, in blocks that any reader of CSV reads alike.

    Args:
        file: read from where it stands.
        separator: one byte.
    """
    rest, size = b"", FIRST
    while chunk := file.read(size):
        block, rest = _whole(rest + chunk, separator, final=False)
        if block:
            yield block
        # A long record is looked through again with each read: each is twice as long.
        size = max(min(2 * size, BLOCK), len(rest))
    if rest:
        # With an end of line, what follows a last quote is known.
        yield _whole(rest if rest.endswith(NEWLINE) else rest + NEWLINE, separator, final=True)[0]


def without_blank_lines(block: bytes) -> bytes:
    """Return a block that `records` made, without its empty lines, which are no rows."""
    empty = (b"\n\n", b"\n\r\n")
    if not (block.startswith((b"\n", b"\r\n")) or any(lines in block for lines in empty)):
        return block
    if QUOTE not in block:
        return _BLANK.sub(b"", block)
    return _QUOTED_OR_BLANK.sub(lambda found: found[1] or b"", block)


def _whole(buffer: bytes, separator: bytes, *, final: bool) -> tuple[bytes, bytes]:
    """Return the whole records at the start of a buffer, and the rest of it."""
    if QUOTE not in buffer:
        cut = buffer.rfind(NEWLINE) + 1
        return buffer[:cut], buffer[cut:]
    end = _end_if_regular(buffer, separator)
    if end == 0 or (final and end < len(buffer)):
        return _mended(buffer, separator, final=final)
    return buffer[:end], buffer[end:]


def _end_if_regular(buffer: bytes, separator: bytes) -> int:
    """Return where the last whole record ends, if all quotes before it open and close fields.

    Returns:
        0 if they do not, or if there is no whole record.
    """
    array = np.frombuffer(buffer, dtype=np.uint8)
    quotes = np.flatnonzero(array == QUOTE[0])
    # If all is regular then every second quote closes, and lines end after such a one.
    end, pairs = 0, len(quotes) // 2
    upper = int(quotes[-1]) if len(quotes) % 2 else len(buffer)
    while end == 0:
        lower = int(quotes[2 * pairs - 1]) if pairs else 0
        end = buffer.rfind(NEWLINE, lower, upper) + 1
        if pairs == 0:
            break
        if end == 0:
            upper, pairs = int(quotes[2 * pairs - 2]), pairs - 1
    if end == 0 or pairs == 0:
        return end
    opens, closes = quotes[: 2 * pairs : 2], quotes[1 : 2 * pairs : 2]
    if _all_open_or_close(array, opens, closes, separator):
        return end
    return 0


def _all_open_or_close(
    array: npt.NDArray[np.uint8], opens: Integers, closes: Integers, separator: bytes
) -> bool:
    """Whether quotes, in turn, open a field and close it, or stand twice within one."""
    newline = NEWLINE[0]
    before, after = array[opens - 1], array[closes + 1]
    opened = (before == separator[0]) | (before == newline)
    opened[0] |= opens[0] == 0
    closed = (after == separator[0]) | (after == newline)
    if not closed.all():
        line = np.flatnonzero(after == ord(b"\r"))
        closed[line] = array[closes[line] + 2] == newline
    if opened.all() and closed.all() and closes[-1] <= LONGEST:
        return True
    twice = opens[1:] == closes[:-1] + 1
    opened[1:] |= twice
    closed[:-1] |= twice
    starts = opens[np.concatenate([[True], ~twice])]
    ends = closes[np.concatenate([~twice, [True]])]
    return bool(opened.all() and closed.all() and (ends - starts).max() <= LONGEST)


def _mended(buffer: bytes, separator: bytes, *, final: bool) -> tuple[bytes, bytes]:
    """Write stray quotes as quoted fields: whole records, and the rest as it is."""
    ends = re.compile(b"[" + re.escape(separator) + b"\n]")
    whole: list[bytes] = []
    record: list[bytes] = []
    # What is before `done` is in these lists, before `at` has been read, before `rest` is whole.
    done = at = rest = 0
    while True:
        quote = buffer.find(QUOTE, at)
        newline = buffer.rfind(NEWLINE, at, quote if quote >= 0 else len(buffer))
        if newline >= 0:
            whole += [*record, buffer[done : newline + 1]]
            record = []
            done = rest = newline + 1
        if quote < 0:
            break
        start = max(buffer.rfind(separator, at, quote), newline) + 1
        end: int | None = -1
        if start == quote:
            end = _end_of_quoted(buffer, quote, separator, final=final)
        if end is None:
            break
        if end == -1:
            found = ends.search(buffer, quote)
            if found is None:
                break
            at = found.start()
            stop = at - 1 if buffer[at - 1 : at + 1] == b"\r\n" else at
            field = buffer[start:stop].replace(QUOTE, QUOTE + QUOTE)
            record += [buffer[done:start], QUOTE, field, QUOTE]
            done = stop
        else:
            at = end
    return b"".join(whole), buffer[rest:]


def _end_of_quoted(buffer: bytes, quote: int, separator: bytes, *, final: bool) -> int | None:
    """Return where the field ends that a quote opens; -1 if it opens none, None if it may yet."""
    at = quote + 1
    while True:
        at = buffer.find(QUOTE, at, quote + LONGEST + 1)
        if at < 0:
            return None if not final and len(buffer) - quote <= LONGEST else -1
        after = buffer[at + 1 : at + 3]
        if after[:1] == QUOTE:
            at += 2
        elif after[:1] in (separator, NEWLINE) or after == b"\r\n":
            return at + 1
        else:
            return None if not final and after in (b"", b"\r") else -1
