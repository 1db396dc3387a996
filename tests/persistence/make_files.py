"""Files that are kept for ever: python -m tests.persistence.make_files.

Every version of the format has a folder in `files`, with what `save` wrote then and what the models
said. A file that is there is never written again: old files must stay readable.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import rprnmf
from rprnmf import NMF, Triplets
from rprnmf.array_file.layout import VERSION
from rprnmf.recommend import Recommender
from tests.persistence import recommenders
from tests.persistence.cases import facts, fitted, named
from tests.persistence.equality import bits

FOLDER = Path(__file__).parent / "files" / f"version_{VERSION}"
CASES = ("plain", "float32", "mask", "own graph", "labels", "taught", "taught by facts")
RECOMMENDERS = ("starts", "clicks", "tables", "comparisons", "interest")


def contents() -> dict[str, Any]:
    """What is kept, by the name of its file."""
    found = {name.replace(" ", "_"): fitted(name)[0] for name in CASES}
    found["unfitted"] = NMF(4, row_prior=facts(), random_state=np.random.RandomState(5))
    found["triplets"] = Triplets(named(), weights=np.arange(1.0, 7.0), absent="drop")
    for name in RECOMMENDERS:
        found[f"recommender_{name}"] = recommenders.fitted(name)
    return found


def digest(value: Any) -> str:
    """Of all bits of numbers; what numpy and pandas call things changes with their versions."""
    return hashlib.sha256(repr(bits(value)).encode()).hexdigest()[:16]


def said(name: str, value: Any) -> dict[str, Any]:
    """What a later version must say of a file."""
    if isinstance(value, Triplets):
        return {"items": value.items.tolist(), "weights": value.weights.tolist()}
    if isinstance(value, Recommender):
        return recommender_said(value)
    if not hasattr(value, "components_"):
        return {"random": value.random_state.random_sample(3).tolist()}
    rows = np.ones((2, value.n_features_in_), dtype=value.components_.dtype)
    if hasattr(value, "feature_names_in_"):
        import pandas as pd

        rows = pd.DataFrame(rows, columns=value.feature_names_in_)
    return {
        "components": digest(value.components_),
        "embedding": digest(value.embedding_),
        "history": digest(value.history_["objective"]),
        "names": None if value.row_names_ is None else list(value.row_names_),
        "transform": np.asarray(value.transform(rows), dtype=np.float64).tolist(),
    }


def recommender_said(model: Recommender) -> dict[str, Any]:
    """What a recommender holds, and what it says to the last digits but a few."""
    users, items = model.user_ids_, model.item_ids_
    lists: Any = model.recommend(users[:3], 4)
    return {
        "users": list(users),
        "items": list(items),
        "factors": np.asarray(model.item_factors_, dtype=np.float64).tolist(),
        "lists": [one.items for one in lists],
        "similar": model.similar_items(items[0], 4).items,
        "told": [[part.item for part in model.explain(users[0], items[0]).rated]],
        "transform": model.predict(users[0], items).tolist(),
    }


def main() -> int:
    """Exit code 1 if there is nothing new."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = FOLDER / "expected.json"
    expected = json.loads(kept.read_text()) if kept.exists() else {}
    new = {name: value for name, value in contents().items() if name not in expected}
    for name, value in new.items():
        rprnmf.save(value, FOLDER / f"{name}.rprnmf")
        expected[name] = said(name, value)
    kept.write_text(json.dumps(expected, indent=1) + "\n")
    print(f"{len(new)} new files; those that were there are kept for ever.")
    return int(not new)


if __name__ == "__main__":
    sys.exit(main())
