"""``rprnmf triplets check``."""

from __future__ import annotations

from typing import Any

import click

from rprnmf.cli.command import command
from rprnmf.cli.comparisons import describe, read_triplets
from rprnmf.cli.files import INPUT, check_files
from rprnmf.cli.report import Report, Table, counted, per_cent


@command("rprnmf triplets check triplets.csv")
@click.argument("file", type=INPUT)
@click.option(
    "--show",
    type=click.IntRange(0),
    metavar="N",
    default=10,
    show_default=True,
    help="Conflicts to list.",
)
def check(given: Any) -> Report:
    """Find comparisons that contradict each other.

    Directly: "q is closer to r than to s" beside "q is closer to s than to r". Or in a circle: a
    pair is closer than a second, that closer than a third, and that closer than the first.
    """
    check_files(given.run, [], [given.file])
    from rprnmf.triplets import check_consistency

    known = read_triplets(given.file)
    found = check_consistency(known)
    low, high = found.satisfiable
    inside = int((found.conflict >= 0).sum())
    facts: dict[str, Any] = {
        **describe(known),
        "consistent": found.consistent,
        "conflicts": found.n_conflicts,
        "in_conflict": inside,
        "with_opposite": int((found.opposite >= 0).sum()),
        "satisfiable": [low, high],
    }
    sizes = sorted(range(found.n_conflicts), key=lambda one: -len(found.members(one)))
    rows = [
        [number, *known.items[t].tolist(), known.weights[t]]
        for number, conflict in enumerate(sizes[: given.show], start=1)
        for t in found.members(conflict)[:5]
    ]
    document = {
        **facts,
        "listed": [
            dict(zip(("conflict", "q", "r", "s", "weight"), row, strict=True)) for row in rows
        ],
    }
    table = Table(
        "",
        ("", ""),
        [
            ["comparisons", str(facts["triplets"])],
            ["items", str(facts["items"])],
            ["conflicts", str(found.n_conflicts)],
            ["comparisons in a conflict", str(inside)],
            ["with a direct opposite", str(facts["with_opposite"])],
            ["can be met", f"{per_cent(low)} of their weight"],
            ["cannot be beaten", f"{per_cent(high)} of their weight"],
        ],
    )
    if found.consistent:
        return Report(document, [table, "\nThere is no contradiction: all can be met at once."])
    parts: list[Any] = [table]
    if rows:
        shown = min(found.n_conflicts, given.show)
        title = f"The largest {counted(shown, 'conflict')}, at most five comparisons of each"
        parts.append(Table(title, ("conflict", "q", "r", "s", "weight"), rows))
    parts.append("\n`rprnmf triplets resolve` leaves out as little as it can.")
    return Report(document, parts)
