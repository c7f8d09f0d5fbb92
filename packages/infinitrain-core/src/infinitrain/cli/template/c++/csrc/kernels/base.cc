// Kernels of your own: each is a function and an entry `kernel_NAME` of the row's schema, dtypes and version.
// kernels/table.cc takes an entry from any file of this folder in place of the SDK's portable kernel.
#include <cstring>

#include "../internal.h"
#include "infinitrain/kernels.h"
#include "infinitrain/strided.h"

namespace {

// YOURS: what runs on the device, instead of these loops.
itp_status copy_elements(const char *name, const itp_tensor *x, itp_tensor *y, itp_error *err) {
  const auto size = static_cast<size_t>(itp_element_size(y));
  const itp_tensor *const tensors[] = {x, y};
  itp_strided it;
  if (!itp_strided_begin(&it, tensors, 2)) {
    return ITP_FAIL(err, INVALID_ARGUMENT, name, "x and y of one shape expected");
  }
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; ++i) {
      std::memcpy(it.data[1] + i * it.step[1], it.data[0] + i * it.step[0], size);
    }
  }
  return ITP_OK;
}

itp_status launch_copy(void *self, const itp_launch *l, itp_error *err) {  // your stream: l->stream
  if (const itp_status status = check_device(self, "Copy", l->device, err)) return status;
  itp_args_Copy a;
  // Operands by name; counts and kinds are checked.
  if (const itp_status status = itp_unpack_Copy(l, &a, err)) return status;
  return copy_elements("Copy", a.x, a.y, err);
}

}  // namespace

extern const itp_kernel kernel_Copy;
const itp_kernel kernel_Copy = {
    .struct_size = sizeof(itp_kernel),
    .op_version = 1,
    .name = "Copy",
    .schema = itp_schema_Copy,
    .dtype_mask = ITP_DTYPES_Copy,
    .flags = ITP_K_DETERMINISTIC | ITP_K_STRIDED,
    .state = nullptr,
    .launch = launch_copy,
    .workspace = nullptr,
    .supports = nullptr,
};
