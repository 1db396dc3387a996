"""Pictures in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rprnmf.cli.files import OUTPUT, check_output
from rprnmf.cli.options import several

SUFFIXES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")

picture_options = several(
    click.option(
        "--out", type=OUTPUT, required=True, metavar="FILE", help="The picture: .png, .svg or .pdf."
    ),
    click.option(
        "--dpi",
        type=click.IntRange(20, 1200),
        metavar="N",
        default=150,
        show_default=True,
        help="Dots per inch.",
    ),
)
picture_option = click.option(
    "--picture", type=OUTPUT, metavar="FILE", help="Draw the curve: .png, .svg or .pdf."
)


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be drawn or written, before anything is computed."""
    if path is not None:
        from rprnmf.plotting.style import need_matplotlib

        check_output(path, SUFFIXES)
        need_matplotlib("a picture", "cli")


def draw(plot: Callable[..., Any], path: Path, dpi: int = 150) -> None:
    """Call a function that makes Axes, and write their figure, whole or not at all.

    Parameters
    ----------
    plot : callable
        Without parameters.
    path : Path
    dpi : int, default=150
    """
    from rprnmf.atomic_file import atomic_file
    from rprnmf.plotting.style import RC, need_matplotlib

    matplotlib = need_matplotlib("a picture", "cli")
    matplotlib.use("agg")  # there may be no screen
    import matplotlib.pyplot as plt

    kind = path.suffix.lower().lstrip(".")
    with matplotlib.rc_context(RC):
        figure = plot().figure
        try:
            with atomic_file(path) as part:
                metadata = {"Date": None} if kind == "svg" else None
                figure.savefig(part, format=kind, dpi=dpi, bbox_inches="tight", metadata=metadata)
        finally:
            plt.close(figure)
