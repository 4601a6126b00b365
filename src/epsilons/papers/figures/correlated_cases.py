"""The lines of Tables 4 and 5 of paper *correlated*, and what is printed there."""

from __future__ import annotations

from dataclasses import dataclass

from epsilons.papers.figures import correlated_data as data

LETTERS = {"correlated": "C", "shuffled": "U", "pac": "P", "mse": "E"}
"""The paper's letters: correlated or uncorrelated people, PAC error or mean squared error."""

ALGORITHMS = ("HPF", "HPF-A", "PROP", "UNI", "SM", "LDP")
"""The columns of Table 4; those of Table 5 have HPM for HPF."""

PRINTED = {
    ("UC salary", "C", "P"): (0.118, 0.174, 0.273, 1.000, 0.459, 0.420),
    ("UC salary", "C", "E"): (0.011, 0.030, 0.074, 0.396, 0.180, 0.087),
    ("(10000, 5)", "C", "P"): (0.105, 0.083, 0.202, 1.000, 0.924, 0.253),
    ("(10000, 5)", "C", "E"): (0.012, 0.007, 0.041, 0.834, 0.779, 0.027),
    ("(10000, 20)", "C", "P"): (0.020, 0.003, 0.090, 0.233, 1.000, 0.125),
    ("(10000, 20)", "C", "E"): (3e-4, 7e-6, 0.008, 0.022, 0.779, 0.008),
    ("Cancer types", "U", "P"): (0.009, 0.005, 0.014, 0.091, 0.382, 0.012),
    ("Cancer types", "U", "E"): (5e-5, 1e-5, 8e-5, 0.003, 0.036, 7e-5),
    ("(10000, 5)", "U", "P"): (0.012, 0.008, 0.023, 0.370, 0.798, 0.0152),
    ("(10000, 5)", "U", "E"): (1e-4, 3e-5, 2e-4, 0.043, 0.198, 1e-4),
    ("(10000, 20)", "U", "P"): (0.013, 0.007, 0.020, 0.482, 0.348, 0.015),
    ("(10000, 20)", "U", "E"): (1e-4, 2e-5, 2e-4, 0.095, 0.028, 1e-4),
    ("UC salary, mean", "C", "P"): (0.064, 0.005, 0.005, 0.066, 0.005, 1.000),
    ("UC salary, mean", "C", "E"): (2e-5, 2e-5, 2e-5, 0.001, 2e-5, 0.832),
    ("10000, mean", "C", "P"): (0.008, 0.009, 0.009, 0.027, 0.052, 0.085),
    ("10000, mean", "C", "E"): (4e-5, 7e-5, 8e-4, 2e-4, 2e-5, 0.002),
    ("10000, mean", "U", "P"): (0.008, 0.001, 0.004, 0.027, 0.110, 0.086),
    ("10000, mean", "U", "E"): (4e-5, 3e-7, 5e-6, 1e-4, 0.003, 0.002),
}
"""Tables 4 and 5. The names of the last six have ", mean" here, to tell them from the others."""


@dataclass(frozen=True, eq=False)
class Case:
    """One line of a table, for both errors.

    Attributes:
        name: of the data.
        recipe: how the data are made.
        assume: what is true of them, in the word of the paper.
    """

    name: str
    recipe: data.Recipe
    assume: str

    def printed(self, loss: str, algorithm: str) -> float | str:
        """What the paper has; empty where it has nothing."""
        row = PRINTED.get((self.name, LETTERS[self.assume], LETTERS[loss]))
        column = algorithm.replace("HPM", "HPF")
        return row[ALGORITHMS.index(column)] if row and column in ALGORITHMS else ""


SALARY = Case("UC salary", data.salary_brackets, "correlated")
CANCER = Case("Cancer types", data.cancers, "shuffled")
TABLE_4 = (
    SALARY,
    Case("(10000, 5)", data.bins(5, reach=1.4, width=7.0), "correlated"),
    Case("(10000, 20)", data.bins(20, reach=2.6, width=2.7), "correlated"),
    CANCER,
    Case("(10000, 5)", data.shuffled_bins(5, width=6.0), "shuffled"),
    Case("(10000, 20)", data.shuffled_bins(20, width=6.0), "shuffled"),
)
TABLE_5 = (
    Case("UC salary, mean", data.salaries, "correlated"),
    Case("10000, mean", data.numbers, "correlated"),
    Case("10000, mean", data.shuffled_numbers, "shuffled"),
)
REAL = (
    Case("Income brackets", data.census_brackets, "correlated"),
    Case("Years of school", data.census_schools, "shuffled"),
    Case("Mean income", data.census_incomes, "correlated"),
    Case("Mean income", data.census_shuffled_incomes, "shuffled"),
)
