"""Random numbers: Philox-4x32-10, the same bits for the same seed on every device.

The core keeps (seed, offset) and gives it to kernels as a tensor of two int64. Element i of a draw takes word i % 4 of
the block at counter offset + i / 4; a draw of n elements advances the offset by ceil(n / 4).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from infinitrain import dtype as dt
from infinitrain import recording
from infinitrain.autograd.inplace import check_writable
from infinitrain.copy import from_numpy
from infinitrain.device import Device
from infinitrain.dispatch import launch
from infinitrain.dtype import DType
from infinitrain.errors import AutogradError
from infinitrain.tensor import Tensor, device_of

Spec = DType | str | None
Place = Device | str | None

_MASK = (1 << 64) - 1


def _signed(value: int) -> int:
    """Give the int64 with the same bits as a number modulo 2^64."""
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


class Generator:
    """A stream of random numbers: a seed and how much of it was used. One generator serves every device."""

    __slots__ = ("_offset", "_seed")

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed & _MASK
        self._offset = 0

    @property
    def offset(self) -> int:
        """How many blocks of four words were used."""
        return self._offset

    def manual_seed(self, seed: int) -> Generator:
        """Begin again, from a seed; numbers count modulo 2^64."""
        self._seed = seed & _MASK
        self._offset = 0
        return self

    def seed(self) -> int:
        """Begin again from a seed of the operating system, and give it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Give the seed."""
        return self._seed

    def get_state(self) -> dict[str, int]:
        """Give seed and offset, for a checkpoint."""
        return {"seed": self._seed, "offset": self._offset}

    def set_state(self, state: dict[str, int]) -> None:
        """Go on from what `get_state` gave.

        Raises: ValueError for anything else.
        """
        try:
            seed, offset = int(state["seed"]), int(state["offset"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"set_state: expected what get_state gave, found {state!r}") from error
        self._seed, self._offset = seed & _MASK, offset & _MASK

    def take(self, count: int) -> tuple[int, int]:
        """Give (seed, offset) for a draw of `count` elements, and advance past it."""
        offset = self._offset
        self._offset = (offset + -(-count // 4)) & _MASK
        return self._seed, offset


default_generator = Generator(0)


def manual_seed(seed: int) -> Generator:
    """Begin the default generator again, from a seed; it serves every device."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begin the default generator again from a seed of the operating system, and give it."""
    return default_generator.seed()


def initial_seed() -> int:
    """Give the seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> dict[str, int]:
    """Give the state of the default generator."""
    return default_generator.get_state()


def set_rng_state(state: dict[str, int]) -> None:
    """Set the state of the default generator."""
    default_generator.set_state(state)


def draw_state(count: int, device: Device, generator: Generator | None) -> Tensor:
    """Give the (2,) int64 operand for a draw of `count` elements, and advance the generator."""
    source = default_generator if generator is None else generator
    words = source.take(count)
    state: Tensor = from_numpy(state_words(words), device, None, Tensor)
    if recording.listener is not None:
        recording.listener.drawn(state, source, words)
    return state


def state_words(words: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Give (seed, offset) as kernels read them."""
    return np.array([_signed(word) for word in words], np.int64)


def _fill(kernel: str, y: Tensor, generator: Generator | None, **attrs: float) -> Tensor:
    """Fill a tensor with drawn numbers; a view gets the numbers in its own row-major order."""
    if y.numel():
        launch(kernel, (draw_state(y.numel(), y.device, generator),), (y,), **attrs)
    return y


def _fill_in_place(name: str, kernel: str, x: Tensor, generator: Generator | None, **attrs: float) -> Tensor:
    """Fill an existing tensor.

    Raises: AutogradError for a tensor whose history would be lost; ShapeError for an expanded one.
    """
    from infinitrain.autograd.grad_mode import state

    if state.enabled and x._requires_grad:
        raise AutogradError(
            f"{name}: expected a tensor that does not require grad, found one that does. Do it under no_grad()."
        )
    check_writable(x, name)
    _fill(kernel, x, generator, **attrs)
    x._mark_written(name)
    return x


