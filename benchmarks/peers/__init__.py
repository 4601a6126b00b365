"""Comparison with other libraries ("peers"), each in its own pinned environment."""
