"""How far a long job is, and how long it will still take."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 28
EVERY = 30.0  # seconds between lines where the output is no terminal


class Progress:
    """A bar with the time left, measured by what jobs cost and not by their number.

    Parameters
    ----------
    label : str
    costs : float
        Of all jobs.
    n_jobs : int
        How many there are.
    file : text file, default=None
        None is the standard error output.
    """

    def __init__(self, label: str, costs: float, n_jobs: int, file: TextIO | None = None):
        self.label, self.costs, self.n_jobs = label, max(costs, 1e-9), n_jobs
        self.file = sys.stderr if file is None else file
        self.terminal = self.file.isatty()
        self.started = self.said = time.monotonic()
        self.done, self.count = 0.0, 0
        self.show(0.0)

    def step(self, cost: float) -> None:
        """One more job is done."""
        self.done += cost
        self.count += 1
        now = time.monotonic()
        last = self.count == self.n_jobs
        if last or now - self.said > (0.1 if self.terminal else EVERY):
            self.said = now
            self.show(now - self.started)
        if last and self.terminal:
            print(file=self.file)

    def show(self, seconds: float) -> None:
        """Print where it stands."""
        share = min(self.done / self.costs, 1.0)
        full = int(share * WIDTH)
        text = (
            f"{self.label:24} |{'#' * full}{'.' * (WIDTH - full)}| {share:4.0%} "
            f"{self.count} of {self.n_jobs} fits, {clock(seconds)}"
        )
        if share > 0:
            text += f", {clock(seconds / share - seconds)} left"
        end = "" if self.terminal else "\n"
        print(f"\r{text}   " if self.terminal else text, end=end, file=self.file, flush=True)


def clock(seconds: float) -> str:
    """1:02:03, or 2:03."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
