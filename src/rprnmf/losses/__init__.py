"""How far the model is from the observed entries."""

from __future__ import annotations

import math

from rprnmf.losses.base import Loss
from rprnmf.losses.beta_divergence import BetaDivergence
from rprnmf.losses.frobenius import Frobenius
from rprnmf.losses.kullback_leibler import KullbackLeibler

LOSSES: dict[str, Loss] = {
    "frobenius": Frobenius(),
    "kullback-leibler": KullbackLeibler(),
    "itakura-saito": BetaDivergence(0.0),
}

__all__ = ["LOSSES", "Loss", "get_loss"]


def get_loss(beta_loss: str | float) -> Loss:
    """The loss of a name, or the beta-divergence of a number.

    Parameters
    ----------
    beta_loss : str or float
        A name of `LOSSES`, or any finite number. 2, 1 and 0 are "frobenius",
        "kullback-leibler" and "itakura-saito".

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> from rprnmf.losses import LOSSES, get_loss
    >>> get_loss(2) is LOSSES["frobenius"]
    True
    >>> get_loss(1.5).step_exponent
    1.0
    """
    if isinstance(beta_loss, str):
        if beta_loss not in LOSSES:
            raise ValueError(
                f"beta_loss must be a number or one of {sorted(LOSSES)}, got {beta_loss!r}."
            )
        return LOSSES[beta_loss]
    if not math.isfinite(beta_loss):
        raise ValueError(f"beta_loss must be finite, got {beta_loss}.")
    named = (loss for loss in LOSSES.values() if loss.beta == beta_loss)
    return next(named, None) or BetaDivergence(beta_loss)
