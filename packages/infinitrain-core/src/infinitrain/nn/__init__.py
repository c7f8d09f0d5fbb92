"""Parts of models, under the names that PyTorch users know."""

from __future__ import annotations

from infinitrain.nn import functional, init, utils
from infinitrain.nn.activation import (
    GELU,
    Dropout,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from infinitrain.nn.batchnorm import BatchNorm1d, BatchNorm2d
from infinitrain.nn.container import ModuleDict, ModuleList, Sequential
from infinitrain.nn.conv import AvgPool2d, Conv2d, MaxPool2d
from infinitrain.nn.embedding import Embedding
from infinitrain.nn.flatten import Flatten
from infinitrain.nn.linear import Identity, Linear
from infinitrain.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from infinitrain.nn.module import Module
from infinitrain.nn.normalization import LayerNorm, RMSNorm
from infinitrain.nn.parameter import Parameter
from infinitrain.nn.parameters import ParameterDict, ParameterList

__all__ = [
    "GELU",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2d",
    "Module",
    "ModuleDict",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "RMSNorm",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "init",
    "utils",
]
