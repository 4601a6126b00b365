"""This package, which reads the file with Polars; budgets are a single ε or a column."""

import polars  # noqa: F401  imported here, so the first release need not import its engine

import epsilons as ep

PACKAGE = "epsilons"
VERSION = ep.__version__  # the metadata of an editable installation can be outdated


def mean(question):
    return ep.mean(
        "value", epsilon=question.epsilon, bounds=question.bounds, data=question.path
    ).value


def frequencies(question):
    release = ep.frequencies(
        "word", epsilon=question.epsilon, categories=question.categories, data=question.path
    )
    return release.value * question.rows
