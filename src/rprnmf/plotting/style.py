"""What all pictures share: matplotlib, if it is there, colours, and new Axes."""

from __future__ import annotations

from typing import Any

#: settings for files: small ones, the same for the same picture
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
# Blue and vermilion of Okabe and Ito: they differ for the colour-blind too. Where both are lines,
# those of unmet comparisons are wider.
MET, UNMET = "#0072b2", "#d55e00"
INK, GREY, PALE = "#222222", "#7a7f87", "#a9d0ea"
LONGEST, TAIL = 24, 9  # characters of a name, and of its end where it is cut


def need_matplotlib(what: str = "rprnmf.plotting", extra: str = "plot") -> Any:
    """matplotlib, or an error that says what to install."""
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install 'rprnmf[{extra}]'.") from error
    return matplotlib


def check_axes(ax: Any) -> None:
    """Whether one can draw at all, and on what is given: asked before long work."""
    need_matplotlib()
    if ax is not None and not hasattr(ax, "transData"):
        raise TypeError(f"ax must be matplotlib Axes or None, got {type(ax).__name__}.")


def axes_or_new(ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> Any:
    """The given Axes, or those of a new figure, which ``matplotlib.pyplot.show`` shows."""
    check_axes(ax)
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def open_frame(ax: Any) -> None:
    """Axes without the lines at the top and at the right."""
    ax.spines[["top", "right"]].set_visible(False)


def bare(ax: Any) -> None:
    """Axes without ticks, grid and frame."""
    ax.grid(visible=False)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def note(ax: Any, text: str) -> None:
    """A sentence in the middle of Axes that have nothing to show."""
    bare(ax)
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=GREY)


def short(name: Any) -> str:
    """A name on one line, not too long; both of its ends, for names often differ in the last."""
    text = " ".join(str(name).split())
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - TAIL - 1].rstrip() + "…" + text[-TAIL:].lstrip()
