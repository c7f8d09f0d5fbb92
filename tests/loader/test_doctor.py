"""`infinitrain doctor`: each thing that goes wrong, provoked, is named with what mends it."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import infinitrain_capi
import pytest

PIP = f"{sys.executable} -m pip"
SOURCE = "int a_function_that_nobody_has(void) { return 7; }"


@pytest.fixture
def doctor(tmp_path):
    """Run the command; gives (answer, findings of all providers and of the environment)."""

    def run(*words, well=False, before=None, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("INFINITRAIN_")}
        result = subprocess.run(
            [sys.executable, "-m", "infinitrain.cli.main", "doctor", "--json", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=tmp_path,
            preexec_fn=before,
            env={**clean, **{name: str(value) for name, value in environment.items()}},
        )
        assert result.returncode == (0 if well else 1), result.stdout + result.stderr
        answer = json.loads(result.stdout)
        assert answer["well"] == well
        return answer, [*answer["findings"], *(each for one in answer["providers"] for each in one["findings"])]

    return run


@pytest.fixture
def only(doctor):
    """Run the command where one thing is wrong; gives it."""

    def run(*words, **settings):
        _, (finding,) = doctor(*words, **settings)
        return finding

    return run


def package(folder, name, library, *, body="", distribution=None):
    """Put an installed package of a provider into a folder: metadata, entry point, module."""
    distribution = distribution or f"infinitrain-{name}"
    module = distribution.replace("-", "_")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[infinitrain.providers]\n{name} = {module}:library_path\n")
    (folder / f"{module}.py").write_text(f"{body}\ndef library_path():\n    return {str(library)!r}\n")
    return folder


def gcc(*words):
    subprocess.run(["gcc", "-shared", "-fPIC", *map(str, words)], check=True)


def test_all_is_well(doctor):
    answer, findings = doctor(well=True)
    found = {each["name"]: each for each in answer["providers"]}

    assert findings == []
    assert {"cpu", "fake"} <= set(found)
    assert [each.split(",")[0] for each in found["fake"]["devices"]] == ["fake:0", "fake:1"]
    assert found["cpu"]["library"].endswith("libitp_cpu.so")
    assert answer["python"] == sys.executable


def test_what_the_user_sees(tmp_path):
    def say(*words):
        command = [sys.executable, "-m", "infinitrain.cli.main", "doctor", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    well, ill = say("fake"), say("nobodys_device")

    assert (well.returncode, ill.returncode) == (0, 1)
    assert "fake: well, 2 device(s)" in well.stdout
    assert well.stdout.endswith("All is well.\n")
    assert f"  mend   {PIP} install infinitrain-nobodys-device" in ill.stdout
    assert ill.stdout.endswith("1 thing(s) to mend.\n")


# ---- not found ----


def test_not_installed(only):
    finding = only("maca")

    assert finding["kind"] == "not installed"
    assert finding["mend"].startswith(f"{PIP} install infinitrain-maca")


def test_a_close_name_is_guessed(only):
    assert "Did you mean 'fake'?" in only("fkae")["problem"]


@pytest.mark.parametrize("name", ["Acme!", "x" * 33])
def test_a_name_that_no_device_can_have(only, name):
    assert only(name)["kind"] == "wrong name"


def test_installed_in_another_python(only, tmp_path):
    other = tmp_path / "other"
    venv.create(other, with_pip=False)
    (folder,) = (other / "lib").glob("python3*/site-packages")
    package(folder, "maca", "/nowhere.so")

    finding = only("maca", PATH=f"{other / 'bin'}:{os.environ['PATH']}")

    assert finding["kind"] == "another Python"
    assert f"infinitrain-maca is installed in {folder}" in finding["problem"]
    assert sys.executable in finding["problem"]
    assert finding["mend"].startswith(f"{PIP} install infinitrain-maca")


def test_the_alias_of_none_and_of_several(only, build, tmp_path):
    package(tmp_path / "site", "acme", build("libitp_acme.so"))
    package(tmp_path / "site", "maca", build("libitp_acme.so"))

    finding = only("privateuse1", PYTHONPATH=tmp_path / "site")

    assert finding["kind"] == "alias"
    assert "acme" in finding["problem"]
    assert "maca" in finding["problem"]


# ---- environment variables ----


def test_provider_path_leads_nowhere(only, build, tmp_path):
    good = build("libitp_acme.so")
    finding = only("fake", INFINITRAIN_PROVIDER_PATH=f"{tmp_path}/gone.so:{good}")

    assert finding["kind"] == "missing file"
    assert f"{tmp_path}/gone.so" in finding["problem"]
    assert finding["mend"] == f"export INFINITRAIN_PROVIDER_PATH={good}"


def test_provider_path_is_relative_and_an_empty_folder(doctor, tmp_path):
    (tmp_path / "empty").mkdir()
    _, (nowhere, empty) = doctor("fake", INFINITRAIN_PROVIDER_PATH=f"lib/x.so:{tmp_path}/empty")

    assert f"below {tmp_path}" in nowhere["problem"]
    assert "a folder without a library" in empty["problem"]


def test_the_mended_command_mends(only, doctor, tmp_path):
    finding = only("fake", INFINITRAIN_PROVIDER_PATH=tmp_path / "gone.so")

    assert finding["mend"] == "unset INFINITRAIN_PROVIDER_PATH"
    doctor("fake", well=True)


def test_misspelt_variable(only):
    finding = only("fake", INFINITRAIN_PROVIDERS_PATH="/opt/maker")

    assert finding["kind"] == "unknown variable"
    assert finding["mend"] == "export INFINITRAIN_PROVIDER_PATH=/opt/maker; unset INFINITRAIN_PROVIDERS_PATH"


def test_variable_of_a_provider_that_is_not_there(only):
    assert only("fake", INFINITRAIN_MACA_SPEED=3)["mend"] == "unset INFINITRAIN_MACA_SPEED"


def test_option_that_the_provider_does_not_have(only):
    finding = only("fake", INFINITRAIN_FAKE_DEVICE=3)

    assert finding["kind"] == "wrong variable"
    assert "Did you mean 'devices'?" in finding["problem"]
    assert finding["mend"] == "unset INFINITRAIN_FAKE_DEVICE"


def test_variable_that_is_no_number(only):
    assert "expected a number" in only("fake", INFINITRAIN_EXIT_TIMEOUT="soon")["problem"]


# ---- the package ----


def test_package_without_its_library(only, tmp_path):
    package(tmp_path / "site", "maca", tmp_path / "libitp_maca.so")
    finding = only("maca", PYTHONPATH=tmp_path / "site")

    assert finding["kind"] == "missing file"
    assert str(tmp_path / "libitp_maca.so") in finding["problem"]
    assert finding["mend"] == f"{PIP} install --force-reinstall infinitrain-maca"


def test_package_that_cannot_be_imported(only, tmp_path):
    package(tmp_path / "site", "maca", "x", body="import a_module_that_nobody_has")
    finding = only("maca", PYTHONPATH=tmp_path / "site")

    assert finding["kind"] == "package broken"
    assert "a_module_that_nobody_has" in finding["problem"]
    assert finding["mend"] == f"{PIP} install --force-reinstall infinitrain-maca"


def test_package_whose_library_has_another_name(only, build, tmp_path):
    package(tmp_path / "site", "maca", build("libitp_acme.so"))

    assert only("maca", PYTHONPATH=tmp_path / "site")["kind"] == "calls itself otherwise"


def test_two_of_one_name_installed_and_on_the_path(doctor, only, build, tmp_path):
    package(tmp_path / "site", "acme", build("libitp_acme.so"))
    other = tmp_path / "build" / "libitp_acme.so"
    other.parent.mkdir()
    other.write_bytes(build("libitp_acme.so").read_bytes())
    both = {"PYTHONPATH": tmp_path / "site", "INFINITRAIN_PROVIDER_PATH": other.parent}

    finding = only("acme", **both)

    assert finding["kind"] == "offered twice"
    assert str(other) in finding["problem"]
    assert str(build("libitp_acme.so")) in finding["problem"]
    assert finding["mend"] == f"unset INFINITRAIN_PROVIDER_PATH   # or keep that one: {PIP} uninstall infinitrain-acme"
    doctor("acme", well=True, PYTHONPATH=tmp_path / "site")  # the first of the two ways
    doctor("acme", well=True, INFINITRAIN_PROVIDER_PATH=other.parent)  # the second


def test_two_packages_of_one_name(only, build, tmp_path):
    other = tmp_path / "libitp_acme.so"
    other.write_bytes(build("libitp_acme.so").read_bytes())
    package(tmp_path / "site", "acme", build("libitp_acme.so"))
    package(tmp_path / "site", "acme", other, distribution="other-acme")

    finding = only("acme", PYTHONPATH=tmp_path / "site")

    assert finding["kind"] == "offered twice"
    assert finding["mend"].startswith(f"{PIP} uninstall other-acme")


# ---- the library ----


def test_undefined_symbol(only, build):
    library = build("libitp_undefined.so", "UNDEFINED")
    finding = only(library)

    assert finding["kind"] == "undefined symbol"
    assert "a_function_that_nobody_has" in finding["problem"]
    assert f"ldd -r {library}" in finding["mend"]


@pytest.fixture
def link(tmp_path):
    """Build a provider that takes a function from a library of the given name; gives both."""

    def run(soname, *flags):
        source, stub, library = tmp_path / "stub.c", tmp_path / soname, tmp_path / "libitp_acme.so"
        source.write_text(SOURCE)
        gcc("-nostdlib", f"-Wl,-soname,{soname}", *flags, "-o", stub, source)
        includes = [f"-I{infinitrain_capi.include_dir()}", f"-I{infinitrain_capi.sdk_dir()}"]
        minimal = Path(__file__).parent / "providers" / "minimal.c"
        gcc("-DUNDEFINED", *includes, "-o", library, minimal, "-Wl,--no-as-needed", stub)
        return library, stub

    return run


def test_a_library_that_it_needs_is_missing(link, only):
    library, stub = link("libmaker_runtime.so.1")
    stub.unlink()
    finding = only(library)

    assert finding["kind"] == "missing dependency"
    assert "libmaker_runtime.so.1" in finding["problem"]
    assert f"ldd {library}" in finding["mend"]


def test_glibc_is_too_old(link, only, tmp_path):
    versions = tmp_path / "versions.map"
    versions.write_text("GLIBC_2.99 { global: a_function_that_nobody_has; };")
    library, stub = link("libc.so.6", f"-Wl,--version-script={versions}")
    stub.unlink()
    finding = only(library)

    assert finding["kind"] == "system too old"
    assert "it needs GLIBC_2.99, here is glibc 2." in finding["problem"]
    assert "older system" in finding["mend"]


def test_wrong_architecture(only, build, tmp_path):
    library = tmp_path / "libitp_acme.so"
    image = bytearray(build("libitp_acme.so").read_bytes())
    image[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    library.write_bytes(image)
    finding = only(library)

    assert finding["kind"] == "wrong architecture"
    assert f"aarch64, 64 bits; this is {os.uname().machine}" in finding["problem"]


@pytest.mark.parametrize(("content", "kind"), [(b"", "truncated"), (b"#!/bin/sh\n" * 9, "not a library")])
def test_no_library(only, tmp_path, content, kind):
    library = tmp_path / "libitp_acme.so"
    library.write_bytes(content)

    assert only(library)["kind"] == kind


def test_half_a_library(only, build, tmp_path):
    library = tmp_path / "libitp_acme.so"
    library.write_bytes(build("libitp_acme.so").read_bytes()[:500])

    assert only(library)["kind"] in ("truncated", "cannot be loaded")


@pytest.mark.parametrize(
    ("variant", "kind", "words"),
    [
        ("ENTRY=something_else", "not a provider", "infinitrain conformance"),
        ("ENTRY=infinitrain_provider_v2", "newer contract", "install --upgrade infinitrain-core"),
        ("DECLINES", "declined", "infinitrain conformance"),
        ("NO_ALLOC", "breaks the contract", "infinitrain conformance"),
    ],
)
def test_library_that_cannot_serve(only, build, variant, kind, words):
    finding = only(build(f"libitp_doctor_{kind.replace(' ', '_')}.so", variant))

    assert finding["kind"] == kind
    assert words in finding["mend"]


def without_override():
    """Give up root's right to pass every permission: then permissions are what they are for a user."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            if prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                raise OSError("cannot drop a capability")


