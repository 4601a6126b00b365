"""Means and frequencies when everyone has their own privacy budget."""
