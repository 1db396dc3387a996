"""Pictures of what model selection found."""

from __future__ import annotations

from typing import Any


def plot_rank(curve: Any) -> Any:
    """The held-out loss against the number of components; returns the Axes."""
    from rprnmf.plotting.style import MET, UNMET, axes_or_new

    ax = axes_or_new(None)
    ax.errorbar(curve.ranks, curve.mean, curve.standard_error, color=MET, marker="o", capsize=2)
    ax.axvline(curve.recommended, color=UNMET, linestyle="--", label=f"use {curve.recommended}")
    ax.set(xlabel="components", ylabel="loss of a held-out entry (mean, standard error)")
    ax.set_xticks(curve.ranks)
    ax.legend()
    return ax


def plot_strength(curve: Any) -> Any:
    """Held-out comparisons met, and the loss, against the strength; returns the Axes."""
    from rprnmf.plotting.style import GREY, MET, UNMET, axes_or_new

    ax = axes_or_new(None)
    places = range(len(curve.strengths))
    labels = [f"{strength:g}" if strength != "auto" else "auto" for strength in curve.strengths]
    spread = curve.satisfied.std(axis=1, ddof=1) / curve.satisfied.shape[1] ** 0.5
    met = ax.errorbar(places, curve.satisfied_mean, spread, color=MET, marker="o", capsize=2)
    other = ax.twinx()
    (loss,) = other.plot(places, curve.loss_mean, color=GREY, marker="s", linestyle="--")
    chosen = ax.axvline(curve.strengths.index(curve.recommended), color=UNMET, linestyle=":")
    ax.set_xticks(list(places), labels)
    ax.set(xlabel="strength", ylabel="held-out comparisons met (mean, standard error)")
    other.set_ylabel("loss of an entry")
    other.grid(visible=False)
    texts = ["comparisons met", "loss", f"use {curve.recommended}"]
    ax.legend([met, loss, chosen], texts, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax
