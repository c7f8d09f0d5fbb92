"""Devices: spelling, printing, the current device of a thread."""

from __future__ import annotations

import copy
import pickle
import threading

import infinitrain as it
import pytest
from infinitrain.errors import DeviceNotFound


def test_printing_parses_back(device):
    parsed = it.Device(device)

    assert it.Device(str(parsed)) is parsed
    assert str(parsed) == (device if ":" in device else f"{device}:0")


@pytest.mark.parametrize(
    "spec", ["cpu:", "CPU", "cpu:-1", "cpu:1.0", "cpu:01", "", ":0", "cpu 0", "cpu:0:0", "9x", "a-b"]
)
def test_misspelt(spec):
    with pytest.raises(DeviceNotFound, match="expected NAME or NAME:INDEX"):
        it.Device(spec)


def test_misspelt_case_gets_a_hint():
    with pytest.raises(DeviceNotFound, match="Names are lower case: 'cpu'"):
        it.Device("CPU")


def test_index_out_of_range_names_the_range(device):
    name = device.partition(":")[0]
    count = it.device_count(name)

    with pytest.raises(DeviceNotFound, match=rf"'{name}:99' does not exist: expected an index in \[0, {count}\)"):
        it.Device(f"{name}:99")
    with pytest.raises(DeviceNotFound, match="99999999999"):
        it.Device(f"{name}:99999999999")


def test_unknown_name_gives_a_close_match_and_the_command():
    with pytest.raises(DeviceNotFound, match=r"'cpuu' is unknown.*Did you mean 'cpu'\?.*infinitrain providers"):
        it.Device("cpuu")
    with pytest.raises(DeviceNotFound, match="'cudacustom' is unknown"):
        it.Device("cudacustom")


def test_not_a_name():
    with pytest.raises(DeviceNotFound, match="found int"):
        it.Device(0)


def test_index_beside_an_index():
    with pytest.raises(DeviceNotFound, match="expected the index once"):
        it.Device("cpu:0", 0)


def test_copies_are_the_same_object(device):
    parsed = it.Device(device)

    assert copy.deepcopy(parsed) is parsed
    assert pickle.loads(pickle.dumps(parsed)) is parsed


def test_guards_nest_and_restore_after_an_error(device):
    before = it.current_device()
    with it.device_guard("cpu"):
        with pytest.raises(ZeroDivisionError), it.device_guard(device):  # noqa: PT012 - asserted inside the guard
            assert str(it.current_device()) == str(it.Device(device))
            assert it.Device(it.Device(device).type) is it.Device(device)
            raise ZeroDivisionError
        assert str(it.current_device()) == "cpu:0"

    assert it.current_device() is before


def test_the_current_device_is_the_threads_own(device):
    seen = []
    with it.device_guard(device):
        thread = threading.Thread(target=lambda: seen.append(it.current_device()))
        thread.start()
        thread.join()

    assert [str(each) for each in seen] == ["cpu:0"]
