"""Checkpoints: saved whole or not at all, resumed bit for bit.

save_checkpoint("runs/a/checkpoint", model=model, optimizer=optimizer, schedule=schedule, step=10)
state = load_checkpoint("runs/a/checkpoint", model=model, optimizer=optimizer, schedule=schedule)
"""

from __future__ import annotations

from infinitrain.checkpoint.contents import TrainerState, load_checkpoint, read_state, save_checkpoint
from infinitrain.checkpoint.directory import latest_checkpoint, list_checkpoints, prune

__all__ = [
    "TrainerState",
    "latest_checkpoint",
    "list_checkpoints",
    "load_checkpoint",
    "prune",
    "read_state",
    "save_checkpoint",
]
