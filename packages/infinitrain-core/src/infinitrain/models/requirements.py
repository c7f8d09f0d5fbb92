"""Which kernels a training run launches, so that a provider's gaps are named before the first step."""

from __future__ import annotations

from infinitrain import dtype as dt
from infinitrain.device import Device
from infinitrain.dispatch import missing_kernels
from infinitrain.errors import KernelNotFound
from infinitrain.models import family_of

__all__ = ["check_kernels", "families", "needed_kernels"]

#: What every training step with AdamW launches in float32. A test compares these lists with what runs launch.
ALWAYS = (
    *("Copy", "Fill", "Cast", "AddForward", "AddScalar", "DivForward", "ClampForward", "SqrtForward"),
    *("NeScalar", "GtScalar", "NotForward", "MaskForward", "SumForward", "SquaredNorm", "NormalForward"),
    *("EmbeddingForward", "EmbeddingBackward", "LinearForward", "LinearBackwardInput", "LinearBackwardWeight"),
    *("MatmulForward", "CausalSoftmaxForward", "CrossEntropyForward", "CrossEntropyBackward", "AdamAccumulateGrad"),
)
#: Norms and feed-forward networks of each family.
_LLAMA3 = (
    *("MeanForward", "RsqrtForward", "MulForward", "MulScalar", "NegForward", "SubForward"),
    *("SiluForward", "SiluBackward"),
)
FAMILIES = {
    "gpt2": ("LinearBackwardBias", "LayerNormForward", "LayerNormBackward", "GeluForward", "GeluBackward"),
    "llama3": _LLAMA3,
    "mixtral": (
        *_LLAMA3,
        *("SoftmaxForward", "SoftmaxBackward", "TopKForward", "GatherBackward", "EqualsForward"),
    ),
}
#: Attention's probabilities are dropped between the softmax and the product, so both are steps of their own.
WITH_DROPOUT = ("DropoutForward", "DropoutBackward", "SoftmaxBackward", "MulScalar")
WITHOUT_DROPOUT = ("CausalSoftmaxBackward",)
#: Gradients that no kernel adds to what is there are added by a launch of their own.
ACCUMULATING = {"gpt2": ("MulScalar",), "llama3": ("AccumulateGrad",), "mixtral": ("AccumulateGrad",)}


def needed_kernels(family: str, *, dropout: bool, accumulates: bool) -> tuple[str, ...]:
    """Name the kernels that training a model of a family launches on its device."""
    needed = (*ALWAYS, *FAMILIES[family], *(WITH_DROPOUT if dropout else WITHOUT_DROPOUT))
    return tuple(dict.fromkeys((*needed, *(ACCUMULATING[family] if accumulates else ()))))


def families() -> dict[str, tuple[str, ...]]:
    """Name the kernels that training each family of models launches, in its plainest form."""
    return {family: needed_kernels(family, dropout=False, accumulates=False) for family in FAMILIES}


def check_kernels(model: str, device: Device, *, dropout: bool, accumulates: bool) -> None:
    """Compare what a model's training needs with what the device's provider has.

    Raises: KernelNotFound listing every kernel that is missing.
    """
    needed = needed_kernels(family_of(model), dropout=dropout, accumulates=accumulates)
    missing = missing_kernels(needed, device, dt.float32)
    if missing:
        provider = device.provider
        raise KernelNotFound(
            f"{model} cannot be trained on {device}: provider {provider.name} {provider.version} lacks "
            f"{len(missing)} of the {len(needed)} kernels that it needs: {', '.join(missing)}. "
            f"Ask the vendor for them, or train on another device (`infinitrain providers` lists them)"
        )
