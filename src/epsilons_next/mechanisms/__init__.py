"""Integers alone: where randomness comes from, how noise is drawn, and what a draw costs."""
