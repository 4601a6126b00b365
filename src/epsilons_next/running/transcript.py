"""What was asked and replied: with its question, it is the whole release.

Everything that is published is a function of both, so another reading, a stored file and a check
are replays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from epsilons_next.budgets.levels import Budgets, Counts
from epsilons_next.errors import FileError
from epsilons_next.inference.rows import Reading, Row
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.questions.question import Question
from epsilons_next.questions.requests import Drawn, Reader, Reply, Request, led
from epsilons_next.releases.json import plain

__all__ = ["Transcript"]

T = TypeVar("T")


@dataclass(frozen=True)
class Transcript:
    """A question, and every request that it made with its reply.

    Args:
        question: what was asked.
        public: whether it is public who takes part.
        replies: requests and replies, in order.
    """

    question: Question
    public: bool
    replies: tuple[tuple[Request, Reply], ...]

    @cached_property
    def reader(self) -> Reader:
        """What was drawn, to be read: the question is led through the same replies.

        Raises:
            FileError: the replies are those to another question.
        """
        replies = [(_plain_request(asked), answer) for asked, answer in self.replies]
        return _led(self.question, self.public, replies, lambda *held: held[2])

    def rows(self, reading: Reading) -> list[Row]:
        """Read what was drawn.

        Raises:
            ArgumentError: nothing can be concluded in this way.
        """
        return self.reader(reading)

    @property
    def drawn(self) -> list[Drawn]:
        """What was drawn, in order."""
        return [answer for _, answer in self.replies if isinstance(answer, Drawn)]

    @property
    def plain(self) -> dict[str, Any]:
        """The transcript as plain data."""
        return {
            "question": self.question.plain,
            "public": self.public,
            "replies": [
                [_plain_request(asked), _plain_reply(answer)] for asked, answer in self.replies
            ],
        }

    @classmethod
    def of(cls, question: Question, plain: Mapping[str, Any]) -> Transcript:
        """Return a transcript that was stored, led through its question once more.

        Raises:
            FileError: the replies are those to another question.
        """
        replies: list[tuple[Request, Reply]] = []

        def reply(request: Request, asked: Mapping[str, Any], answer: Any) -> Reply:
            replies.append((request, _reply(request, asked, answer)))
            return replies[-1][1]

        reader = _led(question, plain["public"], plain["replies"], reply)
        result = cls(question, plain["public"], tuple(replies))
        vars(result)["reader"] = reader  # so that it need not be led to its end again
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("question", "public", "replies")}


def _led(
    question: Question,
    public: bool,
    replies: Sequence[tuple[Mapping[str, Any], T]],
    restored: Callable[[Request, Mapping[str, Any], T], Reply],
) -> Reader:
    """Lead a question through replies to stored requests, if it makes the same again."""
    waiting = iter(replies)

    def reply(request: Request) -> Reply:
        held = next(waiting, None)
        if held is None or not _same(request, held[0]):
            raise FileError("The replies are those to another question.")
        return restored(request, *held)

    return led(question.steps(public=public), reply)


def _same(request: Request, asked: Mapping[str, Any]) -> bool:
    """Whether a request is the one that was answered, whatever weights it was drawn with."""
    return _plain_request(request, asked) == asked


def _plain_request(request: Request, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A request as plain data: what is counted, or the mechanism that draws.

    If it is compared with one that was stored, the weights are those that were drawn with: another
    processor may choose a cap that differs in its last digit.
    """
    if not isinstance(request, Linear):
        return {"count": plain(request)}
    weights = request.weights if asked is None else asked.get("weights", ())
    return {
        "law": type(request.noise).__name__.lower(),
        "scale": str(request.noise.scale),
        "block": [list(row) for row in request.matrix.block],
        "groups": request.matrix.groups,
        "outside": request.matrix.outside,
        "weights": list(weights),
    }


def _plain_reply(reply: Reply) -> dict[str, Any]:
    """A reply as plain data; what was drawn is text, since it may have more than 53 bits."""
    if isinstance(reply, Drawn):
        return {"integers": [str(each) for each in reply.integers]}
    held: dict[str, Any] = plain(reply)
    return held


def _reply(request: Request, asked: Mapping[str, Any], plain: Mapping[str, Any]) -> Reply:
    """A reply that was stored."""
    if isinstance(request, Linear):
        mechanism = replace(request, weights=tuple(asked["weights"]))
        return Drawn(mechanism, tuple(int(each) for each in plain["integers"]))
    counts = plain["counts"]
    if counts is not None:
        lists = {name: tuple(each) for name, each in counts.items() if isinstance(each, list)}
        counts = Counts(**{**counts, **lists})
    return Budgets(tuple(plain["offered"]), counts)
