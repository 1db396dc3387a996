"""A matrix and its transpose that know each other without keeping each other alive."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from typing import Any


class Transposable(ABC):
    """Gives a class ``T``, made once, from its method ``_transposed``."""

    _made: Any = None
    _maker: Any = None
    #: of a block of rows: what is known of all rows (`base.Extent`)
    extent: Any = None

    @abstractmethod
    def _transposed(self) -> Any:
        """The transpose, made anew."""

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made from it when it is needed."""
        left_out = ("_made", "_maker", "_descent")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    @property
    def T(self) -> Any:
        """The same matrix, transposed."""
        if self._maker is not None:
            maker = self._maker()
            if maker is not None:
                return maker
        if self._made is None:
            self._made = self._transposed()
            self._made._maker = weakref.ref(self)  # a strong link would be a cycle
            self._made.extent = self.extent
        return self._made
