"""Optimizers, gradient clipping and learning-rate schedules, under the names that PyTorch users know."""

from __future__ import annotations

from infinitrain.nn.utils import (
    NonFiniteGradient,
    clip_coefficient,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from infinitrain.optim import schedules as lr_scheduler
from infinitrain.optim.adam import Adam, AdamW
from infinitrain.optim.optimizer import Optimizer
from infinitrain.optim.schedules import (
    ChainedScheduler,
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    SequentialLR,
    StepLR,
)
from infinitrain.optim.sgd import SGD
from infinitrain.optim.warmup import WarmupCosineLR, WarmupLR, create_scheduler, warmup_cosine, warmup_rate

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "NonFiniteGradient",
    "Optimizer",
    "SequentialLR",
    "StepLR",
    "WarmupCosineLR",
    "WarmupLR",
    "clip_coefficient",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "create_scheduler",
    "get_total_norm",
    "lr_scheduler",
    "warmup_cosine",
    "warmup_rate",
]
