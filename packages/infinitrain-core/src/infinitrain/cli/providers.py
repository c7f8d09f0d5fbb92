"""`infinitrain providers`: what was found where, what it offers, and why something is not usable."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from infinitrain_capi.table import load as load_table

from infinitrain._abi import names, registry
from infinitrain.errors import InfinitrainError

__all__ = ["Listing", "main", "survey"]

TIERS = ("0 live", "1 MLP", "2 transformers", "3 fused")


@dataclass(slots=True)
class Listing:
    """One provider as the table shows it. Memory in bytes; kernels as {tier: [have, all]}."""

    name: str
    found: list[str]
    state: str = "found"
    problem: str = ""
    path: str = ""
    vendor: str = ""
    version: str = ""
    abi_minor: int = 0
    devices: list[dict[str, Any]] = field(default_factory=list)
    kernels: dict[int, list[int]] = field(default_factory=dict)
    missing_kernels: list[str] = field(default_factory=list)
    collectives: bool = False
    graphs: bool = False
    options: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def survey() -> list[Listing]:
    """Look at every provider that can be found: load it, start it, count its devices and kernels."""
    places: dict[str, list[str]] = {}
    for candidate in registry.candidates():
        where = f"{candidate.origin} {candidate.where}"
        places.setdefault(candidate.name, []).append(
            where + (f" ({candidate.distribution})" if candidate.distribution else "")
        )
    for provider in registry.loaded():
        places.setdefault(provider.name, [f"loaded from {provider.path}"])
    order = sorted(places, key=lambda name: (name != names.EMBEDDED, name))
    return [_look(name, places[name]) for name in order]


def _look(name: str, found: list[str]) -> Listing:
    listing = Listing(name, found)
    try:
        provider = registry.find(name)
    except InfinitrainError as problem:
        listing.state, listing.problem = "cannot be loaded", str(problem)
        return listing
    listing.path, listing.vendor, listing.version = provider.path, provider.vendor, provider.version
    listing.abi_minor, listing.notes = provider.abi_minor, provider.notes
    listing.collectives, listing.graphs = provider.has_ccl, provider.has_graphs
    listing.options = {option.name: f"{option.help} (default {option.default})" for option in provider.options.values()}
    rows = load_table().values()
    for tier in sorted({row.tier for row in rows}):
        of_tier = [row.name for row in rows if row.tier == tier]
        listing.kernels[tier] = [sum(row in provider.kernels for row in of_tier), len(of_tier)]
    listing.missing_kernels = [row.name for row in rows if row.name not in provider.kernels]
    try:
        for index in range(provider.device_count()):
            info = provider.device_info(index)
            free, total = provider.memory_info(index)
            listing.devices.append(
                {"device": f"{name}:{index}", "name": info.name, "free_memory": free, "total_memory": total}
            )
        listing.state = "ready" if listing.devices else "no device"
    except InfinitrainError as problem:
        listing.state, listing.problem = "not available", str(problem)
    return listing


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count else "?"


def _kernels(listing: Listing) -> str:
    return "  ".join(f"{have}/{all_}" for have, all_ in listing.kernels.values()) or "-"


def _print_table(listings: list[Listing]) -> None:
    rows = [("DEVICE", "STATE", "MEMORY (free of total)", "KERNELS by tier", "PROVIDER", "NAME")]
    for each in listings:
        provider = f"{each.vendor} {each.version}".strip() or "-"
        if not each.devices:
            rows.append((each.name, each.state, "-", _kernels(each), provider, ""))
        for device in each.devices:
            memory = f"{_gibibytes(device['free_memory'])} of {_gibibytes(device['total_memory'])}"
            rows.append((device["device"], each.state, memory, _kernels(each), provider, device["name"]))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        _say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for each in listings:
        if each.problem:
            _say(f"\n{each.name}: {each.problem}")


def _print_explanation(listings: list[Listing]) -> None:
    _say("\nHow a device's name is looked up, in this order; two different files of one name are an error:")
    _say("  1. libraries loaded by infinitrain.load_provider(path)")
    _say("  2. INFINITRAIN_PROVIDER_PATH: library files, or folders of them")
    _say(f"  3. entry points of installed packages, group {registry.GROUP!r}")
    _say(f"{names.ALIAS!r} stands for the external provider when there is exactly one.")
    for each in listings:
        _say(f"\n{each.name}: {each.state}")
        for place in each.found:
            _say(f"  found by   {place}")
        if each.path:
            _say(f"  library    {each.path}")
            _say(f"  contract   ABI 1.{each.abi_minor}")
            collectives = "yes" if each.collectives else "no (other ranks are reached through host memory)"
            _say(f"  collective {collectives}")
        for tier, (have, all_) in each.kernels.items():
            _say(f"  tier {TIERS[tier]:<15} {have} of {all_} kernels")
        if each.missing_kernels:
            _say(f"  missing    {', '.join(each.missing_kernels)}")
        for name, text in each.options.items():
            _say(f"  option     {name}: {text}")
        for note in each.notes:
            _say(f"  note       {note}")


def _say(line: str) -> None:
    print(line)  # noqa: T201 - the command's answer


def main(arguments: list[str]) -> int:
    """Print the providers of this machine; always exit 0, a provider that fails is part of the answer."""
    parser = argparse.ArgumentParser(
        prog="infinitrain providers",
        description="List the devices of this machine, where their providers come from and what they can run. "
        "KERNELS counts those of tier 0 (tensors can live there), 1 (an MLP trains), 2 (transformers train).",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say what was looked for where, options, missing kernels"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    listings = survey()
    if options.json:
        json.dump({"providers": [asdict(each) for each in listings]}, sys.stdout, indent=2)
        _say("")
        return 0
    _print_table(listings)
    if options.explain:
        _print_explanation(listings)
    return 0
