"""Exact noise on integers, each sampler beside its law; `Source` is the only door for entropy."""

from __future__ import annotations

from epsilons.noise.bernoulli import exp_minus, exp_minus_many
from epsilons.noise.laplace import DiscreteLaplace, Geometric, PointMass
from epsilons.noise.source import Seeded, Source, System, resolve
from epsilons.noise.uniform import below, below_many

__all__ = [
    "DiscreteLaplace",
    "Geometric",
    "PointMass",
    "Seeded",
    "Source",
    "System",
    "below",
    "below_many",
    "exp_minus",
    "exp_minus_many",
    "resolve",
]
