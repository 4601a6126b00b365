"""The people in recorded calls: a small fixed data set."""

from __future__ import annotations

import math

import numpy as np

_RNG = np.random.default_rng(20_251)

N = 240
VALUES = np.round(_RNG.normal(52.0, 22.0, N), 3)
"""Values. Most are between 0 and 100, and some are outside."""
EPSILON = _RNG.choice([0.1, 0.5, 1.0, 2.0], N, p=[0.2, 0.3, 0.3, 0.2])
MIXED = _RNG.choice([0.0, 0.03, 0.3, 1.0, 4.0, 20.0], N)
WITH_PUBLIC = np.where(np.arange(N) == 7, math.inf, EPSILON)
MANY_PUBLIC = np.where(np.arange(N) % 5 == 0, math.inf, MIXED)
HOLES = np.where(np.arange(N) % 11 == 3, np.nan, VALUES)
PERSON = np.arange(N) % 80
OF_PERSON = np.array([0.3, 1.0, 2.5])[PERSON % 3]
"""The budget of each row's person."""

TEXT = np.array(["bus", "bike", "car", "walk"])[_RNG.choice(4, N, p=[0.4, 0.1, 0.3, 0.2])]
WHOLE = _RNG.integers(-1, 4, N)
TRUTH = _RNG.random(N) < 0.3
WORDS = ["bus", "bike", "car", "walk"]

FEW_VALUES = np.array([3.0, 9.5, 0.0, 10.0, 4.25, 7.0, -2.0, 11.0, 5.5, 6.0])
FEW_EPSILON = np.array([0.2, 0.2, 0.7, 0.7, 1.5, 1.5, 1.5, 3.0, 3.0, 0.0])

DISTINCT = np.sort(_RNG.uniform(0.01, 3.0, 500))
DISTINCT_VALUES = _RNG.uniform(0.0, 100.0, 500)

CROWD = 3_000
CROWD_VALUES = _RNG.gamma(4.0, 9.0, CROWD)
CROWD_EPSILON = _RNG.choice([0.25, 1.0, 3.0], CROWD)

UNKNOWN = 700
STANDARD = _RNG.normal(0.0, 1.0, UNKNOWN)
"""Standard Gaussian values. Calls with an unknown range scale and shift them."""
GENEROUS = _RNG.choice([1.0, 2.0, 4.0], UNKNOWN)
