"""The experiments of the paper: jobs, store, runs that are stopped, report."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from rprnmf.datasets import DataError, MissingDataError
from rprnmf.experiments import EXPERIMENTS, movielens, reproduce, synthetic
from rprnmf.experiments.algorithms import (
    BOTH,
    EXPONENTIAL,
    GRAPH,
    LOSS,
    OWN,
    OWN_L2,
    PAPER,
    PLAIN,
    PLAIN_L2,
    Task,
    fit,
    measured,
    near_pairs,
    start,
)
from rprnmf.experiments.base import Experiment, published
from rprnmf.experiments.compared import compared_section, gap, stopped_early
from rprnmf.experiments.dataset_table import FOUND
from rprnmf.experiments.faces import section as faces_section
from rprnmf.experiments.page import Cell, Page, Section, Table, csv_text, number
from rprnmf.experiments.progress import WIDTH, Progress, clock
from rprnmf.experiments.runner import finished, run_jobs, stored
from rprnmf.experiments.store import Store, alone, key
from rprnmf.experiments.tables import mark_best, summary
from rprnmf.losses import LOSSES
from rprnmf.model_selection import MaskedKFold
from rprnmf.triplets import Triplets
from tests.builders import needs_data

PUBLISHED = {"orl": "0adb6ef1af123bf8", "pie": "b6d4b3d68ede8375", "movielens": "e1aa3792450d4c16"}
NAMES = [
    *("movie-example", "four-points", "exp-approximation", "synthetic-constraints"),
    *("synthetic-size", "parameters", "datasets", "orl", "pie", "movielens"),
]


def test_every_table_and_figure_is_in_the_registry():
    assert list(EXPERIMENTS) == NAMES
    assert all(name == experiment.name for name, experiment in EXPERIMENTS.items())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("quick", [True, False])
def test_jobs_are_different_and_can_be_stored(name, quick):
    experiment = EXPERIMENTS[name]
    jobs = experiment.jobs(quick)
    assert len({key(job) for job in jobs}) == len(jobs)
    assert all(json.loads(key(job)) == job for job in jobs)
    assert all(experiment.cost(job) > 0 for job in jobs)


def test_settings_are_the_published_ones():
    jobs = EXPERIMENTS["synthetic-constraints"].jobs(False)
    assert {job["column_triplets"] for job in jobs} == set(range(5, 51, 5))
    assert {(job["size"], job["K"], job["strength"], job["sweeps"]) for job in jobs} == {
        (100, 20, 1.0, 500)
    }
    assert {job["repetition"] for job in jobs} == set(range(10))
    sizes = EXPERIMENTS["synthetic-size"].jobs(False)
    assert {(job["size"], job["K"], job["column_triplets"]) for job in sizes} == {
        (n, n // 5, n // 5) for n in range(20, 201, 20)
    }
    found = EXPERIMENTS["parameters"].jobs(False)
    strengths = {job["strength"] for job in found}
    assert sorted(strengths) == [0.4, 0.8, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4, 20, 40, 60, 80, 100]
    sides = ("size", "K", "row_triplets", "column_triplets", "sweeps")
    assert {tuple(job[name] for name in sides) for job in found} == {(100, 20, 10, 10, 500)}
    for name in ("synthetic-size", "parameters", "orl", "pie"):
        assert {j["repetition"] for j in EXPERIMENTS[name].jobs(False)} == set(range(10))
    for name in ("orl", "pie"):
        found = EXPERIMENTS[name].jobs(False)
        known = {int(row["K"]) for row in published(name) if row["K"] != "Avg."}
        assert {job["K"] for job in found} == known
        table = [job for job in found if job["triplets"] == "protocol"]
        given = {(job["measure"], job["strength"], job["sweeps"]) for job in table}
        assert given == {("euclidean", 20.0, 500), ("divergence", 2.0, 500)}
    found = EXPERIMENTS["movielens"].jobs(False)
    given = {(job["measure"], job["K"], job["strength"]) for job in found}
    assert given == {
        *(("euclidean", 20, 200.0), ("euclidean", 50, 10.0), ("euclidean", 100, 1.0)),
        *(("divergence", 20, 0.1), ("divergence", 50, 0.01), ("divergence", 100, 0.001)),
    }
    known = {(int(r["K"]), int(r["triplets"])) for r in published("movielens") if r["triplets"]}
    assert {(job["K"], job["constraints"]) for job in found} == known
    assert {job["fold"] for job in found} == set(range(5))


def test_published_figures_are_those_of_the_paper():
    """Averages that the paper prints are those of the lines above them, but for its rounding."""
    for name, checksum in PUBLISHED.items():
        rows = published(name)
        groups = {(r["algorithm"], r["measure"], r["metric"]) for r in rows}
        for group in groups:
            part = [r for r in rows if (r["algorithm"], r["measure"], r["metric"]) == group]
            average = next(float(r["value"]) for r in part if r["K"] == "Avg.")
            mean = np.mean([float(r["value"]) for r in part if r["K"] != "Avg."])
            assert abs(mean - average) <= 0.006 * max(average, 1.0), (name, group)
        # compared with the article number by number; this keeps it so
        text = json.dumps(rows, sort_keys=True)
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == checksum, name


def tiny_task(missing=None) -> Task:
    rng = np.random.RandomState(0)
    X = rng.random_sample((12, 15)) + 0.1
    W, H = start(rng, X.shape, 3)
    rows, columns = Triplets([[0, 1, 2], [3, 4, 5]]), Triplets([[0, 1, 2], [6, 7, 8], [9, 1, 4]])
    return Task(X, W, H, rows, columns, strength=2.0, sweeps=4, missing=missing)


@pytest.mark.parametrize(
    "algorithm", [*PAPER, PLAIN, OWN, EXPONENTIAL, GRAPH, BOTH, PLAIN_L2, OWN_L2]
)
@pytest.mark.parametrize("measure", ["euclidean", "divergence"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_algorithm_runs_from_the_start_it_is_given(algorithm, measure):
    task = tiny_task()
    W, H = task.W.copy(), task.H.copy()
    found = fit(algorithm, measure, task)
    assert found.W.shape == (12, 3)
    assert found.H.shape == (3, 15)
    np.testing.assert_array_equal(task.W, W)
    np.testing.assert_array_equal(task.H, H)
    values = measured(found, measure, task)
    error = "MSL" if measure == "euclidean" else "MD"
    assert set(values) == {error, "CSR", "seconds", "n_iter"}
    assert 0 <= values["CSR"] <= 100
    other = tiny_task()
    other.W, other.H = other.W[::-1].copy(), other.H[:, ::-1].copy()
    assert not np.allclose(fit(algorithm, measure, other).H, found.H, rtol=1e-6)
    again = fit(algorithm, measure, tiny_task())
    np.testing.assert_array_equal(again.H, found.H)


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(ValueError, match="no algorithm is called 'SVD'"):
        fit("SVD", "euclidean", tiny_task())


@pytest.mark.parametrize("measure", ["euclidean", "divergence"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_plain_nmf_has_the_scale_that_triplets_would_give_it(measure):
    task = tiny_task()
    both = fit(PLAIN, measure, task)
    task.row_triplets = None
    columns = fit(PLAIN, measure, task)
    task.column_triplets = None
    none = fit(PLAIN, measure, task)
    np.testing.assert_allclose(both.W @ both.H, columns.W @ columns.H, rtol=1e-10)
    np.testing.assert_array_equal(none.H, columns.H)
    sizes = LOSSES[LOSS[measure]].column_sizes
    np.testing.assert_allclose(sizes(columns.W), 1.0)
    np.testing.assert_allclose(sizes(both.W), sizes(np.ascontiguousarray(both.H.T)))


def small(**change) -> dict:
    job = EXPERIMENTS["synthetic-constraints"].jobs(True)[0]
    return {**job, "size": 12, "K": 3, "column_triplets": 5, "sweeps": 3, **change}


def test_processes_do_not_change_results():
    experiment = EXPERIMENTS["synthetic-constraints"]
    jobs = [small(repetition=number) for number in range(3)]
    one = {key(job): values for job, values in finished(experiment, jobs, 1)}
    two = {key(job): values for job, values in finished(experiment, jobs, 2)}
    assert set(one) == set(two) == {key(job) for job in jobs}
    for name, values in one.items():
        assert two[name]["MSL"] == pytest.approx(values["MSL"], rel=1e-12)
        assert two[name]["CSR"] == values["CSR"]


def test_algorithms_share_data_and_start():
    """With no sweep to speak of the paper's NMF and RPR-NMF at strength 0 do the same."""
    plain = synthetic.run(small(algorithm="NMF", sweeps=1, measure="divergence"))
    same = synthetic.run(small(algorithm="RPR-NMF", sweeps=1, measure="divergence", strength=0.0))
    assert plain["MD"] == pytest.approx(same["MD"], rel=1e-12)


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


