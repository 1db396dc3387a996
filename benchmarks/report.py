"""Tables and plots of the results, and the machine they were measured on."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def machine() -> str:
    """Machine and versions, one line."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    packages = ("rprnmf", "numpy", "scipy", "scikit-learn", "numba")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"{name}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}"


def text(value: Any) -> str:
    """A cell: numbers with three significant digits, "-" for what is not known."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def within(value: float, limit: float) -> str:
    """Whether a measured figure is at or below its limit: "yes", "no", or "-" if not known."""
    return "-" if np.isnan(value) or np.isnan(limit) else "yes" if value <= limit else "no"


class Report:
    """One table that is written again after every row, so that nothing is lost on the way.

    Rows are dictionaries; the columns are those of the first rows, in order of appearance.
    """

    def __init__(self, folder: Path, name: str, title: str, measured: str):
        self.folder, self.name, self.title, self.measured = folder, name, title, measured
        self.rows: list[dict[str, Any]] = []
        self.notes: list[str] = []

    def add(self, **row: Any) -> None:
        """Add a row, print it, write the files."""
        self.rows.append(row)
        print("  ".join(f"{name}={text(value)}" for name, value in row.items()), flush=True)
        self.write()

    def note(self, sentence: str) -> None:
        """Add one sentence below the table."""
        self.notes.append(sentence)
        print(sentence, flush=True)
        self.write()

    def write(self) -> None:
        """Write NAME.csv and NAME.md."""
        columns = list(dict.fromkeys(name for row in self.rows for name in row))
        cells = [[text(row.get(name)) for name in columns] for row in self.rows]
        with (self.folder / f"{self.name}.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([columns, *cells])
        lines = [f"# {self.title}", "", self.measured, "", f"{machine()}.", ""]
        if columns:
            lines += ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
            lines += ["| " + " | ".join(row) + " |" for row in cells] + [""]
        lines += [f"- {sentence}" for sentence in self.notes] + [""] * bool(self.notes)
        (self.folder / f"{self.name}.md").write_text("\n".join(lines))

    def plot(
        self,
        panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]],
        x: str,
        y: str,
        log: str = "",
        mark: Mapping[str, float] | None = None,
    ) -> None:
        """Write NAME.svg: a panel for each title, a line for each program.

        `log` names the logarithmic axes ("x", "y" or "xy"); `mark` a horizontal line of a panel.
        """
        try:
            import matplotlib
            from matplotlib.figure import Figure
            from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

            from rprnmf.plotting.style import RC
        except ImportError:
            self.note("No plot: matplotlib is not installed.")
            return
        panels = {title: lines for title, lines in panels.items() if lines}
        if not panels:
            return
        with matplotlib.rc_context(RC):
            figure = Figure(figsize=(5.5 * len(panels), 4), layout="constrained")
            axes = figure.subplots(1, len(panels), squeeze=False)
            for axis, (title, lines) in zip(axes[0], panels.items(), strict=True):
                for name, (across, up) in lines.items():
                    axis.plot(across, up, marker=".", markersize=4, linewidth=1.2, label=name)
                if mark and title in mark:
                    axis.axhline(mark[title], color="black", linewidth=0.8, linestyle=":")
                if "x" in log:
                    axis.set_xscale("log")
                    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
                    axis.xaxis.set_major_formatter(EngFormatter(sep=""))
                    axis.xaxis.set_minor_formatter(NullFormatter())
                if "y" in log:
                    axis.set_yscale("log")
                axis.set(title=title, xlabel=x, ylabel=y)
                axis.legend(fontsize=8)
            figure.savefig(self.folder / f"{self.name}.svg", metadata={"Date": None})
