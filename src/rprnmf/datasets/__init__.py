"""Data to try things on."""

from __future__ import annotations

from rprnmf.datasets.movie_example import load_movie_example

__all__ = ["load_movie_example"]
