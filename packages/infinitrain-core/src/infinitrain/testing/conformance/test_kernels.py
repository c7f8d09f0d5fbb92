"""Every row of the kernel table by every dtype: values, layouts, aliasing, and what must stay untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest
from infinitrain_capi.table import KernelRow

from infinitrain.testing.conformance.bench import POISONS, Bench
from infinitrain.testing.conformance.case import Case, Expected, dtype_of
from infinitrain.testing.conformance.cases import CASES, cases, dtype_pairs
from infinitrain.testing.conformance.check import same_bits
from infinitrain.testing.conformance.driver import TABLE, Library
from infinitrain.testing.conformance.layout import MATRIX, STRIDED
from infinitrain.testing.conformance.reference import REFERENCES

DETERMINISTIC, CAN_STRIDE, MAY_ALIAS = 0x2, 0x4, 0x8
HOST_READABLE = 0x1
Made = tuple[tuple[Case, list[Expected | None]], ...]
Record = Callable[[str, object], None]


def everything() -> list[object]:
    """List (kernel, T, U) for all rows and all their dtypes."""
    found: list[object] = []
    for row in TABLE.values():
        for t, u in dtype_pairs(row):
            name = "-".join(part for part in (row.name, t, u) if part)
            found.append(pytest.param(row.name, t, u, id=name, marks=pytest.mark.kernel(row.tier, row.name, t, u)))
    return found


def rows(condition: Callable[[KernelRow], bool] = lambda row: True) -> list[object]:
    """List the rows that meet a condition."""
    return [
        pytest.param(row.name, id=row.name, marks=pytest.mark.kernel(row.tier, row.name, "", ""))
        for row in TABLE.values()
        if condition(row)
    ]


def reason_to_skip(library: Library, bench: Bench, name: str, t: str, u: str) -> str:
    """Say why a provider need not run a row for these dtypes, "" where it must."""
    if name not in library.kernels:
        return "not offered"
    if not library.offers(name, t or None):
        return f"not offered for {t}" if t else "not offered in this version"
    row = TABLE[name]
    for operand in (*row.inputs, *row.outputs):
        if not bench.info.stores(dtype_of(operand, t, u)):
            return f"the device stores no {dtype_of(operand, t, u).name}"
    if library.kernels[name].supports:
        with bench.place(name, cases(name, t, u)[0][0]) as placed:
            if not placed.request.supported():
                return "the kernel's `supports` declines it"
    return ""


def offered(library: Library, bench: Bench, name: str) -> Iterator[Made]:
    """Give the cases of each dtype that the provider offers a row for; for a row with U, a band of the pairs.

    Skips: where it does not offer the row at all.
    """
    reason = ""
    some = False
    for i, (t, u) in enumerate(dtype_pairs(TABLE[name])):
        if u and i % 14 and i % 14 != 11:
            continue
        why = reason_to_skip(library, bench, name, t, u)
        if why:
            reason = why
            continue
        some = True
        yield cases(name, t, u)
    if not some:
        pytest.skip(reason)


def report(bench: Bench, record: Record, name: str, runs: Iterable[tuple[Case, list[Expected | None], str]]) -> None:
    """Run (case, expected, layout)s, fail with the first problems, record the worst share of the tolerance."""
    problems, worst, count = [], 0.0, 0
    for case, expected, how in runs:
        problem, share = bench.check(name, case, expected, how)
        count += 1
        worst = max(worst, share)
        if problem:
            problems.append(problem)
    record("worst", worst)
    record("launches", count)
    if problems:
        more = f"\n... and {len(problems) - 3} more launches" if len(problems) > 3 else ""
        pytest.fail(f"{name}: " + "\n".join(problems[:3]) + more, pytrace=False)


@pytest.mark.parametrize("name", TABLE)
def test_every_row_has_a_reference_and_cases(name: str) -> None:
    """A row of the table that nothing checks cannot be."""
    assert name in REFERENCES
    assert name in CASES


@pytest.mark.parametrize(("name", "t", "u"), everything())
def test_kn_05_values(library: Library, bench: Bench, record_property: Record, name: str, t: str, u: str) -> None:
    """The values are those that the row's meaning defines, within its tolerance, for every dtype of dtype_mask."""
    reason = reason_to_skip(library, bench, name, t, u)
    if reason:
        pytest.skip(reason)
    made = cases(name, t, u)
    report(bench, record_property, name, ((case, expected, "compact") for case, expected in made if not case.tags))


