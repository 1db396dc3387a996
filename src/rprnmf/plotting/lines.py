"""Comparisons as lines: q to r, and q to s."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.plotting.style import GREY, MET, UNMET

# Points in such a crowd would hide lines behind them.
CROWD = 300
Z_POINTS, Z_NAMES = 3.0, 5.0


def draw_comparisons(
    ax: Any, points: np.ndarray, triplets: np.ndarray, met: np.ndarray, n_lines: int
) -> dict[str, tuple[Any, Any]]:
    """Draw at most ``n_lines`` comparisons, and a legend that counts all.

    Returns
    -------
    lines : dict of str to pair of LineCollection
        "met" and "unmet": the lines q-r, and the lines q-s, which are dotted.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    if not len(triplets):
        return {}
    found, handles = {}, []
    front = Z_POINTS + 0.1 if len(points) > CROWD else 1.0
    drawn = thinned(met, n_lines)
    alpha = float(np.clip(30 / max(sum(map(len, drawn.values())), 1), 0.35, 0.9))
    for kind, color, width in (("met", MET, 0.9), ("unmet", UNMET, 1.7)):
        chosen = drawn[kind]
        q, r, s = points[triplets[chosen].T]
        look: dict[str, Any] = {"color": color, "linewidth": width, "alpha": alpha}
        look["zorder"] = front + width / 4  # unmet ones above
        near = LineCollection([*np.stack((q, r), axis=1)], **look)
        far = LineCollection([*np.stack((q, s), axis=1)], linestyle=":", **look)
        for lines in (near, far):
            ax.add_collection(lines)
        found[kind] = near, far
        count = int(np.sum(met == (kind == "met")))
        part = f" ({len(chosen)} drawn)" if len(chosen) < count else ""
        handles.append(Line2D([], [], color=color, lw=2 * width, label=f"{kind}: {count}{part}"))
    handles += [
        Line2D([], [], color=GREY, label="q to r (near)"),
        Line2D([], [], color=GREY, linestyle=":", label="q to s (far)"),
    ]
    ax.legend(handles=handles, loc="lower center", ncols=2, frameon=False, fontsize="small")
    return found


def thinned(met: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """At most n comparisons, evenly chosen; up to half are unmet ones, more if these are more."""
    kinds = np.flatnonzero(met), np.flatnonzero(~met)
    n = max(min(n, len(met)), 0)
    share = n * len(kinds[1]) // max(len(met), 1)
    n_unmet = min(len(kinds[1]), max(n // 2, share))
    n_met = min(len(kinds[0]), n - n_unmet)
    n_unmet = min(len(kinds[1]), n - n_met)
    return {
        kind: places[np.arange(count) * len(places) // max(count, 1)]
        for kind, places, count in zip(("met", "unmet"), kinds, (n_met, n_unmet), strict=True)
    }
