"""Which kernels a training run launches, so that a provider's gaps are named before the first step."""

from __future__ import annotations

from infinitrain import dtype as dt
from infinitrain.device import Device
from infinitrain.dispatch import missing_kernels
from infinitrain.errors import KernelNotFound

__all__ = ["check_kernels", "families", "needed_kernels"]

#: What every GPT-2 training step with AdamW launches in float32. A test compares these lists with what runs launch.
ALWAYS = (
    *("Copy", "Fill", "Cast", "AddForward", "AddScalar", "DivForward", "ClampForward", "SqrtForward"),
    *("NeScalar", "GtScalar", "NotForward", "MaskForward", "SumForward", "SquaredNorm", "NormalForward"),
    *("EmbeddingForward", "EmbeddingBackward", "LayerNormForward", "LayerNormBackward", "GeluForward", "GeluBackward"),
    *("LinearForward", "LinearBackwardInput", "LinearBackwardWeight", "LinearBackwardBias"),
    *("MatmulForward", "CausalSoftmaxForward", "CrossEntropyForward", "CrossEntropyBackward", "AdamAccumulateGrad"),
)
#: Attention's probabilities are dropped between the softmax and the product, so both are steps of their own.
WITH_DROPOUT = ("DropoutForward", "DropoutBackward", "SoftmaxBackward", "MulScalar")
WITHOUT_DROPOUT = ("CausalSoftmaxBackward",)


def needed_kernels(*, dropout: bool, accumulates: bool) -> tuple[str, ...]:
    """Name the kernels that a training run launches on its device."""
    needed = (*ALWAYS, *(WITH_DROPOUT if dropout else WITHOUT_DROPOUT), *(("MulScalar",) if accumulates else ()))
    return tuple(dict.fromkeys(needed))


def families() -> dict[str, tuple[str, ...]]:
    """Name the kernels that training each family of models launches, in its plainest form."""
    return {"gpt2": needed_kernels(dropout=False, accumulates=False)}


def check_kernels(model: str, device: Device, *, dropout: bool, accumulates: bool) -> None:
    """Compare what a model's training needs with what the device's provider has.

    Raises: KernelNotFound listing every kernel that is missing.
    """
    needed = needed_kernels(dropout=dropout, accumulates=accumulates)
    missing = missing_kernels(needed, device, dt.float32)
    if missing:
        provider = device.provider
        raise KernelNotFound(
            f"{model} cannot be trained on {device}: provider {provider.name} {provider.version} lacks "
            f"{len(missing)} of the {len(needed)} kernels that it needs: {', '.join(missing)}. "
            f"Ask the vendor for them, or train on another device (`infinitrain providers` lists them)"
        )
