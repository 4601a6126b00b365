"""Neighbouring tables with groups, flags and a second number, and questions of every kind."""

from __future__ import annotations

BOUNDS = (0.0, 10.0)
MARKS = ("group", "second group", "flag", "beside")
"""The additional columns: two with groups, the `where` flag, and a second number."""

COUNTED = ("groups", "some", "quantile", "variance", "covariance", "mean", "shares")
"""Questions under both neighbour models. A count is possible under add/remove only."""
