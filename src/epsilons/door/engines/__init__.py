"""Properties of engines, and queries that return the same integers on all of them."""
