"""Exact privacy losses per person for each kind of mechanism, computed from its declaration."""
