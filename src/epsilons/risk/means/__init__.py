"""Risks and margins of a mean: weighted, with its spread, as a ratio, or of several at once."""
