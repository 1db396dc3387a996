"""What an experiment is: jobs, each of which is one fit, and a section of the report."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rprnmf.experiments.harness.report import Section

Settings = dict[str, Any]  # of one job: plain numbers and words, all that its result depends on
Values = dict[str, Any]  # what it measured
Row = dict[str, Any]  # both together


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes
    ----------
    name : str
        As in ``rprnmf reproduce NAME``.
    title : str
    jobs : callable
        ``jobs(quick)`` lists the settings of all fits, those that are wanted first in front.
    run : callable
        ``run(settings)`` does one of them and returns what it measured.
    section : callable
        ``section(rows)`` writes the part of the report from all jobs that are done.
    example : callable
        ``example(settings)``: what ``run`` could return, to tell results from other things; NaN
        stands for a number that is not finite if the fit diverges.
    cost : callable
        ``cost(settings)``: about how long a job takes, in any unit, for the time left.
    prepare : callable
        Is called before the first job: raises where a data set is missing.
    """

    name: str
    title: str
    jobs: Callable[[bool], list[Settings]]
    run: Callable[[Settings], Values]
    section: Callable[[list[Row]], Section]
    example: Callable[[Settings], Values]
    cost: Callable[[Settings], float] = lambda settings: 1.0
    prepare: Callable[[], Any] = lambda: None


@cache
def published(name: str) -> list[dict[str, str]]:
    """The rows of a table of published figures."""
    path = files("rprnmf.experiments") / "published" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def where(rows: list[Row], **wanted: Any) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row.get(name) == wanted[name] for name in wanted)]


def column(rows: list[Row], name: str) -> list[Any]:
    """The values under one name, of the rows that have it."""
    return [row[name] for row in rows if name in row]


def grouped(rows: list[Row], *names: str) -> dict[tuple, list[Row]]:
    """The rows by their values under these names, in the order of the first of each group."""
    found: dict[tuple, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return found
