// The table of kernels: every row of kernels.toml, in its order.
#include "kernels/kernel.h"

namespace itp {

#define ITP_DECLARE(Name, version) extern const itp_kernel kernel_##Name;
#define ITP_ITEM(Name, version) &kernel_##Name,
ITP_KERNELS(ITP_DECLARE)

namespace {

const itp_kernel *const items[] = {ITP_KERNELS(ITP_ITEM)};

// Stops at the first failure; all work is done when it returns.
itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err) {
  itp_status status = ITP_OK;
  uint64_t i = 0;
  for (; i < n && status == ITP_OK; i += status == ITP_OK) {
    status = list[i]->kernel->launch(self, list[i], err);
    if (status != ITP_OK && err != nullptr) err->origin_tag = list[i]->tag;
  }
  if (done != nullptr) *done = i;
  return status;
}

}  // namespace

const itp_kernels kernel_table = {sizeof(itp_kernels), sizeof items / sizeof items[0], items, submit};

}  // namespace itp
