"""numpy's RandomState, where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from rprnmf.persistence.pool import Pool, fields

PARTS = ("key", "pos", "has_gauss", "gauss")
WORDS = 624  # of the state of the Mersenne twister


def random_state_node(state: np.random.RandomState, pool: Pool, where: str) -> dict[str, Any]:
    """Its next numbers will be the same."""
    found: Any = state.get_state(legacy=False)
    if found["bit_generator"] != "MT19937":
        raise TypeError(
            f"{where} cannot be saved: a RandomState of {found['bit_generator']}, expected one of "
            "MT19937, as RandomState(seed) makes it."
        )
    return {
        "key": pool.put(found["state"]["key"]),
        "pos": int(found["state"]["pos"]),
        "has_gauss": int(found["has_gauss"]),
        "gauss": pool.put(np.array([found["gauss"]])),
    }


def read_random_state(node: Any, pool: Pool) -> np.random.RandomState:
    """The RandomState again."""
    number, pos, has_gauss, gauss = fields(node, PARTS, "a RandomState")
    key, normal = pool.take(number, "uint32", WORDS), pool.take(gauss, "float64", 1)
    if type(pos) is not int or not 0 <= pos <= WORDS or has_gauss not in (0, 1):
        raise ValueError(f"a RandomState must have a place from 0 to {WORDS}.")
    found = np.random.RandomState(0)
    found.set_state(("MT19937", key, pos, int(has_gauss), float(normal[0])))
    return found
