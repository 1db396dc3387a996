"""Pictures for the report."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.experiments.harness.experiment import Row, grouped
from rprnmf.experiments.harness.report import Figure
from rprnmf.plotting.style import RC, need_matplotlib

COLOURS = {
    "NMF": "#7a7f87",
    "GNMF": "#2f8f4e",
    "LCNMF": "#b07d12",
    "RPR-NMF": "#0b5cad",
    "NMF (cd)": "#a3a8b0",
    "triplets (cd)": "#d6336c",
    "graph (cd)": "#6aa84f",
    "triplets + graph (cd)": "#7b2fb5",
}
DASHES = {"euclidean": "-", "divergence": "--"}


@dataclass(frozen=True)
class Axis:
    """The setting that all panels of a figure have on their horizontal axis."""

    setting: str
    label: str
    log: bool = False


@dataclass(frozen=True)
class Panel:
    """The quantity on the vertical axis of one panel; its label is the title if none is given."""

    title: str
    y: Callable[[Row], float]
    label: str = ""
    log: bool = False


def matplotlib_for_report() -> Any:
    """matplotlib, or what to install."""
    return need_matplotlib("the report", extra="cli")


def draw(
    name: str, caption: str, paint: Callable[[Any], None], size: tuple[float, float]
) -> Figure:
    """A figure as SVG and PNG; ``paint`` gets an empty matplotlib figure."""
    matplotlib = matplotlib_for_report()
    with matplotlib.rc_context(RC):
        canvas = matplotlib.figure.Figure(figsize=size, layout="constrained")
        paint(canvas)
        svg, png = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None})
        canvas.savefig(png, format="png", dpi=110)
    return Figure(name, caption, svg.getvalue(), png.getvalue())


def draw_panels(
    name: str, caption: str, rows: list[Row], x: Axis, panels: Sequence[Panel]
) -> Figure:
    """Panels side by side with one legend: a line for every algorithm and measure."""

    def paint(canvas: Any) -> None:
        axes = canvas.subplots(1, len(panels), squeeze=False)[0]
        shown: dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=True):
            lines = lines_of(rows, x.setting, panel.y)
            for (algorithm, measure), points in lines.items():
                label = algorithm + (", Divergence" if measure == "divergence" else "")
                drawn = axis.errorbar(
                    *zip(*points, strict=True),
                    color=COLOURS.get(algorithm, "#333333"),
                    marker="o",
                    linestyle=DASHES[measure],
                    elinewidth=0.6,
                    linewidth=1.4,
                )
                shown.setdefault(label, drawn)
            axis.set(title=panel.title, xlabel=x.label, ylabel=panel.label or panel.title)
            if panel.log and any(mean > 0 for points in lines.values() for _, mean, _ in points):
                axis.set_yscale("log")
            if x.log:
                zero = any(row[x.setting] == 0 for row in rows)
                axis.set_xscale("symlog" if zero else "log")
                if zero:
                    axis.set_xlim(left=0)
        canvas.legend(
            list(shown.values()), list(shown), loc="outside lower center", ncols=min(len(shown), 4)
        )

    return draw(name, caption, paint, (4.0 * len(panels), 3.9))


def lines_of(
    rows: list[Row], x: str, y: Callable[[Row], float]
) -> dict[tuple, list[tuple[float, float, float]]]:
    """For every algorithm and measure: places, means and standard deviations (0 of one value)."""
    return {
        names: [
            (place, float(np.mean(values)), float(np.std(values, ddof=min(len(values) - 1, 1))))
            for (place,), part in sorted(grouped(line, x).items())
            for values in [[y(row) for row in part]]
        ]
        for names, line in grouped(rows, "algorithm", "measure").items()
    }
