"""Settings of all tests: the same examples every time, no clock; Ctrl-C as on a terminal."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("quick")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell does so for jobs in the background, and the programs that tests start inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
