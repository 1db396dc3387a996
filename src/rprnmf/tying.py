"""Labels as in LCNMF: the members of a label share one row of the factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rprnmf.remote import Pool, Remote, RemoteArray


class Tying:
    """Rows of a factor that are kept equal.

    Parameters
    ----------
    groups : ndarray of shape (n_rows,)
        Number of the group of each row, 0 .. n_groups - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rprnmf.tying import Tying
    >>> Tying(np.array([0, 1, 0])).sum(np.array([[1.0], [2.0], [3.0]])).ravel()
    array([4., 2., 4.])
    """

    def __init__(self, groups: np.ndarray):
        n = len(groups)
        self.groups = groups
        self.sizes = np.bincount(groups)
        self._members = sp.csr_array(
            (np.ones(n), (groups, np.arange(n))), shape=(len(self.sizes), n)
        )

    def total(self, A):
        """One row per group: the sum over its members; for dense and sparse A."""
        return (self._members @ A).astype(A.dtype, copy=False)

    def sum(self, A: np.ndarray) -> np.ndarray:
        """Each row becomes the sum over its group."""
        return self.total(A)[self.groups]

    def mean(self, A: np.ndarray) -> np.ndarray:
        """Each row becomes the mean over its group."""
        sizes = self.sizes[self.groups].astype(A.dtype)
        return self.sum(A) / (sizes[:, None] if A.ndim == 2 else sizes)


class SummedTying:
    """As `Tying`, of data that have one row per group: the sum over its members.

    Parameters
    ----------
    sizes : ndarray of shape (n_groups,)
        The number of members.
    """

    def __init__(self, sizes: np.ndarray):
        self.sizes, self.groups = sizes, np.arange(len(sizes))

    def total(self, A):
        """What has one row per group already."""
        return A


class BlockTying(Tying):
    """The groups of the rows of one block.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Numbers of labels; -1: not known.
    split : ndarray
        The labels, in order, that other blocks have too.

    Attributes
    ----------
    at : ndarray of shape (n_rows,)
        The place of the row's label in ``split``; -1: its group has no rows elsewhere.
    alone : ndarray
        The groups that have no rows elsewhere.
    """

    def __init__(self, codes: np.ndarray, split: np.ndarray):
        known = codes >= 0
        labels, groups = np.unique(codes, return_inverse=True)
        groups[~known] = len(labels) + np.arange(np.count_nonzero(~known))
        super().__init__(np.unique(groups, return_inverse=True)[1])
        self.n_split = len(split)
        self.at = np.full(len(codes), -1)
        places = np.searchsorted(split, codes)
        found = places < len(split)
        found[found] = split[places[found]] == codes[found]
        self.at[found] = places[found]
        self.alone = np.setdiff1d(self.groups, self.groups[found])
        self.out = np.flatnonzero(found)
        self.leads = np.unique(self.at[found], return_index=True)[1]  # a row of each

    @property
    def members(self) -> sp.csr_array:
        """Which rows make up each group that has rows elsewhere."""
        ones = np.ones(len(self.out))
        return sp.csr_array((ones, (self.at[self.out], self.out)), (self.n_split, len(self.at)))


class RemoteTying(Remote):
    """As `Tying`, of rows that lie in blocks.

    A group whose rows lie in one block is tied there. Of the others a sum for each label comes
    here and goes back.

    Parameters
    ----------
    pool : Pool
    codes : Remote
        The numbers of the labels of a block's rows; -1: not known.
    found : list of ndarray
        The labels that each block has.
    """

    def __init__(self, pool: Pool, codes: Remote, found: list[np.ndarray]):
        labels, in_blocks = np.unique(np.concatenate(found), return_counts=True)
        split = labels[(in_blocks > 1) & (labels >= 0)]
        tied = pool.map(BlockTying, codes, split)
        pool.share(tied.number)
        super().__init__(pool, tied.number)
        self.n_split = len(split)
        self.sizes = pool.total(split_sizes, self)  # of the groups that have rows in several blocks

    def split_total(self, A: RemoteArray) -> np.ndarray:
        """Sums over the members of each group with rows in several blocks, here."""
        return self.pool.total(split_sums, self, A)

    def split_rows(self, F: RemoteArray) -> np.ndarray:
        """The row that the members of each of these groups share, here."""
        found = np.zeros((self.n_split, *F.width), F.dtype)
        for places, rows in self.pool.total(split_rows, self, F):
            found[places] = rows
        return found

    def with_split_rows(self, F: RemoteArray, rows: np.ndarray) -> RemoteArray:
        """A factor in which the members of these groups share other rows."""
        return RemoteArray.of(self.pool.map(with_split_rows, self, F, rows), F.width, F.dtype)

    def sum(self, A: RemoteArray) -> RemoteArray:
        """Each row becomes the sum over its group."""
        total = self.split_total(A) if self.n_split else None
        return RemoteArray.of(self.pool.map(tied_sums, self, A, total), A.width, A.dtype)

    def mean(self, A: RemoteArray) -> RemoteArray:
        """Each row becomes the mean over its group."""
        total = None
        if self.n_split:
            sizes = self.sizes.astype(A.dtype)
            total = self.split_total(A) / (sizes[:, None] if A.ndim == 2 else sizes)
        return RemoteArray.of(self.pool.map(tied_means, self, A, total), A.width, A.dtype)


def tying_of(groups: Any) -> Any:
    """Of the numbers of groups; of rows that lie in blocks as it is."""
    return groups if isinstance(groups, RemoteTying) else Tying(groups)


def split_sizes(tying: BlockTying) -> np.ndarray:
    """The members, in a block, of groups that have rows elsewhere."""
    return np.bincount(tying.at[tying.out], minlength=tying.n_split)


def split_sums(tying: BlockTying, A: np.ndarray) -> np.ndarray:
    """The sums over these."""
    return (tying.members @ A).astype(A.dtype, copy=False)


def split_rows(tying: BlockTying, F: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The rows that these share."""
    leads = tying.out[tying.leads]
    return [(tying.at[leads], F[leads])]


def with_split_rows(tying: BlockTying, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """With other rows for these."""
    changed = F.copy()
    changed[tying.out] = rows[tying.at[tying.out]]
    return changed


def tied_sums(tying: BlockTying, A: np.ndarray, total: np.ndarray | None) -> np.ndarray:
    """Sums over groups; over those with rows elsewhere they are given."""
    found = tying.sum(A)
    return found if total is None else with_split_rows(tying, found, total)


def tied_means(tying: BlockTying, A: np.ndarray, means: np.ndarray | None) -> np.ndarray:
    """The same for means."""
    found = tying.mean(A)
    return found if means is None else with_split_rows(tying, found, means)
