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


def test_a_library_is_found_whatever_its_file_is_called(build, run, tmp_path):
    library = tmp_path / "vendor-driver.so"
    shutil.copy(build("libitp_acme.so"), library)
    (tmp_path / "libitp_text.so").write_text("no library")

    assert (
        run("import infinitrain as it; print(it.Device('acme'))", INFINITRAIN_PROVIDER_PATH=tmp_path).strip()
        == "acme:0"
    )


def test_of_two_libraries_one_is_chosen_by_loading_it(build, run, tmp_path):
    library = build("libitp_acme.so")
    shutil.copy(library, tmp_path / "libitp_acme.so")
    code = "import sys, infinitrain as it; it.load_provider(sys.argv[1]); print(it.Device('acme').provider.path)"
    path = os.pathsep.join([str(library), str(tmp_path)])

    assert run(code, library, INFINITRAIN_PROVIDER_PATH=path).strip() == str(library)


def test_variables_of_a_longer_name_are_not_options_of_the_shorter(build, run):
    two = build("libitp_acme_two.so", 'NAME="acme_two"')
    path = os.pathsep.join([str(build("libitp_acme.so")), str(two)])
    code = "import infinitrain as it; print(it.Device('acme'))"

    assert run(code, INFINITRAIN_PROVIDER_PATH=path, INFINITRAIN_ACME_TWO_SPEED="9").strip() == "acme:0"


def test_a_name_of_ours_says_what_to_install(run):
    code = """
import infinitrain as it
from infinitrain._abi import registry
registry.metadata.entry_points = lambda group: []
try: it.Device('cuda')
except it.errors.DeviceNotFound as e: print(e)
"""
    assert "pip install infinitrain-cuda" in run(code)


def test_a_package_may_import_infinitrain_before_or_after(build, run, tmp_path):
    package = tmp_path / "acmevendor"
    package.mkdir()
    (package / "__init__.py").write_text(
        f"import infinitrain\nassert infinitrain.float32\ndef library_path(): return {str(build('libitp_acme.so'))!r}\n"
    )
    info = tmp_path / "acmevendor-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acmevendor\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[infinitrain.providers]\nacme = acmevendor:library_path\n")

    for first in ("infinitrain", "acmevendor"):
        code = f"import {first}, infinitrain; print(infinitrain.Device('acme'))"
        assert run(code, PYTHONPATH=tmp_path).strip() == "acme:0"


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
    assert "Did you mean 'devices'?" in text
    assert "no option for INFINITRAIN_FAKE_SPEED" in run(
        "import infinitrain as it\ntry: it.Device('fake')\nexcept Exception as e: print(e)", INFINITRAIN_FAKE_SPEED="9"
    )


def test_a_device_that_cannot_be_loaded_ends_training_with_the_loaders_reason(build, run, tmp_path):
    library = build("libitp_undefined.so", "UNDEFINED")
    code = "import sys; from infinitrain.cli.main import main; sys.exit(main(sys.argv[1:]))"
    arguments = ("train", "gpt2-tiny", "--device", "undefined", "--out", tmp_path / "run")

    text = run(code, *arguments, expect=2, INFINITRAIN_PROVIDER_PATH=library)

    assert str(library) in text
    assert "a_function_that_nobody_has" in text
    assert "infinitrain providers" in text
    assert not (tmp_path / "run").exists()
