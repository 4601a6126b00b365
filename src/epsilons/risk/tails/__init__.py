"""Tail probabilities of noise: exact values, and upper bounds with proofs."""
