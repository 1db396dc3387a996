"""Settings of all property tests: the same examples every time, no clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True)
settings.load_profile("quick")
