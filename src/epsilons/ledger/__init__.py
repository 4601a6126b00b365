"""Lifetime privacy accounts: each person's budget, the remaining budget, and all releases."""

from epsilons.ledger.claim import Claim
from epsilons.ledger.enrolment import Enrolment
from epsilons.ledger.ledger import Ledger

__all__ = ["Claim", "Enrolment", "Ledger"]
