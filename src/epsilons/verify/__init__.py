"""Checks that mechanisms respect privacy budgets; they share no code with the mechanisms."""

from epsilons.verify.auditing import Audit, audit
from epsilons.verify.drawn import draws
from epsilons.verify.losses.kinds import exact, exact_channel
from epsilons.verify.published import Published, published
from epsilons.verify.replaying.changes import Change
from epsilons.verify.replaying.replay import Replay, replay
from epsilons.verify.verdict import Draws, Verdict

__all__ = [
    "Audit",
    "Change",
    "Draws",
    "Published",
    "Replay",
    "Verdict",
    "audit",
    "draws",
    "exact",
    "exact_channel",
    "published",
    "replay",
]
