"""Compare other libraries, each in its own pinned environment, with ours: `section.py`."""
