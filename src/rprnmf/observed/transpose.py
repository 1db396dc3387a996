"""A matrix and its transpose that know each other without keeping each other alive."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from typing import Any, Self


class Transposable(ABC):
    """Gives a class ``T``, made once, from its method ``_transposed``."""

    _made: Any = None
    _maker: Any = None

    @abstractmethod
    def _transposed(self) -> Self:
        """The transpose, made anew."""

    @property
    def T(self) -> Self:
        """The same matrix, transposed."""
        if self._maker is not None:
            maker = self._maker()
            if maker is not None:
                return maker
        if self._made is None:
            self._made = self._transposed()
            self._made._maker = weakref.ref(self)  # a strong link would be a cycle
        return self._made
