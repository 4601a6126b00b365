"""Peers, each in its own pinned environment, beside ours in one run: `section.py`."""
