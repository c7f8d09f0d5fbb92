"""Optimizers, gradient clipping and learning-rate schedules, under the names that PyTorch users know."""

from __future__ import annotations

from infinitrain.nn.utils import (
    NonFiniteGradient,
    clip_coefficient,
    clip_grad_norm_,
    clip_grad_value_,
    get_total_norm,
)
from infinitrain.optim import schedules as lr_scheduler
from infinitrain.optim.adam import Adam, AdamW
from infinitrain.optim.optimizer import Optimizer
from infinitrain.optim.schedules import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    SequentialLR,
    StepLR,
    WarmupCosineLR,
    warmup_cosine,
)
from infinitrain.optim.sgd import SGD

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "NonFiniteGradient",
    "Optimizer",
    "SequentialLR",
    "StepLR",
    "WarmupCosineLR",
    "clip_coefficient",
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "lr_scheduler",
    "warmup_cosine",
]
