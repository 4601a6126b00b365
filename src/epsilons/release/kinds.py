"""Every kind of estimate that a release may hold."""

from __future__ import annotations

from typing import TypeAlias

from epsilons.release.count import Count
from epsilons.release.estimate import Cells, Scalar, Vector
from epsilons.release.grouped import Groups
from epsilons.release.moments import Pair
from epsilons.release.quantiles import Quantiles

AnyEstimate: TypeAlias = Scalar | Cells | Vector | Pair | Quantiles | Count | Groups
