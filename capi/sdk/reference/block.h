/* What the reference kernels share (not installed as an interface).
 *
 * Kernels of any dtype in a few lines: a kernel loads a block of at most REF_BLOCK elements into the type
 * that it computes in, works on plain arrays, and stores the block. Only load and store know dtypes. Where
 * the memory already is an array of the computing type, loading returns its address and nothing is copied. */
#ifndef INFINITRAIN_REFERENCE_BLOCK_H_
#define INFINITRAIN_REFERENCE_BLOCK_H_

#include <stdint.h>

#include "infinitrain/dtype.h"
#include "infinitrain/error.h"
#include "infinitrain/kernels.h"
#include "infinitrain/provider.h"
#include "infinitrain/reference.h"
#include "infinitrain/strided.h"

enum { REF_BLOCK = 256 };

/* The type that a dtype computes in: half types in float32, integers at full width (results are cut when
 * stored, which is what wrapping means), bool as 0 or 1. */
typedef enum ref_class { REF_F32, REF_F64, REF_I64, REF_U64 } ref_class;

/* Room for one block of any class. */
typedef union ref_buffer {
  float f32[REF_BLOCK];
  double f64[REF_BLOCK];
  int64_t i64[REF_BLOCK];
  uint64_t u64[REF_BLOCK];
} ref_buffer;

/* The class of a dtype (an ITP_DT_* position). */
static inline ref_class ref_class_of(int dtype) {
  switch (dtype) {
    case ITP_DT_F64:
      return REF_F64;
    case ITP_DT_F32:
    case ITP_DT_F16:
    case ITP_DT_BF16:
      return REF_F32;
    case ITP_DT_I8:
    case ITP_DT_I16:
    case ITP_DT_I32:
    case ITP_DT_I64:
      return REF_I64;
    default:
      return REF_U64;
  }
}

/* A dtype of the same size whose load and store keep every bit. */
static inline int ref_raw_dtype(int64_t itemsize) {
  return itemsize == 1 ? ITP_DT_U8 : itemsize == 2 ? ITP_DT_U16 : itemsize == 4 ? ITP_DT_U32 : ITP_DT_U64;
}

/* Load n <= REF_BLOCK elements of `dtype`, `step` bytes apart, as its class. The result is `room` or `data`
 * itself. */
const void *ref_load(ref_buffer *room, int dtype, const char *data, int64_t step, int64_t n);

/* Where a block for ref_store is best computed: `data` itself if it is an array of the class of `dtype`, else
 * `room`. */
void *ref_target(ref_buffer *room, int dtype, char *data, int64_t step);

/* Store n elements of a class as `dtype`, converted as Cast converts. Nothing to do when values is data. */
void ref_store(int dtype, char *data, int64_t step, ref_class from, const void *values, int64_t n);

/* The same in double whatever the float dtype: rows of softmax, norms, losses and optimizers, which may
 * compute in more than float32 and then round once. Memory is compact. */
const double *ref_load_f64(ref_buffer *room, int dtype, const char *data, int64_t n);
void ref_store_f64(int dtype, char *data, const double *values, int64_t n);

/* One element, anywhere. */
double ref_get_f64(const itp_tensor *t, int64_t index);
void ref_set_f64(const itp_tensor *t, int64_t index, double value);

/* Store one number as `dtype`: an i64 for an unsigned dtype is its bit pattern. */
void ref_store_scalar(int dtype, char *data, const itp_value *value);

/* Fill a block with a number as `dtype` computes: float32 for half types, else the dtype itself. */
void ref_broadcast_scalar(ref_buffer *room, int dtype, const itp_value *value);

/* Fail with "[kernel][OUT_OF_RANGE] index 10 at position 3 is outside [0, 10)". */
itp_status ref_out_of_range(const char *kernel, const char *what, int64_t value, const char *where,
                            int64_t position, int64_t bound, itp_error *err);

static inline int64_t ref_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* Address of element `index` of a compact tensor. */
static inline char *ref_at(const itp_tensor *t, int64_t index) {
  return itp_data(t) + index * itp_element_size(t);
}

/* The head of a kernel's function, and its operands and attributes by name in `a`. */
#define REF_KERNEL(Name) itp_status itp_ref_##Name(void *self, const itp_launch *l, itp_error *err)
#define REF_UNPACK(Name)                                     \
  itp_args_##Name a;                                         \
  const itp_status unpacked = itp_unpack_##Name(l, &a, err); \
  (void)self;                                                \
  if (unpacked != ITP_OK) return unpacked;

/* Refuse operands that do not belong together. */
#define REF_REQUIRE(name, condition, text)                                      \
  do {                                                                          \
    if (!(condition)) return ITP_FAIL(err, INVALID_ARGUMENT, name, "%s", text); \
  } while (0)

/* Elements of a block do not depend on each other, though operand and result may be the same memory. */
#if defined(__GNUC__) && !defined(__clang__)
#define REF_INDEPENDENT _Pragma("GCC ivdep")
#else
#define REF_INDEPENDENT
#endif

/* Compile a function for several instruction sets and choose when the library is loaded. Wider registers
 * change no result: nothing is reordered and nothing contracted. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define REF_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define REF_CLONES
#endif

#endif
