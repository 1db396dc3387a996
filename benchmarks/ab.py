"""Two checkouts against each other: python benchmarks/ab.py --before PATH_OR_REVISION.

Every line is a fixed job. Each checkout has a process with its own source, warmed up; they take
turns (before, after, before, after ...), and then a new pair of processes does. Writes
`results/ab.md` and `.csv`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from ab_jobs import FIRST_FITS, JOBS
from checkouts import PROJECT, Checkout, checkout
from common import HERE
from report import Report, within

LINES = (*JOBS, "import", "first_fit")
LIMIT = 1.05
TURNS = 3  # of both processes, of which the median counts
IMPORT = "import time; t = time.perf_counter(); import rprnmf; print(time.perf_counter() - t)"
Pair = tuple[Checkout, Checkout]
Runs = list[list[dict[str, float]]]  # one list for each pair of processes: before, after


class Worker:
    """A process that has a job ready and runs it when told to."""

    def __init__(self, where: Checkout, line: str, name: str):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(**where.command("ab_jobs.py", line, name), **pipes)
        self.missing = self.answer().get("missing")

    def answer(self) -> dict[str, Any]:
        """The next line that it prints."""
        text = self.process.stdout.readline()
        if not text:
            raise SystemExit(f"a job ended with exit code {self.process.wait()}.")
        return json.loads(text)

    def run(self) -> dict[str, float]:
        """Once."""
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        """No more lines: it ends."""
        self.process.stdin.close()
        self.process.wait()


def alternate(line: str, name: str, both: Pair) -> list[dict[str, float]] | str:
    """Medians of a job in one pair of processes; a sentence where its data are not there."""
    with contextlib.ExitStack() as stack:
        workers = []
        for where in both:
            workers.append(Worker(where, line, name))
            stack.callback(workers[-1].close)
            if workers[-1].missing:
                return workers[-1].missing
        runs = [[worker.run() for worker in workers] for _ in range(TURNS)]
    return [
        {key: median(run[key] for run in side) for key in side[0]}
        for side in zip(*runs, strict=True)
    ]


def import_seconds(where: Checkout) -> dict[str, float]:
    """Of `import rprnmf` in a fresh process."""
    command = where.command("") | {"args": [sys.executable, "-c", IMPORT]}
    done = subprocess.run(**command, capture_output=True, check=True)
    return {"wall": float(done.stdout)}


def first_fit_seconds(where: Checkout, case: tuple) -> dict[str, float]:
    """Of a first fit that finds nothing compiled."""
    with tempfile.TemporaryDirectory() as cache:
        command = where.command("ab_jobs.py", "first_fit", *case)
        command["env"] |= {"NUMBA_CACHE_DIR": os.path.join(cache, "numba")}
        done = subprocess.run(**command, capture_output=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def in_fresh_processes(
    measure: Callable[[Checkout], dict[str, float]], both: Pair, repeats: int
) -> Runs:
    """Both in turn, a process for each."""
    return [[measure(where) for where in both] for _ in range(repeats)]


def add(report: Report, line: str, name: str, runs: Runs) -> None:
    """One row: medians, the median of the ratios of the pairs, and its quartiles."""
    before, after = (median(run["wall"] for run in side) for side in zip(*runs, strict=True))
    ratios = [new["wall"] / old["wall"] for old, new in runs]
    low, ratio, high = np.percentile(ratios, [25, 50, 75])
    row = {"line": line, "job": name, "before s": before, "after s": after}
    row |= {"ratio": f"{ratio:.3f}", "quartiles": f"{low:.3f}-{high:.3f}"}
    busy = [new["processor"] / old["processor"] for old, new in runs if "processor" in old]
    row |= {"processor ratio": f"{median(busy):.3f}" if busy else None}
    row |= {"limit": LIMIT, "within": within(float(ratio), LIMIT)}
    ends = [run["end"] for run in runs[0] if "end" in run]
    apart = f"{abs(ends[1] - ends[0]) / abs(ends[0]):.0e}" if ends else None
    report.add(**row, **{"ends apart": apart})


def measure(report: Report, lines: list[str], both: Pair, repeats: int) -> None:
    """All lines that are asked for."""
    few = max(1, repeats // 2)
    for line in lines:
        if line == "import":
            for where in both:
                import_seconds(where)  # its files are in the system's cache from here on
            add(report, line, "rprnmf", in_fresh_processes(import_seconds, both, 2 * repeats))
        elif line == "first_fit":
            for case in FIRST_FITS:
                runs = in_fresh_processes(lambda w, c=case: first_fit_seconds(w, c), both, few)
                loss, layout, dtype, knows = case
                add(report, line, ", ".join([loss, layout, dtype] + ["triplets"] * knows), runs)
        else:
            for name in JOBS[line]:
                found = [alternate(line, name, both)]
                if isinstance(found[0], str):
                    report.note(f"{line}, {name}: {found[0]}.")
                    continue
                found += [alternate(line, name, both) for _ in range(repeats - 1)]
                add(report, line, name, found)


def main() -> int:
    """Exit code 1 if a line is above its limit."""
    parser = argparse.ArgumentParser(description="Measure two checkouts in turn.")
    parser.add_argument("--before", required=True, help="a folder or a git revision")
    parser.add_argument("--after", default=str(PROJECT), help="the same; default: this checkout")
    parser.add_argument("--lines", default=",".join(LINES), help="some of %(default)s")
    parser.add_argument("--repeats", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--out", default="ab", help="name of the result; default: %(default)s")
    arguments = parser.parse_args()
    lines = arguments.lines.split(",")
    unknown = set(lines) - set(LINES)
    if unknown:
        parser.error(f"--lines: {', '.join(sorted(unknown))}; expected some of {', '.join(LINES)}")
    with checkout(arguments.before) as before, checkout(arguments.after) as after:
        measured = (
            f"Before: {before.name}. After: {after.name}. Wall seconds of a job with a fixed "
            f"number of iterations, one thread. {arguments.repeats} pairs of fresh processes, one "
            f"for each checkout: warmed up, they take {TURNS} turns, of which the median counts. "
            "(One pair says little: the same code may differ by a tenth from process to process.) "
            f"Import: {2 * arguments.repeats} pairs; first fit, with nothing compiled: "
            f"{max(1, arguments.repeats // 2)}. Ratio: after to before, median over the pairs, and "
            "its quartiles; processor: the same for the processor's seconds, which other programs "
            "on the machine disturb less. Ends apart: the relative difference of the objectives "
            "(transform: sums) at which both end."
        )
        report = Report(HERE / "results", arguments.out, "Before and after", measured)
        measure(report, lines, (before, after), arguments.repeats)
    return int(any(row["within"] == "no" for row in report.rows))


if __name__ == "__main__":
    sys.exit(main())
