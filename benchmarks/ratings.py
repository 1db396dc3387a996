"""MovieLens 1M, masked Frobenius: seconds of whole fits to a held-out RMSE of 0.860.

K = 20, 90 % of the ratings to train on, regularisation weighted by the number of ratings. For
every program the smallest number of iterations that gets there is found without a clock, then
whole fits with that number are timed, data preparation included. Writes `results/ratings.*`.
"""

from __future__ import annotations

import scipy.sparse as sp
from common import MissingError, in_turn, median, start_process
from ratings_programs import GOAL, OURS, PEERS, K, Program, our_fit, split
from report import Report, within
from workers.ratings_protocol import Fold

LIMIT = 0.25


def main() -> None:
    quick, folder = start_process("ratings")
    repeats = 2 if quick else 5
    measured = (
        f"MovieLens 1M, K = {K}, masked Frobenius, 90/10 random split: wall seconds of whole fits, "
        f"data preparation included, one thread, to a held-out RMSE of {GOAL:.3f} (predictions "
        f"clipped to [1, 5]); medians of {repeats} folds, programs in turn. Each has the setting "
        "of its grid that got there first on the first fold, and on each fold the smallest number "
        "of iterations that gets there. Ratio: to the fastest peer that gets there. A program that "
        "does not get there has the seconds of its best fit and no ratio. SVD++, which is not "
        "non-negative, is run once, with the 20 epochs it has by default."
    )
    report = Report(folder, "ratings", "Incomplete data: MovieLens 1M", measured)
    try:
        fold = split(0)
    except MissingError as error:
        report.note(f"{error}.")
        return
    small = Fold(sp.coo_matrix(fold.train.tocsr()[:200]), *fold[1:])
    for name, (settings, _) in OURS.items():
        our_fit(name)(small.train, 2, **settings[-1])  # warm-up
    left_out = ("Surprise NMF", "cornac NMF", "wNMF", "Surprise SVD++") if quick else ()
    names = [name for name in (*OURS, *PEERS) if name not in left_out]
    programs = {name: Program(name, quick) for name in names}
    results = in_turn({name: program.once for name, program in programs.items()}, repeats)
    runs = {name: [run for run in results[name] if run] for name in names}
    there = {name: bool(done) and all(run["n"] for run in done) for name, done in runs.items()}
    times = {name: median(run["seconds"] for run in done) for name, done in runs.items()}
    fastest = min((times[name] for name in PEERS if there.get(name)), default=float("nan"))
    for name, done in runs.items():
        program = programs[name]
        if not done:
            report.note(f"{name}: {program.failed}.")
            continue
        ratio = times[name] / fastest if there[name] else float("nan")
        row = {"program": name, "seconds": times[name], "ratio": ratio, "limit": None}
        row |= {"within": None}
        if name in OURS and name != "rprnmf paper":
            row |= {"limit": LIMIT, "within": within(ratio, LIMIT)}
        row |= {"iterations": median(run["n"] for run in done) if there[name] else None}
        row |= {"reached": f"{sum(run['n'] > 0 for run in done)} of {len(done)}"}
        row |= {"RMSE": f"{median(run['rmse'] for run in done):.4f}"}
        row |= {"best RMSE": f"{program.best:.4f}"}
        setting = ", ".join(f"{key}={value}" for key, value in (program.setting or {}).items())
        report.add(**row, setting=setting or "none")
    title = "MovieLens 1M, first fold, chosen settings"
    lines = {name: program.line for name, program in programs.items() if len(program.line[0])}
    report.plot({title: lines}, "seconds", "held-out RMSE", log="x", mark={title: GOAL})


if __name__ == "__main__":
    main()
