"""Options that become parameters of an estimator.

An option that is not given leaves the parameter at the estimator's default.
"""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli import choices
from rprnmf.cli.options import several

#: the parameter of an estimator that an option sets, if they differ in name
PARAMETERS = {
    "components": "n_components",
    "loss": "beta_loss",
    "neighbors": "n_neighbors",
    "alpha_w": "alpha_W",
    "alpha_h": "alpha_H",
    "seed": "random_state",
    "jobs": "n_jobs",
}


class NumberOr(click.ParamType):
    """A number, or one of some words."""

    def __init__(self, name: str, *words: str):
        self.name, self.words = name, words

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number or the word."""
        if value in self.words or not isinstance(value, str):
            return value
        try:
            return float(value)
        except ValueError:
            words = ", ".join(self.words)
            self.fail(f"{value!r} is neither a number nor one of {words}.", param, ctx)

    def get_metavar(self, param: Any, ctx: Any = None) -> str:
        """For the help."""
        return f"[{'|'.join(self.words)}|NUMBER]"


STRENGTH = NumberOr("strength", "auto", "obey")
components = click.option(
    "-k",
    "--components",
    type=click.IntRange(1),
    metavar="K",
    help="Number of components (default: 10, or as many as X has rows or columns).",
)
settings = several(
    click.option(
        "--estimator",
        type=click.Choice(choices.ESTIMATORS),
        help="Default: rprnmf, or lcnmf if there are labels.",
    ),
    click.option(
        "--loss",
        type=NumberOr("loss", *choices.LOSSES),
        help="What W H is measured by; a number is the beta of a beta-divergence.  "
        "[default: frobenius]",
    ),
    click.option(
        "--row-strength",
        type=STRENGTH,
        help="Of the comparisons of rows (gnmf: of the graph).  [default: auto]",
    ),
    click.option("--column-strength", type=STRENGTH, help="The same for columns."),
    click.option(
        "--row-prior",
        multiple=True,
        metavar="[none|mean|data|FILE]",
        help="What predicts where a row of W is: its data, or a table with one row per row of X. "
        "With it comparisons teach. May be given several times.",
    ),
    click.option(
        "--column-prior",
        multiple=True,
        metavar="[none|mean|data|FILE]",
        help="The same for the columns of H.",
    ),
    click.option(
        "--row-graph",
        metavar="[knn|cosine|FILE]",
        help="Rows that are alike: neighbours in X, or a square matrix of weights.",
    ),
    click.option("--column-graph", metavar="[knn|cosine|FILE]", help="The same for columns."),
    click.option(
        "--graph-strength",
        type=NumberOr("strength", "auto"),
        help="Of the graphs.  [default: auto]",
    ),
    click.option(
        "--neighbors", type=click.IntRange(1), metavar="N", help="In a graph.  [default: 5]"
    ),
    click.option(
        "--solver",
        type=click.Choice(choices.SOLVERS),
        help="cd: fast; mu: multiplicative; paper: as published.  [default: cd]",
    ),
    click.option(
        "--penalty", type=click.Choice(choices.PENALTIES), help="What an unmet one costs."
    ),
    click.option(
        "--distance", type=click.Choice(choices.DISTANCES), help="How far apart two rows are."
    ),
    click.option("--margin", type=float, help="By how much comparisons should hold."),
    click.option("--init", type=click.Choice(choices.INITS), help="Where the factors start."),
    click.option("--n-init", type=click.IntRange(1), metavar="N", help="Starts; the best is kept."),
    click.option("--alpha-w", type=float, help="Weight of the L1 and L2 terms of W."),
    click.option("--alpha-h", type=NumberOr("weight", "same"), help="The same for H."),
    click.option(
        "--l1-ratio", type=click.FloatRange(0, 1), metavar="N", help="Fraction of L1 in them."
    ),
    click.option(
        "--tol", type=click.FloatRange(0), metavar="N", help="When to stop.  [default: 0.0001]"
    ),
    click.option(
        "--max-iter",
        type=click.IntRange(1),
        metavar="N",
        help="Iterations at most.  [default: 200]",
    ),
    click.option("--jobs", type=int, metavar="N", help="Threads.  [default: all]"),
)
#: in the order of the help
NAMES = (
    *("loss", "row_strength", "column_strength", "graph_strength", "neighbors", "solver"),
    *("penalty", "distance", "margin", "init", "n_init", "alpha_w", "alpha_h", "l1_ratio"),
    *("tol", "max_iter", "jobs"),
)
