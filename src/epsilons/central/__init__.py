"""The trusted-curator model: mechanisms, and the releases that are drawn from them."""

from epsilons.central.mean import mean
from epsilons.central.mechanism import Additive, Sampled, build

__all__ = ["Additive", "Sampled", "build", "mean"]
