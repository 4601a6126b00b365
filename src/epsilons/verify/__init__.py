"""Checks that a mechanism keeps its promise to each person, apart from the code that made it."""

from epsilons.verify.exact import Verdict, exact

__all__ = ["Verdict", "exact"]
