"""One interface to all methods, including those of `epsilons.papers`, for tests of every method."""

from __future__ import annotations

from typing import Any

import epsilons as ep

__all__ = ["frequencies", "mean"]


def mean(values: Any, **given: Any) -> ep.Release:
    """`epsilons.mean`, or the function of `epsilons.papers` that `method` names."""
    method = given.get("method")
    if method == "sampling":
        return ep.papers.sampled_mean(values, **_without(given, "method"))
    if method == "diffusion":
        private = given.get("neighbours") == "add-remove"
        words = ["method", "bounds", "shape", "about", "related", "neighbours"]
        words += ["missing"] if private else ["levels"]
        function: Any = ep.papers.reduced_mean if private else ep.papers.diffused_mean
        release: ep.Release = function(values, **_without(given, *words))
        return release
    return ep.mean(values, **given)


def frequencies(values: Any, **given: Any) -> ep.Release:
    """`epsilons.frequencies`, or `epsilons.papers.sampled_frequencies`."""
    if given.get("method") == "sampling":
        return ep.papers.sampled_frequencies(values, **_without(given, "method"))
    return ep.frequencies(values, **given)


def _without(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: each for name, each in given.items() if name not in names}
