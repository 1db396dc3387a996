"""``rprnmf triplets``: one file per command."""

from __future__ import annotations

from rprnmf.cli.command import Group

COMMANDS = {
    "make": "Make comparisons from labels, metadata, features, links, rankings or answers.",
    "check": "Find comparisons that contradict each other.",
    "resolve": "Leave out what contradicts the rest.",
    "convert": "Turn comparisons into a graph or into labels.",
    "split": "Split comparisons into two files, to fit on and to test on.",
    "ask": "Write the questions whose answers would teach a model most.",
}
ABOUT = """Comparisons "q is closer to r than to s" in files.

A file is CSV (or Parquet) with one row per comparison and the columns q, r, s and, if votes were
counted, weight. The items are names of rows or columns, or their positions, counted from 0."""

triplets = Group("triplets", "rprnmf.cli.triplets", COMMANDS, help=ABOUT)
