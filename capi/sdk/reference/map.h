/* Elementwise kernels from expressions (not installed as an interface).
 *
 * A block function works on arrays of one class (block.h); `ref_apply` walks over the tensors and feeds it.
 * Integer arithmetic is done modulo 2^64 and cut when stored, which is two's complement wrapping at every
 * width. */
#ifndef INFINITRAIN_REFERENCE_MAP_H_
#define INFINITRAIN_REFERENCE_MAP_H_

#include <math.h>
#include <tgmath.h>

#include "block.h"

typedef void (*ref_block_fn)(int64_t n, const void *const *in, void *out);
typedef ref_block_fn ref_block_set[4]; /* by ref_class; NULL where the kernel is not defined */

/* tensors: n_in operands and the result, each read or written as its dtype; `constant` is one more operand,
 * handed on as it is. */
static inline itp_status ref_map(const char *name, const ref_block_set blocks, ref_class kind,
                                 const itp_tensor *const *tensors, const int *dtypes, int n_in,
                                 const void *constant, itp_error *err) {
  const ref_class result = dtypes[n_in] == ITP_DT_BOOL ? REF_U64 : kind;
  const void *in[ITP_MAX_OPERANDS + 1];
  ref_buffer rooms[ITP_MAX_OPERANDS];
  itp_strided it;
  REF_REQUIRE(name, blocks[kind] != NULL, "the dtype is not among those of the kernel");
  REF_REQUIRE(name, itp_strided_begin(&it, tensors, n_in + 1), "operands of equal shapes expected");
  in[n_in] = constant;
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; i += REF_BLOCK) {
      const int64_t n = ref_min(it.count - i, REF_BLOCK);
      for (int k = 0; k < n_in; ++k) {
        in[k] = ref_load(&rooms[k], dtypes[k], it.data[k] + i * it.step[k], it.step[k], n);
      }
      char *data = it.data[n_in] + i * it.step[n_in];
      void *out = ref_target(&rooms[n_in], dtypes[n_in], data, it.step[n_in]);
      blocks[kind](n, in, out);
      ref_store(dtypes[n_in], data, it.step[n_in], result, out, n);
    }
  }
  return ITP_OK;
}

/* The usual case: all inputs, then the first output, each as what it is. */
static inline itp_status ref_apply(const char *name, const ref_block_set blocks, const itp_launch *l,
                                   const void *constant, itp_error *err) {
  const itp_tensor *tensors[ITP_MAX_OPERANDS];
  int dtypes[ITP_MAX_OPERANDS];
  const int n = (int)l->n_inputs;
  for (int k = 0; k <= n; ++k) {
    tensors[k] = k < n ? l->inputs[k] : l->outputs[0];
    dtypes[k] = itp_dtype_bit(tensors[k]->dtype);
  }
  return ref_map(name, blocks, ref_class_of(dtypes[0]), tensors, dtypes, n, constant, err);
}

/* `real` is the computing type inside an expression of x, or of a and b. */
#define UNARY(Name, kind, type, result, expression)                        \
  static void Name##_##kind(int64_t n, const void *const *in, void *out) { \
    typedef type real;                                                     \
    const real *px = (const real *)in[0];                                  \
    result *py = (result *)out;                                            \
    REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) {                      \
      const real x = px[i];                                                \
      py[i] = (result)(expression);                                        \
    }                                                                      \
  }
/* Of x and the launch's numbers p[0], p[1], which ref_numbers or ref_converted made. */
#define PARAMETRIC(Name, kind, type, expression)                           \
  static void Name##_##kind(int64_t n, const void *const *in, void *out) { \
    typedef type real;                                                     \
    const real *px = (const real *)in[0], *p = (const real *)in[1];        \
    real *py = (real *)out;                                                \
    REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) {                      \
      const real x = px[i];                                                \
      py[i] = (real)(expression);                                          \
    }                                                                      \
  }
