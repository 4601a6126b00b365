"""Make the bundled data set: commuting times of 4,000 made-up people, each with a budget.

Times are log-normal, with a shape that resembles published commuting surveys (median about 25
minutes, a long tail). Budgets are choices from a menu of six, and few people are strict, so
personal budgets gain even if they may be related to values in any way. Stricter people commute
slightly longer, so budgets are weakly related to values.

    python scripts/make_demo_data.py > src/epsilons/data/commute.csv
"""

import sys

import numpy as np


def make() -> str:
    rng = np.random.default_rng(20240711)
    people = 4000
    menu = np.array([0.05, 0.2, 0.5, 1.0, 2.0, np.inf])
    choice = rng.choice(len(menu), size=people, p=[0.003, 0.012, 0.40, 0.375, 0.20, 0.01])
    minutes = np.exp(rng.normal(np.log(25.0), 0.55, size=people)) * (1.06 - 0.02 * choice)
    minutes = np.round(np.clip(minutes, 1.0, 180.0), 1)
    rows = ["person,minutes,epsilon"]
    rows += [
        f"p{index:04d},{time:.1f},{epsilon:g}"
        for index, (time, epsilon) in enumerate(zip(minutes, menu[choice], strict=True))
    ]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(make())
