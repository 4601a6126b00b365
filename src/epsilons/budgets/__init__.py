"""Privacy budgets: the ε that each person offers, and the part of it that a release spends."""
