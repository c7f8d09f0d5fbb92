"""docs/kernels.md says of every kernel of InfiniTrain what it is here: names that exist, and no kernel forgotten."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from infinitrain_capi.table import load

SECTION = (Path(__file__).parents[2] / "docs/kernels.md").read_text().partition("## InfiniTrain's kernels\n")[2]
ROWS = [line.strip("| ").split(" | ") for line in SECTION.splitlines() if line.startswith("| ")][1:]
KERNELS = set(load())

#: With a forward and a backward kernel on every backend of InfiniTrain.
BOTH_WAYS = """
NoOp Concat Stack Split Slice CrossEntropy Neg Reciprocal Sin Cos Tanh Pow Rsqrt Exp Log Sigmoid Add Sub Mul Div
AddScalar MulScalar Embedding Gather Scatter LayerNorm Outer Mean Sum Max Min Softmax Tril Triu Transpose Mask
RepeatInterleave TopK
"""
FORWARD = "Equals Lt Le Gt Ge EqualsScalar LtScalar LeScalar GtScalar GeScalar And Or Linear Matmul"
OTHERS = """
AccumulateGrad AdamAccumulateGrad Fill Cast LinearBackwardInput LinearBackwardWeight LinearBackwardBias
MatmulBackwardInput MatmulBackwardOther Gemm ScatterAdd
"""
EXPECTED = {f"{name}{way}" for name in BOTH_WAYS.split() for way in ("Forward", "Backward")}
EXPECTED |= {f"{name}Forward" for name in FORWARD.split()} | set(OTHERS.split())


def test_every_kernel_of_infinitrain_is_named_once():
    named = [name for row in ROWS for name in row[0].split(", ")]

    assert not EXPECTED - set(named)
    assert len(named) == len(set(named))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].split(",")[0])
def test_what_it_is_here_exists(row):
    assert len(row) == 3, row
    names = re.findall(r"`([^`]+)`", row[1])
    assert names
    assert row[2]
    for name in names:
        if name.startswith("ops."):
            _, module, attribute = name.split(".")
            assert callable(getattr(import_module(f"infinitrain.ops.{module}"), attribute))
        else:
            assert name in KERNELS, name
