"""Write the table of invented commuters that every page and print runs on.

python scripts/make_people.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

PEOPLE = 4_000
TARGET = Path(__file__).parents[1] / "src/epsilons_next/people.csv"
LIMITS = {"0.05": 14, "0.2": 48, "0.5": 1_500, "1": 1_380, "2": 1_050, "inf": 8}
MODES = {
    "car": 0.498,
    "train": 0.17,
    "bus": 0.075,
    "bicycle": 0.138,
    "on foot": 0.09,
    "ferry": 0.029,
}
REGIONS = {"north": 0.2, "south": 0.35, "east": 0.3, "west": 0.15}
MINUTES = {"car": 27.0, "train": 42.0, "bus": 35.0, "bicycle": 19.0, "on foot": 12.0, "ferry": 55.0}


def main() -> None:
    rng = np.random.default_rng(20261119)
    limits = rng.permutation(np.repeat(list(LIMITS), list(LIMITS.values())))
    regions = rng.choice(list(REGIONS), PEOPLE, p=list(REGIONS.values()))
    rows = []
    for person in range(PEOPLE):
        usual = rng.choice(list(MODES), p=list(MODES.values()))
        for _ in range(rng.choice([1, 2, 3, 5], p=[0.8, 0.12, 0.05, 0.03])):
            mode = usual if rng.random() < 0.85 else rng.choice(list(MODES))
            minutes = round(MINUTES[mode] * rng.gamma(4.0, 0.25), 1)
            late = "" if rng.random() < 0.04 else "yes" if rng.random() < 0.153 else "no"
            rows.append([person + 1, minutes, mode, regions[person], late, limits[person]])
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["person", "minutes", "mode", "region", "late", "epsilon"])
        writer.writerows(rows[place] for place in rng.permutation(len(rows)))


if __name__ == "__main__":
    main()
