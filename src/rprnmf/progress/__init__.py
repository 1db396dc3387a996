"""How far a long job is: a bar on a terminal, a line now and then elsewhere."""

from rprnmf.progress.bars import EVERY, clock
from rprnmf.progress.fits import Progress
from rprnmf.progress.iterations import FitProgress, Told

__all__ = ["EVERY", "FitProgress", "Progress", "Told", "clock"]
