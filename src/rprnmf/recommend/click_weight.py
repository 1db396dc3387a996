"""The weight of the L2 terms of clicks, chosen on clicks that short fits did not see.

What is best for many clicks of each user leaves too much freedom where there are few: lists are
then worse than by popularity. From the usual weight steps go up, or else down, for as long as the
held-out clicks are found better, and by much more than chance: of several that are about as good
one is always ahead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from rprnmf.recommend.early_stopping import gains, hidden, judged
from rprnmf.recommend.fitting import Task, fit_stacked
from rprnmf.recommend.placing import NO_TRIPLETS, settled
from rprnmf.recommend.stacked import ITEMS, USERS

HELD = 0.15  # of the clicks
FEWEST = 50  # users with held-out clicks, from which on they can tell
COMPONENTS, ITERATIONS = 32, 8  # of the short fits
STEP, STEPS = 2**0.5, 6  # from weight to weight, and how many at most each way
SURE = 3.0  # standard errors by which the next must be ahead


def with_chosen_alpha(task: Task, random_state: Any, n_jobs: Any) -> tuple[Task, str]:
    """The task with the weight that finds held-out clicks best, and a note that says it."""
    usual = task.recipe.weights.alpha
    rng = check_random_state(random_state)
    train, held = hidden(task.X, HELD, rng)
    users, seed = judged(held), int(rng.randint(2**31 - 1))
    if len(users) < FEWEST:
        return task, f"alpha = {usual:g}, the usual: too few clicks to choose it."
    best, found = usual, found_with(task, usual, train, held, users, seed, n_jobs)
    for step in (STEP, 1.0 / STEP):
        for _ in range(STEPS):
            other = found_with(task, best * step, train, held, users, seed, n_jobs)
            ahead = other - found
            if not ahead.mean() > SURE * ahead.std(ddof=1) / np.sqrt(len(ahead)):
                break
            best, found = best * step, other
        if best != usual:
            break
    weights = replace(task.recipe.weights, alpha=best)
    note = f"alpha = {best:.3g}: NDCG@10 {found.mean():.4f} of {held.nnz} clicks held out."
    return replace(task, recipe=replace(task.recipe, weights=weights)), note


def found_with(
    task: Task,
    alpha: float,
    train: sp.csr_array,
    held: sp.csr_array,
    users: np.ndarray,
    seed: int,
    n_jobs: Any,
) -> np.ndarray:
    """The gain of held-out clicks of some users, after a short fit of the others."""
    recipe = task.recipe
    short = replace(
        recipe,
        n_components=min(recipe.n_components, COMPONENTS),
        max_iter=min(recipe.max_iter, ITERATIONS),
        weights=replace(recipe.weights, alpha=alpha),
    )
    none = NO_TRIPLETS, NO_TRIPLETS
    alone = replace(task, X=train, triplets=none, recipe=short)
    model, _ = fit_stacked(alone, 1, seed, n_jobs, 0)
    model = settled(model, train, task.ids, none)
    return gains(model.scored(USERS), model.scored(ITEMS), train, held, users)