def test_numbers_are_short_and_honest():
    assert number(1.9634e-4, 4) == "1.963e-4"
    assert number(74.567, 3) == "74.6"
    assert number(99.96, 3) == number(100.0, 3) == "100.0"
    assert number(1.234, 2) == "1.2"
    assert number(1000.4, 3) == "1000"
    assert number(0.512, 3) == "0.512"
    assert number(0.84999, 3) == "0.850"
    assert number(1.0004, 3) == "1.00"
    assert number(98.0, 4) == "98.00"
    assert number(0.0, 3) == "0"
    assert number(float("nan"), 3) == "-"
    assert Cell(None).text() == "-"
    assert Cell(74.567, 1.234).text() == "74.6 ± 1.2"
    assert summary([1.0, float("inf"), 3.0]).text() == "2.00 ± 1.4, 1 diverged"
    assert summary([float("nan")]).text() == "-, 1 diverged"


def test_the_best_is_what_looks_the_best():
    cells = mark_best([Cell(1.0), Cell(2.0), Cell(2.00001), Cell(None)], "ACC")
    assert [cell.best for cell in cells] == [False, True, True, False]
    cells = mark_best([summary([float("nan")]), Cell(5.0), Cell(3.0)], "ACC")
    assert [cell.best for cell in cells] == [False, True, False]
    cells = mark_best([Cell(1.0), Cell(2.0)], "MSL")
    assert [cell.best for cell in cells] == [True, False]


