"""The operations that modules are made of, under torch.nn.functional's names; they are defined in `infinitrain.ops`."""

from __future__ import annotations

from infinitrain.ops.activation import leaky_relu, silu, softplus, swiglu
from infinitrain.ops.attention import scaled_dot_product_attention
from infinitrain.ops.batchnorm import batch_norm
from infinitrain.ops.conv import conv2d
from infinitrain.ops.distances import huber_loss, l1_loss, mse_loss, smooth_l1_loss
from infinitrain.ops.dropout import dropout
from infinitrain.ops.embedding import embedding
from infinitrain.ops.likelihood import binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, logsigmoid
from infinitrain.ops.loss import cross_entropy, nll_loss
from infinitrain.ops.matmul import linear
from infinitrain.ops.norm import layer_norm
from infinitrain.ops.pool import avg_pool2d, max_pool2d
from infinitrain.ops.rms_norm import rms_norm
from infinitrain.ops.rotary import RopeScaling, rotary_embedding, rotary_tables
from infinitrain.ops.softmax import log_softmax, softmax
from infinitrain.ops.unary import gelu, relu, sigmoid, tanh

__all__ = [
    "RopeScaling",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "rms_norm",
    "rotary_embedding",
    "rotary_tables",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "swiglu",
    "tanh",
]
