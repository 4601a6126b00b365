"""diffprivlib: its mean and its histogram, on NumPy arrays read by PyArrow.

Words are read as codes of the Parquet dictionary, because the histogram needs numbers.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from diffprivlib import tools

PACKAGE = "diffprivlib"


def mean(question):
    values = pq.read_table(question.path, columns=["value"]).column(0).to_numpy()
    return tools.mean(values, epsilon=question.epsilon, bounds=tuple(question.bounds))


def frequencies(question):
    words = pq.read_table(question.path, columns=["word"], read_dictionary=["word"]).column(0)
    declared = pa.array(question.categories)
    codes = []
    for chunk in words.chunks:
        place = pc.index_in(chunk.dictionary, declared).fill_null(-1).to_numpy()
        codes.append(place.astype(np.int8)[chunk.indices.to_numpy()])
    counts, _ = tools.histogram(
        np.concatenate(codes),
        epsilon=question.epsilon,
        bins=len(declared),
        range=(0, len(declared)),
    )
    return counts
