"""The garbage collector rests while kernels are compiled, and then works as before."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numba import TypingError
from numba.core import event

from rprnmf.kernels import csr, part
from rprnmf.kernels.collector import collector_rest


class Witness(event.Listener):
    """Whether the collector works when a compilation begins."""

    def __init__(self):
        self.seen = []

    def on_start(self, event):
        self.seen.append(gc.isenabled())

    def on_end(self, event):
        """Nothing is looked at."""


def test_it_rests_while_a_kernel_is_compiled_and_nothing_is_left_off():
    moments = part(csr.column_moments.py_func)  # never on disk
    witness = Witness()
    with event.install_listener("numba:compile", witness):
        moments(np.zeros(1, np.int64), np.ones(1), np.zeros(1), np.zeros(1))
        assert gc.isenabled()
        with pytest.raises(TypingError):
            moments(1.0, 1.0, 1.0, 1.0)
    assert witness.seen
    assert not any(witness.seen)
    assert gc.isenabled()
    assert collector_rest.depth == 0


def test_it_stays_off_for_those_who_turned_it_off():
    gc.disable()
    try:
        with collector_rest:
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_to_leave_turns_it_on_and_a_forked_child_too():
    with collector_rest:
        with collector_rest:
            assert not gc.isenabled()
        assert not gc.isenabled()
        collector_rest.after_fork()  # as in the child of a process of which a thread compiles
        assert gc.isenabled()
    assert gc.isenabled()
    assert collector_rest.depth == 0
