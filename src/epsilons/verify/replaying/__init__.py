"""Replay a question on given data and on neighbouring data sets."""
