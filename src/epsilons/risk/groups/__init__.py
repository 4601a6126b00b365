"""Means by group: their margins, and the tests that these are made of."""
