"""Data sets: where they are looked for, how they come, what is said if they do not."""

from __future__ import annotations

import hashlib
import io
import sys
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import requests
import scipy.io

from rprnmf.datasets import (
    DataError,
    MissingDataError,
    faces,
    fetch_movielens_1m,
    fetch_movielens_100k,
    fetch_orl,
    fetch_pie,
    get_data_home,
    home,
    load_four_points,
    make_chains,
    movielens,
)
from rprnmf.metrics import satisfied_rate
from tests.builders import needs_data

BODY = b"0123456789" * 20_000
SUM = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/gone":
            self.send_error(404)
            return
        promised = {"/cut": str(2 * len(BODY)), "/odd": "many"}.get(self.path, str(len(BODY)))
        self.send_response(200)
        self.send_header("Content-Length", promised)
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No variable, an empty home, no network."""

    def refuse(*arguments, **options):
        raise requests.ConnectionError("no network here")

    monkeypatch.delenv(home.VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(requests, "get", refuse)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_a_download_is_whole_and_right_or_not_there(server, tmp_path):
    path = home.download(f"{server}/file", tmp_path / "file", SUM)
    assert path.read_bytes() == BODY
    for name, expected, message in (
        ("file", "0" * 64, "has the checksum"),
        ("cut", None, "IncompleteRead"),
        ("gone", None, "404"),
        ("odd", None, "/odd cannot be downloaded .*'many'"),
    ):
        with pytest.raises(OSError, match=message):
            home.download(f"{server}/{name}", tmp_path / "other" / "file", expected)
    assert files(tmp_path) == ["file"]


def test_what_is_downloaded_is_prepared_once(server, tmp_path):
    made = np.arange(5)
    source = home.Source(
        *("Numbers", "numbers.npz", f"{server}/official", home.digest([made]), ("a",)), sha256=SUM
    )
    calls = []

    def convert(official, folder):
        calls.append(official.name)
        np.savez(folder / "numbers.npz", a=made)

    assert home.locate(source, convert, tmp_path) == tmp_path
    assert home.locate(source, convert, tmp_path) == tmp_path
    assert calls == ["official"]
    assert files(tmp_path) == ["numbers.npz", "official"]


def test_a_wrong_content_is_refused_and_leaves_nothing(server, tmp_path):
    source = home.Source("Numbers", "numbers.npz", f"{server}/official", "0" * 64, ("a",))

    def convert(official, folder):
        np.savez(folder / "numbers.npz", a=np.arange(3))

    with pytest.raises(DataError, match=r"is not Numbers as it should be .* it was not kept\.$"):
        home.locate(source, convert, tmp_path)

    def fails(official, folder):
        raise KeyError("fea")

    with pytest.raises(DataError, match=r"cannot be read as Numbers .* it was not kept\.$"):
        home.locate(source, fails, tmp_path)
    assert files(tmp_path) == []
    right = replace(source, digest=home.digest([np.arange(3)]))
    assert home.locate(right, convert, tmp_path) == tmp_path, "the next call downloads again"


def test_a_wrong_file_that_somebody_put_there_is_left_alone(tmp_path):
    source = home.Source("Numbers", "numbers.npz", "http://127.0.0.1:9/official", "0" * 64, ("a",))
    (tmp_path / "official").write_text("mine")

    def fails(official, folder):
        raise KeyError("fea")

    with pytest.raises(DataError, match=r"Numbers \('fea'\); remove it to download it again\.$"):
        home.locate(source, fails, tmp_path)
    assert (tmp_path / "official").read_text() == "mine"


def test_files_that_lie_in_two_folders_are_not_called_absent(nowhere, monkeypatch):
    named, other = nowhere / "named", nowhere / "rprnmf_data"
    monkeypatch.setenv(home.VARIABLE, str(named))
    for folder, names in ((named, [movielens.ML_1M.prepared]), (other, movielens.ML_1M.beside)):
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")
    with pytest.raises(MissingDataError, match=r"not together in .*named or .*rprnmf_data"):
        fetch_movielens_1m(download_if_missing=False)
    (named / movielens.ML_1M.prepared).unlink()
    with pytest.raises(MissingDataError, match=r"\(movielens_1m\.npz not in .*named or "):
        fetch_movielens_1m(download_if_missing=False)


def test_a_prepared_file_is_what_it_should_be_or_refused(tmp_path, monkeypatch):
    images, labels = np.zeros((3, 1024), dtype=np.uint8), np.ones(3, dtype=np.uint8)
    np.savez(tmp_path / "orl_32x32.npz", images=images, labels=labels)
    with pytest.raises(OSError, match=r"orl_32x32\.npz is not ORL faces .*the checksum"):
        fetch_orl(data_home=tmp_path)
    np.savez(tmp_path / "orl_32x32.npz", images=images + 0.4, labels=labels)
    with pytest.raises(OSError, match=r"whole numbers are expected, found float64"):
        fetch_orl(data_home=tmp_path)
    (tmp_path / "orl_32x32.npz").write_text("version https://git-lfs.github.com/spec/v1")
    with pytest.raises(OSError, match=r"orl_32x32\.npz cannot be read as ORL .*; remove it\.$"):
        fetch_orl(data_home=tmp_path)
    monkeypatch.setenv(home.VARIABLE, str(tmp_path))
    with pytest.raises(DataError, match="; remove it, or set RPRNMF_DATA to another folder"):
        fetch_orl()


def test_a_checksum_knows_shapes():
    a = np.arange(6)
    sums = {home.digest(arrays) for arrays in ([a], [a.reshape(2, 3)], [a[:2], a[2:]], [a[:0], a])}
    assert len(sums) == 4
    assert home.digest([a]) == home.digest([a.astype(np.uint8)])


def test_a_place_that_is_no_folder_is_named(nowhere, monkeypatch):
    (nowhere / "file").write_text("")
    with pytest.raises(MissingDataError, match="file is not a folder"):
        fetch_orl(data_home=nowhere / "file")
    monkeypatch.setenv(home.VARIABLE, str(nowhere / "file"))
    with pytest.raises(MissingDataError, match="file is not a folder"):
        fetch_orl()
    assert files(nowhere) == ["file"]


def test_a_download_shows_how_far_it_is(server, tmp_path, monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    home.download(f"{server}/file", tmp_path / "file", SUM)
    text = screen.getvalue()
    assert text.startswith(f"{server}/file -> {tmp_path / 'file'}\n")
    assert "100%" in text.split("\r")[-1]
    screen.truncate(0)
    screen.isatty = lambda: False
    home.download(f"{server}/file", tmp_path / "file", SUM)
    assert screen.getvalue() == ""


def test_a_download_without_pooch_names_the_extra(nowhere, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDataError, match=r"is missing .*pip install 'rprnmf\[data\]'"):
        fetch_orl()
    assert files(nowhere) == []


@pytest.mark.parametrize("fetch", [fetch_orl, fetch_pie, fetch_movielens_1m, fetch_movielens_100k])
@pytest.mark.parametrize("download", [True, False])
def test_one_sentence_says_what_is_missing_and_what_to_do(fetch, download, nowhere):
    with pytest.raises(MissingDataError) as found:
        fetch(download_if_missing=download)
    text = str(found.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert text.count(". ") == 0, "one sentence"
    assert "RPRNMF_DATA" in text
    assert "http" in text
    assert ("no network here" in text) == download
    assert str(nowhere / "rprnmf_data") in text


def test_folders_are_looked_at_in_turn(nowhere, monkeypatch):
    assert get_data_home() == nowhere / "rprnmf_data"
    monkeypatch.setenv(home.VARIABLE, str(nowhere / "named"))
    assert get_data_home() == nowhere / "named"
    assert get_data_home(nowhere / "given") == nowhere / "given"
    assert home.folders() == [nowhere / "named", nowhere / "rprnmf_data"]


def test_an_official_file_that_is_there_needs_no_network(nowhere, monkeypatch):
    images = np.arange(3 * 1024).reshape(3, 1024) % 256
    labels = np.array([1, 1, 2])
    source = replace(faces.ORL, digest=home.digest([images, labels]))
    monkeypatch.setattr(faces, "ORL", source)
    folder = nowhere / "rprnmf_data"
    folder.mkdir()
    scipy.io.savemat(folder / "ORL_32x32.mat", {"fea": images, "gnd": labels[:, None]})
    found = fetch_orl()
    np.testing.assert_array_equal(found.data, images)
    np.testing.assert_array_equal(found.target, [0, 0, 1])
    np.testing.assert_array_equal(found.images[0].T.ravel(), found.data[0])
    assert (folder / "orl_32x32.npz").exists()
    data, target = fetch_orl(return_X_y=True)
    np.testing.assert_array_equal(data, found.data)
    np.testing.assert_array_equal(target, found.target)


def test_a_place_that_cannot_be_written_to_is_named(nowhere, monkeypatch):
    named = nowhere / "named"
    named.mkdir()
    scipy.io.savemat(named / "ORL_32x32.mat", {"fea": np.zeros((1, 1024)), "gnd": [[1]]})
    monkeypatch.setenv(home.VARIABLE, str(named))
    monkeypatch.setenv("HOME", str(named / "ORL_32x32.mat"))
    with pytest.raises(DataError, match=r"ORL faces .* cannot be prepared in .*rprnmf_data"):
        fetch_orl()


def test_movielens_1m_as_its_owners_ship_it(nowhere, monkeypatch):
    ratings = np.array([[2, 5, 4, 10], [7, 1193, 5, 11], [2, 1193, 3, 12]])
    source = replace(movielens.ML_1M, digest=home.digest(ratings.T[:3]))
    monkeypatch.setattr(movielens, "ML_1M", source)
    with zipfile.ZipFile(nowhere / "ml-1m.zip", "w") as archive:
        lines = "".join("::".join(map(str, row)) + "\n" for row in ratings)
        archive.writestr("ml-1m/ratings.dat", lines)
        archive.writestr("ml-1m/users.dat", "2::F::25::10::48067\n7::M::56::16::70072\n")
        movies = "5::Father of the Bride (1995)::Comedy\n9::Never rated::Drama\n"
        movies += "1193::Caf\xe9::Drama|War\n"
        archive.writestr("ml-1m/movies.dat", movies.encode("latin-1"))
    found = fetch_movielens_1m(data_home=nowhere)
    np.testing.assert_array_equal(found.data.toarray(), [[4, 3], [0, 5]])
    assert found.titles == ["Father of the Bride (1995)", "Caf\xe9"]
    assert found.genres == ["Comedy", "Drama|War"]
    assert found.gender.tolist() == ["F", "M"]
    assert found.age.tolist() == [25, 56]
    assert found.occupation.tolist() == [10, 16]
    again = fetch_movielens_1m(data_home=nowhere)
    assert again.titles == found.titles
    users = nowhere / source.beside[0]
    users.write_text("user_id,gender,age,occupation,zip\n2,F,25,10,48067\n")
    with pytest.raises(DataError, match=r"users\.csv has no line for id 7, which has ratings"):
        fetch_movielens_1m(data_home=nowhere)
    head = "user_id,gender,age,occupation,zip\n2,F,25,10,48067\n"
    for text, message in (
        ("number,sex\n2,F\n", r"users\.csv must be a CSV file with columns user_id.*: found no"),
        (f"{head}7,M\n", r"users\.csv must be .*: line 3 ends before age"),
        (f"{head}7,M,old,1,2\n", r"users\.csv: age must be whole numbers, found .*'old'"),
        (f"{head}x7,M,5,1,2\n", r"users\.csv: user_id must be whole numbers, found .*'x7'"),
    ):
        users.write_text(text)
        with pytest.raises(DataError, match=message):
            fetch_movielens_1m(data_home=nowhere)
    arrays = dict(zip(movielens.ARRAYS, ratings.T[:3], strict=True))
    np.savez(nowhere / source.prepared, **arrays)
    with pytest.raises(DataError, match=r"movielens_1m\.npz has no array timestamp"):
        fetch_movielens_1m(data_home=nowhere)


def test_movielens_100k_as_its_owners_ship_it(nowhere, monkeypatch):
    ratings = np.array([[1, 2, 5, 10], [3, 1, 1, 11]])
    source = replace(movielens.ML_100K, digest=home.digest(ratings.T[:3]))
    monkeypatch.setattr(movielens, "ML_100K", source)
    with zipfile.ZipFile(nowhere / "ml-100k.zip", "w") as archive:
        archive.writestr("ml-100k/u.data", "".join("\t".join(map(str, r)) + "\n" for r in ratings))
        archive.writestr("ml-100k/u.user", "1|24|M|writer|1\n3|53|F|other|2\n")
        archive.writestr("ml-100k/u.genre", "unknown|0\nAction|1\nWar|2\n\n")
        archive.writestr("ml-100k/u.item", "1|A (1995)|x||u|0|1|1\n2|B (1995)|x||u|1|0|0\n")
    found = fetch_movielens_100k(data_home=nowhere)
    np.testing.assert_array_equal(found.data.toarray(), [[0, 5], [1, 0]])
    assert found.genres == ["Action|War", "unknown"]
    assert found.age.tolist() == [24, 53]
    assert found.occupation.tolist() == ["writer", "other"]


@needs_data("orl_32x32.npz", "pie_pose27_32x32.npz", "movielens_1m.npz", "movielens_100k.npz")
def test_real_data_have_the_published_shapes():
    assert fetch_orl().data.shape == (400, 1024)
    assert fetch_pie().data.shape == (2856, 1024)
    small, large = fetch_movielens_100k(), fetch_movielens_1m()
    assert (small.data.shape, small.data.nnz) == ((943, 1682), 100_000)
    assert (large.data.shape, large.data.nnz) == ((6040, 3706), 1_000_209)
    for source in (faces.ORL, faces.PIE, movielens.ML_1M, movielens.ML_100K):
        with np.load(home.get_data_home() / source.prepared) as data:
            assert home.digest(data[name] for name in source.arrays) == source.digest


def test_made_data_are_what_they_say():
    made = make_chains(30, 40, 5, n_row_triplets=7, n_column_triplets=12, random_state=0)
    assert made.data.min() == 0.0
    assert made.data.max() == 1.0
    assert satisfied_rate(made.W, made.row_triplets) == 1.0
    assert satisfied_rate(made.H.T, made.column_triplets) == 1.0
    assert made.column_triplets.n_triplets == 12
    points = load_four_points()
    assert satisfied_rate(points.data.T, points.column_triplets) == 1.0
