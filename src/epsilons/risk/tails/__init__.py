"""Tail probabilities of noise: exact values and proven upper bounds."""
