"""Question, answer, refit: a judge teaches a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rprnmf.triplets.answer_file import Answer, AnswerFile
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.session import Session
from rprnmf.triplets.triplets import Triplets


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
