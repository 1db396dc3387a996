"""``rprnmf plot map``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.files import INPUT_OR_FOLDER
from rprnmf.cli.matrices import Size
from rprnmf.cli.options import side
from rprnmf.cli.pictures import picture_options
from rprnmf.cli.plot import common
from rprnmf.cli.report import Report


@command("rprnmf plot map model.rprnmf --side column --out map.png")
@common.model
@side
@common.triplets
@click.option("--no-triplets", is_flag=True, help="Draw no comparisons.")
@click.option(
    "--method",
    type=click.Choice(("pca", "mds")),
    default="pca",
    show_default=True,
    help="How the plane is found.",
)
@click.option("--n-names", type=click.IntRange(0), metavar="N", help="Names to write at most.")
@click.option("--n-lines", type=click.IntRange(0), metavar="N", help="Comparisons to draw at most.")
@click.option(
    "--images",
    type=INPUT_OR_FOLDER,
    metavar="X",
    help="Data whose rows are pictures of the items, drawn in place of names.",
)
@click.option("--image-shape", type=Size(), metavar="HxW", help="Height and width of a picture.")
@picture_options
def map(given: Any) -> Report:  # noqa: A001
    """Draw items in the plane, with met and unmet comparisons as lines.

    Colours tell which comparisons the factor meets, with all of its components. The plane shows two
    directions only.
    """
    model = common.opened(given, given.triplets, given.images)
    from rprnmf.plotting import plot_map

    triplets = None if given.no_triplets else common.comparisons(given, model)
    wanted = {"n_names": given.n_names, "n_lines": given.n_lines}
    settings = {name: value for name, value in wanted.items() if value is not None}
    images = None if given.images is None else pictures(given)
    return common.drawn(
        given,
        lambda: plot_map(
            *(model, triplets), side=given.side, method=given.method, images=images, **settings
        ),
    )


def pictures(given: Any) -> Any:
    """One picture per row of data."""
    import scipy.sparse as sp

    from rprnmf.inputs import read_matrix

    found = read_matrix(given.images)
    given.run.note(found.note)
    X = found.X.toarray() if sp.issparse(found.X) else found.X
    if given.image_shape is None:
        raise click.UsageError("--images needs --image-shape, as 32x32.")
    height, width = given.image_shape
    if height * width != X.shape[1]:
        raise ValueError(
            f"--image-shape {height}x{width} has {height * width} numbers, a row of "
            f"{given.images} has {X.shape[1]}."
        )
    return X.reshape(-1, height, width)
