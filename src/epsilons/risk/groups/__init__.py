"""Means by group: margins, and the statistical tests that they invert."""
