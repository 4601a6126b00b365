"""Means by group: margins, and the tests behind them."""
