"""What `choose_strength` and `choose_settings` recommend: is it better, and what does it cost?

Food, materials and made data. Every setting that was a candidate is then fitted as a user would
do it, and asked for answers that neither the fit nor the choice has seen. Writes
`results/choosing.csv` and `.md`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from common import MissingError, cpu_seconds_of, median, start_process
from learning_data import SETS, made
from report import Report, within

from rprnmf import RPRNMF
from rprnmf.model_selection import choose_settings, choose_strength

SEEDS = range(300, 305)  # the rules were not chosen on these draws
COUNTS, K, LIMIT = (100, 300, 1000, 3000), 15, 10.0
TASKS: dict[str, dict[str, Any]] = {
    "strength": {},
    'strength, row_prior="data"': {"row_prior": "data"},
    "settings": {},
}


def choose(task: str, model: RPRNMF, X: np.ndarray, known: np.ndarray) -> tuple[list, dict, dict]:
    """All candidates, the one that is recommended, and the default."""
    if task == "settings":
        table = choose_settings(model, X, row_triplets=known, random_state=0, verbose=0)
        return table.settings, table.recommended, table.settings[0]
    curve = choose_strength(model, X, row_triplets=known, random_state=0, verbose=0)
    settings = [{"row_strength": strength} for strength in curve.strengths]
    return settings, {"row_strength": curve.recommended}, {"row_strength": "auto"}


def short(setting: dict[str, Any]) -> str:
    """A setting in few letters."""
    found = [part for part in ("row_prior", "row_graph") if part in setting]
    return " ".join([*(part.removeprefix("row_") for part in found), str(setting["row_strength"])])


def one(task: str, name: str, count: int, seed: int) -> dict[str, Any]:
    """One draw."""
    X, known, unseen = {**SETS, "made": made}[name](count, np.random.default_rng(seed))
    fixed = {"n_components": K, "random_state": 0, **TASKS[task]}

    def fit(setting: dict[str, Any]) -> tuple[float, float]:
        seconds, model = cpu_seconds_of(
            lambda: RPRNMF(**{**fixed, **setting}).fit(X, row_triplets=known)
        )
        return seconds, model.score_triplets(unseen)

    fit({})  # warm-up
    seconds, (settings, recommended, default) = cpu_seconds_of(
        lambda: choose(task, RPRNMF(**fixed), X, known)
    )
    found = [fit(setting) for setting in settings]
    times, rates = np.array(found).T
    at = settings.index(default)
    # the default twice more: it is one fit of `choose_strength`, and short times are noisy
    whole = median([times[at], *(fit(default)[0] for _ in range(2))])
    if task == "settings":
        whole = max(times)
    return {
        "fits": seconds / whole,
        "recommended": short(recommended),
        "of recommended": rates[settings.index(recommended)],
        "of default": rates[at],
        "best in hindsight": rates.max(),
    }


def line(task: str, name: str, count: int, seeds: range) -> dict[str, Any]:
    """Means over draws."""
    draws = [one(task, name, count, seed) for seed in seeds]
    counts = Counter(draw["recommended"] for draw in draws)
    rates = {key: [d[key] for d in draws] for key in draws[0] if key not in ("recommended", "fits")}
    gains = np.subtract(rates["of recommended"], rates["of default"])
    fits = [draw["fits"] for draw in draws]
    return {
        "fits": f"{median(fits):.1f}",
        "most fits": f"{max(fits):.1f}",
        "within": within(median(fits), LIMIT),
        "recommended": ", ".join(f"{setting} ({n})" for setting, n in counts.most_common()),
        **{key: f"{np.mean(values):.4f}" for key, values in rates.items()},
        "gain": f"{gains.mean():+.4f}",
        "worst gain": f"{gains.min():+.4f}",
    }


def main() -> None:
    quick, folder = start_process("choosing")
    seeds = SEEDS[:2] if quick else SEEDS
    measured = (
        f"{K} components, {len(seeds)} draws that no rule was chosen on (those for what is "
        "recommended were chosen on others). fits: CPU seconds of the choice over those of one "
        "fit, of the default for a strength, of the slowest candidate for settings: median and "
        f"most; limit {LIMIT:.0f}. recommended: how often. Then unseen answers met by a fit with "
        'what was recommended, with the default ("auto", no prior, no graph; in the lines with a '
        "prior that prior), and with the best candidate in hindsight: means. gain: recommended "
        "over default, mean and worst draw."
    )
    report = Report(folder, "choosing", "What choosing costs and gains", measured)
    for task in TASKS:
        for name in (*SETS, "made"):
            try:
                for count in COUNTS[1::2] if quick else COUNTS:
                    report.add(
                        choose=task, data=name, answers=count, **line(task, name, count, seeds)
                    )
            except MissingError as error:
                report.note(f"{error}.")


if __name__ == "__main__":
    main()
