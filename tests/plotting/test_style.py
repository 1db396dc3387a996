"""matplotlib is optional, and imported when a picture is drawn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rprnmf
from rprnmf import plotting
from rprnmf.plotting.style import MET, UNMET, short
from rprnmf.recommend import Evaluation
from tests.plotting.fits import ROWS, fitted
from tests.plotting.test_learning import CURVE

FOLDS = [
    {"model": name, "fold": f"fold {k}", "n_test": 9, "RMSE": 0.8 + 0.1 * k, "NDCG@5": 0.4}
    for name in ("one", "other")
    for k in (1, 2)
]
DRAW = {
    "plot_components": lambda draw: draw(fitted()),
    "plot_evaluation": lambda draw: draw(Evaluation(FOLDS, ["RMSE", "NDCG@5"])),
    "plot_history": lambda draw: draw(fitted()),
    "plot_learning": lambda draw: draw(CURVE),
    "plot_map": lambda draw: draw(fitted()),
    "plot_reliability": lambda draw: draw(fitted(), ROWS),
    "plot_triplets": lambda draw: draw(fitted()),
}


def test_every_plot_is_tried():
    assert sorted(DRAW) == sorted(name for name in plotting.__all__ if name.startswith("plot_"))


@pytest.mark.parametrize("name", DRAW)
def test_without_matplotlib_the_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = r"rprnmf.plotting needs matplotlib: pip install 'rprnmf\[plot\]'"
    with pytest.raises(ImportError, match=message):
        DRAW[name](getattr(plotting, name))


@pytest.mark.parametrize("name", DRAW)
def test_a_picture_can_be_saved(name, tmp_path):
    ax = DRAW[name](getattr(plotting, name))
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = tmp_path / f"picture.{ending}"
        ax.figure.savefig(path)
        assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", DRAW)
def test_the_users_settings_stay(name):
    import matplotlib

    before = dict(matplotlib.rcParams)
    DRAW[name](getattr(plotting, name))
    assert dict(matplotlib.rcParams) == before


def test_no_import_of_matplotlib_before_a_picture():
    code = "import sys, rprnmf.plotting; assert 'matplotlib' not in sys.modules"
    source = str(Path(rprnmf.__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": source}, check=True
    )


def test_the_two_colours_differ_for_the_colour_blind():
    """As a person without red, or without green, cones sees them (Viénot, Brettel, Mollon)."""
    import numpy as np
    from matplotlib.colors import to_rgb

    to_lms = np.array(
        [[17.8824, 43.5161, 4.1194], [3.4557, 27.1554, 3.8671], [0.03, 0.1843, 1.4671]]
    )
    blind = {
        "red": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
        "green": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]]),
    }
    for loss in blind.values():
        seen = [
            np.clip(np.linalg.solve(to_lms, loss @ to_lms @ np.array(to_rgb(color)) ** 2.2), 0, 1)
            for color in (MET, UNMET)
        ]
        assert np.abs(seen[0] ** (1 / 2.2) - seen[1] ** (1 / 2.2)).max() > 0.4


def test_long_names_are_shortened():
    assert short("a\n b") == "a b"
    assert short("x" * 24) == "x" * 24
    assert short("x" * 25) == "x" * 14 + "…" + "x" * 9
    assert short("a name with a long end 17") == "a name with a…ng end 17"
    assert short(7) == "7"
