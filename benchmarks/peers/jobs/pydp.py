"""PyDP, which wraps Google's library; its algorithms take lists of numbers.

The job uses `BoundedMean`, and one `Count` for each category. A list converts faster than an array.
"""

import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydp.algorithms.laplacian import BoundedMean, Count

PACKAGE = "python-dp"


def mean(question):
    low, high = question.bounds
    values = pq.read_table(question.path, columns=["value"]).column(0).to_numpy().tolist()
    algorithm = BoundedMean(
        epsilon=question.epsilon, lower_bound=low, upper_bound=high, dtype="float"
    )
    return algorithm.quick_result(values)


def frequencies(question):
    words = pq.read_table(question.path, columns=["word"], read_dictionary=["word"]).column(0)
    declared = pa.array(question.categories)
    codes = []
    for chunk in words.chunks:
        place = pc.index_in(chunk.dictionary, declared).fill_null(-1).to_numpy()
        codes.append(place.astype(np.int8)[chunk.indices.to_numpy()])
    ordered = np.sort(np.concatenate(codes))
    ends = np.searchsorted(ordered, np.arange(len(declared) + 1))
    return [
        Count(epsilon=question.epsilon, dtype="int").quick_result(ordered[start:stop].tolist())
        for start, stop in itertools.pairwise(ends)
    ]
