// What the files of this provider share: the provider's state and the look of a kernel.
#pragma once

#include <cstdint>

#include "gemm.h"
#include "infinitrain/dtype.h"
#include "infinitrain/error.h"
#include "infinitrain/provider.h"
#include "simd/table.h"
#include "threads.h"

namespace itp {

// `self` of every slot. Read-only after init, but for the pool, which takes care of itself.
struct Provider {
  Pool pool;
  const Simd &simd;
  const Gemm gemm;
  const uint64_t total_memory;  // bytes

  static Provider &of(void *self) { return *static_cast<Provider *>(self); }
};

extern const itp_runtime runtime_table;
extern const itp_guard guard_table;
extern const itp_kernels kernel_table;
itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);

// The answer to a device that is not there.
inline itp_status no_device(const char *slot, int32_t device, itp_error *err) {
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d does not exist: cpu has the one device 0", device);
}

// Bytes of memory: the machine's, or the control group's where that is less.
struct Memory {
  uint64_t total, available;
};
Memory memory_info();

constexpr uint64_t bit(int dtype) { return uint64_t{1} << dtype; }
constexpr uint64_t kEveryDtype = 2 * bit(ITP_DT_F64) - 1;

}  // namespace itp
