"""Which providers there are, and the loaded ones: discovery opens nothing, first use of a name does.

A name is looked for among the libraries loaded by path, then among INFINITRAIN_PROVIDER_PATH, then among the entry
points of installed packages. Two different files of one name are an error that names both, never a choice.
"""

from __future__ import annotations

import difflib
import os
import re
import threading
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from infinitrain import config
from infinitrain._abi import names
from infinitrain._abi.loader import open_provider
from infinitrain._abi.provider import Provider
from infinitrain.errors import (
    DeviceNotFound,
    ProviderError,
    ProviderLoadError,
    ProviderNotFound,
)

__all__ = ["Candidate", "candidates", "configure", "find", "load_provider", "loaded", "resolve_alias"]

GROUP = "infinitrain.providers"
_LIBRARY = re.compile(r"(?:lib)?(?:itp_)?(?P<name>\w+?)\.so(?:\.\d+)*")

_lock = threading.RLock()
_loaded: dict[str, Provider] = {}
_failed: dict[str, ProviderError] = {}
_settings: dict[str, dict[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place where a provider may come from; nothing has been opened.

    Attributes:
        name: The provider's name, as far as the place tells it.
        origin: "entry point" or "INFINITRAIN_PROVIDER_PATH".
        where: The package, or the library's path.
        distribution: The installed distribution, None for a path.
        point: The entry point that gives the path.
    """

    name: str
    origin: str
    where: str
    distribution: str | None = None
    point: metadata.EntryPoint | None = None

    def library(self) -> Path:
        """Ask where the library is. Only here is a provider's package imported.

        Raises: ProviderLoadError when the package cannot be imported or does not give a path.
        """
        if self.point is None:
            return Path(self.where)
        try:
            return Path(os.fspath(self.point.load()()))
        except Exception as reason:  # a vendor's package may raise anything
            raise ProviderLoadError(
                f"provider {self.name!r}: package {self.where} cannot say where its library is: "
                f"{type(reason).__name__}: {reason}. Reinstall it: pip install --force-reinstall {self.distribution}",
                self.where,
                kind="package broken",
            ) from reason


def candidates() -> list[Candidate]:
    """List every provider that can be found, without importing or opening anything."""
    found = []
    for place in config.provider_path():
        files = sorted(place.glob("*.so*")) if os.path.isdir(place) else [place]
        for file in files:
            match = _LIBRARY.fullmatch(file.name)
            found.append(Candidate(match["name"] if match else file.name, "INFINITRAIN_PROVIDER_PATH", str(file)))
    for point in metadata.entry_points(group=GROUP):
        distribution = point.dist.name if point.dist is not None else None
        found.append(Candidate(point.name, "entry point", point.value.partition(":")[0], distribution, point))
    return found


def loaded() -> list[Provider]:
    """List the loaded providers in the order of loading."""
    with _lock:
        return list(_loaded.values())


def failures() -> dict[str, ProviderError]:
    """Give the errors of the names that could not be loaded."""
    with _lock:
        return dict(_failed)


def load_provider(path: str | os.PathLike[str]) -> Provider:
    """Load a provider library by its path, no packaging needed, and make its device name usable.

    The same file again gives the same provider.

    Raises: ProviderLoadError listing everything that is wrong with it, or naming the file already loaded under the
        same name.
    """
    return _register(open_path(path), None)


def open_path(path: str | os.PathLike[str], distribution: str | None = None) -> Provider:
    """Open a library unless the same file is loaded already."""
    file = Path(path)
    with _lock:
        same = [each for each in _loaded.values() if os.path.exists(file) and os.path.samefile(each.path, file)]
        return same[0] if same else open_provider(file, distribution)


def _register(provider: Provider, wanted: str | None) -> Provider:
    with _lock:
        existing = _loaded.get(provider.name)
        if existing is provider:
            return provider
        if existing is not None and existing.failure is None:
            raise ProviderLoadError(
                f"provider name {provider.name!r} is taken: expected one library of a name, found {existing.path} "
                f"(loaded) and {provider.path}. Uninstall one, or start Python with only one of them on "
                "INFINITRAIN_PROVIDER_PATH",
                provider.path,
                kind="offered twice",
            )
        if wanted is not None and provider.name != wanted:
            raise ProviderLoadError(
                f"provider {wanted!r}: library {provider.path} calls itself {provider.name!r}, "
                f"expected {wanted!r}. The package's entry point and the library's name have to agree",
                provider.path,
                kind="calls itself otherwise",
            )
        settings = _settings.get(provider.name)
        if settings:
            provider.configure(settings)
        known = {each.name for each in candidates()} | set(_loaded)
        provider.rivals = frozenset(each for each in known if each.startswith(f"{provider.name}_"))
        _loaded[provider.name] = provider
        _failed.pop(provider.name, None)
        return provider


def resolve_alias() -> str:
    """Give the name of the one external provider, for the device name `privateuse1`.

    Raises: ProviderNotFound when there is none or more than one, with the list.
    """
    known = {each.name for each in candidates()} | {each.name for each in loaded()}
    external = sorted(known - set(names.OURS))
    if len(external) != 1:
        listed = ", ".join(external) or "none"
        raise ProviderNotFound(
            f"device {names.ALIAS!r} stands for the one external provider: expected exactly one, found {listed}. "
            "Name the device instead"
        )
    return external[0]


def find(name: str) -> Provider:
    """Give the provider of a device name, loading its library at first use.

    Raises: DeviceNotFound for a name that nothing offers; ProviderLoadError for a library that cannot serve, the same
        error again at every later call, or for two libraries of one name.
    """
    provider = _loaded.get(name)
    if provider is not None:
        return provider
    with _lock:
        if name in _loaded:
            return _loaded[name]
        if name in _failed:
            raise _failed[name]
        matches = [each for each in candidates() if each.name == name]
        try:
            if matches:
                return _register(_choose(name, matches), name)
            provider = _under_another_file_name(name)
            if provider is None:
                raise _unknown(name)
            return provider
        except ProviderError as failure:
            _failed[name] = failure
            raise


def _choose(name: str, matches: list[Candidate]) -> Provider:
    files: dict[Path, Candidate] = {}
    for candidate in matches:
        files.setdefault(candidate.library().resolve(), candidate)
    if len(files) > 1:
        listed = " and ".join(f"{file} ({each.origin})" for file, each in files.items())
        raise ProviderLoadError(
            f"provider {name!r} is offered twice: expected one library, found {listed}. Uninstall one package, take "
            "one off INFINITRAIN_PROVIDER_PATH, or choose by infinitrain.load_provider(PATH) before the device is used",
            kind="offered twice",
        )
    ((file, candidate),) = files.items()
    return open_path(file, candidate.distribution)


def _under_another_file_name(name: str) -> Provider | None:
    """Look for a name inside the libraries on INFINITRAIN_PROVIDER_PATH whose files are called otherwise."""
    for candidate in candidates():
        if candidate.point is None and candidate.name not in _loaded and os.path.isfile(candidate.where):
            try:
                provider = open_path(candidate.where)
            except ProviderError:
                continue  # it is reported under its own name
            if provider.name == name:
                return _register(provider, name)
    return None


def _unknown(name: str) -> DeviceNotFound:
    known = sorted({each.name for each in candidates()} | set(_loaded))
    close = difflib.get_close_matches(name.lower(), known, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    if name in names.OURS:
        guess = f" It comes with: pip install {names.OURS[name]}."
    return DeviceNotFound(
        f"device {name!r} is unknown: expected one of {', '.join(known) or 'none installed'}.{guess} "
        "`infinitrain providers` lists what is installed; a vendor's package adds its device"
    )


def configure(name: str, **options: object) -> None:
    """Set options of a provider before its device is first used: `configure("fake", devices=3)`.

    Raises: OptionError for an option that the provider does not declare, or when it is already running.
    """
    with _lock:
        provider = _loaded.get(name)
        if provider is None:
            provider = find(name)
        provider.configure(options)
        _settings.setdefault(name, {}).update(options)


def _renew_locks() -> None:
    """In a forked child: a thread that is not here may have held them."""
    global _lock
    _lock = threading.RLock()
    for provider in _loaded.values():
        provider.renew_lock()


os.register_at_fork(after_in_child=_renew_locks)
