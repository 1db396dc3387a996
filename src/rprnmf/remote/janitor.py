"""Clears the rooms of a worker; it needs `distributed`, which only workers must have."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

from rprnmf.remote.rooms import KEYS, clear


class Janitor(WorkerPlugin):
    """Clears rooms whose task nobody wants any more."""

    def setup(self, worker: Any) -> None:
        """Begin with what happened before."""
        self.address = worker.address
        for key in [key for at, key in KEYS if at == self.address]:
            if key not in worker.state.tasks:
                clear(self.address, key)

    def transition(self, key: Any, start: Any, finish: Any, **_: Any) -> None:
        """A task has another state."""
        if finish in ("released", "forgotten"):
            clear(self.address, key)

    def teardown(self, worker: Any) -> None:
        """The worker is closed."""
        for key in [key for at, key in KEYS if at == self.address]:
            clear(self.address, key)
