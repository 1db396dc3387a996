"""Pictures for the report."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.experiments.harness.experiment import Row
from rprnmf.experiments.harness.report import Figure

COLOURS = {
    "NMF": "#7a7f87",
    "GNMF": "#2f8f4e",
    "LCNMF": "#b07d12",
    "RPR-NMF": "#0b5cad",
    "NMF (cd)": "#a3a8b0",
    "triplets (cd)": "#d6336c",
    "exponential (cd)": "#e8863a",
    "NMF, L2 (cd)": "#a3a8b0",
    "triplets, L2 (cd)": "#d6336c",
    "graph (cd)": "#6aa84f",
    "triplets + graph (cd)": "#7b2fb5",
}
DASHES = {"euclidean": "-", "divergence": "--"}
RC: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: small files
    "svg.hashsalt": "rprnmf",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e7eb",
    "lines.markersize": 4,
    "legend.frameon": False,
}


@dataclass
class Line:
    """Points of one algorithm, with how far they spread."""

    algorithm: str
    measure: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None


@dataclass
class Panel:
    """Lines under one title."""

    title: str
    x_label: str
    y_label: str
    lines: list[Line]
    log_y: bool = False
    log_x: bool = False


def need_matplotlib() -> tuple[Any, Any]:
    """matplotlib and its figure class, or what to install."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError as error:
        raise ImportError(
            "the report needs matplotlib for its pictures: pip install 'rprnmf[cli]'."
        ) from error
    return matplotlib, Canvas


def draw(
    name: str, caption: str, paint: Callable[[Any], None], size: tuple[float, float]
) -> Figure:
    """A figure as SVG and PNG; ``paint`` gets an empty matplotlib figure."""
    matplotlib, canvas_class = need_matplotlib()
    with matplotlib.rc_context(RC):
        canvas = canvas_class(figsize=size, layout="constrained")
        paint(canvas)
        svg, png = io.StringIO(), io.BytesIO()
        canvas.savefig(svg, format="svg", metadata={"Date": None})
        canvas.savefig(png, format="png", dpi=110)
    return Figure(name, caption, svg.getvalue(), png.getvalue())


def draw_panels(name: str, caption: str, panels: Sequence[Panel]) -> Figure:
    """Panels side by side with one legend."""

    def paint(canvas: Any) -> None:
        axes = canvas.subplots(1, len(panels), squeeze=False)[0]
        shown: dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=True):
            for line in panel.lines:
                label = line.algorithm + (", Divergence" if line.measure == "divergence" else "")
                drawn = axis.errorbar(
                    *(line.x, line.y, line.spread),
                    color=COLOURS.get(line.algorithm, "#333333"),
                    marker="o",
                    linestyle=DASHES[line.measure],
                    elinewidth=0.6,
                    linewidth=1.4,
                )
                shown.setdefault(label, drawn)
            axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            if panel.log_y and any(y > 0 for line in panel.lines for y in line.y):
                axis.set_yscale("log")
            if panel.log_x:
                zero = any(0 in line.x for line in panel.lines)
                axis.set_xscale("symlog" if zero else "log")
                if zero:
                    axis.set_xlim(left=0)
        canvas.legend(
            list(shown.values()), list(shown), loc="outside lower center", ncols=min(len(shown), 4)
        )

    return draw(name, caption, paint, (4.0 * len(panels), 3.9))


def spread(values: list[float]) -> float:
    """The standard deviation, 0 of one value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def lines_of(rows: list[Row], x: str, y: Callable[[Row], float | None]) -> list[Line]:
    """A line for every algorithm and measure: means over what else differs."""
    found: dict[tuple[str, str], dict[float, list[float]]] = {}
    for row in rows:
        value = y(row)
        if value is not None:
            points = found.setdefault((row["algorithm"], row["measure"]), {})
            points.setdefault(row[x], []).append(value)
    return [
        Line(
            *names,
            sorted(points),
            [float(np.mean(points[place])) for place in sorted(points)],
            [spread(points[place]) for place in sorted(points)],
        )
        for names, points in found.items()
    ]
