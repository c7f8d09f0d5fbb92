/* The kernel table: every row of kernels.toml, run by the SDK's reference kernels.
 *
 * A vendor keeps this file and, kernel by kernel, puts a function of its own in the place of the reference.
 */
#include "../internal.h"
#include "infinitrain/kernels.h"
#include "launch.h"

#define FLAGS (ITP_K_DETERMINISTIC | ITP_K_CAPTURABLE)

#define DEFINE(Name, version)                                                             \
  static itp_status check_##Name(const itp_launch *l, itp_error *err) {                   \
    itp_args_##Name a;                                                                    \
    return itp_unpack_##Name(l, &a, err);                                                 \
  }                                                                                       \
  static const fake_kernel kernel_##Name = {.entry = {.struct_size = sizeof(itp_kernel),  \
                                                      .op_version = version,              \
                                                      .name = #Name,                      \
                                                      .schema = itp_schema_##Name,        \
                                                      .dtype_mask = ITP_DTYPES_##Name,    \
                                                      .flags = FLAGS | ITP_ALLOWS_##Name, \
                                                      .launch = fake_launch},             \
                                            .check = check_##Name,                        \
                                            .run = itp_ref_##Name};
ITP_KERNELS(DEFINE)

#define ITEM(Name, version) &kernel_##Name.entry,
static const itp_kernel *const items[] = {ITP_KERNELS(ITEM)};

const itp_kernels fake_kernels = {
    .struct_size = sizeof(itp_kernels), .count = ITP_KERNEL_COUNT, .items = items, .submit = fake_submit};
