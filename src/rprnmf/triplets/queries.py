"""Which comparison to ask for next."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rprnmf.remote import gathered, lies_in_blocks
from rprnmf.triplets.draws import check_count
from rprnmf.triplets.names import can_name, places_of
from rprnmf.triplets.posterior import Belief
from rprnmf.triplets.question_draws import Wish, questions
from rprnmf.triplets.selection import most_informative, weigh
from rprnmf.triplets.triplets import Triplets, as_triplets

MOST = 1 << 20  # questions that are weighed at most, unless more are wanted
BLOCK = 1 << 16  # questions per block, so that memory stays small
TARGETS = 4000  # questions that a learned model should come to answer
ROOM = 1 << 24  # numbers that the uncertainty of the rows of a learned factor may take


def propose_queries(
    factor: Any,
    n_queries: int,
    *,
    asked: Any = None,
    items: Any = None,
    candidates: Any = None,
    n_draws: int = 60,
    random_state: Any = None,
) -> Triplets:
    """Comparisons (q, r, s) whose answer is uncertain under a factor, about many items.

    Every component of the factor has a say in whether r or s is nearer to q. A question is
    uncertain where the components balance: the sum of what they say is small beside the root of
    the sum of squares. Questions are drawn at random, the most uncertain of them are proposed,
    no item in much more of them than others; what was asked, either way round, is not proposed
    again.

    Parameters
    ----------
    factor : array-like of shape (n_items, n_components)
    n_queries : int
        Fewer are returned if there are no more.
    asked : Triplets or array-like of shape (n_asked, 3), default=None
        What is known already, by index.
    items : array-like, default=None
        Ask about these only.
    candidates : array-like of shape (n_candidates, 3), default=None
        Ask these questions only; the order of r and s does not matter.
    n_draws : int, default=60
        Questions drawn at random for every one that is proposed, a million in all at most. The
        most uncertain ones of very many are much alike, and hard to answer for people too.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    queries : Triplets
        The most uncertain first; the answer may be (q, r, s) or (q, s, r). As they stand r is the
        one that the factor has nearer.

    Examples
    --------
    >>> from rprnmf.triplets import propose_queries
    >>> propose_queries([[0.0], [1.0], [1.1], [9.0]], 1, random_state=0).items
    array([[3, 2, 1]])
    """
    F = factor if lies_in_blocks(factor) else np.asarray(factor, dtype=np.float64)
    wanted = check_count(n_queries)
    known = as_triplets(asked).positions(len(F)).items
    size = max(wanted, min(wanted * max(check_count(n_draws), 1), MOST))
    drawn = questions(len(F), Wish(wanted, size, items, candidates), known, random_state)
    if lies_in_blocks(F):  # the rows that questions are about come here
        named = np.unique(drawn)
        return Triplets(
            named[_uncertain(gathered(F, named), np.searchsorted(named, drawn), wanted)]
        )
    return Triplets(_uncertain(F, drawn, wanted))


def _uncertain(F: np.ndarray, drawn: np.ndarray, wanted: int) -> np.ndarray:
    """The most uncertain of the questions that were drawn."""
    F = F.astype(np.float64, copy=False)
    balance, gap = _balance(F, drawn)
    order = np.lexsort((gap, np.abs(balance)))  # with one component all balances are 1
    chosen = order[sorted(_evenly(drawn[order], wanted))]
    return _nearer_first(drawn[chosen], balance[chosen] < 0).items


def _nearer_first(rows: np.ndarray, swap: np.ndarray) -> Triplets:
    """Questions with r the nearer one."""
    return Triplets(np.where(swap[:, None], rows[:, [0, 2, 1]], rows))


def _balance(F: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the components say, above 0 where r is nearer, in units of their disagreement.

    Also by how much the two distances differ, as a fraction of their sum.
    """
    balance, gap = np.zeros((2, len(rows)))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        q, r, s = F[rows[part].T]
        near, far = (q - r) ** 2, (q - s) ** 2
        total = (far - near).sum(axis=1)
        size, both = np.sqrt(((far - near) ** 2).sum(axis=1)), (far + near).sum(axis=1)
        np.divide(total, size, out=balance[part], where=size > 0)
        np.divide(np.abs(total), both, out=gap[part], where=both > 0)
    return balance, gap


