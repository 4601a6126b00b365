"""Questions: frozen objects that describe a statistic, each with a generator that computes it."""
