"""Budgets: how much everyone offers, and how much of it they spend."""
