"""Replay a question on a user's data and on neighbouring data sets."""
