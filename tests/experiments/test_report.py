"""The report: numbers, tables, sentences, pages."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from rprnmf.experiments import EXPERIMENTS, movielens, reproduce
from rprnmf.experiments.algorithms import (
    BOTH,
    GRAPH,
    OWN,
    PLAIN,
)
from rprnmf.experiments.beside_paper import section_beside_paper, stopped_early
from rprnmf.experiments.faces_report import section as faces_section
from rprnmf.experiments.harness.formats import csv_text, write_report
from rprnmf.experiments.harness.metric import METRICS, number
from rprnmf.experiments.harness.report import Cell, Report, Table
from rprnmf.experiments.harness.store import Store
from rprnmf.experiments.harness.tables import mark_best, summary
from rprnmf.experiments.significance import difference


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
    cells = mark_best([Cell(1.0), Cell(2.0), Cell(2.00001), Cell(None)], METRICS["ACC"])
    assert [cell.best for cell in cells] == [False, True, True, False]
    cells = mark_best([summary([float("nan")]), Cell(5.0), Cell(3.0)], METRICS["ACC"])
    assert [cell.best for cell in cells] == [False, True, False]
    cells = mark_best([Cell(1.0), Cell(2.0)], METRICS["MSL"])
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
                        "n_iter": 500,
                        "sweeps": 500,
                    }
                )
    return rows


def test_a_table_stands_beside_the_published_one():
    section = section_beside_paper("orl", "text", face_rows(), OWN)
    table = next(t for t in section.tables if t.name == "ACC-euclidean")
    assert (table.metric, table.measure) == (METRICS["ACC"], "euclidean")
    table.caption = "Captions may say what they like."
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
    assert re.search(r"LCNMF \(ACC \+[0-9.]+; NMI \+", text)
    # of the paper's own algorithms the published difference stands beside that of the draws
    assert re.search(
        r"RPR-NMF, Euclidean, 15 pairs: .*NMF \(ACC \+\S+, published \+8\.58; NMI", text
    )
    assert (
        "have RPR-NMF above a baseline (NMF, LCNMF) in 4 comparisons of ACC, NMI. Of these, on the "
        "draws here, 4 come out beyond chance, 0 are not clear"
    ) in text
    pairs = next(t for t in section.tables if t.name == "paired")
    assert pairs.head == ["algorithm", "measure", "against", "ACC", "NMI"]
    own = {tuple(row[:3]): row[3] for row in pairs.rows}
    assert "better 15, worse 0 of 15" in own[OWN, "Euclidean", "LCNMF"]
    assert "(" not in own[OWN, "Euclidean", "LCNMF"]
    assert "(+8.58), better 15" in own["RPR-NMF", "Euclidean", "NMF"]
    assert ("RPR-NMF", "Euclidean", "RPR-NMF") not in own


def test_what_is_not_whole_is_not_compared_with_what_is():
    """Fewer sizes for one measure, and fewer runs for one size."""
    rows = [row for row in face_rows() if row["K"] <= 10]
    rows += [{**row, "measure": "divergence"} for row in rows if row["K"] == 5]
    rows = [row for row in rows if (row["K"], row["repetition"]) != (10, 2)]
    section = section_beside_paper("orl", "", rows, OWN)
    # 88.4 is the best of the Divergence for five people
    assert "with K = 10 (best published 78.8, RPR-NMF)" in section.findings[0]
    captions = {table.name: table.caption for table in section.tables}
    whole = "mean ± standard deviation of 3 runs, in brackets"
    assert whole in captions["ACC-divergence"]
    assert "of 2 to 3 runs (Avg.: of those that have every K)" in captions["ACC-euclidean"]
    text = " ".join(section.findings)
    # the published difference for the sizes that are there: (90.4 + 78.8 - 78.4 - 64.2) / 2
    assert re.search(r"RPR-NMF, Euclidean.*NMF \(ACC \+\S+, published \+13\.3;", text)
    assert re.search(r"RPR-NMF, Divergence.*NMF \(ACC \+\S+, published \+12;", text)


def test_a_verdict_is_as_sure_as_the_numbers():
    rows = face_rows()
    for row in rows:
        if row["algorithm"] == OWN:  # as LCNMF, but for noise
            row["ACC"] = 65 + 3 * (-1) ** (row["K"] // 5 + row["repetition"])
            row["NMI"] = 40.0
    text = " ".join(section_beside_paper("orl", "", rows, OWN).findings)
    verdict = next(part for part in text.split(f"{OWN}, Euclidean, 15 pairs: ")[1:])
    assert re.search(r"not clearly different from .*LCNMF \(ACC", verdict)
    assert re.search(r"worse than .*LCNMF \(NMI", verdict)
    one = [row for row in rows if row["repetition"] == 0 and row["K"] == 5]
    text = " ".join(section_beside_paper("orl", "", one, OWN).findings)
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
        return difference(rows(gains), METRICS["ACC"], "RPR-NMF", "NMF", "euclidean")

    def word(gains):
        return found(gains).verdict

    nan = float("nan")
    ups = [1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]
    assert word([*ups, *ups, nan]) == "better than"
    assert word([*ups, nan]) == "not clearly different from"  # the largest of nine is against it
    assert found([*ups, nan]).mean == pytest.approx(np.mean(ups))
    assert found([*ups, nan, 0.0]).text().endswith("better 8, worse 1 of 10")
    assert word([nan] * 8) == "worse than"
    assert found([nan] * 8).text() == "diverged, better 0, worse 8 of 8"
    turned = [
        {**row, "algorithm": {"NMF": "RPR-NMF"}.get(row["algorithm"], "NMF")}
        for row in rows([nan] * 8)
    ]
    other = difference(turned, METRICS["ACC"], "RPR-NMF", "NMF", "euclidean")
    assert other.verdict == "better than"
    assert word([1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]) == "better than"
    assert word([0.0] * 10 + [1.0, 2.0, 3.0, 1.5, 2.5, 0.5, 3.5, 4.0]) == "better than"
    assert word([*(0.5 * place for place in range(1, 15)), -1e6]) == "better than"
    assert word([-1.0, -2.0, -3.0, -1.5, -2.5, -0.5]) == "worse than"
    assert word([1.0, -2.0, 3.0, -1.5, 2.5, -0.5]) == "not clearly different from"
    assert word([1.0, 2.0, 3.0]) == "not clearly different from"  # too few
    assert word([0.0] * 8) == "not clearly different from"
    assert found([0.1, 0.2, 0.3, 9.0]).gain == "+2.40"
    few = found([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1e6])  # one fit that went far decides the mean
    assert few.text() == "median +0.400, better 7, worse 0 of 7"


def test_who_stops_early_is_named():
    rows = face_rows()
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
    section = faces_section("orl", "two triplets", rows)
    section.name, section.title = "orl", "ORL <faces>"
    section.notes.append("`a < b` is code")
    write_report(Report("Title & more", [section]), tmp_path)
    html = (tmp_path / "report.html").read_text()
    assert "<strong>" in html
    assert "Title &amp; more" in html
    assert "ORL &lt;faces&gt;" in html
    assert "(78.40)" in html or "(78.4)" in html
    assert "<code>a &lt; b</code> is code" in html
    assert html.count("<svg") == 1
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


def test_a_report_of_what_is_there_runs_nothing(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ValueError, match="there are no results in"):
            reproduce("parameters", out=folder, report_only=True, verbose=0)
    assert os.listdir(tmp_path) == []
    store = Store(tmp_path / "parameters.jsonl")
    for job in EXPERIMENTS["parameters"].jobs(False)[:4]:
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0, "n_iter": 9})
    report = reproduce("parameters", out=tmp_path, report_only=True, verbose=0)
    assert report.sections[0].text.startswith("Incomplete: 4 of 300 fits.")
    assert report.sections[0].findings
    assert len(Store(tmp_path / "parameters.jsonl").done) == 4


def test_half_of_a_synthetic_experiment_says_nothing_that_is_not_there(tmp_path):
    store = Store(tmp_path / "synthetic-constraints.jsonl")
    for count, job in enumerate(EXPERIMENTS["synthetic-constraints"].jobs(False)[:12], 1):
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0, "n_iter": 9})
        if count in (1, 7, 12):
            report = reproduce("synthetic-constraints", out=tmp_path, report_only=True, verbose=0)
            assert "nan" not in " ".join(report.sections[0].findings)
            assert f"Incomplete: {count} of 1200" in (tmp_path / "report.md").read_text()


def test_a_later_run_keeps_what_earlier_ones_reported(tmp_path):
    store = Store(tmp_path / "parameters.jsonl")
    for job in EXPERIMENTS["parameters"].jobs(False)[:4]:
        error = "MSL" if job["measure"] == "euclidean" else "MD"
        store.add(job, {error: 1e-4, "CSR": 90.0, "seconds": 1.0, "n_iter": 9})
    report = reproduce("exp-approximation", out=tmp_path, verbose=0)
    assert [section.name for section in report.sections] == ["exp-approximation", "parameters"]
    report = reproduce("movie-example", out=tmp_path, verbose=0)
    names = ["movie-example", "exp-approximation", "parameters"]
    assert [section.name for section in report.sections] == names
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


def test_a_share_of_which_half_is_published_is_named():
    def table(here, published):
        cells = ["Avg.", "", Cell(here, published=published)]
        head = ["K", "triplets", "LCNMF"]
        return Table("t", "", head, [cells], metric=METRICS["CSR"], measure="euclidean")

    (text,) = movielens.half_published([table(99.98, 49.98)])
    assert text.startswith("CSR %, Euclidean: LCNMF meets 100.0 % here, twice the published 49.98")
    assert movielens.half_published([table(99.98, 98.0)]) == []


def test_predictions_beyond_all_measure_are_named():
    rows = [
        {"algorithm": name, "measure": "euclidean", "K": 20, "RMSE": value}
        for name, value in (("NMF", 0.9), ("GNMF", 5.0), ("RPR-NMF", float("nan")))
    ]
    (text,) = movielens.worse_than_the_mean(rows)
    assert "GNMF Euclidean K = 20 (5.00), RPR-NMF Euclidean K = 20 (diverged)" in text
    assert "never meet" in text
    assert movielens.worse_than_the_mean(rows[:1]) == []
