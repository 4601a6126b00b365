"""The functions that users call to ask questions, which are answered by releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.asking.means import frequencies, mean, total
    from epsilons.asking.publishing import publish
    from epsilons.asking.ranking import count, quantile
    from epsilons.asking.varying import covariance, variance
else:
    __getattr__, __dir__ = names(__name__)

__all__ = ["count", "covariance", "frequencies", "mean", "publish", "quantile", "total", "variance"]
