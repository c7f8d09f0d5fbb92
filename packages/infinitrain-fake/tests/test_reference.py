"""The SDK's reference kernels as a vendor meets them: compiled into a C99 program, on plain host memory."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import infinitrain_capi
import pytest
from fake_driver import TABLE

PROGRAM = r"""
#include <stdio.h>
#include "infinitrain/reference.h"

int main(void) {
  uint32_t count = 0;
  const itp_kernel *const *kernels = itp_reference_kernels(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (itp_reference_kernel(kernels[i]->name) != kernels[i]) return 1;
    if (itp_reference_launch(kernels[i]->name) != kernels[i]->launch) return 2;
    puts(kernels[i]->schema);
  }
  if (itp_reference_kernel("Nothing") != NULL || itp_reference_launch("Nothing") != NULL) return 3;

  float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, y[3] = {0};
  int64_t shape[1] = {3};
  const itp_dtype f32 = {2, 32, 1};
  const itp_tensor ta = {.data = a, .ndim = 1, .dtype = f32, .shape = shape};
  const itp_tensor tb = {.data = b, .ndim = 1, .dtype = f32, .shape = shape};
  itp_tensor ty = {.data = y, .ndim = 1, .dtype = f32, .shape = shape};
  const itp_tensor *inputs[] = {&ta, &tb};
  itp_tensor *outputs[] = {&ty};
  itp_launch l = {.struct_size = sizeof l, .inputs = inputs, .outputs = outputs, .n_inputs = 2, .n_outputs = 1};
  if (itp_ref_AddForward(NULL, &l, NULL) != ITP_OK) return 4;
  printf("%g %g %g\n", y[0], y[1], y[2]);

  char text[200];
  itp_error err = {.struct_size = sizeof err, .message = text, .message_capacity = sizeof text};
  int64_t other[1] = {2};
  ty.shape = other;
  if (itp_reference_launch("AddForward")(NULL, &l, &err) != ITP_E_INVALID_ARGUMENT) return 5;
  puts(text);
  return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_reference_kernels_in_a_program_of_their_own(tmp_path: Path) -> None:
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(PROGRAM)
    sdk = infinitrain_capi.sdk_dir()
    command = ["gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    command += [f"-I{infinitrain_capi.include_dir()}", f"-I{sdk}", "-o", program, source]
    subprocess.run([*command, *sorted((sdk / "reference").glob("*.c")), "-lm"], check=True)
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()

    assert lines[:-2] == [row.schema for row in TABLE.values()]
    assert lines[-2] == "11 22 33"
    assert lines[-1] == "[AddForward][INVALID_ARGUMENT] operands of equal shapes expected"