@pytest.fixture
def locked():
    """Take the rights of a file or folder, and give them back."""
    changed = []

    def lock(place):
        changed.append((place, place.stat().st_mode))
        place.chmod(0)

    yield lock
    for place, mode in changed:
        place.chmod(mode)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_permission(only, build, tmp_path, locked, what):
    folder = tmp_path / "locked"
    folder.mkdir()
    library = folder / "libitp_acme.so"
    library.write_bytes(build("libitp_acme.so").read_bytes())
    closed = library if what == "file" else folder
    locked(closed)

    finding = only(library, before=without_override)

    assert finding["kind"] == "not allowed"
    assert str(closed) in finding["problem"]
    assert finding["mend"].startswith(f"chmod a+{'r' if what == 'file' else 'rx'} {closed} ")


def test_permission_on_the_path_variable(doctor, tmp_path, locked):
    folder = tmp_path / "locked"
    folder.mkdir()
    locked(folder)
    _, (finding,) = doctor("fake", before=without_override, INFINITRAIN_PROVIDER_PATH=folder / "x.so")

    assert finding["mend"] == f"chmod a+rx {folder}"


# ---- the device ----


def test_no_driver(only, build):
    finding = only(build("libitp_nodriver.so", "INIT_FAILS"))

    assert finding["kind"] == "unavailable"
    assert "no driver was found" in finding["problem"]


