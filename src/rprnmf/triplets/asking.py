"""Question, answer, refit: a judge teaches a model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rprnmf.checks import axis_names
from rprnmf.triplets.answer_file import Answer, AnswerFile
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.names import can_name
from rprnmf.triplets.queries import item_positions, next_queries
from rprnmf.triplets.question_draws import Wish, questions
from rprnmf.triplets.triplets import Triplets, as_triplets

GROWTH = 10  # a batch is at least one part in so many of the calls before it


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """What came of asking.

    Attributes
    ----------
    model : fitted RPRNMF
        With all answers.
    triplets : Triplets
        The answers, by name if X has names; weights count how often each was given. A question
        that was answered both ways is there both ways.
    n_calls : int
        Of the judge, over all runs that the file knows.
    n_unknown : int
        Questions that the judge could not answer.
    consistency : float
        The share of repeated questions that were answered as before; NaN if none was.
    n_repeated : int
    trace : structured ndarray of shape (n_checks,)
        For each question that was drawn at random, once there was a model: the number of the
        ``call`` and whether the model was ``right`` before it learned the answer.
    """

    model: Any
    triplets: Triplets
    n_calls: int
    n_unknown: int
    consistency: float
    n_repeated: int
    trace: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of the later half of the checks in which the model was right."""
        right = self.trace["right"][len(self.trace) // 2 :]
        return float(right.mean()) if len(right) else np.nan

    def __repr__(self) -> str:
        checked = len(self.trace) - len(self.trace) // 2
        return "\n".join(
            (
                f"{self.n_calls} calls: {self.triplets!r}, {self.n_unknown} unknown",
                f"answered as before: {self.consistency:.2f} of {self.n_repeated} repeated",
                f"expected by the model: {self.accuracy:.2f} of the last {checked} at random",
            )
        )


def ask(
    model: Any,
    judge: Callable[[Any, Any, Any], Any],
    budget: int,
    X: Any,
    *,
    side: str = "row",
    path: Any = None,
    known: Any = None,
    items: Any = None,
    candidates: Any = None,
    batch_size: int = 20,
    repeats: float = 0.1,
    checks: float = 0.1,
    random_state: Any = 0,
    **fit_params: Any,
) -> Asked:
    """Ask a judge what would teach a model most, and fit it with the answers.

    The judge is any callable: a person at a prompt, a function, a language model behind your own
    code. It is asked in batches: the model is fitted with all answers so far and
    chooses the next questions (`next_queries`). A batch is ``batch_size`` calls or a tenth of
    those before, whichever is more, so that 1,000 calls take some 25 fits and 10,000 some 50. Each
    fit starts anew: it depends on the answers alone, not on when they came.

    Parameters
    ----------
    model : RPRNMF
        Is cloned. Best with ``row_prior="data"`` (``column_prior``), whose answers teach.
    judge : callable
        ``judge(q, r, s)`` returns which of r and s is nearer to q: r or s itself, or None if it
        does not know. It gets names, if X has names, else positions. r and s come in random order.
    budget : int
        Calls of the judge at most, repeats and those in the file included.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
    side : {"row", "column"}, default="row"
        What is compared.
    path : path-like, default=None
        A file that every answer is added to at once, a line of JSON each. If there are answers in
        it they count: a run that was stopped, or whose judge raised an error, goes on where it was
        when called again, and ends as if it had not been stopped.
    known : Triplets or array-like of shape (n_known, 3), default=None
        What is known already; it is fitted too, and not asked.
    items, candidates
        What may be asked, as in `next_queries`.
    batch_size : int, default=20
        Calls between two fits, at least.
    repeats : float, default=0.1
        The share of the calls that ask again what was asked before, once, with r and s
        exchanged: they tell how consistent the judge is. 0: nothing is asked twice.
    checks : float, default=0.1
        The share of the calls that ask what was drawn at random. They tell how good the model is,
        which what it is uncertain about does not. The first batch is all random.
    random_state : int, RandomState instance or None, default=0
        An int is needed to go on as if a run had not been stopped.
    **fit_params : dict
        Go to ``fit``: names, triplets of the other side.

    Returns
    -------
    asked : Asked
        With the fitted ``model``, the answers as ``triplets``, the ``consistency`` of the judge
        and the ``accuracy`` of the model; ``print`` it for a summary.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.triplets import ask
    >>> rng = np.random.default_rng(0)
    >>> taste = rng.random((30, 2))
    >>> X = np.hstack((taste, 1.0 - taste, rng.random((30, 6))))
    >>> def judge(q, r, s):
    ...     return r if abs(taste[q] - taste[r]).sum() < abs(taste[q] - taste[s]).sum() else s
    >>> asked = ask(RPRNMF(3, row_prior="data", tol=0.01), judge, 60, X)
    >>> asked.n_calls, asked.consistency
    (60, 1.0)
    """
    session = Session(model, X, side, fit_params, known)
    session.limits(items, candidates, batch_size, (repeats, checks), random_state)
    file = AnswerFile(path, session.names)
    answers = file.read()
    budget = check_count(budget)
    while len(answers) < budget:
        plan, end = session.plan(answers)
        left = plan[: min(end, budget) - len(answers)]
        if not left:
            break  # no question is left
        for call in left:
            given = session.call(judge, call)
            file.add(given)
            answers.append(given)
    return summary(session.fit(answers), session, answers)


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
        self.known = as_triplets(known).positions(self.n, named, side)

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
        told = told.with_names(self.axis) if told.n_triplets else told
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
            chosen = self._chosen(model, fresh - n_random, asked, rng)
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
        found = next_queries(
            *(model, wanted),
            side=self.side,
            asked=Triplets(asked).with_names(self.axis) if len(asked) else None,
            items=self.items,
            candidates=self.candidates,
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
        first = model.predict_triplets(rows, self.side) > 0.5
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


def summary(model: Any, session: Session, answers: list[Answer]) -> Asked:
    """What came of the answers."""
    first = {given.question: given.answer for given in answers if given.kind != "repeat"}
    again = [
        given.answer == first.get(given.question)
        for given in answers
        if given.kind == "repeat" and given.answer is not None
    ]
    trace = [
        (number + 1, given.answer == given.expected)
        for number, given in enumerate(answers)
        if given.kind == "random" and None not in (given.answer, given.expected)
    ]
    return Asked(
        model,
        session.triplets(answers).with_names(session.axis),
        len(answers),
        sum(given.answer is None for given in answers),
        float(np.mean(again)) if again else np.nan,
        len(again),
        np.array(trace, dtype=[("call", np.int64), ("right", np.bool_)]),
    )
