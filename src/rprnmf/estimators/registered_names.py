"""The names that a parameter may have: those of a registry, looked up when a fit begins."""

from __future__ import annotations

from collections.abc import Mapping

from sklearn.utils._param_validation import StrOptions


class RegisteredNames(StrOptions):
    """A name of a registry, or one of some others; for ``_parameter_constraints``.

    scikit-learn's own list of names is made with the class of an estimator. What is registered
    later would be unknown to it.

    Parameters
    ----------
    registry : mapping
    others : str
        Names that have a meaning beside those of the registry.

    Examples
    --------
    >>> from rprnmf.estimators.registered_names import RegisteredNames
    >>> registry = {"one": 1}
    >>> names = RegisteredNames(registry, "auto")
    >>> registry["two"] = 2
    >>> names.is_satisfied_by("two"), names.is_satisfied_by("three")
    (True, False)
    >>> print(names)
    a str among {'auto', 'one', 'two'}
    """

    def __init__(self, registry: Mapping[str, object], *others: str):
        super().__init__({*registry, *others})
        self.registry = registry
        self.others = others

    def is_satisfied_by(self, val: object) -> bool:
        """Whether a value is such a name."""
        return isinstance(val, str) and (val in self.registry or val in self.others)

    def __str__(self) -> str:
        known = sorted({*self.registry, *self.others})
        return f"a str among {{{', '.join(map(repr, known))}}}"