def face_rows(repetitions=3) -> list[dict]:
    rng = np.random.default_rng(0)
    rows = []
    for repetition in range(repetitions):
        for K in (5, 10, 20, 30, 40):
            for place, algorithm in enumerate(("NMF", "LCNMF", "RPR-NMF", OWN)):
                base = 60 + 5 * place + rng.random()
                rows.append(
                    {
                        "K": K,
                        "repetition": repetition,
                        "algorithm": algorithm,
                        "measure": "euclidean",
                        "triplets": "protocol",
                        "n_triplets": 2 * K,
                        "MSL": 300 - K,
                        "CSR": 95.0,
                        "ACC": base,
                        "NMI": base + 5,
                    }
                )
    return rows


def test_a_table_stands_beside_the_published_one():
    section = compared_section("orl", "ORL", "text", face_rows(), "repetition", "n_triplets", OWN)
    table = next(t for t in section.tables if t.name == "orl-ACC-euclidean")
    assert table.head == ["K", "triplets", "NMF", "LCNMF", "RPR-NMF", OWN]
    first = table.rows[0]
    assert first[:2] == ["5", "10"]
    assert first[2].published == 78.40
    assert first[5].published is None
    assert first[5].best
    assert not first[2].best
    assert table.rows[-1][0] == "Avg."
    assert table.rows[-1][4].published == 74.57
    means = [row[5].value for row in table.rows[:-1]]
    assert table.rows[-1][5].value == pytest.approx(np.mean(means))
    text = " ".join(section.findings)
    assert "averages over K lie within 5%" in text
    assert f"{OWN}, Euclidean, 15 pairs: better than NMF (ACC +" in text
    assert re.search(r"LCNMF \(ACC \+[0-9.]+, NMI \+", text)
    pairs = next(t for t in section.tables if t.name == "orl-paired")
    assert pairs.head == ["algorithm", "measure", "against", "ACC", "NMI"]
    own = {tuple(row[:3]): row[3] for row in pairs.rows}
    assert "better in 15, worse in 0 of 15" in own[OWN, "Euclidean", "LCNMF"]
    assert ("RPR-NMF", "Euclidean", "RPR-NMF") not in own


