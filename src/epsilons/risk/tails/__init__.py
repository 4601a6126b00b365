"""Tails of noise: how often it is far out, exactly or bounded with proof."""
