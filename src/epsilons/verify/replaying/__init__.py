"""Replays: a question on the data of a user, and on neighbours of it."""
