"""PipelineDP: its engine on the local backend, with lists as input.

Every row is one person, and the call declares that, so contributions are not bounded first.
"""

import pipeline_dp
import pyarrow.parquet as pq

PACKAGE = "pipeline-dp"


def aggregate(question, rows, metric, partition, value, public, **limits):
    accountant = pipeline_dp.NaiveBudgetAccountant(question.epsilon, 0.0)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    params = pipeline_dp.AggregateParams(
        metrics=[metric],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        contribution_bounds_already_enforced=True,
        **limits,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=None, partition_extractor=partition, value_extractor=value
    )
    found = engine.aggregate(rows, params, extractors, public_partitions=public)
    accountant.compute_budgets()
    return dict(found)


def mean(question):
    low, high = question.bounds
    rows = pq.read_table(question.path, columns=["value"]).column(0).to_numpy().tolist()
    found = aggregate(
        question,
        rows,
        pipeline_dp.Metrics.MEAN,
        lambda _: 0,
        lambda row: row,
        [0],
        min_value=low,
        max_value=high,
    )
    return found[0].mean


def frequencies(question):
    rows = pq.read_table(question.path, columns=["word"], read_dictionary=["word"]).column(0)
    found = aggregate(
        question,
        rows.to_pylist(),
        pipeline_dp.Metrics.COUNT,
        lambda row: row,
        lambda _: 0,
        question.categories,
    )
    return [found[word].count for word in question.categories]