def test_a_verdict_is_as_sure_as_the_numbers():
    rows = face_rows()
    for row in rows:
        if row["algorithm"] == OWN:  # as LCNMF, but for noise
            row["ACC"] = 65 + 3 * (-1) ** (row["K"] // 5 + row["repetition"])
            row["NMI"] = 40.0
    text = " ".join(compared_section("orl", "", "", rows, "repetition", "n_triplets", OWN).findings)
    verdict = next(part for part in text.split(f"{OWN}, Euclidean, 15 pairs: ")[1:])
    assert re.search(r"not clearly different from .*LCNMF \(ACC", verdict)
    assert re.search(r"worse than .*LCNMF \(NMI", verdict)
    one = [row for row in rows if row["repetition"] == 0 and row["K"] == 5]
    text = " ".join(compared_section("orl", "", "", one, "repetition", "n_triplets", OWN).findings)
    assert "nan" not in text
    assert f"{OWN}, Euclidean, 1 pair, too few to tell: not clearly" in text


def test_a_verdict_goes_by_ranks():
    """Ties are on nobody's side, and one fit that went wrong does not decide."""

    def rows(gains):
        return [
            {"algorithm": name, "measure": "euclidean", "K": 5, "repetition": place, "ACC": value}
            for place, gain in enumerate(gains)
            for name, value in (("RPR-NMF", 50.0 + gain), ("NMF", 50.0))
        ]

    def found(gains):
        return gap(rows(gains), "ACC", "RPR-NMF", "NMF", "repetition", "euclidean")

    def word(gains):
        return found(gains).word

    nan = float("nan")
    ups = [1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]
    assert word([*ups, *ups, nan]) == "better than"
    assert word([*ups, nan]) == "not clearly different from"  # the largest of nine is against it
    assert found([*ups, nan]).mean == pytest.approx(np.mean(ups))
    assert found([*ups, nan, 0.0]).text().endswith("better in 8, worse in 1 of 10")
    assert word([nan] * 8) == "worse than"
    assert found([nan] * 8).text() == "diverged, better in 0, worse in 8 of 8"
    turned = [
        {**row, "algorithm": {"NMF": "RPR-NMF"}.get(row["algorithm"], "NMF")}
        for row in rows([nan] * 8)
    ]
    other = gap(turned, "ACC", "RPR-NMF", "NMF", "repetition", "euclidean")
    assert other.word == "better than"
    assert word([1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]) == "better than"
    assert word([0.0] * 10 + [1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]) == "better than"
    assert word([*(0.5 * place for place in range(1, 15)), -1e6]) == "better than"
    assert word([-1.0, -2.0, -3.0, -1.5, -2.5, -0.5]) == "worse than"
    assert word([1.0, -2.0, 3.0, -1.5, 2.5, -0.5]) == "not clearly different from"
    assert word([1.0, 2.0, 3.0]) == "not clearly different from"  # too few
    assert word([0.0] * 8) == "not clearly different from"


def test_near_pairs_of_triplets_are_edges():
    graph = near_pairs(Triplets([[0, 1, 2], [1, 0, 3], [4, 2, 0], [4, 2, 1]]), 5).toarray()
    expected = np.zeros((5, 5))
    expected[[0, 1, 2, 4], [1, 0, 4, 2]] = 1.0  # each once, whoever is q, however often
    np.testing.assert_array_equal(graph, expected)


def test_who_stops_early_is_named():
    rows = [{**row, "sweeps": 500, "n_iter": 500} for row in face_rows()]
    assert stopped_early(rows) == []
    rows[2]["n_iter"] = 77
    assert rows[2]["algorithm"] == "RPR-NMF"
    assert stopped_early(rows)[0].startswith("RPR-NMF, Euclidean: 1 of 15 fits stopped before")


def test_the_report_is_one_file_that_needs_no_other(tmp_path):
    rows = face_rows()
    rows += [
        {**row, "algorithm": algorithm, "triplets": count, "n_triplets": count}
        for row in face_rows(2)
        if row["K"] == 40 and row["algorithm"] == "NMF"
        for count, names in ((0, (PLAIN, GRAPH)), (40, (OWN, BOTH)), (400, (OWN, BOTH)))
        for algorithm in names
    ]
    page = Page("Title & more", [faces_section("orl", "ORL <faces>", "two triplets", rows)])
    page.write(tmp_path)
    html = (tmp_path / "report.html").read_text()
    assert "<strong>" in html
    assert "Title &amp; more" in html
    assert "ORL &lt;faces&gt;" in html
    assert "(78.40)" in html or "(78.4)" in html
    assert "<svg" in html
    assert not re.search(r'(src|href)="(?!#)', html), "nothing from elsewhere"
    markdown = (tmp_path / "report.md").read_text()
    assert "![What triplets buy" in markdown
    names = {path.name for path in tmp_path.iterdir()}
    assert {"orl-answers.svg", "orl-answers.png", "orl-ACC-euclidean.csv"} <= names
    assert not [name for name in names if name.endswith(".part")]


def test_csv_has_all_digits():
    table = Table("t", "c", ["K", "NMF"], [["5", Cell(1 / 3, 0.1, 0.5)], ["Avg.", ""]])
    assert csv_text(table).splitlines() == [
        "K,NMF,NMF sd,NMF published",
        "5,0.333333,0.1,0.5",
        "Avg.,,,",
    ]


def test_an_unknown_experiment_is_named_with_those_there_are():
    with pytest.raises(ValueError, match="no experiment is called 'figure 9'; there are movie-ex"):
        reproduce("figure 9")


@pytest.mark.parametrize("name", ["movie-example", "four-points", "exp-approximation"])
def test_small_experiments_show_what_their_captions_say(name, tmp_path):
    page = reproduce(name, quick=True, out=tmp_path, verbose=0)
    found = page.sections[0].findings
    if name == "movie-example":
        assert found[0].startswith("NMF: Star Wars is further from Star Trek")
        assert found[1].startswith("RPRNMF: Star Wars is closer to Star Trek")
        assert "100% of 4" in found[1]
    if name == "four-points":
        assert "less than" in found[0]
        assert "greater than" in found[1]
        assert "0% of 12" in found[2]
        assert "less than" in found[3]
        assert "100% of 12" in found[3]
    assert (tmp_path / "report.html").exists()


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
    assert section.findings == ["3 of 5 data sets have the published shape and entries."]
    again = reproduce("datasets", out=tmp_path, report_only=True, verbose=0)
    assert again.sections[0].tables[0].rows == section.tables[0].rows


@needs_data("orl_32x32.npz", "pie_pose27_32x32.npz")
@pytest.mark.parametrize("name", ["orl", "pie"])
def test_labels_made_of_face_triplets_meet_all_or_none(name):
    """As published: LCNMF meets every ORL triplet and no PIE triplet."""
    experiment = EXPERIMENTS[name]
    job = next(j for j in experiment.jobs(True) if j["algorithm"] == "LCNMF" and j["K"] >= 5)
    values = experiment.run({**job, "sweeps": 5})
    assert values["CSR"] == (100.0 if name == "orl" else 0.0)
    assert values["n_triplets"] == job["K"] * (2 if name == "orl" else 12)


def test_a_report_of_what_is_there_runs_nothing(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match="there are no results in"):
            reproduce("parameters", out=folder, report_only=True, verbose=0)
    assert os.listdir(tmp_path) == []
    store = Store(tmp_path / "parameters.jsonl")
    for job in EXPERIMENTS["parameters"].jobs(False)[:4]:
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0})
    page = reproduce("parameters", out=tmp_path, report_only=True, verbose=0)
    assert page.sections[0].text.startswith("Incomplete: 4 of 300 fits.")
    assert page.sections[0].findings
    assert len(Store(tmp_path / "parameters.jsonl").keys()) == 4


