"""Whether two checkouts compute the same: python benchmarks/same_numbers.py --before WHERE.

Runs the fits of `same_numbers_fits.py` in both, and twice in the second, and compares all that
`history_` records but the seconds. Writes `results/same_numbers.md` and `.csv`; exit code 1 if
a fit differs that is not among EXCEPTIONS.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from checkouts import PROJECT, Checkout, checkout
from common import HERE
from report import Report
from same_numbers_fits import ITERATIONS, SIZE, fits

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
ROUNDING = 1e-14  # of the objective: less is no difference in a part of it
# name of a fit: why its numbers differ from those before, and are meant to
FIRST = 10  # iterations in which exceptions agree all the same
JUMPS = (
    "divergence distances jump where an entry becomes zero, so that the last digit of a sum grows "
    f"from step to step; the first {FIRST} iterations agree"
)
EXCEPTIONS: dict[str, str] = {
    f"RPRNMF {loss} cd nan column_triplets distance=divergence row_strength=0.1 "
    "column_strength=0.1": JUMPS
    for loss in ("F", "KL")
}


def histories(where: Checkout) -> dict[str, np.ndarray]:
    """All fits in a process with the source of a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "histories.npz"
        subprocess.run(**where.command("same_numbers_fits.py", target), check=True)
        with np.load(target) as found:
            return dict(found)


def difference(before: np.ndarray, after: np.ndarray) -> tuple[float, str]:
    """The largest relative difference of two histories, and the field that has it."""
    if before.dtype.names is None or after.dtype.names is None:
        return np.inf, "a fit that failed"
    if before.shape != after.shape:
        return np.inf, "number of iterations"
    if before.dtype.names != after.dtype.names:
        return np.inf, "fields"
    largest, where = 0.0, "-"
    for field in before.dtype.names:
        if field == "seconds":
            continue
        old, new = before[field], after[field]
        if not np.array_equal(np.isnan(old), np.isnan(new)):
            return np.inf, field
        apart = np.abs(np.nan_to_num(new) - np.nan_to_num(old))
        apart = np.where(apart <= ROUNDING * np.abs(before["objective"]), 0.0, apart)
        size = np.maximum(np.abs(np.nan_to_num(old)), np.abs(np.nan_to_num(new)))
        worst = float(np.max(apart / np.where(size > 0, size, 1.0), initial=0.0))
        if worst > largest:
            largest, where = worst, field
    return largest, where


def row(name: str, runs: list[np.ndarray]) -> dict[str, str]:
    """One fit: before against after, and after against itself."""
    before, after, again = runs
    apart, field = difference(before, after)
    dtype = fits()[name].dtype
    same = apart <= TOLERANCE[dtype]
    repeats = all(
        np.array_equal(after[f], again[f], equal_nan=True)
        for f in after.dtype.names or ()
        if f != "seconds"
    )
    verdict = "yes" if same else "no"
    if name in EXCEPTIONS and difference(before[:FIRST], after[:FIRST])[0] <= TOLERANCE[dtype]:
        verdict = "excepted"
    objective = f"{after['objective'][-1]:.12g}" if after.dtype.names else str(after)
    cells = {"fit": name, "objective": objective, "difference": f"{apart:.1e}", "in": field}
    return cells | {"same": verdict, "again equal": "yes" if repeats else "no"}


def main() -> int:
    """Exit code 1 if something differs."""
    parser = argparse.ArgumentParser(description="Compare the numbers of two checkouts.")
    parser.add_argument("--before", required=True, help="a folder or a git revision")
    parser.add_argument("--after", default=str(PROJECT), help="the same; default: this checkout")
    arguments = parser.parse_args()
    names = list(fits())
    unknown = set(EXCEPTIONS) - set(names)
    if unknown:
        raise SystemExit(f"EXCEPTIONS speaks of fits that are not there: {sorted(unknown)}")
    with checkout(arguments.before) as before, checkout(arguments.after) as after:
        runs = [histories(where) for where in (before, after, after)]
    measured = (
        f"Before: {before.name}. After: {after.name}. {len(names)} fits of a {SIZE[0]} x {SIZE[1]} "
        f"matrix, {ITERATIONS} iterations, fixed seeds: the largest relative difference over all "
        f"iterations and all fields of `history_` but seconds (a difference below {ROUNDING:g} of "
        f"the objective is none). Same: at most {TOLERANCE['float64']:g}, in single precision "
        f"{TOLERANCE['float32']:g}. Again equal: a second run of the same checkout gives the same "
        "to the last digit."
    )
    report = Report(HERE / "results", "same_numbers", "The same numbers before and after", measured)
    for name in names:
        report.add(**row(name, [run[name] for run in runs]))
    for name, reason in EXCEPTIONS.items():
        report.note(f"{name}: {reason}")
    wrong = [r["fit"] for r in report.rows if r["same"] == "no" or r["again equal"] == "no"]
    report.note(f"{len(names) - len(wrong)} of {len(names)} as they should be.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
