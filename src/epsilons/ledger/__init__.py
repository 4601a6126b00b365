"""Lifetime privacy accounts: each person's budget, what is left of it, and what was released."""

from epsilons.ledger.claim import Claim
from epsilons.ledger.enrolment import Enrolment
from epsilons.ledger.ledger import Ledger

__all__ = ["Claim", "Enrolment", "Ledger"]