def test_half_of_a_synthetic_experiment_says_nothing_that_is_not_there(tmp_path):
    store = Store(tmp_path / "synthetic-constraints.jsonl")
    for count, job in enumerate(EXPERIMENTS["synthetic-constraints"].jobs(False)[:12], 1):
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0})
        if count in (1, 7, 12):
            page = reproduce("synthetic-constraints", out=tmp_path, report_only=True, verbose=0)
            assert "nan" not in " ".join(page.sections[0].findings)
            assert f"Incomplete: {count} of 1200" in (tmp_path / "report.md").read_text()


def test_a_later_run_keeps_what_earlier_ones_reported(tmp_path):
    store = Store(tmp_path / "parameters.jsonl")
    for job in EXPERIMENTS["parameters"].jobs(False)[:4]:
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0})
    page = reproduce("exp-approximation", out=tmp_path, verbose=0)
    assert [section.name for section in page.sections] == ["exp-approximation", "parameters"]
    page = reproduce("movie-example", out=tmp_path, verbose=0)
    names = ["movie-example", "exp-approximation", "parameters"]
    assert [section.name for section in page.sections] == names
    before = (tmp_path / "report.md").read_bytes()
    with pytest.raises(ValueError, match="of runs that were not quick; give quick ones another"):
        reproduce("exp-approximation", quick=True, out=tmp_path, verbose=0)
    assert (tmp_path / "report.md").read_bytes() == before


