"""How the settings of the peers of `Recommender` were chosen: on training data alone.

cmfrec with features and without, and the graph of genres, on MovieLens 1M: users or items of the
training part of one split are cut down again, or the second period is predicted from the first.
Writes `results/recommend_peers_search_PART.csv` and `.md`, one for each of items, users, time, and
the best settings to `recommend_peers_PART.json`, which `recommend_cold` and `recommend_time` read.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from common import HERE, MissingError, start_parts
from recommend_data import MovieLens, by_count, cut, movielens, periods, rmse
from recommend_peers import Cmfrec, Graph, Tables
from report import Report

PARTS = ("items", "users", "time")
SPLIT, INNER = 20, 1000  # seeds; the training part of the first split that is reported
DRAWS = 10
FREE: dict[str, tuple] = {
    "lambda_": (0.003, 0.005, 0.01, 0.02, 0.04, 0.08),
    "lambda_sides": (1.0, 0.1),
    "scale_lam_sideinfo": (False, True),
    "weight": (0.5, 1.0, 2.0, 5.0, 10.0),
    "k": (10, 20, 40),
    "k_main": (0, 10),
}
NONNEG: dict[str, tuple] = {
    "lambda_": (0.01, 0.02, 0.04, 0.08),
    "scale_lam_sideinfo": (False, True),
    "weight": (0.05, 0.2, 1.0),
    "ones": (0.0, 1.0),
    "k": (10, 20, 40),
}
UNBIASED = {"lambda_": 0.003, "biased": False, "ones": 1.0, "k": 10}  # the best found without
ALONE: dict[str, tuple] = {"lambda_": (0.02, 0.04, 0.06, 0.08, 0.1), "k": (10, 20)}
GRAPH: list[dict[str, Any]] = [
    {},
    {"n_neighbors": 30},
    {"strength": 0.1},
    {"alpha": 0.1, "strength": 0.3},
]


def drawn(grid: dict[str, tuple], n: int, fixed: dict[str, Any]) -> list[dict[str, Any]]:
    """Settings at random from a grid."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n):
        one = {name: values[rng.integers(len(values))] for name, values in grid.items()}
        if "weight" in one:
            one["w_user"] = one["w_item"] = one.pop("weight")
        found.append(fixed | one)
    return found


def settings(quick: bool) -> dict[str, list[dict[str, Any]]]:
    """What is tried of each program."""
    n = 1 if quick else DRAWS
    plain = {"nonneg": True, "scale_lam": True, "center_U": False, "center_I": False}
    alone = {"nonneg": True, "biased": False, "scale_lam": True, "niter": 15}
    free = {"nonneg": False, "biased": True, "scale_lam": True}
    return {
        "cmfrec, free, features": drawn(FREE, n, free),
        "cmfrec, non-negative, features": [
            *drawn(NONNEG, n, plain | {"biased": True}),
            *([] if quick else [plain | UNBIASED]),
        ],
        "genre graph": GRAPH[: 1 if quick else None],
        "cmfrec, non-negative": drawn(ALONE, max(1, n // 2), alone),
        "cmfrec, free": drawn(ALONE, max(1, n // 2), free),
    }


def settings_or_note(report: Report, part: str) -> dict[str, dict[str, Any]]:
    """The best setting of each program, as this search wrote them, or a sentence in the report."""
    path = HERE / "results" / f"recommend_peers_{part}.json"
    if not path.exists():
        report.note(f"No peers: recommend_peers_search.py has not written {path.name}.")
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text())
    return found


def program(name: str, tables: Tables, setting: dict[str, Any]) -> Any:
    """One program with a setting."""
    if name == "genre graph":
        return Graph(tables, **setting)
    return Cmfrec(tables, name.endswith("features"), **setting)


def validation(data: MovieLens, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Which ratings are fitted, and which are predicted."""
    if part == "time":
        period = periods(data)
        return period == 0, period == 1
    train, _ = cut(data, part, SPLIT)
    return cut(data, part, INNER, train)


def error_of(model: Any, data: MovieLens, part: str, split: tuple[np.ndarray, np.ndarray]) -> float:
    """The RMSE of the second period, or the mean of the three of the cut rows."""
    train, test = split
    model.fit(*data.part(train))
    if part == "time":
        users, items, truth = data.part(test)
        return rmse(model.predict(users, items), truth)
    return float(np.mean(list(by_count(model, data, train, test, part).values())))


def main() -> None:
    quick, folder, parts = start_parts("recommend_peers_search", PARTS)
    data = movielens("MovieLens 1M")
    tables = Tables(data)
    for part in parts:
        how = (
            "the second period predicted from the first"
            if part == "time"
            else f"{part} cut down in the training part of split {SPLIT}: the mean of the RMSE "
            "with 0, 1 and 2 to 5 ratings"
        )
        text = f"MovieLens 1M, {how}. Settings at random from a grid. One thread."
        name = f"recommend_peers_search_{part}"
        report = Report(folder, name, f"Settings of the peers: {part}", text)
        split, chosen = validation(data, part), {}
        for program_name, tried in settings(quick).items():
            best: tuple[float, dict[str, Any]] = (np.inf, {})
            for setting in tried:
                try:
                    found = error_of(program(program_name, tables, setting), data, part, split)
                except MissingError as error:
                    report.note(f"{program_name}: {error}.")
                    break
                said = ", ".join(f"{key}={value}" for key, value in setting.items()) or "defaults"
                report.add(program=program_name, RMSE=f"{found:.4f}", setting=said)
                best = min(best, (found, setting), key=lambda one: one[0])
            if np.isfinite(best[0]):
                report.note(f"{program_name}: {best[0]:.4f} with {best[1]}.")
                chosen[program_name] = best[1]
                (folder / f"recommend_peers_{part}.json").write_text(
                    json.dumps(chosen, indent=1) + "\n"
                )


if __name__ == "__main__":
    main()