def test_no_device(only, build):
    assert only(build("libitp_nodevice.so", "DEVICES=0"))["kind"] == "no device"


def test_a_crash_is_the_probes(only, build):
    finding = only(build("libitp_crash.so", "INIT_CRASHES"))

    assert finding["kind"] == "crashes"
    assert "started (init): SIGABRT" in finding["problem"]


def test_a_hang_ends(only, build):
    finding = only(build("libitp_hang.so", "INIT_HANGS"), "--timeout", "8")

    assert finding["kind"] == "hangs"
    assert "8 seconds" in finding["problem"]


def test_wrong_values(only, build):
    finding = only(build("libitp_lies.so", "COPY_LIES"))

    assert finding["kind"] == "wrong values"
    assert "element 99" in finding["problem"]


def test_forked(run):
    code = """
import os, sys
import infinitrain as it
from infinitrain.cli.main import main
it.ones(3, device="fake")
child = os.fork()
if child == 0:
    code = main(["doctor", "fake"])
    sys.stdout.flush()
    os._exit(code)
print("exit", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
assert main(["doctor", "fake"]) == 0
"""
    said = run(code)

    assert "wrong  forked: " in said
    assert "set_start_method('spawn')" in said
    assert "exit 1" in said
    assert said.endswith("All is well.\n")
