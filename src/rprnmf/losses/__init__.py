"""How far the model is from the observed entries."""

from __future__ import annotations

from rprnmf.losses.base import Loss
from rprnmf.losses.frobenius import Frobenius
from rprnmf.losses.kullback_leibler import KullbackLeibler

LOSSES: dict[str, Loss] = {
    "frobenius": Frobenius(),
    "kullback-leibler": KullbackLeibler(),
}

__all__ = ["LOSSES", "Loss", "get_loss"]


def get_loss(beta_loss: str | float) -> Loss:
    """The loss of a name."""
    return LOSSES[str(beta_loss)]
