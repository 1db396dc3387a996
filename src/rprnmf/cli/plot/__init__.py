"""``rprnmf plot``: one file per picture."""

from __future__ import annotations

from rprnmf.cli.command import Group

COMMANDS = {
    "map": "Items in the plane, with the comparisons between them.",
    "components": "What each component is made of.",
    "history": "Objective, loss and comparisons met, by iteration.",
    "triplets": "Which items gather the unmet comparisons.",
    "learning": "Unseen comparisons predicted, against the number of known ones.",
    "reliability": "How often comparisons hold that were given some chance.",
}

plot = Group("plot", "rprnmf.cli.plot", COMMANDS, help="Draw a picture of a model.")
