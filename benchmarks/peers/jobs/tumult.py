"""Tumult Analytics: a session on Spark that scans the file."""

import os
import sys

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

PACKAGE = "tmlt.analytics"
SPARK = {
    "spark.driver.memory": "4g",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": str(os.cpu_count()),
    # Tumult requires this on Java 11 and newer.
    "spark.driver.extraJavaOptions": "-Dio.netty.tryReflectionSetAccessible=true",
    "spark.executor.extraJavaOptions": "-Dio.netty.tryReflectionSetAccessible=true",
}


def start():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]")
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    builder.getOrCreate().sparkContext.setLogLevel("OFF")


def evaluate(question, column, query):
    frame = SparkSession.getActiveSession().read.parquet(question.path).select(column)
    budget = PureDPBudget(question.epsilon)
    session = Session.from_dataframe(budget, "people", frame, protected_change=AddOneRow())
    return session.evaluate(query, budget).collect()


def mean(question):
    low, high = question.bounds
    query = QueryBuilder("people").average("value", low, high, "mean")
    return evaluate(question, "value", query)[0]["mean"]


def frequencies(question):
    keys = KeySet.from_dict({"word": question.categories})
    query = QueryBuilder("people").groupby(keys).count("people")
    found = {row["word"]: row["people"] for row in evaluate(question, "word", query)}
    return [found[word] for word in question.categories]
