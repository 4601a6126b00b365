"""This package: from the path, on Polars, with a single ε for everyone or a column of budgets."""

import polars  # noqa: F401  the engine: otherwise the first release would import it

import epsilons as ep

PACKAGE = "epsilons"


def mean(question):
    return ep.mean(
        "value", epsilon=question.epsilon, bounds=question.bounds, data=question.path
    ).value


def frequencies(question):
    release = ep.frequencies(
        "word", epsilon=question.epsilon, categories=question.categories, data=question.path
    )
    return release.value * question.rows
