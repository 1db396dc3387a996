"""What each experiment does: settings, data, algorithms, measures."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from rprnmf.experiments import EXPERIMENTS, movielens, reproduce, synthetic
from rprnmf.experiments.algorithms import (
    BOTH,
    EXPONENTIAL,
    GRAPH,
    OWN,
    OWN_L2,
    PAPER,
    PLAIN,
    PLAIN_L2,
    near_pairs,
)
from rprnmf.experiments.fits import LOSS, Task, example, fit, measured, start
from rprnmf.experiments.harness.experiment import published
from rprnmf.experiments.harness.processes import finished
from rprnmf.experiments.harness.store import key, unlike
from rprnmf.losses import LOSSES
from rprnmf.model_selection import MaskedKFold
from rprnmf.triplets import Triplets
from tests.builders import needs_data

PUBLISHED = {
    "datasets": "ab8b23f09236f9fd",
    "synthetic-constraints": "6429936a07c16bc5",
    "orl": "0adb6ef1af123bf8",
    "pie": "b6d4b3d68ede8375",
    "movielens": "e1aa3792450d4c16",
}
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
        groups = {(r["algorithm"], r["measure"], r["metric"]) for r in rows if "K" in r}
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
    assert unlike(values, example({"measure": measure})) is None
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


def test_near_pairs_of_triplets_are_edges():
    graph = near_pairs(Triplets([[0, 1, 2], [1, 0, 3], [4, 2, 0], [4, 2, 1]]), 5).toarray()
    expected = np.zeros((5, 5))
    expected[[0, 1, 2, 4], [1, 0, 4, 2]] = 1.0  # each once, whoever is q, however often
    np.testing.assert_array_equal(graph, expected)


@pytest.mark.parametrize("name", ["movie-example", "four-points", "exp-approximation"])
def test_small_experiments_show_what_their_captions_say(name, tmp_path):
    report = reproduce(name, quick=True, out=tmp_path, verbose=0)
    found = report.sections[0].findings
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


@needs_data("orl_32x32.npz", "pie_pose27_32x32.npz")
@pytest.mark.parametrize("name", ["orl", "pie"])
def test_labels_made_of_face_triplets_meet_all_or_none(name):
    """As published: LCNMF meets every ORL triplet and no PIE triplet."""
    experiment = EXPERIMENTS[name]
    job = next(j for j in experiment.jobs(True) if j["algorithm"] == "LCNMF" and j["K"] >= 5)
    values = experiment.run({**job, "sweeps": 5})
    assert unlike(values, experiment.example(job)) is None
    assert values["CSR"] == (100.0 if name == "orl" else 0.0)
    assert values["n_triplets"] == job["K"] * (2 if name == "orl" else 12)


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
    assert unlike(found, movielens.example(job)) is None
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
