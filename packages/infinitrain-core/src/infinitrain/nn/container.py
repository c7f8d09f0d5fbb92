"""Modules that hold modules: a chain, a list, a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self, cast, overload

from infinitrain.nn.module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Indexed(Module):
    """Children named 0, 1, 2, ... in order."""

    def _children(self) -> list[Module]:
        return [self.__dict__[name] for name in self._modules]

    def _refill(self, modules: Iterable[Module]) -> None:
        for name in list(self._modules):
            delattr(self, name)
        for position, module in enumerate(modules):
            self.add_module(str(position), module)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self._modules)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module before position `index`; names of later ones move by one."""
        children = self._children()
        children.insert(index, module)
        self._refill(children)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._children())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        children = self._children()
        if isinstance(index, slice):
            part = type(self).__new__(type(self))
            Module.__init__(part)
            part._refill(children[index])
            return part
        return children[self._place(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(list(self._modules)[self._place(index)], module)

    def __delitem__(self, index: int | slice) -> None:
        children = self._children()
        del children[index]
        self._refill(children)

    def _place(self, index: int) -> int:
        count = len(self._modules)
        if not -count <= index < count:
            raise IndexError(f"{type(self).__name__}: expected an index in [{-count}, {count}), found {index}")
        return index


class Sequential(_Indexed):
    """Calls its modules in order, each on what the one before gave: `Sequential(a, b)` or `Sequential({"a": a})`."""

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self._refill(cast("tuple[Module, ...]", modules))

    def forward(self, x: Any) -> Any:
        """Pass `x` through all modules."""
        for name in self._modules:
            x = self.__dict__[name](x)
        return x


class ModuleList(_Indexed):
    """A list of modules whose parameters belong to the module that holds it; it is not called itself."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self._refill(modules)


class ModuleDict(Module):
    """A dictionary of modules, in order of insertion; it is not called itself."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Module:
        if key not in self._modules:
            raise KeyError(f"ModuleDict: expected one of {', '.join(self._modules) or 'no key'}, found {key!r}")
        return cast("Module", self.__dict__[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        self[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._modules))

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def keys(self) -> list[str]:
        """List the names."""
        return list(self._modules)

    def values(self) -> list[Module]:
        """List the modules."""
        return [self.__dict__[name] for name in self._modules]

    def items(self) -> list[tuple[str, Module]]:
        """List names with modules."""
        return [(name, self.__dict__[name]) for name in self._modules]

    def pop(self, key: str) -> Module:
        """Take a module out."""
        module = self[key]
        del self[key]
        return module

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add or replace modules by name."""
        for name, module in modules.items():
            self.add_module(name, module)