def uniform_(x: Tensor, low: float = 0.0, high: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers uniform in [low, high)."""
    return _fill_in_place("uniform_", "UniformForward", x, generator, low=low, high=high)


def normal_(x: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers.

    Raises: ValueError for a negative std.
    """
    if std < 0:
        raise ValueError(f"normal_: expected a std of at least 0, found {std}")
    return _fill_in_place("normal_", "NormalForward", x, generator, mean=mean, std=std)


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Give sizes written as `f(2, 3)` or as `f((2, 3))`."""
    sizes = tuple(shape[0]) if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
    return tuple([int(size) for size in sizes])


def _new(shape: tuple[Any, ...], dtype: Spec, device: Place) -> Tensor:
    """Give an uninitialised tensor; float32 by default."""
    return Tensor._empty(_sizes(shape), dt.float32 if dtype is None else dt.parse(dtype), device_of(device))


def rand(
    *shape: Any,
    generator: Generator | None = None,
    dtype: Spec = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give numbers uniform in [0, 1), of float32 resolution; float32 by default."""
    y = _fill("UniformForward", _new(shape, dtype, device), generator)
    return y.requires_grad_() if requires_grad else y


def randn(
    *shape: Any,
    generator: Generator | None = None,
    dtype: Spec = None,
    device: Place = None,
    requires_grad: bool = False,
) -> Tensor:
    """Give normal numbers of mean 0 and standard deviation 1; float32 by default."""
    y = _fill("NormalForward", _new(shape, dtype, device), generator)
    return y.requires_grad_() if requires_grad else y


def rand_like(x: Tensor, generator: Generator | None = None) -> Tensor:
    """Give uniform numbers with the shape, dtype and device of another tensor."""
    return rand(x.shape, generator=generator, dtype=x.dtype, device=x.device)


def randn_like(x: Tensor, generator: Generator | None = None) -> Tensor:
    """Give normal numbers with the shape, dtype and device of another tensor."""
    return randn(x.shape, generator=generator, dtype=x.dtype, device=x.device)


def randint(
    low: int,
    high: int | None = None,
    size: Any = (),
    *,
    generator: Generator | None = None,
    dtype: Spec = None,
    device: Place = None,
) -> Tensor:
    """Give integers in [low, high), or in [0, low) if `high` is left out; int64 by default.

    A draw of 2 n words: element i is low + (a[i] * 2^24 + a[n + i]) mod (high - low), a[j] being the upper 24 bits
    of word j. The bias is below (high - low) / 2^48.

    Raises: ValueError for an empty range, or one of more than 2^48 values.
    """
    first, last = (0, low) if high is None else (low, high)
    if not 0 < last - first <= 1 << 48:
        raise ValueError(f"randint: expected a range of 1 to 2^48 values, found [{first}, {last})")
    shape = _sizes((size,)) if not isinstance(size, int) else (size,)
    place = device_of(device)
    halves = Tensor._empty((2, *shape), dt.float32, place)  # whole numbers below 2^24 are exact
    _fill("UniformForward", halves, generator, low=0.0, high=float(1 << 24))
    words = halves.to(dt.int64)
    y = (words[0] * (1 << 24) + words[1]) % (last - first) + first
    return y.to(dt.int64 if dtype is None else dt.parse(dtype))


def randperm(n: int, *, generator: Generator | None = None, dtype: Spec = None, device: Place = None) -> Tensor:
    """Give the numbers 0 to n - 1 in random order; int64 by default.

    The order that sorts n drawn 48-bit numbers (see `randint`), computed on the host for every device.
    """
    keys = randint(1 << 48, size=(n,), generator=generator, device="cpu").numpy()
    order = np.argsort(keys, kind="stable").astype(np.int64)
    result: Tensor = from_numpy(order, device_of(device), None, Tensor)
    return result.to(dt.int64 if dtype is None else dt.parse(dtype))


def bernoulli_(x: Tensor, p: float = 0.5, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability `p`, else 0.

    Raises: ValueError for a p outside [0, 1].
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"bernoulli_: expected a probability in [0, 1], found {p}")
    drawn = rand(x.shape, generator=generator, device=x.device)
    return x.copy_((drawn < p).to(x.dtype))


def bernoulli(p: Tensor, generator: Generator | None = None) -> Tensor:
    """Give 1 with the probability that each element says, else 0, in its dtype."""
    drawn = rand(p.shape, generator=generator, device=p.device)
    return (drawn < p.detach()).to(p.dtype)
