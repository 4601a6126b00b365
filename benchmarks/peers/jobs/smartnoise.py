"""SmartNoise SQL: queries on a pandas frame, which the package copies into SQLite.

The frame holds only the queried column. Each row is one person, and no group is censored.
"""

import pandas as pd
import snsql

PACKAGE = "smartnoise-sql"


def rows(question, column, kind, query):
    frame = pd.read_parquet(question.path, columns=[column])
    people = {"row_privacy": True, "rows": question.rows, "censor_dims": False, column: kind}
    reader = snsql.from_df(
        frame,
        privacy=snsql.Privacy(epsilon=question.epsilon, delta=1e-12),
        metadata={"": {"db": {"people": people}}},
    )
    return reader.execute(query)[1:]


def mean(question):
    low, high = question.bounds
    kind = {"type": "float", "lower": low, "upper": high}
    return rows(question, "value", kind, "SELECT AVG(value) AS mean FROM db.people")[0][0]


def frequencies(question):
    query = "SELECT word, COUNT(*) AS people FROM db.people GROUP BY word"
    found = dict(rows(question, "word", {"type": "string"}, query))
    return [found.get(word, 0) for word in question.categories]