def _evenly(rows: np.ndarray, wanted: int) -> list[int]:
    """The first rows in which no item occurs more often than it must."""
    names = rows.tolist()
    used = dict.fromkeys(np.unique(rows).tolist(), 0)
    most = -(-3 * wanted // max(len(used), 1))
    chosen: list[int] = []
    left: Any = range(len(names))
    while len(chosen) < min(wanted, len(names)):
        skipped = []
        for number in left:
            if len(chosen) == wanted:
                break
            question = names[number]
            if all(used[item] < most for item in question):
                chosen.append(number)
                for item in question:
                    used[item] += 1
            else:
                skipped.append(number)
        left = skipped
        most += 1 + most // 2
    return chosen


def next_queries(
    model: Any,
    n_queries: int,
    *,
    side: str = "row",
    asked: Any = None,
    items: Any = None,
    candidates: Any = None,
    n_draws: int = 60,
    random_state: Any = None,
) -> Triplets:
    """The comparisons whose answers would teach a fitted model most.

    Where answers teach (``row_prior="data"``, say) the model knows how uncertain each row of its
    factor is, from the prior and the answers so far. Questions are drawn at random, and one after
    the other is chosen whose answer would make the signs of near - far most certain over many
    other questions, as far as an answer is not noise, no item in many more than others. Every
    second one is one that `propose_queries` would propose, as are all of other models.

    Parameters
    ----------
    model : fitted RPRNMF, NMF, GNMF or LCNMF
    n_queries : int
    side : {"row", "column"}, default="row"
        Ask about the rows of W or the columns of H.
    asked : Triplets or array-like of shape (n_asked, 3), default=None
        What need not be asked, beside the triplets that the model was fitted with; names, if
        X has names, or positions.
    items : array-like, default=None
        Ask about these only; names or positions too.
    candidates : Triplets or array-like of shape (n_candidates, 3), default=None
        Ask these questions only; names or positions too. A learned model takes them for those
        that it should come to answer.
    n_draws, random_state
        As in `propose_queries`.

    Returns
    -------
    queries : Triplets
        Best first; by name if the rows (columns) of X have names, else by index.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf import RPRNMF
    >>> from rprnmf.triplets import next_queries
    >>> X = np.random.default_rng(0).random((20, 10))
    >>> model = RPRNMF(3, random_state=0).fit(X, row_triplets=[[0, 1, 2]])
    >>> next_queries(model, 5, random_state=0).n_triplets
    5
    """
    if side not in ("row", "column"):
        raise ValueError(f"side must be 'row' or 'column', got {side!r}.")
    check_is_fitted(model)
    factor = model.embedding_ if side == "row" else model.components_.T
    names = getattr(model, f"{side}_names_")
    known = as_triplets(getattr(model, f"{side}_triplets_", None))  # by position
    parts = [known.items]
    if asked is not None:
        parts.append(as_triplets(asked).positions(len(factor), names, side).items)
    if candidates is not None:
        candidates = as_triplets(candidates).positions(len(factor), names, side)
    if items is not None:
        items = item_positions(items, names, side)
    belief = model._belief(side) if hasattr(model, "_belief") else None
    if belief is not None:
        wanted = check_count(n_queries)
        room = max(ROOM // (3 * factor.shape[1] ** 2), 1)
        size = max(wanted, min(wanted * max(check_count(n_draws), 1), room))
        wish = Wish(wanted, size + min(TARGETS, room), items, candidates)
        drawn = questions(len(factor), wish, np.concatenate(parts), random_state)
        wish = wish._replace(size=size)
        if lies_in_blocks(factor):
            found = _informative_in_blocks(factor, belief, known, drawn, wish)
        else:
            found = _informative(factor, belief, known, drawn, wish)
        return found.with_names(names)
    found = propose_queries(
        *(factor, n_queries),
        asked=np.concatenate(parts),
        items=items,
        candidates=candidates,
        n_draws=n_draws,
        random_state=random_state,
    )
    return found.with_names(names)


def _informative_in_blocks(
    factor: Any, belief: Belief, known: Triplets, drawn: np.ndarray, wish: Wish
) -> Triplets:
    """The same where the factor lies in blocks: the rows that triplets name come here."""
    named = np.unique(np.concatenate((drawn.ravel(), known.items.ravel())))
    precision = belief.precision
    if lies_in_blocks(precision):
        belief = belief._replace(precision=gathered(precision, named))
    near = Triplets(np.searchsorted(named, known.items), weights=known.weights)
    places = np.searchsorted(named, drawn)
    found = _informative(gathered(factor, named), belief, near, places, wish)
    return Triplets(named[found.items])


def _informative(
    factor: np.ndarray, belief: Belief, known: Triplets, drawn: np.ndarray, wish: Wish
) -> Triplets:
    """The questions among those drawn that teach a learned factor most.

    Half of them are where its components balance. What the uncertainty of rows, which is an
    approximation, has no eye for is then asked too: on the answers of two crowds the two together
    were better than either.
    """
    items, targets = drawn[: wish.size], drawn[wish.size :]
    if len(targets) < min(TARGETS, len(items)):  # there are not that many
        targets = drawn[-TARGETS:]
    if len(items) == 0 or wish.wanted == 0:
        return Triplets(items[:0])
    first = weigh(factor, belief, known, items, targets)
    half = most_informative(first, wish.wanted - wish.wanted // 2)
    left = np.setdiff1d(np.arange(len(items)), half)  # in the order of the draws, which is random
    left = left[: max(wish.size // 2, 1)]
    balance, gap = _balance(np.asarray(factor, dtype=np.float64), items[left])
    left = left[np.lexsort((gap, np.abs(balance)))]
    other = left[sorted(_evenly(items[left], wish.wanted // 2))]
    chosen = np.concatenate((half, other))
    turns = np.concatenate((np.arange(len(half)), np.arange(len(other)) + 0.5))
    chosen = chosen[np.argsort(turns)]
    return _nearer_first(items[chosen], first.gaps[chosen] > 0)


def item_positions(items: Any, names: Any, side: str) -> Any:
    """Names or positions of some rows (columns) as positions."""
    given = list(items)
    numbers = all(isinstance(item, Integral) for item in given)
    if numbers and (names is None or not can_name(names) or names.dtype == object):
        return given
    place = places_of(() if names is None else names, side)
    for item in given:
        if item not in place:
            raise ValueError(f"items has {item!r}, which is not a {side} name of X.")
    return [place[item] for item in given]
