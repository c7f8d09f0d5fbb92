"""The installed package carries all of the contract, and says where it is."""

from __future__ import annotations

from importlib.metadata import entry_points, version
from pathlib import Path

import infinitrain_capi
import pytest

CAPI = Path(__file__).parents[2] / "capi"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("installed", "source"),
    [(infinitrain_capi.include_dir(), "include"), (infinitrain_capi.sdk_dir(), "sdk")],
)
def test_installed_folder_is_the_trees(installed, source):
    assert files(installed) == files(CAPI / source)


def test_installed_table_is_the_trees():
    assert infinitrain_capi.kernel_table_path().read_bytes() == (CAPI / "kernels.toml").read_bytes()


def test_cmake_finds_the_package_by_entry_point():
    found = [point.load() for point in entry_points(group="cmake.prefix") if point.name == "infinitrain-capi"]

    assert [(Path(module.__path__[0]) / "InfinitrainCapiConfig.cmake").is_file() for module in found] == [True]


def test_version_of_the_distribution_is_the_packages():
    assert version("infinitrain-capi") == infinitrain_capi.__version__


def test_public_names_are_what_all_says():
    for name in infinitrain_capi.__all__:
        assert callable(getattr(infinitrain_capi, name))
