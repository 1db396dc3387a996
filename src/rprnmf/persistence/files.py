"""Models and triplets in files."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from rprnmf.array_file import FileFormatError, read_arrays, write_arrays
from rprnmf.persistence.models import MODELS
from rprnmf.persistence.pool import Pool
from rprnmf.persistence.states import STATE, built, model_parts, triplets_parts
from rprnmf.remote.shards import folder_of, remove_shards
from rprnmf.triplets import Triplets

MODEL, COMPARISONS = "model", "triplets"  # kinds of files


def save(model: Any, path: Any) -> None:
    """Save an estimator or a recommender, fitted or not, or triplets, to one file.

    The file holds numbers and text, no code: `load` runs nothing that a file says. It is written
    beside the place and put there at the end, so that a file that is there stays whole until
    the new one is.

    Parameters
    ----------
    model : RPRNMF, NMF, GNMF, LCNMF, Recommender or Triplets
        With its parameters, all that a fit left in it, names, and what ``set_output`` and
        ``set_fit_request`` set. Where W is a Dask array its blocks are written to files in a folder
        beside the file, ``NAME.rows``, which goes with it; `load` reads a block when it is used.
        Functions are not saved: ``callback`` becomes None, and a warning says so. The
        ``estimators_`` of a Recommender are left out: none of its methods needs them.
    path : path-like
        In a folder that exists; by custom it ends in .rprnmf.

    Raises
    ------
    TypeError
        If something in the model is of a type that cannot be saved: what, and where.

    See Also
    --------
    load : The model again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import rprnmf
    >>> X = np.random.default_rng(0).random((6, 5))
    >>> model = rprnmf.NMF(2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rprnmf.save(model, Path(folder, "model.rprnmf"))
    ...     again = rprnmf.load(Path(folder, "model.rprnmf"))
    >>> again
    NMF(n_components=2, random_state=0)
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    path = Path(path)
    folder = folder_of(path)
    pool = Pool(folder=folder)
    header: dict[str, Any] = {"class": type(model).__name__, "state": STATE, "written": _written()}
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder, so {path.name} cannot be saved.")
    if type(model) is Triplets:
        kind = COMPARISONS
        header |= triplets_parts(model, pool)
    elif type(model) in MODELS:
        kind = MODEL
        header |= model_parts(model, pool)
    else:
        known = ", ".join(one.__name__ for one in (*MODELS, Triplets))
        raise TypeError(f"save takes one of {known}, got {_described(model)}.")
    write_arrays(path, header, pool.arrays, kind=kind)
    remove_shards(folder, pool.shards)


def load(path: Any) -> Any:
    """Load what `save` saved.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : RPRNMF, NMF, GNMF, LCNMF, Recommender or Triplets
        All its methods give the same, to the last digit, as those of the model that was saved.

    Raises
    ------
    FileFormatError
        If the file is not as it was written: cut short, changed, of a newer version, of another
        kind, or made by hand so that its parts do not fit together. It is a ValueError.
    OSError
        If there is no such file, or the system cannot read it.
    ImportError
        If the file holds a DataFrame, and pandas is not installed.

    See Also
    --------
    save : With an example.
    """
    header, arrays = read_arrays(path, kind=(MODEL, COMPARISONS))
    try:
        return built(header, Pool(arrays, folder_of(path)))
    except (ValueError, TypeError, OverflowError) as error:
        raise FileFormatError(f"{path} cannot be read: {error}") from None


def describe(path: Any) -> dict[str, Any]:
    """What a file says of itself: the class, and when and with which versions it was written.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    about : dict
        ``class``, ``date``, and the versions of ``rprnmf``, ``numpy``, ``scipy``,
        ``scikit-learn`` and ``python``, all of them text.
    """
    header, _ = read_arrays(path, kind=(MODEL, COMPARISONS))
    written = header.get("written")
    if not isinstance(written, dict):
        raise FileFormatError(f"{path} cannot be read: it does not say how it was written.")
    return {"class": str(header.get("class")), **{key: str(each) for key, each in written.items()}}


def _written() -> dict[str, str]:
    import rprnmf

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "rprnmf": rprnmf.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }


def _described(model: Any) -> str:
    kind = type(model)
    for known in MODELS:
        if isinstance(model, known):
            return (
                f"{kind.__name__}, a class derived from {known.__name__}: its own methods would be "
                f"lost. Fit a {known.__name__} with the same parameters, or save its arrays"
            )
    return f"an object of the class {kind.__name__}"
