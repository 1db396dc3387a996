"""The file of a checkpoint: of another fit, broken, or not writable."""

from __future__ import annotations

import errno
import os
import resource
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import rprnmf
from rprnmf import LCNMF, NMF, RPRNMF, Triplets
from rprnmf.array_file import FileFormatError, read_arrays, write_arrays
from rprnmf.checkpoints import Journal, journal
from tests.builders import random_triplets
from tests.checkpoints.runs import outcome, quietly

RNG = np.random.default_rng(0)
X = RNG.random((12, 3)) @ RNG.random((3, 9))
ROWS = random_triplets(RNG, 12, 10)
GRAPH = np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)
SETTINGS = {"n_components": 3, "max_iter": 12, "tol": 0.0, "random_state": 0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def stopped(path, model=None, X=X, at=5, **given):
    """A checkpoint of a fit that an error stopped."""
    model = RPRNMF(**SETTINGS) if model is None else model

    def stop(state):
        if state.iteration == at:
            raise RuntimeError("stop here")

    callback, model.callback = model.callback, stop
    with pytest.raises(RuntimeError, match="stop here"):
        quietly(model, X, checkpoint=path, **given)
    model.callback = callback
    return path


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tol": 0.1}, "tol was 0.0, is 0.1"),
        ({"max_iter": 13}, "max_iter was 12, is 13"),
        ({"n_components": 2}, "n_components was 3, is 2"),
        ({"random_state": 1}, "random_state was 0, is 1"),
        ({"random_state": None}, "random_state was 0, is None"),
        ({"solver": "mu"}, "solver was 'cd', is 'mu'"),
        ({"row_strength": 0.5}, "row_strength was 'auto', is 0.5"),
        ({"row_graph": GRAPH}, "row_graph was None, is 12 x 12"),
        ({"row_prior": X[:, :2]}, "row_prior was 'auto', is 12 x 2"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_other_parameters_are_refused_by_name(changed, told, path):
    stopped(path, row_triplets=ROWS)
    before = path.read_bytes()
    model = RPRNMF(**SETTINGS | changed)
    with pytest.raises(ValueError, match="is of another fit") as error:
        model.fit(X, row_triplets=ROWS, checkpoint=path)
    assert told in str(error.value)
    assert "name another file" in str(error.value)
    assert path.read_bytes() == before
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize(
    "what", ["X", "row triplets", "row weights of triplets", "column triplets"]
)
def test_other_data_are_refused_by_name(what, path):
    stopped(path, row_triplets=ROWS)
    data, given = X, {"row_triplets": ROWS}
    if what == "X":
        data = X.copy()
        data[3, 4] = np.nextafter(data[3, 4], 1)
    elif what == "row triplets":
        given["row_triplets"] = ROWS[:, [0, 2, 1]]
    elif what == "row weights of triplets":
        given["row_triplets"] = Triplets(ROWS, weights=np.arange(1.0, 11.0))
    else:
        given["column_triplets"] = [[0, 1, 2]]
    with pytest.raises(ValueError, match=f"is of another fit: {what} was "):
        RPRNMF(**SETTINGS).fit(data, checkpoint=path, **given)


def test_another_estimator_version_layout_or_labels_are_refused(path, monkeypatch):
    stopped(path, LCNMF(**SETTINGS), y=[0] * 6 + [1] * 6)
    with pytest.raises(ValueError, match="row labels was"):
        LCNMF(**SETTINGS).fit(X, y=[0] * 7 + [1] * 5, checkpoint=path)
    with pytest.raises(ValueError, match="estimator was LCNMF, is NMF"):
        NMF(**SETTINGS).fit(X, checkpoint=path)
    with pytest.raises(ValueError, match="X was 12 x 9"):
        LCNMF(**SETTINGS).fit(sp.csr_array(X), y=[0] * 6 + [1] * 6, checkpoint=path)
    monkeypatch.setattr(rprnmf, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"rprnmf was .*, is 99\.0"):
        LCNMF(**SETTINGS).fit(X, y=[0] * 6 + [1] * 6, checkpoint=path)


def test_what_does_not_change_the_outcome_may_change(path):
    stopped(path, row_triplets=ROWS)
    free = {"n_jobs": 1, "verbose": 0, "callback": lambda state: None}
    model = RPRNMF(**SETTINGS, **free).fit(X, row_triplets=ROWS.tolist(), checkpoint=str(path))
    assert outcome(model) == outcome(RPRNMF(**SETTINGS).fit(X, row_triplets=ROWS))


@pytest.mark.parametrize("place", [0, 9, 14, 40, 700, -100, -1])
def test_a_changed_file_is_refused_and_stays(place, path):
    stopped(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="name another file") as error:
        RPRNMF(**SETTINGS).fit(X, checkpoint=path)
    assert str(path) in str(error.value)
    assert path.read_bytes() == data


@pytest.mark.parametrize("size", [0, 5, 30, 1000, -1])
def test_a_file_that_is_cut_short_is_refused(size, path):
    stopped(path)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileFormatError, match="delete this one"):
        RPRNMF(**SETTINGS).fit(X, checkpoint=path)


def test_files_of_other_kinds_are_not_overwritten(path):
    path.write_text("my,data\n1,2\n")
    with pytest.raises(FileFormatError, match="not an rprnmf file"):
        NMF(**SETTINGS).fit(X, checkpoint=path)
    assert path.read_text() == "my,data\n1,2\n"
    rprnmf.save(NMF(**SETTINGS).fit(X), path)
    with pytest.raises(FileFormatError, match="expected 'checkpoint'"):
        NMF(**SETTINGS).fit(X, checkpoint=path)
    rprnmf.load(path)


def damaged(value):
    """Every value of a header with one of its parts replaced or taken away."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for other in (None, 3, "text", []):
                yield {**value, key: other}
            for other in damaged(part):
                yield {**value, key: other}
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield value[:place] + value[place + 1 :]
            for other in damaged(part):
                yield [*value[:place], other, *value[place + 1 :]]


def test_whatever_a_valid_file_says_there_is_one_error_or_the_fit_is_done(path):
    """Files with a right checksum, but not as a fit writes them."""
    stopped(path)
    header, arrays = read_arrays(path, kind="checkpoint")
    versions = list(damaged(header["content"]))
    refused = 0
    for content in versions[:: max(1, len(versions) // 150)]:
        write_arrays(path, header | {"content": content}, arrays, kind="checkpoint")
        try:
            quietly(RPRNMF(**SETTINGS), X, checkpoint=path)
        except FileFormatError:
            refused += 1
    assert refused > 100


def test_arrays_of_another_size_never_reach_compiled_code(path):
    stopped(path, row_triplets=ROWS)
    header, arrays = read_arrays(path, kind="checkpoint")
    for name, array in arrays.items():
        if array.ndim and array.size and array.shape[1:] != (9,):  # the history
            write_arrays(path, header, arrays | {name: array[:-1]}, kind="checkpoint")
            with pytest.raises(FileFormatError, match=str(path)):
                quietly(RPRNMF(**SETTINGS), X, row_triplets=ROWS, checkpoint=path)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"checkpoint": 3}, TypeError, "path of a file"),
        ({"checkpoint": ""}, TypeError, "path of a file"),
        ({"checkpoint": "run", "checkpoint_every": -1}, ValueError, "seconds, 0 or more"),
        ({"checkpoint": "run", "checkpoint_every": "often"}, ValueError, "number of seconds"),
        ({"checkpoint": "run", "checkpoint_every": np.nan}, ValueError, "number of seconds"),
        ({"checkpoint_every": 5}, ValueError, "pass checkpoint="),
    ],
)
def test_bad_settings_are_refused_before_anything_is_done(
    given, error, told, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    model = NMF(**SETTINGS)
    with pytest.raises(error, match=told):
        model.fit(X, **given)
    assert os.listdir(tmp_path) == []
    assert not hasattr(model, "embedding_")


def test_a_path_that_cannot_be_written_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        NMF(**SETTINGS).fit(X, checkpoint=tmp_path / "nowhere" / "run.ckpt")
    with pytest.raises(FileFormatError, match="not a file"):
        NMF(**SETTINGS).fit(X, checkpoint=tmp_path)


def test_a_bad_input_leaves_no_file(path):
    with pytest.raises(ValueError, match="no graphs inside RPRNMF"):
        RPRNMF(solver="paper", row_graph="knn", **SETTINGS).fit(X, checkpoint=path)
    with pytest.raises(ValueError, match="Negative values"):
        RPRNMF(**SETTINGS).fit(-X, checkpoint=path)
    assert not path.exists()


def test_a_finished_or_refused_file_is_not_written_again(path):
    NMF(**SETTINGS).fit(X, checkpoint=path)
    before = path.stat()
    NMF(**SETTINGS).fit(X, checkpoint=path, checkpoint_every=0)
    header, arrays = read_arrays(path, kind="checkpoint")
    assert path.stat().st_ino == before.st_ino
    name = next(name for name, array in arrays.items() if array.shape == (12, 3))
    write_arrays(path, header, arrays | {name: arrays[name][:5]}, kind="checkpoint")
    before = path.stat()
    with pytest.raises(FileFormatError, match="does not hold what this fit needs"):
        NMF(**SETTINGS).fit(X, checkpoint=path)
    assert path.stat().st_ino == before.st_ino


def test_in_a_pipeline_and_with_metadata_routing(path):
    expected = NMF(**SETTINGS).fit(X).embedding_
    pipe = make_pipeline(FunctionTransformer(), NMF(**SETTINGS))
    W = pipe.fit_transform(X, nmf__checkpoint=path, nmf__checkpoint_every=0)
    np.testing.assert_array_equal(W, expected)
    assert path.exists()
    path.unlink()
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (NMF(**SETTINGS), RPRNMF(**SETTINGS)):
            asked = model.set_fit_request(checkpoint=True, checkpoint_every=True)
            pipe = make_pipeline(FunctionTransformer(), asked, FunctionTransformer())
            pipe.fit(X, checkpoint=path, checkpoint_every=0)
            assert path.exists()
            path.unlink()


def test_what_a_killed_writer_left_is_removed(path):
    left = path.parent / f".{path.name}.0123abcd.part"
    others = [path.parent / name for name in (f".{path.name}.part", ".other.0123abcd.part")]
    for file in (left, *others):
        file.touch()
    NMF(**SETTINGS).fit(X, checkpoint=path)
    assert not left.exists()
    assert all(file.exists() for file in others)


def test_a_full_disk_costs_a_warning_and_not_the_fit(path, monkeypatch):
    """The file stays as it was, the fit goes on, and so does the next call."""
    expected = outcome(RPRNMF(**SETTINGS).fit(X, row_triplets=ROWS))
    write, written = journal.write_arrays, []

    def write_until_full(*content, **kind):
        if len(written) >= 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(write(*content, **kind))

    monkeypatch.setattr(journal, "write_arrays", write_until_full)
    model = RPRNMF(**SETTINGS)
    with pytest.warns(RuntimeWarning, match="could not be written .*No space left") as told:
        model.fit(X, row_triplets=ROWS, checkpoint=path, checkpoint_every=0)
    assert len([each for each in told if "could not" in str(each.message)]) == 1
    assert outcome(model) == expected
    monkeypatch.undo()
    seen = []
    again = RPRNMF(**SETTINGS, callback=lambda state: seen.append(state.iteration))
    again.fit(X, row_triplets=ROWS, checkpoint=path)
    assert outcome(again) == expected
    assert seen[0] == 5, "the last file that was written"


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
def test_a_limit_of_the_system_on_files_is_a_full_disk(path):
    """A real failing write, in the middle of the file."""
    stopped(path)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.warns(RuntimeWarning, match="could not be written"):
            model = RPRNMF(**SETTINGS).fit(X, checkpoint=path, checkpoint_every=0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    assert outcome(model) == outcome(RPRNMF(**SETTINGS).fit(X))


def test_writing_takes_a_small_share_of_the_time(path, monkeypatch):
    """Without ``checkpoint_every`` a file that takes long to write is written less often."""
    now = [0.0]
    monkeypatch.setattr(journal.time, "monotonic", lambda: now[0])
    kept = Journal(path)
    monkeypatch.setattr(kept, "_write", lambda path: now.__setitem__(0, now[0] + 10.0))
    kept.write()
    assert kept.pause == 10.0 * journal.SHARE
    times = []
    for _ in range(2000):
        now[0] += 1.0
        before = now[0]
        kept.write_if_due()
        if now[0] > before:
            times.append(before)
    assert len(times) in (3, 4)


def test_a_link_to_a_checkpoint_stays_a_link(tmp_path):
    target, link = tmp_path / "there" / "run.ckpt", tmp_path / "link.ckpt"
    target.parent.mkdir()
    link.symlink_to(target)
    first = NMF(**SETTINGS).fit(X, checkpoint=link)
    assert link.is_symlink()
    assert outcome(NMF(**SETTINGS).fit(X, checkpoint=target)) == outcome(first)
