"""The metrics and measures of the paper, and how their numbers are written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number by which algorithms are compared.

    ``judged``: it says how well the task is done, not only how well X is approximated.
    """

    name: str
    unit: str = ""
    lower_is_better: bool = False
    judged: bool = False

    @property
    def label(self) -> str:
        """The name with its unit."""
        return f"{self.name}{self.unit}"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("MSL", lower_is_better=True),
        Metric("MD", lower_is_better=True),
        Metric("CSR", " %"),
        Metric("ACC", " %", judged=True),
        Metric("NMI", " %", judged=True),
        Metric("RMSE", lower_is_better=True, judged=True),
        Metric("F1", " %", judged=True),
        Metric("seconds", lower_is_better=True),
    )
}
MEASURES = {"euclidean": "Euclidean", "divergence": "Divergence"}


def number(value: float, digits: int) -> str:
    """A number with this many significant digits; large ones have all digits before the point."""
    if value != value:
        return "-"
    size = abs(float(f"{value:.{digits}g}"))
    if size >= max(10, 10 ** (digits - 2)):
        return f"{value:.{1 if digits > 2 and size < 1000 else 0}f}"
    if 0 < size < 1e-3:
        return f"{value:.{digits - 1}e}".replace("e-0", "e-")
    return f"{value:#.{digits}g}" if size else "0"


def as_printed(value: float) -> str:
    """A published figure, without digits that are not printed."""
    return f"{value:.4g}" if abs(value) >= 1e-3 or not value else number(value, 4)


def counted(n: int, name: str) -> str:
    """1 run, 2 runs."""
    return f"{n} {name}{'' if n == 1 else 's'}"
