"""What a worker keeps for others, for as long as they hold on to it.

A task that brings something puts it into a room. The room is there for as long as the scheduler
wants the result of that task: until the client lets the task's future go, or is gone itself,
whatever became of it. So nothing is left on workers by a program that was killed.
"""

from __future__ import annotations

import uuid
from typing import Any

NAME = "rprnmf-rooms"

#: what this process keeps as a worker, or as several of them: by the names of rooms
ROOMS: dict[str, Any] = {}
#: the rooms of a worker: by its address and the key of the task that opened them
KEYS: dict[tuple[str, Any], list[str]] = {}


def open_room(content: Any) -> str:
    """Called by a task: keep something; the name by which others find it.

    The name is new each time, so that a worker that has begun anew is not taken for the old one.
    """
    from distributed import get_worker

    worker = get_worker()
    name = uuid.uuid4().hex
    ROOMS[name] = content
    KEYS.setdefault((worker.address, worker.get_current_task()), []).append(name)
    worker.loop.add_callback(watch, worker)
    return name


async def watch(worker: Any) -> None:
    """See to it that rooms are cleared; called by the loop of the worker."""
    if NAME not in worker.plugins:
        await worker.plugin_add(janitor(), NAME)


def clear(address: str, key: Any) -> None:
    """Forget what a task has brought."""
    for name in KEYS.pop((address, key), []):
        ROOMS.pop(name, None)


def janitor() -> Any:
    """What clears rooms whose task nobody wants any more: a plugin of a worker."""
    from distributed import WorkerPlugin  # workers have it

    class Janitor(WorkerPlugin):
        """Sees how tasks go."""

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

    return Janitor()
