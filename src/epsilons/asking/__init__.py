"""What users type: questions in, releases out. The way between is `epsilons.corridor`."""

from epsilons.asking.means import frequencies, mean
from epsilons.asking.publishing import publish
from epsilons.asking.ranking import count, quantile
from epsilons.asking.varying import covariance, variance

__all__ = ["count", "covariance", "frequencies", "mean", "publish", "quantile", "variance"]
