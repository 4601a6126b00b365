"""Budgets: who offers how much, and who spends how much of it."""
