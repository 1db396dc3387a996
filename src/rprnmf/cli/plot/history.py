"""``rprnmf plot history``."""

from __future__ import annotations

from typing import Any

from rprnmf.cli.command import command
from rprnmf.cli.pictures import picture_options
from rprnmf.cli.plot import common
from rprnmf.cli.report import Report


@command("rprnmf plot history model.rprnmf --out history.png")
@common.model
@picture_options
def history(given: Any) -> Report:
    """Draw objective, loss and comparisons met against the iterations of the fit."""
    model = common.opened(given)
    from rprnmf.plotting import plot_history

    return common.drawn(given, lambda: plot_history(model))
