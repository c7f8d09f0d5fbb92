"""The training command: configuration, loop, progress, and what a run leaves behind."""

from infinitrain.train.config import TrainConfig
from infinitrain.train.trainer import Trainer

__all__ = ["TrainConfig", "Trainer"]
