"""25 million ratings from a long CSV file and from Matrix Market: seconds and memory beside others.

pandas and polars read the CSV file to a table of numbers; what they need beyond that for the same
sparse matrix is measured too. scipy reads Matrix Market. Every call is a process of its own, they
take turns, each may use two cores, and files are in the system's cache. Seconds are of the call
alone, without imports. Writes `results/reading.*`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from common import cpu_seconds_of, environment, in_turn, median, peak_mb, seconds_of, start_process
from report import Report, within

USERS, ITEMS = 160_000, 60_000
ENTRIES, REPEATS = 25_000_000, 3
BLOCK = 500_000
LIMIT = 1.0  # of the fastest other
HEADER = "userId,movieId,rating,timestamp\n"


def generate(folder: Path, entries: int) -> None:
    """Ratings sorted by user as MovieLens has them, with whole numbers and with texts as ids."""
    rng = np.random.default_rng(0)
    users, items = max(USERS * entries // ENTRIES, 100), max(ITEMS * entries // ENTRIES, 100)
    user = np.sort(rng.integers(1, users + 1, entries))
    item = 1 + 3 * (items * rng.random(entries) ** 2).astype(np.int64)
    rating = rng.integers(1, 11, entries) / 2
    when = rng.integers(789_652_009, 1_574_327_703, entries)
    files = {
        "numbers.csv": (HEADER, "{},{},{},{}\n"),
        "texts.csv": (HEADER, "user-{},film-{},{},{}\n"),
        "matrix.mtx": (
            f"%%MatrixMarket matrix coordinate real general\n{users} {3 * items} {entries}\n",
            "{} {} {}\n",
        ),
    }
    for name, (header, line) in files.items():
        with (folder / name).open("w") as file:
            file.write(header)
            for start in range(0, entries, BLOCK):
                parts = [a[start : start + BLOCK].tolist() for a in (user, item, rating, when)]
                file.write("".join([line.format(*row) for row in zip(*parts, strict=True)]))


def to_matrix(users: Any, items: Any, ratings: Any) -> Any:
    """The sparse matrix of three columns, as pandas' documentation of categories suggests."""
    import pandas as pd

    (row, row_names), (column, column_names) = (pd.factorize(ids) for ids in (users, items))
    shape = len(row_names), len(column_names)
    return sp.csr_array((np.asarray(ratings), (row, column)), shape=shape)


def program(name: str, path: str) -> Callable[[], Any]:
    """The call to be timed."""
    if name == "rprnmf":
        from rprnmf.inputs import read_matrix

        small = Path(path).with_name(f"small-{Path(path).name}")
        read_matrix(small)  # compiled code is loaded
        return lambda: read_matrix(path)
    if name == "scipy":
        return lambda: scipy.io.mmread(path).tocsr()
    whole = name.endswith("to matrix")
    if name.startswith("polars"):
        import polars as pl

        if not whole:
            return lambda: pl.read_csv(path)

        def by_polars() -> Any:
            table = pl.read_csv(path, columns=["userId", "movieId", "rating"])
            return to_matrix(*(table[c].to_numpy() for c in table.columns))

        return by_polars
    import pandas as pd

    engine = "pyarrow" if "pyarrow" in name else "c"
    if not whole:
        return lambda: pd.read_csv(path, engine=engine)

    def by_pandas() -> Any:
        table = pd.read_csv(path, engine=engine, usecols=["userId", "movieId", "rating"])
        return to_matrix(table["userId"], table["movieId"], table["rating"])

    return by_pandas


def one(name: str, path: str) -> dict[str, float]:
    """Seconds of a call and the memory that it added at most, in this process."""
    call = program(name, path)
    before = peak_mb()
    seconds, (cpu, _) = seconds_of(lambda: cpu_seconds_of(call))
    return {"seconds": seconds, "cpu": cpu, "mb": peak_mb() - before}


def in_process(name: str, path: Path) -> dict[str, float]:
    """The same in a process of its own, on two cores."""
    command = [sys.executable, __file__, "--one", name, str(path)]
    done = subprocess.run(command, env=environment(2), capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-500:])
        return dict.fromkeys(("seconds", "cpu", "mb"), float("nan"))
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    quick, folder = start_process("reading")
    entries, repeats = (500_000, 2) if quick else (ENTRIES, REPEATS)
    measured = (
        f"{entries} generated ratings of {USERS} users for {ITEMS} items. Seconds of one call, "
        f"medians of {repeats} processes in turn, two cores; MB: memory that the call added at "
        "most. A table: columns of numbers or texts; a matrix: sparse, by users and items, with "
        "their names. ratio: seconds of rprnmf divided by those of the other; CPU "
        "seconds do not count what other programs on the machine did meanwhile."
    )
    report = Report(folder, "reading", "Reading ratings", measured)
    tables = ["pandas", "pandas, pyarrow engine", "polars"]
    if find_spec("polars") is None:
        tables.remove("polars")
        report.note("polars is not installed.")
    csv = ["rprnmf", *tables, *(f"{name}, to matrix" for name in tables)]
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), entries)
        for name in ("numbers.csv", "texts.csv", "matrix.mtx"):
            path = Path(place) / name
            small(path)
            programs = ["rprnmf", "scipy"] if name.endswith("mtx") else csv
            in_process("rprnmf", path)  # compile
            runs = in_turn(
                {p: lambda _, p=p, path=path: in_process(p, path) for p in programs}, repeats
            )
            seconds = {p: median(run["seconds"] for run in runs[p]) for p in programs}
            cpu = {p: median(run["cpu"] for run in runs[p]) for p in programs}
            for p in programs:
                row = {"file": name, "MB of file": path.stat().st_size / 1e6, "program": p}
                matrix = p in ("rprnmf", "scipy") or p.endswith("to matrix")
                row |= {"result": "a matrix" if matrix else "a table", "seconds": seconds[p]}
                row |= {"CPU seconds": cpu[p], "MB": median(run["mb"] for run in runs[p])}
                ratio = seconds["rprnmf"] / seconds[p]
                if p != "rprnmf":
                    row |= {"ratio": ratio, "CPU ratio": cpu["rprnmf"] / cpu[p]}
                    row |= {"within": within(ratio, LIMIT)}
                report.add(**row)


def small(path: Path) -> None:
    """The first lines, to load what a program compiles."""
    lines = path.open().read(100_000).splitlines()[:-1]
    lines.append(lines[-1])  # one that stands twice
    if path.suffix == ".mtx":
        size = lines[1].split()
        lines[1] = f"{size[0]} {size[1]} {len(lines) - 2}"
    path.with_name(f"small-{path.name}").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], sys.argv[3])))
    else:
        main()
