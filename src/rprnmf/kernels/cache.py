"""Compiled kernels on disk, where a damaged, full or missing cache is no reason to fail."""

from __future__ import annotations

import hashlib
import logging
import pickle
from typing import Any

from numba.core.serialize import dumps

from rprnmf.kernels.collector import collector_rest

IN_MEMORY = (
    "rprnmf compiles its loops in memory, which takes some seconds in every run: no folder for "
    "compiled code can be written; set NUMBA_CACHE_DIR to one that can."
)


class SafeCache:
    """The cache that numba made for one kernel, behind a guard.

    What cannot be read is compiled anew, what cannot be written stays in memory. A checksum goes
    with the machine code, since to run damaged code would end the process.

    Parameters
    ----------
    cache : numba.core.caching.FunctionCache
    stamp : str
        Of all kernels: numba looks for changes in the file of a function alone, not in those of
        what it calls.
    """

    told = False  # that something could not be written

    def __init__(self, cache: Any, stamp: str):
        self._cache, self._stamp = cache, stamp.encode()
        cache._cache_file._source_stamp = stamp
        self._reduce, self._rebuild = cache._impl.reduce, cache._impl.rebuild
        cache._impl.reduce, cache._impl.rebuild = self._pack, self._unpack

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def _checksum(self, data: bytes) -> str:
        return hashlib.sha256(self._stamp + data).hexdigest()

    def _pack(self, compiled: Any) -> tuple[str, bytes]:
        data = dumps(self._reduce(compiled))
        return self._checksum(data), data

    def _unpack(self, context: Any, packed: tuple[str, bytes]) -> Any:
        checksum, data = packed
        if self._checksum(data) != checksum:
            raise ValueError("the file is damaged")
        return self._rebuild(context, pickle.loads(data))

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel, or None if it is not there as it was written."""
        try:
            with collector_rest:
                compiled = self._cache.load_overload(signature, context)
        except Exception:  # a damaged file may raise anything
            return None
        if compiled is None or compiled.signature.args == tuple(signature):
            return compiled
        return None  # two processes wrote at once: the index of one, the code of the other

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write it, if that can be done."""
        try:
            try:
                self._cache.save_overload(signature, compiled)
            except OSError:
                raise
            except Exception:  # the index is damaged: begin a new one
                self._cache.flush()
                self._cache.save_overload(signature, compiled)
        except Exception as error:
            if not SafeCache.told:
                SafeCache.told = True
                logging.getLogger("rprnmf").warning(
                    f"rprnmf could not keep what it compiled ({error}): later runs compile again."
                )
