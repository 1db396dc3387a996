"""Progress: a bar on a terminal, separate lines elsewhere."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from rprnmf import RPRNMF, progress
from rprnmf.model_selection import choose_strength
from rprnmf.progress import Progress, clock
from rprnmf.triplets import triplets_from_features


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_goes_by_cost():
    pytest.importorskip("tqdm")
    screen = Screen()
    with Progress("name", 2, 10.0, file=screen) as bar:
        assert "  0%, 0 of 2 fits, 00:00, ? left" in screen.getvalue()
        bar.bar.start_t, bar.bar.last_print_t = bar.bar.start_t - 90.0, 0.0
        bar.step(9.0)
        assert " 90%, 1 of 2 fits, 01:30, 00:10 left" in screen.getvalue().split("\r")[-1]
        bar.step(1.0)
    assert "100%, 2 of 2 fits" in screen.getvalue()
    assert screen.getvalue().endswith("\n")
    assert screen.getvalue().count("\n") == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_elsewhere_or_without_tqdm_there_are_separate_lines(terminal, monkeypatch):
    if terminal:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    file = Screen() if terminal else io.StringIO()
    with Progress("name", 3, 10.0, file=file) as bar:
        bar.step(8.0)
        assert file.getvalue().count("\n") == 1, "at the start, and not again so soon"
        bar.started, bar.said = bar.started - 90.0, bar.said - progress.EVERY - 1.0
        bar.step(1.0)
        bar.step(1.0)
    assert "\r" not in file.getvalue()
    assert [line.split(maxsplit=1)[1] for line in file.getvalue().splitlines()] == [
        "0%, 0 of 3 fits, 0:00",
        "90%, 2 of 3 fits, 1:30, 0:10 left",
        "100%, 3 of 3 fits, 1:30, 0:00 left",
    ]


def test_silence_and_nothing_to_do_show_nothing():
    for n_fits, silent in ((2, True), (0, False)):
        file = Screen()
        with Progress("name", n_fits, file=file, silent=silent) as bar:
            for _ in range(n_fits):
                bar.step()
        assert file.getvalue() == ""


def test_lines_of_choose_strength_do_not_run_together(capsys):
    rng = np.random.default_rng(0)
    X = rng.random((20, 3)) @ rng.random((3, 10))
    known = triplets_from_features(X, 20, random_state=0)
    model = RPRNMF(3, max_iter=3, random_state=0)
    choose_strength(model, X, [0.01, 1.0], row_triplets=known, n_splits=2)
    text = capsys.readouterr().err
    assert "\r" not in text
    lines = [line for line in text.splitlines() if line.startswith("choose_strength ")]
    assert [line.split(", ")[1] for line in lines] == ["0 of 5 fits", "5 of 5 fits"]
    choose_strength(model, X, [0.01, 1.0], row_triplets=known, n_splits=2, verbose=0)
    assert capsys.readouterr().err == ""


def test_a_clock_shows_hours_where_there_are_any():
    assert (clock(62), clock(3725)) == ("1:02", "1:02:05")
