"""Commands that draw: plot, rank, strength, demo."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import run_program

PNG = b"\x89PNG"
PICTURES = {
    "map": ["--side", "column", "--method", "mds"],
    "components": ["--by", "lift", "--count", "3"],
    "history": [],
    "triplets": ["--side", "column"],
    "reliability": ["--side", "column", "--triplets", "TRIPLETS"],
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_pictures_of_a_model(name, suffix, data, call, tmp_path):
    out = tmp_path / f"picture{suffix}"
    options = [str(data / "triplets.csv") if o == "TRIPLETS" else o for o in PICTURES[name]]
    arguments = ["plot", name, data / "model.rprnmf", *options, "--out", out, "--dpi", 40]
    code, text, err = call(*arguments)
    assert (code, text, err) == (0, f"{out} was written.\n", "")
    assert out.read_bytes().startswith(PNG if suffix == ".png" else b"<?xml")
    first = out.read_bytes()
    assert call(*arguments)[0] == 0
    assert out.read_bytes() == first  # the same picture again
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_maps_with_other_comparisons_and_with_images(data, call, tmp_path):
    out, other = tmp_path / "map.svg", tmp_path / "t.csv"
    other.write_text("q,r,s\nAlien,Star Trek,Titanic\n")
    model = data / "model.rprnmf"
    arguments = ["plot", "map", model, "--side", "column", "--out", out]
    assert call(*arguments, "--triplets", other)[0] == 0
    assert "Alien" in out.read_text()
    assert call(*arguments, "--no-triplets", "--n-names", 0)[0] == 0
    assert "Alien" not in out.read_text()
    images = ["plot", "map", model, "--images", data / "numbers.csv", "--out", out]
    assert call(*images, "--image-shape", "2x3")[0] == 0
    code, _, err = call(*images, "--image-shape", "3x3")
    assert code == 1
    assert "3x3 has 9 numbers" in err
    assert call(*images)[0] == 2
    assert call(*images, "--image-shape", "wide")[0] == 2


def test_components_as_images(data, call, tmp_path):
    out = tmp_path / "c.png"
    arguments = ["plot", "components", data / "model.rprnmf", "--out", out]
    assert call(*arguments, "--image-shape", "2x3", "--components", "0,2")[0] == 0
    code, _, err = call(*arguments, "--components", "9")
    assert code == 1
    assert "from 0 to 2" in err


def test_learning(data, call, tmp_path):
    features, known, out = (tmp_path / name for name in ("f.csv", "t.csv", "curve.png"))
    rows = [line.split(",") for line in (data / "table.csv").read_text().splitlines()]
    features.write_text("".join(",".join(row[:3]) + "\n" for row in rows))
    assert call("triplets", "make", "features", features, "-n", 60, "--out", known)[0] == 0
    arguments = ["plot", "learning", data / "table.csv", "--row-triplets", known, "--out", out]
    code, found, err = call(*arguments, "-k", 2, "--max-iter", 20, "--folds", 3, "--json")
    assert code == 0
    assert "triplet_learning_curve" in err
    assert len(found["accuracy"]) == len(found["train_sizes"]) == 5
    assert found["expected"]["comparisons"] == 2 * found["train_sizes"][-1]
    assert out.read_bytes().startswith(PNG)
    assert call("plot", "learning", data / "table.csv", "--out", out)[0] == 2


def test_what_cannot_be_drawn_is_refused_at_once(data, call, tmp_path):
    model = data / "model.rprnmf"
    code, _, err = call("plot", "map", model, "--out", tmp_path / "map.txt")
    assert code == 1
    assert "must end in .png" in err
    code, _, err = call("plot", "map", model, "--out", tmp_path / "no" / "map.png")
    assert code == 1
    code, _, err = call("rank", data / "table.csv", "--picture", tmp_path / "rank.doc")
    assert code == 1
    assert not list(tmp_path.iterdir())


def test_plots_as_processes(data, tmp_path):
    out = tmp_path / "map.png"
    done = run_program("plot", "map", data / "model.rprnmf", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert out.read_bytes().startswith(PNG)
    done = run_program("plot", "map", data / "nothing.rprnmf", "--out", out)
    assert done.returncode == 1


def test_rank(data, call, tmp_path):
    picture = tmp_path / "rank.svg"
    arguments = ["rank", data / "table.csv", "--folds", 2, "--max-iter", 5]
    code, found, err = call(*arguments, "--ranks", "4,1,2", "--picture", picture, "--json")
    assert code == 0
    assert "choose_rank" in err
    assert found["ranks"] == [1, 2, 4]
    assert found["recommended"] in found["ranks"]
    assert len(found["mean"]) == 3
    assert "components" in picture.read_text()
    text = call(*arguments)[1]
    assert "<- recommended" in text
    code, _, err = call(*arguments, "--ranks", "1,99")
    assert code == 1
    assert "from 1 to 6" in err
    assert call(*arguments, "--ranks", "few")[0] == 2


def test_rank_as_a_process(data, tmp_path):
    arguments = ["rank", data / "table.csv", "--ranks", "1,2", "--folds", 2, "--json", "--quiet"]
    done = run_program(*arguments)
    assert done.returncode == 0
    assert json.loads(done.stdout)["ranks"] == [1, 2]
    assert done.stderr == ""
    assert run_program("rank", tmp_path / "nothing.csv").returncode == 1


def test_strength(data, call, tmp_path):
    picture = tmp_path / "strength.png"
    arguments = ["strength", data / "ratings.csv", "--column-triplets", data / "triplets.csv"]
    arguments += ["-k", 2, "--folds", 2, "--strengths", "0.01,auto", "--max-iter", 30]
    code, found, _ = call(*arguments, "--picture", picture, "--json")
    assert code == 0
    assert found["strengths"] == [0.01, "auto"]
    assert found["recommended"] in found["strengths"]
    assert picture.read_bytes().startswith(PNG)
    assert '"auto" came to' in call(*arguments)[1]
    code, _, err = call("strength", data / "ratings.csv")
    assert code == 2
    assert "--row-triplets or --column-triplets is needed" in err
    assert call(*arguments, "--strengths", "strong")[0] == 2
    assert call(*arguments, "--strengths", "-1")[0] == 1


def test_strength_as_a_process(data):
    arguments = ["strength", "ratings.csv", "--column-triplets", "triplets.csv", "-k", 2]
    done = run_program(*arguments, "--folds", 2, "--strengths", "0.1", "--json", cwd=data)
    assert done.returncode == 0
    assert json.loads(done.stdout)["recommended"] == 0.1
    done = run_program(*arguments[:-1], 99, cwd=data)
    assert done.returncode == 1


def test_demo(tmp_path):
    folder = tmp_path / "demo"
    done = run_program("demo", "--out", folder, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    films, digits = found["films"], found["digits"]
    assert films["NMF"]["to_star_trek"] > films["NMF"]["to_titanic"]
    assert films["RPRNMF"]["to_star_trek"] < films["RPRNMF"]["to_titanic"]
    assert films["RPRNMF"]["met"] == 1.0
    both = digits["comparisons and neighbours"]
    assert both["accuracy"] > digits["NMF"]["accuracy"]
    assert len(found["pictures"]) == len(list(folder.iterdir())) == 4
    (tmp_path / "file").write_text("")
    assert run_program("demo", "--out", tmp_path / "file").returncode == 2
