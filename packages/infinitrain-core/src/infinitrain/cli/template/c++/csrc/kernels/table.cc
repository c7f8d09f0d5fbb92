// The kernels that this provider offers.
#include "../internal.h"
#include "infinitrain/reference.h"

// Up to STAND_IN_TIER the SDK's portable kernels stand in. They are weak: an entry of the same name in
// another file takes their place. Kernels of higher tiers that you have written are listed in `items` by
// name.
#define STAND_IN(Name, version)                                                        \
  static itp_status stand_in_##Name(void *self, const itp_launch *l, itp_error *err) { \
    const itp_status status = check_device(self, #Name, l->device, err);               \
    return status == ITP_OK ? itp_ref_##Name(self, l, err) : status;                   \
  }                                                                                    \
  extern __attribute__((weak)) const itp_kernel kernel_##Name;                         \
  const itp_kernel kernel_##Name = {                                                   \
      .struct_size = sizeof(itp_kernel),                                               \
      .op_version = version,                                                           \
      .name = #Name,                                                                   \
      .schema = itp_schema_##Name,                                                     \
      .dtype_mask = ITP_DTYPES_##Name,                                                 \
      .flags = ITP_K_DETERMINISTIC | ITP_ALLOWS_##Name,                                \
      .state = nullptr,                                                                \
      .launch = stand_in_##Name,                                                       \
      .workspace = nullptr,                                                            \
      .supports = nullptr,                                                             \
  };
#define ITEM(Name, version) &kernel_##Name,
ITP_KERNELS_UP_TO_TIER(STAND_IN_TIER, STAND_IN)

namespace {

const itp_kernel *const items[] = {ITP_KERNELS_UP_TO_TIER(STAND_IN_TIER, ITEM)};

}  // namespace

const itp_kernels kernel_table = {
    .struct_size = sizeof(itp_kernels),
    .count = sizeof items / sizeof items[0],
    .items = items,
    .submit = submit,
};