def elements(case: Case) -> int:
    """Count the elements of all outputs."""
    return sum(output.array.size for output in case.outputs if output is not None)


def few(made: Made) -> Made:
    """Give the cases that show a layout's or a buffer's mistakes: small ones of each kind."""
    small = [each for each in made if elements(each[0]) < 2000]
    plain = [each for each in small if not each[0].tags]
    largest = max(plain, key=lambda each: elements(each[0]))
    broadcast = [each for each in small if each[0].tags & {"broadcast"}]
    return (*plain[:: max(1, len(plain) // 5)], largest, *broadcast)


@pytest.mark.parametrize("name", rows())
def test_kn_06_outputs_are_written_in_full(library: Library, bench: Bench, name: str) -> None:
    """Every element of an output that is not `inout` is written; what it held is not read."""
    for made in offered(library, bench, name):
        for case, _ in few(made):
            first, second = (bench.run(name, case, poison=poison).found for poison in POISONS)
            for i, (a, b) in enumerate(zip(first, second, strict=True)):
                if a is not None and b is not None and not same_bits(a, b):
                    pytest.fail(f"{name}: {case.label}: output {i} ({a.dtype}) depends on what it held", pytrace=False)


@pytest.mark.parametrize("name", rows())
def test_kn_07_nothing_else_is_written(library: Library, bench: Bench, name: str) -> None:
    """Only outputs and workspace are written: what lies around and between outputs stays."""
    for made in offered(library, bench, name):
        for case, _ in few(made):
            for how in ("compact", "shifted", *layouts(bench, name)):
                # Blocks of their own where a device that guards its blocks sees the most: at a tensor's very end.
                trespass = bench.run(name, case, how, poison=POISONS[1], apart=how == "compact").trespass
                if trespass:
                    pytest.fail(f"{name}: {case.label} ({how}): {trespass}", pytrace=False)


@pytest.mark.parametrize("name", rows())
def test_kn_08_empty(library: Library, bench: Bench, record_property: Record, name: str) -> None:
    """An empty output, or an empty operand, is no mistake."""
    made = [each for group in offered(library, bench, name) for each in group if "empty" in each[0].tags]
    assert made
    report(bench, record_property, name, ((case, expected, "compact") for case, expected in made))


ZERO_D = {"SquaredNorm", "NoOpForward", "NoOpBackward", "SumForward", "MeanForward", "MaxForward", "MinForward"}


@pytest.mark.parametrize(
    "name", rows(lambda row: row.same_rank or row.name in ZERO_D or row.family in ("optim", "random"))
)
def test_kn_09_zero_dimensional(library: Library, bench: Bench, record_property: Record, name: str) -> None:
    """A tensor may be 0-d with shape and strides NULL, and compact with strides NULL."""
    made = [each for group in offered(library, bench, name) for each in group if "zero-d" in each[0].tags]
    assert made
    hows = ("compact", "shifted")
    report(bench, record_property, name, ((case, expected, how) for case, expected in made for how in hows))


@pytest.mark.parametrize("name", rows(lambda row: any(operand.optional for operand in (*row.inputs, *row.outputs))))
def test_kn_10_optional_tensors(library: Library, bench: Bench, record_property: Record, name: str) -> None:
    """Optional tensors may be NULL, each alone."""
    made = [each for group in offered(library, bench, name) for each in group if "optional" in each[0].tags]
    assert made
    report(bench, record_property, name, ((case, expected, "compact") for case, expected in made))


def layouts(bench: Bench, name: str) -> tuple[str, ...]:
    """Give the layouts that a kernel takes beside compact ones."""
    if not bench.flags(name) & CAN_STRIDE:
        return ()
    return {"strided": STRIDED, "matrix": MATRIX, "contiguous": ()}[TABLE[name].layout]


@pytest.mark.parametrize("name", rows(lambda row: row.layout != "contiguous"))
def test_kn_11_strides(library: Library, bench: Bench, record_property: Record, name: str) -> None:
    """With STRIDED: any strides that the layout allows, 0 (broadcast) included, give the same values."""
    made = [each for group in offered(library, bench, name) for each in few(group)]
    hows = layouts(bench, name)
    if not hows:
        pytest.skip("the kernel does not have ITP_K_STRIDED")
    report(bench, record_property, name, ((case, expected, how) for case, expected in made for how in hows))


def aliases(case: Case) -> list[int]:
    """List the operands that the first output may be the identical view of."""
    output = case.outputs[0]
    if output is None or output.array.size == 0:
        return []
    return [
        i
        for i, operand in enumerate(case.inputs)
        if operand is not None
        and (operand.dtype, operand.shape) == (output.array.dtype, output.array.shape)
        and not any(stride == 0 and size > 1 for stride, size in zip(operand.strides, operand.shape, strict=True))
    ]


@pytest.mark.parametrize("name", rows(lambda row: row.alias))
def test_kn_12_aliases(library: Library, bench: Bench, name: str) -> None:
    """With MAY_ALIAS: an output that is the identical view of an operand gets the same values."""
    tried = 0
    for made in offered(library, bench, name):
        if not bench.flags(name) & MAY_ALIAS:
            pytest.skip("the kernel does not have ITP_K_MAY_ALIAS")
        plain = [each for each in made if not each[0].tags and elements(each[0]) < 5000]
        for case, expected in plain[:: max(1, len(plain) // 8)]:
            for operand in aliases(case):
                for how in ("compact", *layouts(bench, name)[:2]):
                    tried += 1
                    problem, _ = bench.check(name, case, expected, how, alias=operand)
                    if problem:
                        pytest.fail(f"{name}: the output is operand {operand}: {problem}", pytrace=False)
    assert tried


@pytest.mark.parametrize("name", rows())
def test_kn_13_determinism(library: Library, bench: Bench, name: str) -> None:
    """With DETERMINISTIC: a second run gives the same bits."""
    for made in offered(library, bench, name):
        if not bench.flags(name) & DETERMINISTIC:
            pytest.skip("the kernel does not have ITP_K_DETERMINISTIC")
        for case, _ in sorted(made, key=lambda each: -elements(each[0]))[:2]:
            first, second = bench.run(name, case).found, bench.run(name, case).found
            for a, b in zip(first, second, strict=True):
                if a is not None and b is not None and not same_bits(a, b):
                    pytest.fail(f"{name}: {case.label}: two runs give different bits", pytrace=False)


@pytest.mark.parametrize("name", rows())
def test_no_kernel_allocates(library: Library, bench: Bench, name: str) -> None:
    """Kernels neither allocate device memory nor read global state."""
    if bench.provider.mem_info(bench.device) is None:
        pytest.skip("mem_info is absent")
    for made in offered(library, bench, name):
        with bench.place(name, few(made)[0][0]) as placed:
            placed.request.launch()
            bench.provider.sync(bench.device)
            before = {bench.provider.mem_info(bench.device) for _ in range(5)}
            if len(before) > 1 or bench.info.caps & HOST_READABLE:
                pytest.skip("mem_info of this device counts what others use as well")
            found = set()
            for _ in range(3):
                placed.request.launch()
                found.add(bench.provider.mem_info(bench.device))
                bench.provider.sync(bench.device)
                found.add(bench.provider.mem_info(bench.device))
        assert found == before, f"{name}: (free, total) memory was {before} before the launches, then {found}"
