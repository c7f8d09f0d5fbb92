// The table of kernels: every row of kernels.toml, in its order.
#include "kernels/kernel.h"

namespace itp {

#define ITP_DECLARE(Name, version) extern const itp_kernel kernel_##Name;
#define ITP_ITEM(Name, version) &kernel_##Name,
ITP_KERNELS(ITP_DECLARE)

namespace {

const itp_kernel *const items[] = {ITP_KERNELS(ITP_ITEM)};

}  // namespace

const itp_kernels kernel_table = {sizeof(itp_kernels), sizeof items / sizeof items[0], items, submit};

}  // namespace itp