#define BINARY(Name, kind, type, result, expression)                       \
  static void Name##_##kind(int64_t n, const void *const *in, void *out) { \
    typedef type real;                                                     \
    const real *pa = (const real *)in[0], *pb = (const real *)in[1];       \
    result *py = (result *)out;                                            \
    REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) {                      \
      const real a = pa[i], b = pb[i];                                     \
      py[i] = (result)(expression);                                        \
    }                                                                      \
  }
#define KERNEL(Name)                                      \
  REF_KERNEL(Name) {                                      \
    REF_UNPACK(Name)                                      \
    (void)a;                                              \
    return ref_apply(#Name, Name##_blocks, l, NULL, err); \
  }
#define UNARY_FLOATS_BLOCKS(Name, expression)  \
  UNARY(Name, f32, float, float, expression)   \
  UNARY(Name, f64, double, double, expression) \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, NULL, NULL};
#define UNARY_FLOATS(Name, expression) UNARY_FLOATS_BLOCKS(Name, expression) KERNEL(Name)
#define UNARY_NUMERIC(Name, of_float, of_signed, of_unsigned)                                  \
  UNARY(Name, f32, float, float, of_float)                                                     \
  UNARY(Name, f64, double, double, of_float)                                                   \
  UNARY(Name, i64, int64_t, int64_t, of_signed)                                                \
  UNARY(Name, u64, uint64_t, uint64_t, of_unsigned)                                            \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64}; \
  KERNEL(Name)
#define BINARY_FLOATS_BLOCKS(Name, expression)  \
  BINARY(Name, f32, float, float, expression)   \
  BINARY(Name, f64, double, double, expression) \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, NULL, NULL};
#define BINARY_FLOATS(Name, expression) BINARY_FLOATS_BLOCKS(Name, expression) KERNEL(Name)
#define BINARY_NUMERIC_BLOCKS(Name, of_float, of_signed, of_unsigned) \
  BINARY(Name, f32, float, float, of_float)                           \
  BINARY(Name, f64, double, double, of_float)                         \
  BINARY(Name, i64, int64_t, int64_t, of_signed)                      \
  BINARY(Name, u64, uint64_t, uint64_t, of_unsigned)                  \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64};
#define BINARY_NUMERIC(Name, of_float, of_signed, of_unsigned) \
  BINARY_NUMERIC_BLOCKS(Name, of_float, of_signed, of_unsigned) KERNEL(Name)
#define COMPARISON(Name, expression)                                                           \
  BINARY(Name, f32, float, uint64_t, expression)                                               \
  BINARY(Name, f64, double, uint64_t, expression)                                              \
  BINARY(Name, i64, int64_t, uint64_t, expression)                                             \
  BINARY(Name, u64, uint64_t, uint64_t, expression)                                            \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64}; \
  KERNEL(Name)

#define PREDICATE(Name, expression)                                                \
  UNARY(Name, f32, float, uint64_t, expression)                                    \
  UNARY(Name, f64, double, uint64_t, expression)                                   \
  static const ref_block_set Name##_blocks = {Name##_f32, Name##_f64, NULL, NULL}; \
  KERNEL(Name)

/* Two numbers in the type that x's dtype computes in, for PARAMETRIC. */
static inline const void *ref_numbers(ref_buffer *room, const itp_tensor *x, double first, double second) {
  if (ref_class_of(itp_dtype_bit(x->dtype)) == REF_F64) {
    room->f64[0] = first, room->f64[1] = second;
  } else {
    room->f32[0] = (float)first, room->f32[1] = (float)second;
  }
  return room;
}

/* A number rounded to x's own dtype, then n times in the type that this computes in. */
static inline const void *ref_converted(ref_buffer *room, const itp_tensor *x, const itp_value *value,
                                        int64_t n) {
  const int dtype = itp_dtype_bit(x->dtype);
  uint64_t element = 0;
  ref_store_scalar(dtype, (char *)&element, value);
  return ref_load(room, dtype, (const char *)&element, 0, n);
}

#endif
