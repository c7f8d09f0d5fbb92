"""Modules that hold parameters alone: a list, a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Self, cast

from infinitrain.nn.module import Module
from infinitrain.nn.parameter import Parameter
from infinitrain.tensor import Tensor

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value: Tensor) -> Parameter:
    """Give a parameter itself, or one over a tensor's memory."""
    return value if isinstance(value, Parameter) else Parameter(value)


class ParameterList(Module):
    """A list of parameters, named 0, 1, 2, ...; a tensor that is put in becomes a parameter. It is not called."""

    def __init__(self, values: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self.extend(values)

    def append(self, value: Tensor) -> Self:
        """Add one at the end."""
        self.register_parameter(str(len(self)), _as_parameter(value))
        return self

    def extend(self, values: Iterable[Tensor]) -> Self:
        """Add some at the end."""
        for value in values:
            self.append(value)
        return self

    def _name(self, index: int) -> str:
        if not -len(self) <= index < len(self):
            raise IndexError(f"ParameterList: expected an index in [{-len(self)}, {len(self)}), found {index}")
        return str(index % len(self))

    def __getitem__(self, index: int) -> Parameter:
        return cast("Parameter", self.__dict__[self._name(index)])

    def __setitem__(self, index: int, value: Tensor) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter([self[index] for index in range(len(self))])


class ParameterDict(Module):
    """A dictionary of parameters, in order of insertion; a tensor that is put in becomes one. It is not called."""

    def __init__(self, values: Mapping[str, Tensor] | None = None) -> None:
        super().__init__()
        self.update(values or {})

    def __getitem__(self, key: str) -> Parameter:
        if key not in self._parameters:
            raise KeyError(f"ParameterDict: expected one of {', '.join(self._parameters) or 'no key'}, found {key!r}")
        return cast("Parameter", self.__dict__[key])

    def __setitem__(self, key: str, value: Tensor) -> None:
        self.register_parameter(key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parameters))

    def __contains__(self, key: object) -> bool:
        return key in self._parameters

    def keys(self) -> list[str]:
        """List the names."""
        return list(self._parameters)

    def values(self) -> list[Parameter]:
        """List the parameters."""
        return [self[name] for name in self._parameters]

    def items(self) -> list[tuple[str, Parameter]]:
        """List names with parameters."""
        return [(name, self[name]) for name in self._parameters]

    def pop(self, key: str) -> Parameter:
        """Take a parameter out."""
        value = self[key]
        del self[key]
        return value

    def update(self, values: Mapping[str, Tensor]) -> None:
        """Add or replace by name."""
        for key, value in values.items():
            self[key] = value
