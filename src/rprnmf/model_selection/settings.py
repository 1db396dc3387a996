"""Prior, graph and strength together: which of them predict answers that were held out?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from rprnmf.model_selection.answers import NAMES, Answers, hold_out_answers
from rprnmf.model_selection.path import Factors, Posed, follow, iterations, plain_start, pose
from rprnmf.model_selection.settings_table import SettingsTable
from rprnmf.model_selection.strength import check_strengths
from rprnmf.progress import Progress

STRENGTHS = (0.1, 1.0, "auto")
SHARE = 5.0  # whole fits that all folds together may cost
FIRST_FOLDS = 3  # after these only the estimator as it is and the better half go on


def choose_settings(
    estimator: Any,
    X: Any,
    candidates: Sequence[dict[str, Any]] | None = None,
    strengths: Sequence[Any] = STRENGTHS,
    *,
    row_triplets: Any = None,
    column_triplets: Any = None,
    row_groups: Any = None,
    column_groups: Any = None,
    n_splits: int = 5,
    random_state: Any = None,
    verbose: int = 1,
    **fit_params: Any,
) -> SettingsTable:
    """Choose prior, graph and strength by triplets that are held out.

    Every candidate is fitted once as a whole, with all triplets. Then each fold goes through the
    strengths as `choose_strength` does. After three folds the worse half of the candidates is
    dropped. In all this takes about (number of candidates + 5) fits of the slowest one at most, the
    estimator as it is being one: nine by default.

    Parameters
    ----------
    estimator : RPRNMF
        Is cloned.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    candidates : sequence of dict, default=None
        Parameters to try beside the estimator as it is. None: the prior "data", the graph
        "cosine", and both, on the sides that have triplets.
    strengths : sequence of float or "auto", default=(0.1, 1.0, "auto")
        Tried with each candidate, "auto" in any case.
    row_triplets, column_triplets : Triplets or array-like, default=None
        At least one of the two.
    row_groups, column_groups : array-like, default=None
        Triplets of a group are held out together: those of one screen or of one worker.
    n_splits : int, default=5
    random_state : int, RandomState instance or None, default=None
        Of the folds.
    verbose : int, default=1
        0 is silent; 1 shows how far it is.
    **fit_params : dict
        Go to ``fit``, e.g. ``row_names`` for triplets by name.

    Returns
    -------
    table : SettingsTable
        With ``recommended``; ``print`` it for a table.

    See Also
    --------
    choose_strength : Chooses the strength alone.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.model_selection import choose_settings
    >>> from rprnmf.triplets import triplets_from_features
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.random((30, 3))
    >>> X = hidden @ rng.random((3, 20))
    >>> known = triplets_from_features(hidden[:, :1], 100, random_state=0)
    >>> model = RPRNMF(4, max_iter=30, tol=0, random_state=0)
    >>> table = choose_settings(model, X, row_triplets=known, n_splits=3, verbose=0)
    >>> model = model.set_params(**table.recommended).fit(X, row_triplets=known)
    """
    if not estimator._solver.automatic:
        raise ValueError(
            "choose_settings needs a solver with priors and automatic strengths, 'cd' or 'mu'; "
            f"got solver={estimator.solver!r}."
        )
    strengths = check_strengths([*strengths, "auto"])
    names = {key: fit_params.pop(key) for key in NAMES if key in fit_params}
    answers = hold_out_answers(
        *(X, (row_triplets, column_triplets), (row_groups, column_groups)),
        *(names, n_splits, random_state),
    )
    given = default_candidates(estimator, answers) if candidates is None else list(candidates)
    progress = Progress("choose_settings", 1 + len(given) + n_splits, silent=not verbose)
    auto = answers.parameters("auto")
    posed = []
    for candidate in ({}, *given):
        whole = clone(estimator).set_params(**candidate).set_params(**auto)
        posed.append(pose(whole, X, answers, fit_params))
        progress.step()
    found = race(posed, answers, strengths, progress)
    order = [len(strengths) - 1, *range(len(strengths) - 1)]  # "auto" first
    settings = [{**c, **answers.parameters(strengths[at])} for c in ({}, *given) for at in order]
    satisfied, losses, met = (part[:, order].reshape(len(settings), -1) for part in found)
    return SettingsTable(settings, satisfied, losses, met)


def default_candidates(estimator: Any, answers: Answers) -> list[dict[str, Any]]:
    """Prior, graph, and both, but for what the estimator has already."""
    now = estimator.get_params(deep=False)
    sides = list(answers.triplets)
    given = {side: now[f"{side}_prior"] for side in sides}
    prior: dict[str, Any] = {
        f"{side}_prior": "data"
        for side, one in given.items()
        if one is None or (isinstance(one, str) and one == "auto")
    }
    graph: dict[str, Any] = {
        f"{side}_graph": "cosine" for side in sides if now[f"{side}_graph"] is None
    }
    if prior and graph:
        return [prior, graph, prior | graph]
    return [each for each in (prior, graph) if each]


def race(
    posed: list[Posed], answers: Answers, strengths: Sequence[Any], progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By candidate, strength and fold: held-out triplets met, losses; which triplets were met."""
    n_splits = answers.n_splits
    shape = (len(posed), len(strengths))
    satisfied, losses = np.full((2, *shape, n_splits), np.nan)
    met = np.full((*shape, answers.n_triplets), np.nan)
    going = list(range(len(posed)))
    n_left = 1 + len(posed) // 2
    n_first = min(FIRST_FOLDS, n_splits)
    n_paths = len(posed) * n_first + n_left * (n_splits - n_first)
    longest = max(each.model.n_iter_ for each in posed)
    n_iter = iterations(longest, SHARE, n_paths * len(strengths))
    starts = plain_starts(posed)
    for fold in range(n_splits):
        if fold == FIRST_FOLDS:
            reached = satisfied[:, :, :fold].mean(axis=2).max(axis=1)
            others = sorted(going[1:], key=lambda at: -reached[at])
            going = [0, *others[: n_left - 1]]
        for at in going:
            problem = posed[at].problem
            for place, factors in follow(posed[at], starts[at], answers, fold, strengths, n_iter):
                score = answers.score(factors, fold, problem.distance)
                satisfied[at, place, fold], met[at, place, score.places] = score.rate, score.met
                losses[at, place, fold] = posed[at].loss(factors)
        progress.step()
    return satisfied, losses, met


def plain_starts(posed: list[Posed]) -> list[Factors]:
    """Factors of plain NMF for each candidate; one computation for those that begin alike."""
    found: list[Factors] = []
    for at, each in enumerate(posed):
        for before in range(at):
            other = posed[before]
            alike = (other.model.solver, other.problem.beta_loss, other.model.missing)
            same = alike == (each.model.solver, each.problem.beta_loss, each.model.missing)
            if same and all(map(np.array_equal, other.start, each.start)):
                found.append(found[before])
                break
        else:
            found.append(plain_start(each))
    return found
