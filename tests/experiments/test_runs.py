"""Runs that are stopped, go on, lack data, or fail; what is on disk."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from rprnmf.datasets import DataError, MissingDataError
from rprnmf.experiments import EXPERIMENTS, reproduce, runner
from rprnmf.experiments.base import Experiment
from rprnmf.experiments.dataset_table import FOUND
from rprnmf.experiments.page import Section
from rprnmf.experiments.progress import WIDTH, Progress, clock
from rprnmf.experiments.runner import run_jobs, stored
from rprnmf.experiments.store import Store, alone


def counted(stop_at: int | None = None) -> tuple[Experiment, list[int]]:
    calls: list[int] = []

    def run(settings):
        calls.append(settings["number"])
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return {"square": settings["number"] ** 2}

    jobs = [{"number": number} for number in range(6)]
    experiment = Experiment("squares", "Squares", lambda quick: jobs, run, lambda rows: rows)
    return experiment, calls


def test_a_run_that_is_stopped_goes_on_and_ends_in_the_same_table(tmp_path, monkeypatch):
    whole, _ = counted()
    monkeypatch.setitem(EXPERIMENTS, "squares", whole)
    jobs = whole.jobs(False)
    run_jobs(whole, jobs, tmp_path / "whole", 1, 0, [])
    expected = stored(whole, jobs, tmp_path / "whole")
    assert [row["square"] for row in expected] == [0, 1, 4, 9, 16, 25]
    stopped, first = counted(stop_at=4)
    monkeypatch.setitem(EXPERIMENTS, "squares", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(stopped, jobs, tmp_path / "part", 1, 0, [])
    assert len(Store(tmp_path / "part" / "squares.jsonl").keys()) == 3
    again, second = counted()
    monkeypatch.setitem(EXPERIMENTS, "squares", again)
    assert [row["number"] for row in stored(again, jobs, tmp_path / "part")] == [0, 1, 2]
    run_jobs(again, jobs, tmp_path / "part", 1, 0, [])
    assert stored(again, jobs, tmp_path / "part") == expected
    assert first == [0, 1, 2, 3]
    assert second == [3, 4, 5]


def test_half_a_line_is_dropped(tmp_path):
    path = tmp_path / "deep" / "results.jsonl"
    store = Store(path)
    store.add({"a": 1}, {"x": 2.0})
    store.add({"a": 2}, {"x": 3.0})
    whole = path.read_bytes()
    for cut in (1, 5, len(whole) // 3):
        path.write_bytes(whole[:-cut])
        again = Store(path)
        assert again.get({"a": 1})["x"] == 2.0
        assert again.get({"a": 2}) is None
        again.add({"a": 2}, {"x": 3.0})
        assert path.read_bytes() == whole
    path.write_bytes(b"x" * 10_000)  # longer than a block, no line at all
    Store(path).add({"a": 1}, {"x": 2.0, "y": float("nan")})
    assert "NaN" not in path.read_text()
    row = Store(path).get({"a": 1})
    assert row["x"] == 2.0
    assert np.isnan(row["y"])


def test_fits_that_diverged_are_stored_too(tmp_path):
    store = Store(tmp_path / "results.jsonl")
    store.add({"a": 1}, {"x": float("inf"), "deep": [[1.0, float("nan")], {"y": -float("inf")}]})
    row = Store(store.path).get({"a": 1})
    assert np.isnan(row["x"])
    assert row["deep"] == [[1.0, None], {"y": None}]


def test_a_foreign_file_is_not_touched(tmp_path):
    path = tmp_path / "parameters.jsonl"
    for text in ("name,value\n", '{"settings": {}, "values": []}\n', '{"settings": {}}\n'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"parameters\.jsonl, line 1: expected a result"):
            Store(path)
        with pytest.raises(ValueError, match="delete that line"):  # before anything is done
            reproduce("exp-approximation", out=tmp_path, verbose=0)
        assert path.read_text() == text
        assert os.listdir(tmp_path) == ["parameters.jsonl"]


def test_two_programs_do_not_write_to_one_folder(tmp_path):
    pytest.importorskip("fcntl")
    with alone(tmp_path), pytest.raises(RuntimeError, match="another program"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass


def test_progress_goes_by_cost():
    screen = io.StringIO()
    screen.isatty = lambda: True
    bar = Progress("name", 10.0, 2, screen)
    assert "0% 0 of 2 fits, 0:00   " in screen.getvalue()  # at once; how long is not known yet
    bar.started, bar.said = bar.started - 90.0, -np.inf
    bar.step(9.0)
    text = screen.getvalue()
    assert " 90% 1 of 2 fits, 1:30, 0:10 left" in text
    assert text.count("#") == int(0.9 * WIDTH)
    bar.step(1.0)
    assert "100% 2 of 2 fits" in screen.getvalue()
    assert screen.getvalue().endswith("\n")
    file = io.StringIO()  # no terminal: a line now and then, and the last one
    bar = Progress("name", 10.0, 2, file)
    bar.step(9.0)
    assert file.getvalue().count("\n") == 1
    bar.step(1.0)
    assert "100% 2 of 2 fits" in file.getvalue()
    assert (clock(62), clock(3725)) == ("1:02", "1:02:05")


def test_an_unknown_experiment_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no experiment is called 'figure 9'; there are movie-ex"):
        reproduce("figure 9")


def test_missing_data_stop_one_experiment_and_not_all(tmp_path, monkeypatch):
    def absent():
        raise MissingDataError("Nothing is there.")

    fine, _ = counted()
    fine = replace(fine, section=lambda rows: Section("squares", "Squares", str(len(rows))))
    lacking = replace(fine, name="lacking", title="Lacking", prepare=absent)
    monkeypatch.setattr("rprnmf.experiments.EXPERIMENTS", {"lacking": lacking, "squares": fine})
    with pytest.raises(MissingDataError, match="Nothing is there"):
        reproduce("lacking", out=tmp_path, verbose=0)
    page = reproduce("all", out=tmp_path, jobs=1, verbose=0)
    assert [section.text for section in page.sections] == ["Nothing is there.", "6"]
    assert page.lacking == ["Nothing is there."]
    # what an earlier run found stays, and needs no data
    store = Store(tmp_path / "lacking.jsonl")
    for job in lacking.jobs(False)[:2]:
        store.add(job, {"square": 0})
    page = reproduce("all", out=tmp_path, jobs=1, verbose=0)
    assert page.sections[0].text == "Nothing is there. Incomplete: 2 of 6 fits. 2"
    for job in lacking.jobs(False):
        store.add(job, {"square": 0})
    page = reproduce("lacking", out=tmp_path, jobs=1, verbose=0)
    assert page.sections[0].text == "6"
    assert page.lacking == []


def test_one_data_set_that_is_missing_does_not_stop_the_others(tmp_path, monkeypatch):
    def absent():
        raise DataError("The file is something else.")

    monkeypatch.setitem(FOUND, "CMU PIE", absent)
    monkeypatch.setitem(FOUND, "AT&T ORL", lambda: [np.ones((1024, 400))])
    monkeypatch.setitem(FOUND, "Movielens 1M", absent)
    page = reproduce("datasets", out=tmp_path, jobs=1, verbose=0)
    section = page.sections[0]
    assert section.text.startswith("The file is something else. Incomplete: 3 of 5 fits.")
    assert section.findings == [
        "3 of 3 data sets have the published shape and entries; 2 of the paper's are missing."
    ]
    again = reproduce("datasets", out=tmp_path, report_only=True, verbose=0)
    assert again.sections[0].tables[0].rows == section.tables[0].rows


def stopped_by(number, folder) -> tuple[int, str]:
    """The exit code and the last words of a parallel run that gets a signal while it works.

    Its processes share its output, which ends when the last of them has ended.
    """
    arguments = ["reproduce", "synthetic-size", "--quick", "--jobs", "2", "--out", str(folder)]
    child = subprocess.Popen(
        [sys.executable, "-m", "rprnmf", *arguments],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    path = folder / "synthetic-size.jsonl"
    until = time.monotonic() + 120
    while time.monotonic() < until and child.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.02)
    child.send_signal(number)
    try:
        words = child.communicate(timeout=60)[1]
        return child.returncode, words
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_run_that_is_asked_to_end_does_so_in_order(tmp_path):
    code, text = stopped_by(signal.SIGTERM, tmp_path)
    assert code == 130
    assert text.endswith("stopped; the same command goes on from here.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_parallel_run_goes_on(tmp_path):
    """Two processes at work, killed at once: what is stored is whole, and the rest is done."""
    code, _ = stopped_by(signal.SIGKILL, tmp_path)
    assert code == -signal.SIGKILL
    path = tmp_path / "synthetic-size.jsonl"
    experiment = EXPERIMENTS["synthetic-size"]
    wanted = experiment.jobs(True)[:10]
    kept = Store(path).keys()
    assert len(kept) >= 3
    run_jobs(experiment, wanted, tmp_path, 1, 0, [])
    run_jobs(experiment, wanted, tmp_path / "unbroken", 1, 0, [])
    broken, unbroken = (
        [{**row, "seconds": 0} for row in stored(experiment, wanted, folder)]
        for folder in (tmp_path, tmp_path / "unbroken")
    )
    assert broken == unbroken
    lines = path.read_bytes().splitlines()
    assert len(lines) == len(Store(path).keys()) >= 10  # no job twice, no line lost
    assert len(stored(experiment, wanted, tmp_path)) == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"jobs": 0}, "jobs must be a number of processes"),
        ({"jobs": -2}, "jobs must be a number of processes"),
        ({"jobs": 1.5}, r"jobs must be a number of processes.* got 1\.5"),
        ({"out": __file__}, "must be a folder"),
        ({"out": f"{__file__}/x/y"}, r"must be a folder, .*test_runs\.py is a file"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is(change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        reproduce("exp-approximation", **{"verbose": 0, **change})
    assert os.listdir(tmp_path) == []


def test_quick_results_of_an_earlier_edition_are_in_nobodys_way(tmp_path):
    store = Store(tmp_path / "movie-example.jsonl")
    job = EXPERIMENTS["movie-example"].jobs(True)[0]
    store.add({**job, "edition": 1}, {"RMSE": 0.1})
    page = reproduce("exp-approximation", quick=True, out=tmp_path, jobs=1000, verbose=0)
    assert [section.name for section in page.sections] == ["exp-approximation"]


def test_a_fit_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    usual = EXPERIMENTS["exp-approximation"]

    def run(settings):
        if settings == usual.jobs(False)[1]:
            raise ZeroDivisionError("on purpose")
        return usual.run(settings)

    monkeypatch.setitem(EXPERIMENTS, "exp-approximation", replace(usual, run=run))
    with pytest.raises(
        RuntimeError, match=r"1 fits? failed.*ZeroDivisionError: on purpose \(in exp"
    ):
        reproduce("exp-approximation", out=tmp_path, jobs=1, verbose=0)
    assert len(Store(tmp_path / "exp-approximation.jsonl").keys()) == len(usual.jobs(False)) - 1
    assert "Incomplete: 3 of 4 fits" in (tmp_path / "report.md").read_text()


def test_a_process_that_is_killed_stops_one_experiment_and_not_all(tmp_path, monkeypatch):
    usual = runner.finished

    def finished(experiment, left, processes):
        yield from usual(experiment, left[:1], 1)
        if experiment.name == "four-points":
            raise TerminatedWorkerError("as joblib says it")
        yield from usual(experiment, left[1:], 1)

    monkeypatch.setattr(runner, "finished", finished)
    few = {name: EXPERIMENTS[name] for name in ("four-points", "exp-approximation")}
    monkeypatch.setattr("rprnmf.experiments.EXPERIMENTS", few)
    with pytest.raises(RuntimeError, match=r"was killed; did memory run out.*\(in four-points"):
        reproduce("all", out=tmp_path, verbose=0)
    text = (tmp_path / "report.md").read_text()
    assert "Incomplete: 1 of 4 fits" in text
    assert "Figure 3" in text
