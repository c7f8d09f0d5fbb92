// The look of a kernel: its row of the table and its body in one place.
//
//     ITP_CPU_KERNEL(NegForward) { ... a.x ... a.y ... }
//
// Every kernel honours all that its row allows: any strides, outputs that are operands. The body sees `cpu`
// (the provider), `a` (the arguments by name), `l` (the launch) and `err`.
#pragma once

#include "infinitrain/kernels.h"
#include "infinitrain/strided.h"
#include "internal.h"
#include "map.h"

#define ITP_CPU_KERNEL_WITH(Name, workspace)                                                 \
  static itp_status run_##Name(Provider &cpu, const itp_args_##Name &a, const itp_launch *l, \
                               itp_error *err);                                              \
  static itp_status launch_##Name(void *self, const itp_launch *l, itp_error *err) {         \
    itp_args_##Name a;                                                                       \
    itp_status status = itp_unpack_##Name(l, &a, err);                                       \
    if (status == ITP_OK && l->device != 0) status = no_device(#Name, l->device, err);       \
    return status != ITP_OK ? status : run_##Name(Provider::of(self), a, l, err);            \
  }                                                                                          \
  extern const itp_kernel kernel_##Name;                                                     \
  const itp_kernel kernel_##Name = {sizeof(itp_kernel),                                      \
                                    1,                                                       \
                                    #Name,                                                   \
                                    itp_schema_##Name,                                       \
                                    ITP_DTYPES_##Name,                                       \
                                    ITP_ALLOWS_##Name | ITP_K_DETERMINISTIC,                 \
                                    nullptr,                                                 \
                                    launch_##Name,                                           \
                                    workspace,                                               \
                                    nullptr};                                                \
  static itp_status run_##Name([[maybe_unused]] Provider &cpu, const itp_args_##Name &a,     \
                               [[maybe_unused]] const itp_launch *l, [[maybe_unused]] itp_error *err)

#define ITP_CPU_KERNEL(Name) ITP_CPU_KERNEL_WITH(Name, nullptr)

// Refuse a launch that breaks the row's rules; the core has checked, a foreign caller may not have.
#define ITP_REQUIRE(name, condition, text)                                      \
  do {                                                                          \
    if (!(condition)) return ITP_FAIL(err, INVALID_ARGUMENT, name, "%s", text); \
  } while (0)

namespace itp {

template <class T>
T *data(const itp_tensor *t) {
  return t == nullptr ? nullptr : reinterpret_cast<T *>(itp_data(t));
}
inline int dtype_of(const itp_tensor *t) { return itp_dtype_bit(t->dtype); }

// One element in the type that it accumulates in, and back, rounded once.
inline float load_one(float x) { return x; }
inline double load_one(double x) { return x; }
inline float load_one(bf16 x) { return itp_bf16_to_f32(x.bits); }
inline float load_one(f16 x) { return itp_f16_to_f32(x.bits); }
inline void store_one(float x, float *to) { *to = x; }
inline void store_one(double x, double *to) { *to = x; }
inline void store_one(float x, bf16 *to) { to->bits = itp_f32_to_bf16(x); }
inline void store_one(float x, f16 *to) { to->bits = itp_f32_to_f16(x); }

// Rows and row length of a tensor seen as a matrix over its last dimension.
struct RowShape {
  int64_t rows, columns;
};
inline RowShape rows_of(const itp_tensor *t) {
  if (t->ndim == 0) return {1, 1};
  return {itp_size_between(t, 0, t->ndim - 1), t->shape[t->ndim - 1]};
}

// Call f(T()) with the float type of `t`.
template <class F>
itp_status with_float(const char *name, const itp_tensor *t, itp_error *err, const F &f) {
  switch (dtype_of(t)) {
    case ITP_DT_BF16:
      return f(bf16());
    case ITP_DT_F16:
      return f(f16());
    case ITP_DT_F32:
      return f(float());
    case ITP_DT_F64:
      return f(double());
    default:
      return ITP_FAIL(err, UNIMPLEMENTED, name, "expected a float dtype, found code %d of %d bits",
                      t->dtype.code, t->dtype.bits);
  }
}

inline itp_status check_workspace(const char *name, const itp_launch *l, uint64_t bytes, itp_error *err) {
  if (l->workspace_size >= bytes && (bytes == 0 || l->workspace != nullptr)) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, name, "expected a workspace of %llu bytes, found %llu",
                  static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(l->workspace_size));
}

// Pieces of `rows` rows of `columns` elements for threads, about 2^15 / cost elements each.
template <class F>
void for_rows(Pool &pool, RowShape shape, int64_t cost, const F &f) {
  const int64_t row = shape.columns * cost;
  pool.range(shape.rows, row >= 32768 ? 1 : 32768 / (row > 0 ? row : 1) + 1, f);
}

}  // namespace itp
