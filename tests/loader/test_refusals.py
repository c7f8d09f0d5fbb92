"""Each library that cannot serve is refused by a typed error that says what was found, expected and to be done."""

from __future__ import annotations

import shutil

import pytest
from infinitrain import load_provider
from infinitrain.errors import AbiMismatch, ProviderLoadError, ProviderUnavailable


def refusal(path, kind=ProviderLoadError):
    with pytest.raises(kind) as caught:
        load_provider(path)
    assert str(path) in str(caught.value)
    return caught.value


def test_missing_file(tmp_path):
    assert "expected a file, found none" in str(refusal(tmp_path / "nothing.so"))


def test_not_a_library(tmp_path):
    file = tmp_path / "libitp_text.so"
    file.write_text("this is no library")

    assert "expected a shared library" in str(refusal(file))


def test_truncated_library(build, tmp_path):
    file = tmp_path / "libitp_short.so"
    file.write_bytes(build("libitp_acme.so").read_bytes()[:100])

    assert "cannot be loaded" in str(refusal(file))


def test_wrong_architecture(build, tmp_path):
    file = tmp_path / "libitp_other.so"
    image = bytearray(build("libitp_acme.so").read_bytes())
    image[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    file.write_bytes(image)

    assert "cannot be loaded" in str(refusal(file))


def test_undefined_symbol_keeps_the_loaders_reason(build):
    error = refusal(build("libitp_undefined.so", "UNDEFINED"))

    assert "a_function_that_nobody_has" in str(error)
    assert "infinitrain providers" in str(error)


def test_no_entry_symbol(build):
    error = refusal(build("libitp_entry.so", "ENTRY=something_else"))

    assert "not an infinitrain provider" in str(error)
    assert "infinitrain_provider_v1" in str(error)


def test_newer_major_needs_a_newer_core(build):
    error = refusal(build("libitp_major.so", "ENTRY=infinitrain_provider_v2"), AbiMismatch)

    assert "ABI 2.x" in str(error)
    assert "1.0" in str(error)
    assert "newer core" in str(error)


def test_query_that_declines(build):
    assert "declined" in str(refusal(build("libitp_declines.so", "DECLINES"), AbiMismatch))


@pytest.mark.parametrize("size", ["0", "7", "sizeof(itp_provider)-8", "4000000000u", "sizeof(itp_provider)+4"])
def test_bad_size_of_the_provider_struct(build, size):
    error = refusal(build(f"libitp_size{abs(hash(size))}.so", f"PROVIDER_SIZE={size}"))

    assert "struct_size" in str(error)


@pytest.mark.parametrize("size", ["0", "12", "4000000000u"])
def test_bad_size_of_a_table(build, size):
    assert "runtime.struct_size" in str(refusal(build(f"libitp_table{size}.so", f"RUNTIME_SIZE={size}")))


def test_all_problems_are_listed_at_once(build):
    library = build("libitp_many.so", 'NAME="Bad-Name"', "NO_GUARD", "NO_ALLOC", "NO_DEVICE_INFO", "NO_CAST_NO_FILL")
    error = refusal(library)

    text = "\n".join(error.problems)
    assert "'Bad-Name'" in text
    assert "table 'guard' is missing" in text
    assert "slot runtime.alloc is NULL" in text
    assert "slot runtime.device_info is NULL" in text
    assert "kernel 'Cast' is missing" in text
    assert "kernel 'Fill' is missing" in text
    assert len(error.problems) == 6


def test_a_folder_is_not_a_library(tmp_path):
    assert "expected a file, found a folder" in str(refusal(tmp_path))


def test_options_that_break_their_rules_are_listed(build):
    problems = refusal(build("libitp_options.so", "BAD_OPTIONS")).problems

    assert "option 'speed': expected a default and a help text, found NULL" in problems
    assert "options[1]: name 'Top-Speed': expected a lower-case letter, then a-z, 0-9 and _" in problems
    assert "option 'speed' is listed twice" in problems
    assert "options[3] is NULL" in problems


def test_texts_that_are_absent(build):
    assert refusal(build("libitp_novendor.so", "VENDOR=NULL")).problems == ["vendor is NULL: expected a text"]


def test_copy_without_strides_is_no_copy(build):
    assert "kernel 'Copy' is off: it lacks ITP_K_STRIDED" in str(refusal(build("libitp_flat.so", "COPY_FLAGS=0")))


def test_kernels_for_no_dtype_are_off(build):
    error = refusal(build("libitp_nodtype.so", "MASK=0"))

    assert len(error.problems) == 5
    assert "kernel 'Cast' is off: its dtype_mask has none of bool, u8" in str(error)


def test_dtypes_that_a_row_does_not_have_are_left_out(build):
    provider = load_provider(build("libitp_wide.so", 'NAME="wide"', "MASK=0xF1FFFULL"))

    assert provider.kernels["Fill"].dtype_mask == 0x1FFF
    assert "kernel 'Fill' is used only for what its row allows, not for: bit 16" in "".join(provider.notes)


def test_kernel_listed_twice(build):
    assert "'Fill' is listed twice" in str(refusal(build("libitp_twice.so", "TWICE")))


@pytest.mark.parametrize("name", ["", "9lives", "Acme", "acme-x", "_x", "a" * 33])
def test_bad_names(build, name):
    library = build(f"libitp_name{len(name)}{name[:1] or 'e'}.so", f'NAME="{name}"')

    assert "expected a lower-case letter" in str(refusal(library))


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_reserved_names(build, name):
    assert "reserved" in str(refusal(build(f"libitp_reserved_{name}.so", f'NAME="{name}"')))


def test_the_alias_is_not_a_name(build):
    assert "alias" in str(refusal(build("libitp_alias.so", 'NAME="privateuse1"')))


def test_unusable_kernels_are_off_and_said_so(build):
    provider = load_provider(build("libitp_acme.so"))

    notes = "\n".join(provider.notes)
    assert sorted(provider.kernels) == ["Cast", "Copy", "Fill", "NoOpBackward", "NoOpForward"]
    assert "'AddForward' is off: found version 7" in notes
    assert "'MulForward' is off: its schema is" in notes
    assert "'Frobnicate' is off" in notes


def test_same_file_twice_is_one_provider(build, tmp_path):
    library = build("libitp_acme.so")
    link = tmp_path / "other_name.so"
    link.symlink_to(library)

    assert load_provider(library) is load_provider(library) is load_provider(link)


def test_two_files_of_one_name_are_refused(build, tmp_path):
    first = build("libitp_acme.so")
    second = tmp_path / "libitp_acme_copy.so"
    shutil.copy(first, second)
    load_provider(first)

    error = refusal(second)

    assert str(first) in str(error)
    assert "'acme' is taken" in str(error)


def test_longer_struct_of_a_newer_minor_loads(build):
    library = build("libitp_longer.so", 'NAME="longer"', "PROVIDER_SIZE=sizeof(itp_provider)+16")

    assert load_provider(library).name == "longer"


def test_failed_init_is_cached_and_a_good_file_takes_the_name(build, tmp_path):
    from infinitrain import Device

    bad = load_provider(build("libitp_sick.so", 'NAME="sick"', "INIT_FAILS"))
    with pytest.raises(ProviderUnavailable, match=r"no driver was found \(attempt 1\)") as first:
        Device("sick")
    with pytest.raises(ProviderUnavailable, match=r"attempt 1\)") as second:
        Device("sick")

    assert first.value is second.value

    good = load_provider(build("libitp_well.so", 'NAME="sick"'))

    assert good is not bad
    assert str(Device("sick:0")) == "sick:0"
