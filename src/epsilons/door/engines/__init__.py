"""Properties of engines, and queries that all of them answer alike."""