def test_a_full_report_does_not_take_the_place_of_a_quick_one(tmp_path):
    store = Store(tmp_path / "movielens.jsonl")
    store.add(EXPERIMENTS["movielens"].jobs(True)[0], {"RMSE": 1.0})
    with pytest.raises(ValueError, match="of runs that were quick; give full ones another folder"):
        reproduce("all", out=tmp_path, report_only=True, verbose=0)
    assert os.listdir(tmp_path) == ["movielens.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_parallel_run_goes_on(tmp_path):
    """Two processes at work, killed at once: what is stored is whole, and the rest is done."""
    program = (
        "from rprnmf.experiments import reproduce;"
        f"reproduce('synthetic-size', quick=True, out={str(tmp_path)!r}, jobs=2, verbose=0)"
    )
    child = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    path = tmp_path / "synthetic-size.jsonl"
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and child.poll() is None:
            if path.exists() and path.read_bytes().count(b"\n") >= 3:
                break
            time.sleep(0.02)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
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
        ({"jobs": 1.5}, r"jobs must be a number of processes.* got 1\.5"),
        ({"out": __file__}, "must be a folder"),
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("algorithm", ["NMF", "RPR-NMF", OWN_L2])
def test_ratings_are_judged_by_those_held_out(algorithm, monkeypatch):
    """RMSE and F1 by hand, and nothing of the held-out ratings in the fit."""
    rng = np.random.RandomState(0)
    n, m = 40, 30
    X = sp.csr_array(rng.randint(1, 6, (n, m)) * (rng.random_sample((n, m)) < 0.5))
    people = Bunch(
        data=X.astype(float),
        gender=rng.choice(["F", "M"], n),
        occupation=rng.choice(["a", "b", "c"], n),
        age=rng.choice(movielens.AGES, n),
        genres=rng.choice(["Drama", "War|Drama", "Comedy"], m),
    )
    monkeypatch.setattr(movielens, "ratings", lambda: people)
    monkeypatch.setattr(movielens, "held_out", movielens.held_out.__wrapped__)
    seen = []
    monkeypatch.setattr(
        movielens, "fit", lambda *given: seen.append((given[2], fit(*given))) or seen[-1][1]
    )
    job = next(j for j in EXPERIMENTS["movielens"].jobs(False) if j["algorithm"] == algorithm)
    job = {**job, "K": 3, "constraints": 12, "fold": 2, "sweeps": 5}
    found = movielens.run(job)
    task, factors = seen[0]
    folds = MaskedKFold(movielens.FOLDS, random_state=0).split(people.data, "zero")
    test = list(folds)[2].X_test.toarray()
    train = task.X.toarray()
    assert not ((train > 0) & (test > 0)).any()
    np.testing.assert_array_equal(train + test, X.toarray())
    assert 0.15 < (test > 0).sum() / X.nnz < 0.25
    assert [t.n_triplets for t in (task.row_triplets, task.column_triplets)] == [12, 12]
    i, j = np.nonzero(test)
    predicted = (factors.W @ factors.H)[i, j]
    assert found["RMSE"] == pytest.approx(np.sqrt(np.mean((test[i, j] - predicted) ** 2)))
    means = train.sum(axis=1) / (train > 0).sum(axis=1)
    wanted, said = test[i, j] > means[i], predicted > means[i]
    expected = 2 * (wanted & said).sum() / (wanted.sum() + said.sum())
    assert found["F1"] == pytest.approx(100 * expected)
    known = train > 0
    errors = (train - factors.W @ factors.H)[known]
    assert found["MSL"] == pytest.approx(np.mean(errors**2))


def test_a_share_of_which_half_is_published_is_named():
    def table(here, published):
        cells = ["Avg.", "", Cell(here, published=published)]
        return Table("t", "CSR %, Euclidean: mean", ["K", "triplets", "LCNMF"], [cells])

    (text,) = movielens.half_of_it([table(99.98, 49.98)])
    assert text.startswith("CSR %, Euclidean: LCNMF meets 100.0 % here, twice the published 49.98")
    assert movielens.half_of_it([table(99.98, 98.0)]) == []


def test_predictions_beyond_all_measure_are_named():
    rows = [
        {"algorithm": name, "measure": "euclidean", "K": 20, "RMSE": value}
        for name, value in (("NMF", 0.9), ("GNMF", 5.0), ("RPR-NMF", float("nan")))
    ]
    (text,) = movielens.worse_than_the_mean(rows)
    assert "GNMF Euclidean K = 20 (5.00), RPR-NMF Euclidean K = 20 (diverged)" in text
    assert "changes places in every sweep" in text
    assert movielens.worse_than_the_mean(rows[:1]) == []
