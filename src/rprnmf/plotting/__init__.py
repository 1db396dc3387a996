"""Pictures of what was learned; they need matplotlib (``pip install 'rprnmf[plot]'``)."""

from __future__ import annotations

from rprnmf.plotting.map import MapDisplay, plot_map

__all__ = ["MapDisplay", "plot_map"]
