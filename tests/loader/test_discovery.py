"""What is found where, in fresh processes: a provider is never unloaded."""

from __future__ import annotations

import os
import shutil


def test_path_variable_finds_files_and_folders(build, run, tmp_path):
    library = build("libitp_acme.so")
    shutil.copy(library, tmp_path / "libitp_acme.so")
    code = "import infinitrain as it; print(it.Device('acme'))"

    assert run(code, INFINITRAIN_PROVIDER_PATH=str(library)).strip() == "acme:0"
    assert run(code, INFINITRAIN_PROVIDER_PATH=str(tmp_path)).strip() == "acme:0"


def test_two_libraries_of_one_name_name_both(build, run, tmp_path):
    library = build("libitp_acme.so")
    copy = tmp_path / "libitp_acme.so"
    shutil.copy(library, copy)
    code = """
import infinitrain as it
try: it.Device('acme')
except it.errors.ProviderLoadError as e: print(e)
"""
    text = run(code, INFINITRAIN_PROVIDER_PATH=os.pathsep.join([str(library), str(copy)]))

    assert str(library) in text
    assert str(copy) in text
    assert "offered twice" in text


def test_importing_and_listing_candidates_opens_nothing(build, run):
    code = """
import infinitrain as it
from infinitrain._abi import registry
names = {c.name for c in registry.candidates()}
assert {'cpu', 'acme'} <= names, names
maps = open('/proc/self/maps').read()
assert 'libitp_' not in maps
assert registry.loaded() == []
"""
    run(code, INFINITRAIN_PROVIDER_PATH=str(build("libitp_acme.so")))


def test_alias_is_the_one_external_provider(build, run):
    code = """
import sys, infinitrain as it
from importlib import metadata
from infinitrain._abi import registry
entry_points = metadata.entry_points
registry.metadata.entry_points = lambda group: [p for p in entry_points(group=group) if p.name == 'cpu']
device = it.Device('privateuse1:0')
assert device is it.Device('acme:0') and str(device) == 'acme:0'
"""
    run(code, INFINITRAIN_PROVIDER_PATH=str(build("libitp_acme.so")))


def test_alias_with_two_external_providers_lists_them(build, run):
    code = """
import infinitrain as it
try: it.Device('privateuse1')
except it.errors.ProviderNotFound as e: print(e)
"""
    text = run(
        code,
        INFINITRAIN_PROVIDER_PATH=os.pathsep.join(
            [
                str(build("libitp_acme.so")),
                str(build("libitp_longer.so", 'NAME="longer"', "PROVIDER_SIZE=sizeof(itp_provider)+16")),
            ]
        ),
    )

    assert "expected exactly one" in text
    assert "acme" in text
    assert "longer" in text


def test_a_broken_package_does_not_break_the_cpu(run, tmp_path):
    package = tmp_path / "brokenvendor"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('vendor SDK version 3 is too old')")
    info = tmp_path / "brokenvendor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brokenvendor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[infinitrain.providers]\nbroken = brokenvendor:library_path\n")
    code = """
import infinitrain as it
print(it.Device('cpu'))
try: it.Device('broken')
except it.errors.ProviderLoadError as e: print(e)
"""
    text = run(code, PYTHONPATH=str(tmp_path))

    assert "cpu:0" in text
    assert "vendor SDK version 3 is too old" in text


def test_providers_command_lists_a_sick_provider_and_exits_0(build, run):
    library = build("libitp_sick.so", 'NAME="sick"', "INIT_FAILS")
    code = "import sys; from infinitrain.cli.main import main; sys.exit(main(sys.argv[1:]))"

    text = run(code, "providers", "--explain", INFINITRAIN_PROVIDER_PATH=str(library))

    assert "cpu:0" in text
    assert "not available" in text
    assert "no driver was found" in text
    assert "AddForward" in text


def test_options_come_from_code_and_environment(run):
    code = """
import sys, infinitrain as it
if sys.argv[1] == 'code': it.configure('fake', devices=3)
print(it.device_count('fake'))
"""
    assert run(code, "code").strip() == "3"
    assert run(code, "environment", INFINITRAIN_FAKE_DEVICES="4").strip() == "4"


def test_unknown_options_are_refused(run):
    code = """
import infinitrain as it
try: it.configure('fake', devcies=3)
except it.errors.OptionError as e: print(e)
"""
    text = run(code)

    assert "no option 'devcies'" in text
    assert "devices" in text
    assert "no option for INFINITRAIN_FAKE_SPEED" in run(
        "import infinitrain as it\ntry: it.Device('fake')\nexcept Exception as e: print(e)", INFINITRAIN_FAKE_SPEED="9"
    )


def test_exit_with_live_tensors_streams_and_work_in_flight(run):
    code = """
import infinitrain as it
from infinitrain.stream import Stream, Event
from infinitrain.strided import Strided
from infinitrain import dtype
from infinitrain.dispatch import launch
device = it.Device('fake:1')
kept = [Strided._empty((256, 256), dtype.float32, device) for _ in range(3)]
stream, event = Stream(device), Event(device)
with stream:
    for _ in range(50): launch('AddForward', (kept[0], kept[1]), (kept[2],))
event.record(stream)
"""
    run(code, INFINITRAIN_FAKE_DELAY_US="200")


def test_child_of_a_fork_is_told(run):
    code = """
import os, infinitrain as it
from infinitrain.strided import Strided
from infinitrain import dtype
for name in ('cpu', 'fake'):
    device = it.Device(name); kept = Strided._empty((4,), dtype.float32, device)
    child = os.fork()
    if child == 0:
        try: Strided._empty((1 << 20,), dtype.float32, device)
        except it.errors.ForkedError as e:
            os._exit(0 if 'spawn' in str(e) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    Strided._empty((1 << 20,), dtype.float32, device)
"""
    run(code)


def test_child_may_start_what_the_parent_never_used(run):
    code = """
import os, infinitrain as it
child = os.fork()
if child == 0:
    os._exit(0 if str(it.Device('cpu')) == 'cpu:0' else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    run(code)
