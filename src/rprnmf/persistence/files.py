"""Models and triplets in files."""

from __future__ import annotations

import platform
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from rprnmf.array_file import FileFormatError, read_arrays, write_arrays
from rprnmf.estimators.sklearn_callbacks import TEARDOWN
from rprnmf.persistence.models import MODELS, check_model, known_attributes
from rprnmf.persistence.objects import Objects
from rprnmf.persistence.pool import Pool, fields
from rprnmf.persistence.reading import Reader
from rprnmf.persistence.requests import ATTRIBUTE, requests_of, set_requests
from rprnmf.persistence.schemas import OBJECTS, TRIPLETS
from rprnmf.persistence.writing import Writer
from rprnmf.triplets import Triplets

MODEL, COMPARISONS = "model", "triplets"  # kinds of files
STATE = 1  # the version of what a model consists of
CALLBACKS = "_skl_callbacks"  # of scikit-learn's set_callbacks


def save(model: Any, path: Any) -> None:
    """Save an estimator, fitted or not, or triplets, to one file.

    The file holds numbers and text, no code: `load` runs nothing that a file says. It is written
    beside the place and put there at the end, so that a file that is there stays whole until
    the new one is.

    Parameters
    ----------
    model : RPRNMF, NMF, GNMF, LCNMF or Triplets
        With its parameters, all that a fit left in it, names, and what ``set_output`` and
        ``set_fit_request`` set. Functions are not saved: ``callback`` becomes None, and a
        warning says so.
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
    path, pool = Path(path), Pool()
    header: dict[str, Any] = {"class": type(model).__name__, "state": STATE, "written": _written()}
    if type(model) is Triplets:
        kind = COMPARISONS
        header["value"] = Writer(pool, OBJECTS).node(model, "Triplets")
    elif type(model) in MODELS:
        kind = MODEL
        header |= _parts(model, pool)
    else:
        known = ", ".join(one.__name__ for one in (*MODELS, Triplets))
        raise TypeError(f"save takes one of {known}, got {_described(model)}.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder, so {path.name} cannot be saved.")
    write_arrays(path, header, pool.arrays, kind=kind)


def load(path: Any) -> Any:
    """Load what `save` saved.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    model : RPRNMF, NMF, GNMF, LCNMF or Triplets
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
        return _built(header, Pool(arrays))
    except (ValueError, TypeError) as error:
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
    about = {"class": header.get("class"), **_as_dict(header.get("written"))}
    return {str(name): str(value) for name, value in about.items()}


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


def _parts(model: Any, pool: Pool) -> dict[str, Any]:
    """Its parameters and attributes as nodes, after the checks that `load` makes."""
    parameters = model.get_params(deep=False)
    known = known_attributes(type(model))
    attributes = {
        name: value
        for name, value in vars(model).items()
        if name not in parameters and name not in (ATTRIBUTE, *TEARDOWN)
    }
    lost = [name for name in attributes if name not in known and name != CALLBACKS]
    lost += [name for name, value in parameters.items() if callable(value)]
    lost += ["the callbacks of set_callbacks"] if attributes.get(CALLBACKS) else []
    kept = {name: value for name, value in attributes.items() if name in known}
    check_model(model, kept)
    writer, plain = Writer(pool, OBJECTS), Writer(pool)
    found = {
        "parameters": {
            name: plain.node(None if callable(value) else value, name)
            for name, value in parameters.items()
        },
        "attributes": {name: writer.node(value, name) for name, value in kept.items()},
        "requests": requests_of(model),
    }
    if lost:
        warnings.warn(
            f"{', '.join(lost)} of {type(model).__name__} cannot be saved and will be missing "
            "when the file is loaded: functions and attributes that a fit did not set are left "
            "out.",
            UserWarning,
            stacklevel=3,
        )
    return found


def _built(header: dict[str, Any], pool: Pool) -> Any:
    if type(header.get("state")) is not int or header["state"] != STATE:
        raise ValueError(
            f"the version of its content is {str(header.get('state'))[:20]}, this rprnmf reads "
            f"{STATE}; a newer rprnmf may read it."
        )
    if header.get("class") == Triplets.__name__:
        node = fields(header, ("class", "state", "written", "value"), "a file of triplets")[-1]
        value = Reader(pool, Objects(TRIPLETS)).value(node)
        if type(value) is not Triplets:
            raise ValueError("a file of triplets must hold triplets.")
        pool.check_empty()
        return value
    kinds = {kind.__name__: kind for kind in MODELS}
    if not isinstance(header.get("class"), str) or header["class"] not in kinds:
        raise ValueError(f"models of the class {str(header.get('class'))[:40]!r} are not known.")
    kind: Any = kinds[header["class"]]
    parts = ("class", "state", "written", "parameters", "attributes", "requests")
    *_, parameters, attributes, requests = fields(header, parts, "a model")
    _check_names(parameters, kind._get_param_names(), "parameters")
    _check_names(attributes, known_attributes(kind), "attributes")
    plain, reader = Reader(pool), Reader(pool, OBJECTS)
    model = kind(**{name: plain.value(node) for name, node in parameters.items()})
    found = {name: reader.value(node) for name, node in attributes.items()}
    check_model(model, found)
    pool.check_empty()
    vars(model).update(found)
    set_requests(model, requests)
    return model


def _check_names(found: Any, known: Any, what: str) -> None:
    if not isinstance(found, dict) or not set(found) <= set(known):
        unknown = sorted(set(_as_dict(found)) - set(known))
        raise ValueError(f"its {what} must be among those of the class, got {str(unknown)[:80]}.")


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _described(model: Any) -> str:
    kind = type(model)
    for known in MODELS:
        if isinstance(model, known):
            return (
                f"{kind.__name__}, a class derived from {known.__name__}: its own methods would be "
                f"lost. Fit a {known.__name__} with the same parameters, or save its arrays"
            )
    return f"an object of the class {kind.__name__}"
