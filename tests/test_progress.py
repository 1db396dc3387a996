"""Progress: a bar on a terminal, separate lines elsewhere."""

from __future__ import annotations

import io
import sys
import types

import numpy as np
import pytest

from rprnmf import NMF, RPRNMF, kernels, progress
from rprnmf.model_selection import choose_strength
from rprnmf.progress import FitProgress, Progress, Told, clock, iterations
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


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def time(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(iterations, "time", clock)
    return clock


def told(iteration, rate=np.nan):
    return Told(iteration, 12.5, 10.0, (rate, np.nan), 3.0)


def last_line(screen):
    return screen.getvalue().split("\r")[-1].strip()


def test_a_fit_shows_a_bar_from_the_third_second_on(time):
    pytest.importorskip("tqdm")
    screen = Screen()
    with FitProgress("NMF", 100, file=screen) as progress:
        for iteration in range(1, 17):
            time.now += 0.125
            progress.iteration(told(iteration))
        assert screen.getvalue() == "", "two seconds"
        for iteration in range(17, 41):
            time.now += 0.125
            progress.iteration(told(iteration, 0.975))
        line = last_line(screen)
        assert line.startswith("NMF |")
        assert line.endswith(
            "40 of 100, 0:05, at most 0:08 left, objective 12.5, row triplets met 97.5 %"
        )
        progress.solved()  # early, by tol
        assert "100 of 100, 0:05, objective 12.5" in last_line(screen)
    assert screen.getvalue().count("\n") == 1


def test_the_bar_of_several_solves_never_goes_back(time):
    pytest.importorskip("tqdm")
    screen, places = Screen(), []
    with FitProgress("RPRNMF", 50, n_solves=3, file=screen) as progress:
        for solve in range(3):
            for iteration in range(1, 26):  # finds a strength
                time.now += 1.0
                progress.iteration(told(iteration), main=False)
            assert f"finding strengths, {25 * (solve + 1)} iterations" in last_line(screen)
            for iteration in range(1, 31):
                time.now += 1.0
                progress.iteration(told(iteration))
                places.append(progress.bar.n)
            progress.solved()
            places.append(progress.bar.n)
    assert places == sorted(places)
    assert places[-1] == 150
    assert "100 of 150" in screen.getvalue()


def test_the_time_left_leaves_compiling_and_other_solves_out(time):
    pytest.importorskip("tqdm")
    screen = Screen()
    with FitProgress("NMF", 10, file=screen) as progress:
        progress.compiling()
        assert "0 of 10, 0:00, compiling, once on this machine" in last_line(screen)
        time.now += 60.0
        progress.iteration(told(1), main=False)
        time.now += 60.0
        progress.iteration(told(1))
        assert "left" not in last_line(screen), "nothing is known yet"
        time.now += 3.0
        progress.iteration(told(2))
        assert "2 of 10, 2:03, at most 0:24 left" in last_line(screen)


def test_a_fit_that_goes_on_begins_where_it_was(time):
    pytest.importorskip("tqdm")
    screen = Screen()
    with FitProgress("NMF", 100, file=screen) as progress:
        for iteration in (81, 82, 83):
            time.now += 2.0
            progress.iteration(told(iteration))
    assert "83 of 100, 0:06, at most 0:34 left" in screen.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_without_a_bar_a_fit_prints_lines(terminal, time, monkeypatch):
    if terminal:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    file = Screen() if terminal else io.StringIO()
    with FitProgress("NMF", 40, file=file) as progress:
        progress.compiling()
        time.now += 31.0
        progress.iteration(told(1), main=False)
        for iteration in range(1, 13):
            time.now += 1.0
            progress.iteration(told(iteration, 0.5))
        time.now += 31.0
        progress.iteration(told(13))
        progress.solved()
    assert file.getvalue().splitlines() == [
        "finding strengths, 1 iterations, 0:31",
        "iteration   10  objective 12.5  loss 10  row triplets met 50.0 %  3.0 s"
        "  at most 0:30 left",
        "iteration   13  objective 12.5  loss 10  3.0 s  at most 1:34 left",
    ]


def test_verbose_of_two_is_a_line_for_every_iteration(capsys):
    X = np.random.default_rng(0).random((8, 5))
    NMF(2, max_iter=7, tol=0, verbose=2).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == list("1234567")


def test_a_fit_on_a_terminal_says_inside_its_bar_that_it_compiles(monkeypatch, caplog):
    """And not in the log as well."""
    pytest.importorskip("tqdm")
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(kernels._notice, "told", False)

    @kernels.kernel
    def never_seen(x):
        return x + 1.0

    never_seen.py_func.__module__ = "rprnmf.kernels.never_seen"
    X = np.random.default_rng(0).random((8, 5))
    NMF(2, max_iter=3, tol=0, verbose=1, callback=lambda state: never_seen(1.0) and False).fit(X)
    assert "compiling, once on this machine" in screen.getvalue()
    assert caplog.text == ""
    assert kernels._notice.show is None


def test_a_notebook_gets_a_bar_too(monkeypatch):
    pytest.importorskip("tqdm")
    shell = type("ZMQInteractiveShell", (), {})()
    notebook = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert FitProgress("NMF", 10, file=io.StringIO()).bars
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert not FitProgress("NMF", 10, file=io.StringIO()).bars


def test_a_clock_shows_hours_where_there_are_any():
    assert (clock(62), clock(3725)) == ("1:02", "1:02:05")
