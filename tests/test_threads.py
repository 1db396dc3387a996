"""Threads and forks: a child never waits for a thread that it does not have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

START = """
import os, signal, sys, threading, time, warnings
import numpy as np
from threadpoolctl import threadpool_info
from rprnmf import NMF, threads

warnings.simplefilter("ignore")
X = np.random.default_rng(0).random((60, 50))

def fit(n_jobs):
    return NMF(5, n_jobs=n_jobs, max_iter=3, tol=0, random_state=0).fit(X)

def blas():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

def in_child(work, seconds=30):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"

fit(1)
"""
LOCKED = """
entered, limits = threading.Event(), threads.threadpool_limits

def slow(*args):
    entered.set()
    time.sleep(2)
    return limits(*args)

threads.threadpool_limits = slow
thread = threading.Thread(target=fit, args=(1,))
thread.start()
entered.wait()

def child():
    threads.threadpool_limits = limits
    fit(1), fit(2), fit(None)

print(in_child(child))
thread.join()
"""
COMPUTING = """
from functools import cached_property

entered, forked = threading.Event(), threading.Event()
modules = [m for name, m in sys.modules.items() if name.startswith("rprnmf")]
classes = {c for m in modules for c in vars(m).values() if isinstance(c, type)}
members = [member for c in classes for member in vars(c).values()]
properties = [member for member in members if isinstance(member, cached_property)]
assert properties

def hold():
    for member in properties:
        if hasattr(member, "lock"):  # before Python 3.12: held while it computes
            member.lock.acquire()
    entered.set()
    forked.wait()

thread = threading.Thread(target=hold)
thread.start()
entered.wait()
print(in_child(lambda: fit(1)))
forked.set()
thread.join()
"""
BUSY = """
stop = threading.Event()

def go_on(n_jobs):
    while not stop.is_set():
        fit(n_jobs)

workers = [threading.Thread(target=go_on, args=(n_jobs,)) for n_jobs in (1, 1, 2)]
for worker in workers:
    worker.start()
found = [in_child(lambda: (fit(1), fit(None))) for _ in range(20)]
stop.set()
for worker in workers:
    worker.join()
print(*found)
"""
WITHIN = """
before = blas()
with threads.blas_threads(1):
    def child():
        fit(None)
        assert blas() == before  # no limit in the child: who set it is not there
    codes = [in_child(child)]
    pid = os.fork()  # and a child that leaves the block by itself
limited = blas()
if pid == 0:
    fit(2), fit(None)
    os._exit(blas() != before)
print(*codes, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), limited == before)
"""


def outcome(code):
    done = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, timeout=1000
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_child_forked_while_a_thread_sets_the_limit_can_fit():
    assert outcome(LOCKED) == ["0"]


def test_a_child_forked_while_a_thread_computes_a_property_can_fit():
    assert outcome(COMPUTING) == ["0"]


def test_children_forked_while_threads_fit_can_fit():
    assert outcome(BUSY) == ["0"] * 20


def test_a_child_has_no_users_of_the_limit():
    assert outcome(WITHIN) == ["0", "0", "True"]
