"""`infinitrain providers`: what it lists, and how the command line fails."""

from __future__ import annotations

import json

import infinitrain as it
import pytest
from infinitrain.cli import main as command_line
from infinitrain.cli.main import main
from infinitrain_capi.table import load


def test_json_tells_of_devices_memory_and_kernels(device, capsys):
    name = it.Device(device).type
    assert main(["providers", "--json"]) == 0
    listed = {each["name"]: each for each in json.loads(capsys.readouterr().out)["providers"]}

    found = listed[name]
    assert found["state"] == "ready"
    assert [each["device"] for each in found["devices"]] == [f"{name}:{i}" for i in range(it.device_count(name))]
    assert all(0 < each["free_memory"] <= each["total_memory"] for each in found["devices"])
    assert sum(have for have, _ in found["kernels"].values()) == len(load()) - len(found["missing_kernels"])
    assert "entry point" in found["found"][0]


def test_the_table_and_the_explanation(device, capsys):
    assert main(["providers"]) == 0
    table = capsys.readouterr().out
    assert main(["providers", "--explain"]) == 0
    explained = capsys.readouterr().out

    assert f"{it.Device(device)} " in table
    assert explained.startswith(table)
    assert "INFINITRAIN_PROVIDER_PATH" in explained
    assert "ABI 1.0" in explained


def test_an_unknown_command_lists_the_known(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["trian"])

    assert caught.value.code == 2
    assert "'train'" in capsys.readouterr().err


def test_a_missing_package_is_named_with_what_to_install(monkeypatch):
    def missing(module):
        raise ModuleNotFoundError("No module named 'tyro'", name="tyro")

    monkeypatch.setattr(command_line, "import_module", missing)
    with pytest.raises(SystemExit, match=r"'tyro' is not installed.*infinitrain-core\[train\]"):
        main(["train"])


def test_an_error_of_ours_is_one_line_and_exit_code_2(monkeypatch, capsys):
    def failing(arguments):
        raise it.errors.DeviceNotFound("device 'fkae' is unknown")

    monkeypatch.setattr(command_line, "_load", lambda name: failing)

    assert main(["providers"]) == 2
    assert capsys.readouterr().err == "infinitrain providers: device 'fkae' is unknown\n"


def test_an_interrupt_is_exit_code_130(monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "_load", lambda name: interrupted)

    assert main(["providers"]) == 130
