"""Runs that are stopped, go on, lack data, or fail; what is on disk."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from rprnmf.cli import main
from rprnmf.datasets import DataError, MissingDataError
from rprnmf.experiments import EXPERIMENTS, reproduce
from rprnmf.experiments.dataset_table import FOUND
from rprnmf.experiments.harness import processes
from rprnmf.experiments.harness.experiment import Experiment
from rprnmf.experiments.harness.report import Section
from rprnmf.experiments.harness.results import Results
from rprnmf.experiments.harness.store import Store, only_writer


def counted(stop_at: int | None = None) -> tuple[Experiment, list[int]]:
    calls: list[int] = []

    def run(settings):
        calls.append(settings["number"])
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return {"square": settings["number"] ** 2}

    jobs = [{"number": number} for number in range(6)]
    experiment = Experiment(
        *("squares", "Squares", lambda quick: jobs, run),
        lambda rows: Section(str(len(rows))),
        lambda settings: {"square": 0},
    )
    return experiment, calls


def test_a_run_that_is_stopped_goes_on_and_ends_in_the_same_table(tmp_path):
    whole = Results(counted()[0], tmp_path / "whole", False)
    assert whole.run(1, 0) == []
    assert [row["square"] for row in whole.rows] == [0, 1, 4, 9, 16, 25]
    stopped, first = counted(stop_at=4)
    with pytest.raises(KeyboardInterrupt):
        Results(stopped, tmp_path / "part", False).run(1, 0)
    assert len(Store(tmp_path / "part" / "squares.jsonl").done) == 3
    experiment, second = counted()
    again = Results(experiment, tmp_path / "part", False)
    assert [row["number"] for row in again.rows] == [0, 1, 2]
    again.run(1, 0)
    assert again.rows == whole.rows
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


def damaged(name, values) -> str:
    """A store of one job with these values beside the usual ones."""
    job = EXPERIMENTS[name].jobs(False)[0]
    usual = EXPERIMENTS[name].example(job)
    values = {k: v for k, v in {**usual, **values}.items() if v is not ...}
    return json.dumps({"settings": job, "values": values}).replace("NaN", "null") + "\n"


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("orl", {"ACC": "high"}, 'ACC must be a number, found "high"'),
        ("orl", {"ACC": ...}, "ACC is missing"),
        ("orl", {"MSL": [1.0]}, r"MSL must be a number, found \[1.0\]"),
        ("orl", {"CSR": True}, "CSR must be a number, found true"),
        ("orl", {"ACC": 10**400}, "ACC must be a number, found 1000"),
        ("orl", {"seconds": None}, "seconds must be a number, found null"),
        ("orl", {"n_triplets": {}}, "n_triplets must be a number, found {}"),
        ("parameters", {"n_iter": ...}, "n_iter is missing"),
        ("movielens", {"F1": ""}, 'F1 must be a number, found ""'),
        ("datasets", {"rows": 3}, "rows must be text, found 3"),
        ("four-points", {"at": [[1.0, 2.0, 3.0]]}, "at must be a list of 4, found "),
        ("four-points", {"at": [[1.0, 2.0, 3.0]] * 3 + [[1.0, None, 3.0]]}, "at, place 4, place 2"),
        ("movie-example", {"gaps": {"Star Trek": 1.0}}, "gaps, Titanic is missing"),
        ("movie-example", {"gaps": 5}, "gaps must be Star Trek, .* by name, found 5"),
        ("exp-approximation", {"error": None}, "error must be a number, found null"),
    ],
)
def test_a_wrong_value_is_named_with_its_file_and_line(name, values, message, tmp_path, capsys):
    path = tmp_path / f"{name}.jsonl"
    other = json.dumps({"settings": {"edition": -1}, "values": {"of an earlier": "edition"}})
    path.write_text(f"{other}\n{damaged(name, values)}")
    place = rf"{name}\.jsonl, line 2: {message}.*; delete that line to have its job done again\.$"
    for arguments in ({"report_only": True}, {}):
        with pytest.raises(ValueError, match=place):
            reproduce(name, out=tmp_path, verbose=0, **arguments)
    assert main(["reproduce", name, "--out", str(tmp_path), "--report-only"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_any_numbers_make_a_report(name, tmp_path):
    """One job, whose numbers are all 0 or diverged, and values that nobody asked for."""
    path = tmp_path / f"{name}.jsonl"
    foreign = {} if name in ("movie-example", "movielens") else {"RMSE": "of another experiment"}
    path.write_text(damaged(name, {"unknown": "x", "K": "y", **foreign}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of matplotlib: there is nothing to draw
        report = reproduce(name, out=tmp_path, report_only=True, verbose=0)
    assert report.sections[0].tables


def test_two_programs_do_not_write_to_one_folder(tmp_path):
    refused = pytest.raises(RuntimeError, match="another program")
    with only_writer(tmp_path), refused, only_writer(tmp_path):
        pass
    with only_writer(tmp_path):  # it is free again
        pass


def test_a_file_system_without_locks_will_do(tmp_path, monkeypatch):
    def fails(error):
        def acquire(*arguments, **options):
            raise error

        monkeypatch.setattr("filelock.FileLock.acquire", acquire)

    for error in (OSError(errno.ENOLCK, "no locks available"), NotImplementedError("no flock")):
        fails(error)
        reproduce("exp-approximation", out=tmp_path, jobs=1, verbose=0)
    fails(PermissionError(errno.EACCES, "not yours"))
    with pytest.raises(PermissionError, match="not yours"):
        reproduce("exp-approximation", out=tmp_path, jobs=1, verbose=0)


def test_jobs_are_listed_and_results_are_read_once(tmp_path, monkeypatch):
    """Neither for other experiments without results, nor again for the report."""
    listed, opened = [], []

    class Counted(Store):
        def __init__(self, path):
            opened.append(path.stem)
            super().__init__(path)

    def watched(experiment):
        def jobs(quick):
            listed.append(experiment.name)
            return experiment.jobs(quick)

        return replace(experiment, jobs=jobs)

    monkeypatch.setattr("rprnmf.experiments.harness.results.Store", Counted)
    few = {name: watched(EXPERIMENTS[name]) for name in ("four-points", "exp-approximation")}
    monkeypatch.setattr("rprnmf.experiments.EXPERIMENTS", few)
    reproduce("exp-approximation", out=tmp_path, jobs=1, verbose=0)
    assert listed == opened == ["exp-approximation"]
    reproduce("all", out=tmp_path, jobs=1, verbose=0)
    assert listed[1:] == opened[1:] == ["four-points", "exp-approximation"]
    reproduce("all", out=tmp_path, report_only=True, verbose=0)
    assert listed[3:] == opened[3:] == ["four-points", "exp-approximation"]


@pytest.mark.parametrize("package", ["matplotlib", "jinja2", "filelock"])
def test_a_package_that_is_missing_is_named_with_its_extra(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"need.* {package}.*pip install 'rprnmf\[cli\]'"
    with pytest.raises(ImportError, match=message):
        reproduce("exp-approximation", out=tmp_path / "new", verbose=0)
    assert os.listdir(tmp_path) == [], "said before anything is done"


def test_an_unknown_experiment_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no experiment is called 'figure 9'; there are movie-ex"):
        reproduce("figure 9")


def test_missing_data_stop_one_experiment_and_not_all(tmp_path, monkeypatch):
    def absent():
        raise MissingDataError("Nothing is there.")

    fine, _ = counted()
    lacking = replace(fine, name="lacking", title="Lacking", prepare=absent)
    monkeypatch.setattr("rprnmf.experiments.EXPERIMENTS", {"lacking": lacking, "squares": fine})
    with pytest.raises(MissingDataError, match="Nothing is there"):
        reproduce("lacking", out=tmp_path, verbose=0)
    report = reproduce("all", out=tmp_path, jobs=1, verbose=0)
    assert [section.text for section in report.sections] == ["Nothing is there.", "6"]
    assert report.lacking == ["Nothing is there."]
    # what an earlier run found stays, and needs no data
    store = Store(tmp_path / "lacking.jsonl")
    for job in lacking.jobs(False)[:2]:
        store.add(job, {"square": 0})
    report = reproduce("all", out=tmp_path, jobs=1, verbose=0)
    assert report.sections[0].text == "Nothing is there. Incomplete: 2 of 6 fits. 2"
    for job in lacking.jobs(False):
        store.add(job, {"square": 0})
    report = reproduce("lacking", out=tmp_path, jobs=1, verbose=0)
    assert report.sections[0].text == "6"
    assert report.lacking == []


def test_one_data_set_that_is_missing_does_not_stop_the_others(tmp_path, monkeypatch):
    def absent():
        raise DataError("The file is something else.")

    monkeypatch.setitem(FOUND, "CMU PIE", absent)
    monkeypatch.setitem(FOUND, "AT&T ORL", lambda: [np.ones((1024, 400))])
    monkeypatch.setitem(FOUND, "Movielens 1M", absent)
    report = reproduce("datasets", out=tmp_path, jobs=1, verbose=0)
    section = report.sections[0]
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
    assert text.endswith("rprnmf reproduce was stopped. The same command goes on from here.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_parallel_run_goes_on(tmp_path):
    """Two processes at work, killed at once: what is stored is whole, and the rest is done."""
    code, _ = stopped_by(signal.SIGKILL, tmp_path)
    assert code == -signal.SIGKILL
    path = tmp_path / "synthetic-size.jsonl"
    experiment = EXPERIMENTS["synthetic-size"]
    wanted = experiment.jobs(True)[:10]
    kept = Store(path).done
    assert len(kept) >= 3
    found = []
    for folder in (tmp_path, tmp_path / "unbroken"):
        results = Results(replace(experiment, jobs=lambda quick: wanted), folder, True)
        assert results.run(1, 0) == []
        found.append([{**row, "seconds": 0} for row in results.rows])
    assert found[0] == found[1]
    assert len(found[0]) == 10
    lines = path.read_bytes().splitlines()
    assert len(lines) == len(Store(path).done) >= 10  # no job twice, no line lost


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
    report = reproduce("exp-approximation", quick=True, out=tmp_path, jobs=1000, verbose=0)
    assert [section.name for section in report.sections] == ["exp-approximation"]


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
    assert len(Store(tmp_path / "exp-approximation.jsonl").done) == len(usual.jobs(False)) - 1
    assert "Incomplete: 3 of 4 fits" in (tmp_path / "report.md").read_text()


def test_a_process_that_is_killed_stops_one_experiment_and_not_all(tmp_path, monkeypatch):
    usual = processes.finished

    def finished(experiment, left, n_processes):
        yield from usual(experiment, left[:1], 1)
        if experiment.name == "four-points":
            raise TerminatedWorkerError("as joblib says it")
        yield from usual(experiment, left[1:], 1)

    monkeypatch.setattr(processes, "finished", finished)
    few = {name: EXPERIMENTS[name] for name in ("four-points", "exp-approximation")}
    monkeypatch.setattr("rprnmf.experiments.EXPERIMENTS", few)
    with pytest.raises(RuntimeError, match=r"was killed; did memory run out.*\(in four-points"):
        reproduce("all", out=tmp_path, verbose=0)
    text = (tmp_path / "report.md").read_text()
    assert "Incomplete: 1 of 4 fits" in text
    assert "Figure 3" in text
