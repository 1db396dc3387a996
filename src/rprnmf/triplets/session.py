"""One run of asking: what is asked next, and what is made of the answers.

The calls come in batches. What a batch asks depends on the answers before it and on its number
only, so that a run that was stopped finds the same batch again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names
from rprnmf.triplets.answer_file import Answer
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.names import can_name
from rprnmf.triplets.queries import item_positions, next_queries
from rprnmf.triplets.question_draws import Wish, questions
from rprnmf.triplets.triplets import Triplets, as_triplets

GROWTH = 10  # a batch is at least one part in so many of the calls before it


class Session:
    """What stays the same from one question to the next."""

    def __init__(self, model: Any, X: Any, side: str, fit_params: dict[str, Any], known: Any):
        if side not in ("row", "column"):
            raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
        if not hasattr(model, "predict_triplets"):
            raise TypeError(f"ask needs an RPRNMF, which learns, got {type(model).__name__}.")
        self.model, self.X, self.side, self.fit_params = model, X, side, fit_params
        index = 0 if side == "row" else 1
        named = axis_names(X, fit_params.get("row_names"), fit_params.get("column_names"))[index]
        self.n = np.shape(X)[index]
        speaks = named is not None and can_name(named)
        self.axis = named if speaks else None
        self.names = list(named) if speaks else list(range(self.n))
        found = as_triplets(known)
        if found.n_triplets:
            found = found.positions(self.n, named, side)
        self.known = Triplets(found.items, weights=found.weights)

    def limits(
        self, items: Any, candidates: Any, batch_size: int, shares: tuple[float, float], seed: Any
    ) -> None:
        """What may be asked, and how it is divided."""
        self.items = None if items is None else item_positions(items, self.axis, self.side)
        self.candidates = candidates
        if candidates is not None:
            self.candidates = as_triplets(candidates).positions(self.n, self.axis, self.side)
        self.batch_size = max(check_count(batch_size), 1)
        for name, share in zip(("repeats", "checks"), shares, strict=True):
            if not 0.0 <= share <= 0.5:
                raise ValueError(f"{name} must be a share from 0 to 0.5, got {share}.")
        self.repeats, self.checks = shares
        whole = isinstance(seed, int)
        self.seed = seed if whole else check_random_state(seed).randint(2**31)

    def triplets(self, answers: list[Answer]) -> Triplets:
        """The answers by position, weights their number."""
        told = [
            (given.q, given.answer, given.s if given.answer == given.r else given.r)
            for given in answers
            if given.answer is not None
        ]
        return Triplets(np.array(told, dtype=np.int64).reshape(-1, 3)).deduplicate()

    def fit(self, answers: list[Answer]) -> Any:
        """The model with what is known and the answers."""
        told = self.known + self.triplets(answers)
        told = told.with_names(self.axis)
        return clone(self.model).fit(self.X, **{f"{self.side}_triplets": told}, **self.fit_params)

    def plan(self, answers: list[Answer]) -> tuple[list[Answer], int]:
        """The calls that are left of the batch that is under way, and the number that it ends at.

        It depends on the answers before the batch only, so that a run that was stopped finds
        the same again.
        """
        start = end = 0
        while end <= len(answers):
            start, end = end, end + max(self.batch_size, end // GROWTH)
        before, since = answers[:start], answers[start:]
        rng = np.random.RandomState([self.seed, start])
        again = self._repeated(before, due(self.repeats, start, end), rng)
        asked = np.array([given.question for given in before], dtype=np.int64).reshape(-1, 3)
        fresh, model = end - start - len(again), None
        chosen = np.zeros((0, 3), dtype=np.int64)
        n_random = fresh
        if self.known.n_triplets or any(given.answer is not None for given in before):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = self.fit(before)
            n_random = due(self.checks, start, end)
            chosen = self._chosen(model, max(fresh - n_random, 0), asked, rng)
        known = np.concatenate((self.known.items, asked, chosen))
        drawn = questions(self.n, Wish(n_random, n_random, self.items, self.candidates), known, rng)
        calls = [*self._shown(chosen, "chosen", rng), *self._shown(drawn, "random", rng)]
        if not calls:
            return [], end
        calls = [*self._expected(model, calls), *again]
        done = {(given.question, given.kind == "repeat") for given in since}
        order = [calls[k] for k in rng.permutation(len(calls))]
        return [c for c in order if (c.question, c.kind == "repeat") not in done], end

    def _chosen(self, model: Any, wanted: int, asked: np.ndarray, rng: Any) -> np.ndarray:
        """What would teach the model most."""
        candidates = self.candidates
        found = next_queries(
            *(model, wanted),
            side=self.side,
            asked=Triplets(asked).with_names(self.axis),
            items=None if self.items is None else [self.names[k] for k in self.items],
            candidates=None if candidates is None else candidates.with_names(self.axis),
            random_state=rng,
        )
        return found.positions(self.n, self.axis, self.side).items

    def _repeated(self, before: list[Answer], wanted: int, rng: Any) -> list[Answer]:
        """Questions that were answered once, to be asked again the other way round."""
        twice = {given.question for given in before if given.kind == "repeat"}
        once = [g for g in before if g.answer is not None and g.question not in twice]
        some = rng.permutation(len(once))[:wanted]
        return [once[k]._replace(r=once[k].s, s=once[k].r, kind="repeat") for k in some]

    def _shown(self, rows: np.ndarray, kind: str, rng: Any) -> list[Answer]:
        """Questions in random order of r and s."""
        turned = rng.uniform(size=len(rows)) < 0.5
        rows = np.where(turned[:, None], rows[:, [0, 2, 1]], rows)
        return [Answer(q, r, s, None, None, kind) for q, r, s in rows.tolist()]

    def _expected(self, model: Any, calls: list[Answer]) -> list[Answer]:
        """The same with what the model expects."""
        if model is None or not calls:
            return calls
        rows = Triplets([call[:3] for call in calls]).with_names(self.axis)
        try:
            first = model.predict_triplets(rows, self.side) > 0.5
        except ValueError:  # solver="paper" knows no chances
            return calls
        return [
            call._replace(expected=call.r if near else call.s)
            for call, near in zip(calls, first, strict=True)
        ]

    def call(self, judge: Callable[[Any, Any, Any], Any], call: Answer) -> Answer:
        """Ask the judge."""
        q, r, s = (self.names[k] for k in call[:3])
        said = judge(q, r, s)
        if said is None:
            return call._replace(answer=None)
        if not isinstance(said, (bool, np.bool_)):  # True == 1, which may be a position
            for place, name in ((call.r, r), (call.s, s)):
                if np.ndim(said) == 0 and said == name:
                    return call._replace(answer=place)
        raise ValueError(
            f"judge({q!r}, {r!r}, {s!r}) must return the nearer one, {r!r} or {s!r}, or None if "
            f"it does not know; it returned {said!r}."
        )


def due(share: float, start: int, end: int) -> int:
    """How many of the calls from start to end are to be of a kind that has a share."""
    return int(end * share + 1e-9) - int(start * share + 1e-9)
