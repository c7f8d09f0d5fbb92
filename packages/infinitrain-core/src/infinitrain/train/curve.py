"""The loss curve as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from infinitrain.train.records import StepRecord

__all__ = ["draw"]

INK, FAINT, TRAIN, VALIDATION = "#22303c", "#c9d1d9", "#9db8d9", "#d1495b"
SMOOTHED = "#2b5c9e"


def smooth(values: Sequence[float]) -> list[float]:
    """Give the mean of each value's neighbourhood, which shrinks towards both ends so that nothing lags behind.

    A neighbourhood is a twentieth of all values, the value itself at least.
    """
    reach = len(values) // 40
    result = []
    for position in range(len(values)):
        near = min(reach, position, len(values) - 1 - position)
        window = values[position - near : position + near + 1]
        result.append(sum(window) / len(window))
    return result


def draw(path: Path, records: Sequence[StepRecord], unigram_entropy: float, title: str) -> None:
    """Draw training and validation loss over the steps, with the unigram entropy as the line to get below."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    steps = [record.step for record in records]
    losses = [record.loss for record in records]
    evaluated = [(record.step, record.val_loss) for record in records if record.val_loss is not None]
    with plt.rc_context({"font.size": 10, "text.color": INK, "axes.labelcolor": INK}):
        figure, axes = plt.subplots(figsize=(8, 4.6), dpi=130, layout="constrained")
        axes.plot(steps, losses, color=TRAIN, linewidth=0.8, label="training")
        axes.plot(steps, smooth(losses), color=SMOOTHED, linewidth=1.8, label="training, smoothed")
        if evaluated:
            axes.plot(
                *zip(*evaluated, strict=True), "o-", color=VALIDATION, linewidth=1.6, markersize=4, label="validation"
            )
            step, value = evaluated[-1]
            axes.annotate(
                f"{value:.2f}", (step, value), xytext=(0, 8), textcoords="offset points", color=VALIDATION, ha="right"
            )
        axes.axhline(unigram_entropy, color=INK, linewidth=0.9, linestyle=(0, (5, 4)))
        axes.annotate(
            f"unigram entropy {unigram_entropy:.2f}",
            (1, unigram_entropy),
            xycoords=("axes fraction", "data"),
            xytext=(-4, 4),
            textcoords="offset points",
            ha="right",
        )
        axes.set(xlabel="step", ylabel="loss (nats a token)")
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(color=FAINT, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="best")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.savefig(path)
        plt.close(figure)
