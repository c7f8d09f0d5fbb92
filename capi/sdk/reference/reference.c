/* The table of reference kernels, made from the kernel table. */
#include "infinitrain/reference.h"

#include <string.h>

/* All are pure functions of their operands: captured, repeated or moved to another thread, they give the
 * same. */
#define FLAGS (ITP_K_DETERMINISTIC | ITP_K_CAPTURABLE)

#define DEFINE(Name, version)                                                  \
  static const itp_kernel kernel_##Name = {.struct_size = sizeof(itp_kernel),  \
                                           .op_version = version,              \
                                           .name = #Name,                      \
                                           .schema = itp_schema_##Name,        \
                                           .dtype_mask = ITP_DTYPES_##Name,    \
                                           .flags = FLAGS | ITP_ALLOWS_##Name, \
                                           .launch = itp_ref_##Name};
ITP_KERNELS(DEFINE)

#define ITEM(Name, version) &kernel_##Name,
static const itp_kernel *const kernels[] = {ITP_KERNELS(ITEM)};

const itp_kernel *const *itp_reference_kernels(uint32_t *count) {
  *count = ITP_KERNEL_COUNT;
  return kernels;
}

const itp_kernel *itp_reference_kernel(const char *name) {
  for (size_t i = 0; i < ITP_KERNEL_COUNT; ++i) {
    if (strcmp(kernels[i]->name, name) == 0) return kernels[i];
  }
  return NULL;
}

itp_launch_fn itp_reference_launch(const char *name) {
  const itp_kernel *kernel = itp_reference_kernel(name);
  return kernel != NULL ? kernel->launch : NULL;
}
