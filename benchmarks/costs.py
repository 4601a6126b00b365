"""A cost model for a query, with costs per row, group, byte and task, extrapolated to a cluster.

The model describes one group-by in Spark, which is one job of two stages:

    t = start + task·waves + row·busiest + group·groups·partitions/merging + byte·shuffled/merging
        + call

`waves` is the number of tasks that the busiest core runs in both stages, and `busiest` is the
number of rows that it reads. `merging` is the smaller of the numbers of cores and of reducers,
because only so many cores merge partial sums. `call` is the time outside the job, for our query
only. Our query and the bare query have different costs per row.

Coefficients are fitted by nonnegative least squares on relative errors, and extrapolated to a
cluster under the assumptions in `Cluster`. `cluster.py` measures the times and writes the section
of the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

__all__ = [
    "COLUMNS",
    "Cluster",
    "Model",
    "Parts",
    "Query",
    "fit_model",
    "predict",
    "resample",
    "stops",
    "waves",
]

COLUMNS = ("start", "task", "row, bare", "row, ours", "group", "byte", "call")
"""The coefficients, in seconds: per job, per wave of tasks, per row of the bare query, per row of
our query, per group in a partition, per shuffled byte, and per call of our query, outside the
job."""


@dataclass(frozen=True)
class Query:
    """The properties of a query that the model uses.

    Attributes:
        rows: rows read.
        partitions: partitions of the input.
        groups: groups that each partition sends.
        width: bytes per group.
        reducers: tasks after the shuffle.
        cores: cores that work in parallel.
        ours: whether this is our query, not the bare one.
    """

    rows: float
    partitions: int
    groups: float
    width: float
    reducers: int
    cores: int
    ours: bool

    @property
    def shuffled(self) -> float:
        """Bytes sent from the first stage to the second."""
        return self.groups * self.partitions * self.width

    def terms(self) -> list[float]:
        """The factor of each coefficient in the predicted time."""
        busiest = waves(self.partitions, self.cores) * self.rows / self.partitions
        # All cores write partial sums, but only as many cores as there are reducers can merge them.
        merging = min(self.cores, self.reducers)
        return [
            1.0,
            waves(self.partitions, self.cores) + waves(self.reducers, self.cores),
            0.0 if self.ours else busiest,
            busiest if self.ours else 0.0,
            self.groups * self.partitions / merging,
            self.shuffled / merging,
            1.0 if self.ours else 0.0,
        ]


@dataclass(frozen=True)
class Model:
    """Fitted coefficients, in the order of `COLUMNS`, and the relative residuals."""

    coefficients: tuple[float, ...]
    residuals: tuple[float, ...]

    def seconds(self, query: Query) -> float:
        """The time of a query on an otherwise idle machine like this one."""
        return float(np.dot(self.coefficients, query.terms()))

    @property
    def typical(self) -> float:
        """The root mean square of the relative residuals."""
        return math.sqrt(float(np.mean(np.square(self.residuals))))


@dataclass(frozen=True)
class Cluster:
    """Assumptions about a cluster. None of them was measured here.

    Attributes:
        cores: executor cores.
        bytes_per_row: compressed bytes of the columns that are read.
        partition_bytes: bytes of input per task (Spark's default).
        speed: speed of a core, relative to one of this machine.
        per_core_bandwidth: bytes per second from storage to one core.
        aggregate_bandwidth: bytes per second from storage to all cores together.
        network: bytes per second into each machine.
        machine_cores: cores per machine, which share its network.
        dispatch: seconds that the driver takes to dispatch one task; tasks are dispatched one by
            one.
        straggler: duration of the last task of a stage, relative to the others.
        reducers: tasks after the shuffle (Spark's default).
        merge: seconds that the driver takes to receive one group.
    """

    cores: int
    bytes_per_row: float = 9.0
    partition_bytes: float = 128 * 2.0**20
    speed: float = 1.0
    per_core_bandwidth: float = 100e6
    aggregate_bandwidth: float = 100e9
    network: float = 1.25e9
    machine_cores: int = 16
    dispatch: float = 1e-3
    straggler: float = 1.5
    reducers: int = 200
    merge: float = 2e-6


@dataclass(frozen=True)
class Parts:
    """The parts of a query's time on a cluster, in seconds."""

    start: float
    scan: float
    straggler: float
    dispatch: float
    shuffle: float
    driver: float

    @property
    def total(self) -> float:
        return self.start + self.scan + self.straggler + self.dispatch + self.shuffle + self.driver

    @property
    def serial(self) -> float:
        """The time that more cores do not reduce."""
        return self.start + self.straggler + self.dispatch + self.driver


def waves(tasks: int, cores: int) -> int:
    """Return the number of tasks that the busiest core runs."""
    return -(-tasks // cores)


def fit_model(queries: Sequence[Query], times: Sequence[float]) -> Model:
    """Fit the coefficients by nonnegative least squares on relative errors.

    Raises:
        ValueError: there are fewer queries than coefficients.
    """
    from scipy.optimize import nnls

    if len(queries) < len(COLUMNS):
        raise ValueError(f"queries: {len(COLUMNS)} are needed at the least, not {len(queries)}.")
    measured = np.asarray(times, dtype=float)
    terms = np.array([query.terms() for query in queries]) / measured[:, None]
    # Columns differ by ten orders of magnitude, so each is normalized to length one.
    scale = np.linalg.norm(terms, axis=0)
    scale[scale == 0.0] = 1.0
    found, _ = nnls(terms / scale, np.ones(len(measured)))
    coefficients = found / scale
    residuals = terms @ coefficients - 1.0
    return Model(tuple(coefficients.tolist()), tuple(residuals.tolist()))


def resample(
    queries: Sequence[Query], times: Sequence[float], draws: int, seed: int = 0
) -> list[Model]:
    """Fit to bootstrap samples of the queries, to show how much the fit varies."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        drawn = rng.integers(0, len(queries), len(queries))
        found.append(fit_model([queries[k] for k in drawn], [times[k] for k in drawn]))
    return found


def predict(
    model: Model, rows: float, groups: float, width: float, cluster: Cluster, *, ours: bool
) -> Parts:
    """Predict the time of a query on a cluster, by parts.

    Args:
        model: the model fitted on this machine.
        rows: rows of the table.
        groups: groups that each partition sends: levels, or levels × categories.
        width: bytes per group.
        cluster: assumptions about the cluster.
        ours: whether this is our query, not the bare one.
    """
    stored = rows * cluster.bytes_per_row
    partitions = max(math.ceil(stored / cluster.partition_bytes), 1)
    scaled = (c / cluster.speed for c in model.coefficients)
    start, task, bare_row, our_row, group, byte, call = scaled
    cores = cluster.cores
    each = rows / partitions
    # A core computes while the next data are read, so the slower of the two determines the time.
    busy = min(cores, partitions)
    computed = each * (our_row if ours else bare_row)
    alone = max(computed, each * cluster.bytes_per_row / cluster.per_core_bandwidth) + task
    shared = each * cluster.bytes_per_row * busy / cluster.aggregate_bandwidth + task
    # Tasks of a long stage do not run in lockstep, so the number of waves is not rounded up (but is
    # at least one). The last task does not share storage bandwidth.
    scan = max(alone, shared) * partitions / busy
    last = alone * (cluster.straggler - 1.0)
    merging = min(cores, cluster.reducers)
    machines = max(math.ceil(merging / cluster.machine_cores), 1)
    sent = groups * partitions
    shuffle = (
        sent * group / merging
        + max(sent * width * byte / merging, sent * width / (machines * cluster.network))
        + task * waves(cluster.reducers, cores)
    )
    # Dispatch overlaps with running tasks. In the first stage, only its excess over the scan
    # counts.
    dispatch = max(cluster.dispatch * partitions - scan, 0.0) + cluster.dispatch * cluster.reducers
    return Parts(start + call * ours, scan, last, dispatch, shuffle, groups * cluster.merge)


def stops(model: Model, rows: float, groups: float, width: float, cluster: Cluster) -> int:
    """Return the smallest power of two of cores such that twice as many save less than a fifth."""
    cores = 1
    while cores < 2**24:
        now = predict(model, rows, groups, width, replace(cluster, cores=cores), ours=True)
        twice = predict(model, rows, groups, width, replace(cluster, cores=2 * cores), ours=True)
        if twice.total > 0.8 * now.total:
            return cores
        cores *= 2
    return cores
