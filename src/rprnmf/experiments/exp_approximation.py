"""Figure 3: the exponential and its chords."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.experiments.harness.drawing import draw
from rprnmf.experiments.harness.experiment import Experiment, Row, Settings, Values
from rprnmf.experiments.harness.report import Cell, Section, Table

END = 3.0
WIDTHS = (1.0, 0.5, 0.25, 0.125)


def chords(x: np.ndarray, width: float) -> np.ndarray:
    """The piecewise linear function that is exp at the multiples of a width."""
    knots = np.arange(0.0, END + width, width)
    return np.interp(x, knots, np.exp(knots))


def run(settings: Settings) -> Values:
    """The largest relative error of chords of one width."""
    x = np.linspace(0.0, END, 1201)
    return {"error": float(np.max(chords(x, settings["width"]) / np.exp(x) - 1))}


def section(rows: list[Row]) -> Section:
    """The picture, and how the error falls with the width."""
    x = np.linspace(0.0, END, 1201)

    def paint(canvas: Any) -> None:
        axis = canvas.subplots()
        axis.plot(x, np.exp(x), color="#0b5cad", label="exp(x)")
        axis.plot(x, chords(x, 1.0), "--", color="#d6336c", label="piecewise linear")
        axis.plot(range(4), np.exp(range(4)), "o", color="#d6336c")
        axis.set(xlabel="x", xticks=range(4))
        axis.legend()

    body = [[f"{row['width']:g}", Cell(100 * row["error"])] for row in rows]
    table = Table("", "Largest relative error", ["width of a piece", "error (%)"], body)
    text = (
        "The paper's proof replaces exp by chords between whole numbers; with smaller pieces the "
        "difference vanishes, with the square of their width."
    )
    figure = draw("", "exp(x) and its chords of width 1.", paint, (5, 3.4))
    findings = []
    errors = [row["error"] for row in rows]
    if len(rows) == len(WIDTHS) and min(errors) > 0:
        findings = [
            f"To halve the width divides the largest error by {errors[0] / errors[1]:.1f} at first "
            f"and by {errors[-2] / errors[-1]:.1f} at last."
        ]
    return Section(text, [table], [figure], findings)


EXPERIMENT = Experiment(
    "exp-approximation",
    "Figure 3: a piecewise linear function in place of the exponential",
    lambda quick: [{"width": width} for width in WIDTHS],
    run,
    section,
    lambda settings: {"error": 0.0},
)
