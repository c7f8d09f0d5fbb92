"""Which kernels a training run launches, so that a provider's gaps are named before the first step."""

from __future__ import annotations

from infinitrain import dtype as dt
from infinitrain.device import Device
from infinitrain.dispatch import missing_kernels
from infinitrain.errors import KernelNotFound

__all__ = ["TRAINING_KERNELS", "check_kernels"]

#: Kernels of a GPT-2 training step with AdamW, clipping, accumulation and dropout, in float32. A test compares this
#: list with what a run launches.
TRAINING_KERNELS = (
    *("Copy", "Fill", "Cast", "AddForward", "AddScalar", "MulScalar", "DivForward", "MinimumForward", "SqrtForward"),
    *("EqualsForward", "GtForward", "NotForward", "WhereForward", "SumForward", "SquaredNorm", "NormalForward"),
    *("EmbeddingForward", "EmbeddingBackward", "LayerNormForward", "LayerNormBackward", "GeluForward", "GeluBackward"),
    *("LinearForward", "LinearBackwardInput", "LinearBackwardWeight", "LinearBackwardBias"),
    *("MatmulForward", "CausalSoftmaxForward", "SoftmaxBackward", "CrossEntropyForward", "CrossEntropyBackward"),
    "AdamAccumulateGrad",
)
DROPOUT_KERNELS = ("DropoutForward", "DropoutBackward")


def check_kernels(model: str, device: Device, *, dropout: bool) -> None:
    """Compare what a model's training needs with what the device's provider has.

    Raises: KernelNotFound listing every kernel that is missing.
    """
    needed = (*TRAINING_KERNELS, *(DROPOUT_KERNELS if dropout else ()))
    missing = missing_kernels(needed, device, dt.float32)
    if missing:
        provider = device.provider
        raise KernelNotFound(
            f"{model} cannot be trained on {device}: provider {provider.name} {provider.version} lacks "
            f"{len(missing)} of the {len(needed)} kernels that it needs: {', '.join(missing)}. "
            f"Ask the vendor for them, or train on another device (`infinitrain providers` lists them)"
        )
