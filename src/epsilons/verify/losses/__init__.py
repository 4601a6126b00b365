"""Exact losses: what each kind of mechanism takes from each person, from what it declares."""
