"""A source of randomness that replays given bytes, for test vectors."""

from __future__ import annotations

import builtins

from epsilons.draws.noise import Source


class Tape(Source):
    """Replays bytes in order. It raises an error at the end, and never starts over."""

    private = True  # reports are marked as private, as from a person's device

    def __init__(self, data: builtins.bytes) -> None:
        self.data = data

    def bytes(self, count: int) -> builtins.bytes:
        assert count <= len(self.data), "more random bytes were asked for than the vector has"
        taken, self.data = self.data[:count], self.data[count:]
        return taken


def words(*values: int) -> Tape:
    return Tape(b"".join(value.to_bytes(8, "little") for value in values))
