"""How far the model is from the observed entries."""

from __future__ import annotations

from rprnmf.losses.base import Loss
from rprnmf.losses.frobenius import Frobenius
from rprnmf.losses.kullback_leibler import KullbackLeibler

LOSSES: dict[str, Loss] = {
    "frobenius": Frobenius(),
    "kullback-leibler": KullbackLeibler(),
}

__all__ = ["LOSSES", "Loss"]
