"""Exact minimax risks of very small problems, by linear programming, to check lower bounds.

A mechanism on finite data with finitely many answers is a table of probabilities. Privacy
constraints, mean squared errors and error probabilities are linear in this table. HiGHS finds the
best table. Answers are restricted to a grid, so the optimum is at least the true minimax risk for
these data.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from epsilons.risk.weighing import RELATED, SAMPLE, Assumption

Data = tuple[int | None, ...]
"""The record of each person: 0, 1, or None if they are absent."""


SMALL: list[tuple[float, ...]] = [
    (0.5, 1.0),
    (0.2, 0.2, 0.2),
    (0.1, 1.0, 3.0),
    (2.0, 2.0, 2.0),
    (0.3, 0.3, math.inf),
]
"""Budgets of two or three people, small enough for a linear program."""


@dataclass
class Program:
    """The linear program over all private mechanisms for people with these budgets.

    A mechanism is a probability table: one row for each data set, one column for each answer
    k/steps.
    """

    budgets: Sequence[float]
    steps: int
    removable: bool = False
    rows: list[tuple[list[int], list[float], float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        records: tuple[int | None, ...] = (0, 1, None) if self.removable else (0, 1)
        self.data: list[Data] = list(itertools.product(records, repeat=len(self.budgets)))
        self.place = {each: i for i, each in enumerate(self.data)}
        self.answers = np.arange(self.steps + 1) / self.steps
        self.size = len(self.data) * len(self.answers)
        for each in self.data:
            for person, budget in enumerate(self.budgets):
                if math.isinf(budget):
                    continue
                for other in records:
                    # Under add/remove, one person is present in one of two neighbouring data sets
                    # and absent in the other.
                    near = (each[person] is None) != (other is None) or not self.removable
                    if other == each[person] or not near:
                        continue
                    neighbour = (*each[:person], other, *each[person + 1 :])
                    for k in range(len(self.answers)):
                        here, there = self.at(each, k), self.at(neighbour, k)
                        self.rows.append(([here, there], [1.0, -math.exp(budget)], 0.0))

    def at(self, data: Data, k: int) -> int:
        return self.place[data] * len(self.answers) + k

    def least(self, cases: Sequence[dict[tuple[Data, int], float]]) -> float:
        """Return the minimum over all private tables of the largest error over all cases.

        The error of each case is a linear function of the table.
        """
        rows = list(self.rows)
        for case in cases:
            places = [self.at(data, k) for data, k in case]
            rows.append(([*places, self.size], [*case.values(), -1.0], 0.0))
        i = np.repeat(np.arange(len(rows)), [len(row[0]) for row in rows])
        j = np.concatenate([row[0] for row in rows])
        v = np.concatenate([row[1] for row in rows])
        upper = coo_matrix((v, (i, j)), shape=(len(rows), self.size + 1))
        m = len(self.answers)
        one = coo_matrix(
            (np.ones(self.size), (np.arange(self.size) // m, np.arange(self.size))),
            shape=(len(self.data), self.size + 1),
        )
        cost = np.zeros(self.size + 1)
        cost[-1] = 1.0
        found = linprog(
            cost,
            A_ub=upper,
            b_ub=np.array([row[2] for row in rows]),
            A_eq=one,
            b_eq=np.ones(len(self.data)),
            bounds=[(0.0, 1.0)] * self.size + [(-10.0, 10.0)],
        )
        assert found.status == 0, found.message
        return float(found.fun)

    def cases(
        self, assumption: Assumption, loss: str, alpha: float
    ) -> list[dict[tuple[Data, int], float]]:
        """Return the error of each case, as coefficients of the table.

        It is the mean squared error, or P(error ≥ `alpha`).
        """

        def cost(k: int, truth: float) -> float:
            off = abs(float(self.answers[k]) - truth)
            return off * off if loss == "mse" else float(off >= alpha - 1e-9)

        grid = range(len(self.answers))
        whole = [each for each in self.data if None not in each]  # data with all people
        if assumption == SAMPLE:
            return [
                {
                    (each, k): float(np.prod([p if x else 1.0 - p for x in each])) * cost(k, p)
                    for each in whole
                    for k in grid
                }
                for p in np.linspace(0.0, 1.0, 41).tolist()
            ]
        groups: dict[object, list[Data]] = {}
        for each in whole:
            groups.setdefault(each if assumption == RELATED else sum(each), []).append(each)  # type: ignore[arg-type]
        return [
            {
                (each, k): cost(k, float(np.mean(each))) / len(group)  # type: ignore[arg-type]
                for each in group
                for k in grid
            }
            for group in groups.values()
        ]


def minimax(
    budgets: Sequence[float],
    *,
    about: str,
    related: bool | float,
    removable: bool = False,
    steps: int = 24,
    loss: str = "mse",
    alpha: float = 0.0,
) -> float:
    """Return the minimax mean squared error.

    With `alpha`, return the minimax probability of an error of at least `alpha`.
    """
    program = Program(budgets, steps, removable)
    return program.least(program.cases(Assumption(about, related), loss, alpha))
