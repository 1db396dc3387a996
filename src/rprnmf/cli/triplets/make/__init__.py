"""``rprnmf triplets make``: one file per source."""

from __future__ import annotations

from rprnmf.cli.command import Group

COMMANDS = {
    "labels": "From classes: q and r of one, s of another.",
    "metadata": "From what is known about items: genres, jobs, ages.",
    "features": "From distances between rows of a matrix.",
    "links": "From pairs that belong together and pairs that do not.",
    "answers": "From answers of people, such as those to `triplets ask`.",
}

make = Group(
    "make",
    "rprnmf.cli.triplets.make",
    COMMANDS,
    help="Make comparisons from what is known.\n\nItems are called by their names if the file has "
    "a column of names, else by their positions, counted from 0.",
)
