"""Calls of the command line."""

from __future__ import annotations

from tests.recorded.engines import file
from tests.recorded.place import Calls, Place, Run
from tests.recorded.seen import commanded

PRIVATE = ["--neighbours", "add-remove"]
OFFERED = [word for level in ("0.1", "0.5", "1", "2") for word in ("--level", level)]
PEOPLE = ["0.1:500", "1:200", "inf:3"]
GUESS = ["0.1:500", "1:200", "4:30"]


def said(*words: str, kind: str = "") -> Run:
    """The output of a command; FILE stands for a file of people."""

    def run(place: Place) -> object:
        path = str(file(place.directory, kind)) if kind else ""
        return commanded([path if word == "FILE" else word for word in words], place.source)

    return run


SAMPLE = ("--about", "population", "--related", "no")
MEAN = ("mean", "FILE", "--value", "x", "--epsilon", "e", "--bounds", "0", "100", *SAMPLE)
SHARES = ("frequencies", "FILE", "--value", "word", "--epsilon", "e", *SAMPLE)
WORDS = [word for each in ("bus", "bike", "car", "walk") for word in ("--category", each)]

CALLS: Calls = {
    "mean --help": said("mean", "--help"),
    "frequencies --help": said("frequencies", "--help"),
    "plan --help": said("plan", "--help"),
    "verify --help": said("verify", "--help"),
    "demo": said("demo"),
    "demo --json": said("demo", "--json"),
    "mean": said(*MEAN, kind="parquet"),
    "mean, csv": said(*MEAN, kind="csv"),
    "mean, csv, separator": said(*MEAN, "--separator", "\\t", kind="tsv"),
    "mean, json": said(*MEAN, "--json", kind="parquet"),
    "mean, person": said(*MEAN, "--epsilon", "f", "--person", "who", kind="parquet"),
    "mean, pac": said(
        *MEAN,
        "--loss",
        "pac",
        "--confidence",
        "0.8",
        "--about",
        "people",
        "--related",
        "yes",
        kind="parquet",
    ),
    "mean, one epsilon": said(*MEAN, "--epsilon", "0.25", "--method", "staircase", kind="parquet"),
    "mean, private": said(*MEAN, *PRIVATE, *OFFERED, kind="parquet"),
    "mean, private, cap": said(*MEAN, *PRIVATE, "--cap", "0.5", kind="parquet"),
    "mean, unknown range": said(
        *MEAN[:4],
        "--epsilon",
        "6",
        "--unknown-range",
        "--shape",
        "gaussian",
        *SAMPLE,
        kind="parquet",
    ),
    "mean, holes": said(*MEAN[:3], "holes", *MEAN[4:], "--missing", "midpoint", kind="parquet"),
    "mean, holes are refused": said(*MEAN[:3], "holes", *MEAN[4:], kind="parquet"),
    "mean, no such column": said(*MEAN[:3], "nothing", *MEAN[4:], kind="parquet"),
    "mean, no bounds": said(*MEAN[:6], kind="parquet"),
    "mean, wrong method": said(*MEAN, "--method", "best", kind="parquet"),
    "mean, some guesses": said(*MEAN, *PRIVATE, "--level", "1", "--level", "2:50", kind="parquet"),
    "frequencies": said(*SHARES, *WORDS, kind="parquet"),
    "frequencies, json": said(*SHARES, *WORDS, "--json", kind="csv"),
    "frequencies, other": said(*SHARES, *WORDS[:4], "--other", "else", kind="parquet"),
    "frequencies, integers": said(
        *SHARES[:3], "whole", *SHARES[4:], "--integers", "-1", "3", kind="parquet"
    ),
    "frequencies, edges": said(
        *SHARES[:3], "x", *SHARES[4:], "--edges", "-100,40,200", kind="parquet"
    ),
    "frequencies, private": said(*SHARES, *WORDS, *PRIVATE, *OFFERED, kind="parquet"),
    "frequencies, nothing declared": said(*SHARES, kind="parquet"),
    "frequencies, wrong edges": said(*SHARES, "--edges", "a,b", kind="parquet"),
    "plan": said("plan", *PEOPLE, *SAMPLE),
    "plan, json": said("plan", *PEOPLE, "--json", "--bounds", "0", "120", *SAMPLE),
    "plan, frequencies": said("plan", *PEOPLE, "--categories", "4", *SAMPLE),
    "plan, unknown range": said("plan", "0.1:2000", "1:500", "--unknown-range"),
    "plan, unknown range and bounds": said(
        "plan", "1:500", "--unknown-range", "--bounds", "0", "1"
    ),
    "plan, local": said("plan", *PEOPLE, "--model", "local", *SAMPLE),
    "plan, private": said("plan", *GUESS, *PRIVATE, "--cap", "2", *SAMPLE),
    "plan, wrong level": said("plan", "0.1"),
    "verify": said("verify", *PEOPLE),
    "verify, json": said("verify", *PEOPLE, "--json"),
    "verify, frequencies": said("verify", *PEOPLE, "--categories", "3", "--method", "hpf-ce"),
    "verify, private": said("verify", *GUESS, *PRIVATE),
    "verify, private frequencies": said("verify", *GUESS, *PRIVATE, "--categories", "3"),
}
