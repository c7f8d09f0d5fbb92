/* Kernels of your own: each is a function and an entry `kernel_NAME` of the row's schema, dtypes and version.
 * kernels/table.c takes an entry from any file of this folder in place of the SDK's portable kernel. */
#include <string.h>

#include "../internal.h"
#include "infinitrain/kernels.h"
#include "infinitrain/strided.h"

/* YOURS: what runs on the device, instead of these loops. */
static itp_status copy_elements(const char *name, const itp_tensor *x, itp_tensor *y, itp_error *err) {
  const size_t size = (size_t)itp_element_size(y);
  const itp_tensor *const tensors[] = {x, y};
  itp_strided it;
  if (!itp_strided_begin(&it, tensors, 2)) {
    return ITP_FAIL(err, INVALID_ARGUMENT, name, "x and y of one shape expected");
  }
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; ++i) {
      memcpy(it.data[1] + i * it.step[1], it.data[0] + i * it.step[0], size);
    }
  }
  return ITP_OK;
}

static itp_status launch_Copy(void *self, const itp_launch *l, itp_error *err) {
  itp_args_Copy a;
  itp_status status = check_device(self, "Copy", l->device, err); /* your stream: l->stream */
  if (status == ITP_OK)
    status = itp_unpack_Copy(l, &a, err); /* operands by name; counts and kinds are checked */
  return status == ITP_OK ? copy_elements("Copy", a.x, a.y, err) : status;
}

extern const itp_kernel kernel_Copy;
const itp_kernel kernel_Copy = {
    .struct_size = sizeof(itp_kernel),
    .op_version = 1,
    .name = "Copy",
    .schema = itp_schema_Copy,
    .dtype_mask = ITP_DTYPES_Copy,
    .flags = ITP_K_DETERMINISTIC | ITP_K_STRIDED,
    .launch = launch_Copy,
};
