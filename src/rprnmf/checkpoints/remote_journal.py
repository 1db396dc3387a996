"""The journal of a fit whose rows lie elsewhere: in files, and on the workers of a cluster.

In a file the rows of W are not in one place either: they go to a file per block, beside the head
file. On a cluster the state of every few iterations is also kept on the workers themselves, each
block on two of them. When a worker dies the fit begins again in a new pool with what was kept
last, and comes to the same result.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rprnmf.array_file import FileFormatError, write_arrays
from rprnmf.checkpoints.entry import Entry, Place
from rprnmf.checkpoints.journal import KIND, Journal
from rprnmf.checkpoints.tree import packed, unpacked
from rprnmf.remote import BlocksLostError, RemoteArray
from rprnmf.remote.saved import SavedRows, Vault, mapped
from rprnmf.remote.shards import (
    check_about,
    folder_of,
    read_shard,
    remove_shards,
    write_shards,
)

EVERY, SHARE = 5, 20.0  # iterations between two saves; and at most 1 / SHARE of the time
ROWS = "rows that lie beside it"


class RemoteJournal(Journal):
    """As `Journal`, for a fit in a pool.

    Parameters
    ----------
    pool : Pool
    vault : Vault or None
        Where the rows can be lost: what the fit has saved, and saves.
    path, fingerprint, every, notes
        As for `Journal`.
    """

    def __init__(
        self,
        pool: Any,
        vault: Vault | None,
        path: Path | None = None,
        fingerprint: dict[str, str] | None = None,
        every: float | None = None,
        notes: dict[str, Any] | None = None,
    ):
        self.pool, self.vault = pool, vault
        self.due, self.cost, self.saved = EVERY, 0.0, time.monotonic()
        super().__init__(path, fingerprint, every, notes)
        if vault is not None:
            self.keeps = True
            if vault.tree is not None:
                try:
                    tree = mapped(vault.tree, SavedRows, lambda rows: vault.restore(rows, pool))
                except BlocksLostError:
                    vault.tree = None  # the next attempt begins anew, or from the file
                    raise
                self.top = Entry.of_tree(tree)
                self.within = [Place(self.top)]

    def write_if_due(self) -> None:
        super().write_if_due()
        self.due -= 1
        rested = time.monotonic() - self.saved >= SHARE * self.cost
        if self.vault is not None and self.due <= 0 and rested:
            self.save()

    def save(self) -> None:
        """Keep the state on the workers."""
        assert self.vault is not None
        started = time.monotonic()
        known: dict[int, SavedRows] = {}

        def save(array: RemoteArray) -> SavedRows:
            if array.number not in known:
                known[array.number] = self.vault.save(array)  # type: ignore[union-attr]
            return known[array.number]

        self.vault.keep(mapped(self.top.tree(), RemoteArray, save))
        self.saved, self.due = time.monotonic(), EVERY
        self.cost = self.saved - started

    def _write(self, path: Path) -> None:
        folder, names = folder_of(path), set()
        known: dict[int, Any] = {}

        def write(array: RemoteArray) -> Any:
            if array.number not in known:
                blocks = (self.pool.part(array, block) for block in range(self.pool.n_blocks))
                known[array.number] = {ROWS: write_shards(folder, blocks)}
            return known[array.number]

        tree = mapped({"notes": self.notes, "fit": self.top.tree()}, RemoteArray, write)
        names = {about[ROWS]["name"] for about in known.values()}
        content, arrays = packed(tree)
        header = {"fingerprint": self.fingerprint, "content": content}
        write_arrays(path, header, arrays, kind=KIND)
        remove_shards(folder, names)

    def _unpacked(self, path: Path, content: Any, arrays: Any) -> Any:
        folder = folder_of(path)

        def read(found: dict[str, Any]) -> Any:
            if set(found) != {ROWS}:
                return {key: restored(value) for key, value in found.items()}
            about = check_about(found[ROWS])
            if about["sizes"] != [int(size) for size in self.pool.sizes]:
                raise FileFormatError(f"{path} has rows of other blocks than X.")
            try:
                return self.pool.put(
                    lambda block: read_shard(folder, about, block), about["width"], about["dtype"]
                )
            except FileNotFoundError as error:
                raise FileFormatError(f"{path} lacks rows: {error}.") from error

        def restored(value: Any) -> Any:
            if isinstance(value, dict):
                return read(value)
            if type(value) in (list, tuple):
                return type(value)(restored(each) for each in value)
            return value

        return restored(unpacked(content, arrays))
