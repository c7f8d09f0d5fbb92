/* Reductions: y has the rank of x, a dimension is reduced where y has size 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"

/* Floats accumulate in double, integers modulo 2^64: one rounding, at the end. */
typedef union accumulator {
  double f64;
  int64_t i64;
  uint64_t u64;
} accumulator;

typedef struct fold {
  void (*one)(void *sum, int64_t n, const void *x);  /* n elements into one accumulator */
  void (*each)(void *sum, int64_t n, const void *x); /* n elements into n accumulators */
  accumulator start;
} fold;

/* Reduce x into y with the fold of its class; a mean divides by the number of terms. */
static itp_status reduce(const char *name, const fold by_class[4], const itp_tensor *x, const itp_tensor *y,
                         int mean, itp_error *err) {
  const int dtype = itp_dtype_bit(x->dtype);
  const ref_class kind = ref_class_of(dtype), sum_kind = kind == REF_F32 ? REF_F64 : kind;
  const fold *f = &by_class[kind];
  itp_strided kept, reduced;
  int64_t terms = 1;
  REF_REQUIRE(name, x->ndim == y->ndim && x->ndim <= ITP_MAX_RANK, "x and y of equal rank expected");
  itp_strided_clear(&kept, 2);
  itp_strided_clear(&reduced, 1);
  for (int32_t d = 0; d < x->ndim; ++d) {
    const int64_t strides[] = {itp_stride(x, d) * itp_element_size(x),
                               itp_stride(y, d) * itp_element_size(y)};
    if (x->shape[d] == y->shape[d]) {
      itp_strided_add(&kept, x->shape[d], strides);
    } else {
      REF_REQUIRE(name, y->shape[d] == 1, "each size of y must be 1 or that of x");
      itp_strided_add(&reduced, x->shape[d], strides);
      terms *= x->shape[d];
    }
  }
  kept.data[0] = itp_data(x);
  kept.data[1] = itp_data(y);
  itp_strided_ready(&kept);
  itp_strided_ready(&reduced);

  /* After a full walk an itp_strided stands at its beginning again: only run length and base are set anew. */
  const int64_t run = reduced.count, along = reduced.step[0], across = kept.step[0];
  const int sideways = run > 1 && llabs(across) < llabs(along) && kept.count > 1;
  ref_buffer room, sums;
  for (; kept.count > 0; itp_strided_next(&kept)) {
    for (int64_t i = 0; i < kept.count; i += REF_BLOCK) {
      const int64_t n = ref_min(kept.count - i, REF_BLOCK);
      for (int64_t j = 0; j < n; ++j) memcpy(&sums.u64[j], &f->start, sizeof f->start);
      if (sideways) {
        reduced.data[0] = kept.data[0] + i * across;
        for (reduced.count = run; reduced.count > 0; itp_strided_next(&reduced)) {
          for (int64_t r = 0; r < run; ++r) {
            f->each(&sums, n, ref_load(&room, dtype, reduced.data[0] + r * along, across, n));
          }
        }
      } else {
        for (int64_t j = 0; j < n; ++j) {
          reduced.data[0] = kept.data[0] + (i + j) * across;
          for (reduced.count = run; reduced.count > 0; itp_strided_next(&reduced)) {
            for (int64_t r = 0; r < run; r += REF_BLOCK) {
              const int64_t m = ref_min(run - r, REF_BLOCK);
              f->one(&sums.u64[j], m, ref_load(&room, dtype, reduced.data[0] + r * along, along, m));
            }
          }
        }
      }
      if (mean) {
        for (int64_t j = 0; j < n; ++j) sums.f64[j] /= (double)terms;
      }
      ref_store(dtype, kept.data[1] + i * kept.step[1], kept.step[1], sum_kind, &sums, n);
    }
  }
  return ITP_OK;
}

/* `sum` is the accumulator and v the element inside an expression. */
#define FOLD(Name, kind, type, sum_type, expression)                             \
  static void Name##_one_##kind(void *accumulators, int64_t n, const void *x) {  \
    const type *px = (const type *)x;                                            \
    sum_type sum = *(sum_type *)accumulators;                                    \
    for (int64_t i = 0; i < n; ++i) {                                            \
      const sum_type v = px[i];                                                  \
      sum = (sum_type)(expression);                                              \
    }                                                                            \
    *(sum_type *)accumulators = sum;                                             \
  }                                                                              \
  static void Name##_each_##kind(void *accumulators, int64_t n, const void *x) { \
    const type *px = (const type *)x;                                            \
    sum_type *sums = (sum_type *)accumulators;                                   \
    for (int64_t i = 0; i < n; ++i) {                                            \
      const sum_type v = px[i], sum = sums[i];                                   \
      sums[i] = (sum_type)(expression);                                          \
    }                                                                            \
  }
#define FOLDS(Name, of_float, of_signed, of_unsigned, f64_start, i64_start, u64_start)        \
  FOLD(Name, f32, float, double, of_float)                                                    \
  FOLD(Name, f64, double, double, of_float)                                                   \
  FOLD(Name, i64, int64_t, int64_t, of_signed)                                                \
  FOLD(Name, u64, uint64_t, uint64_t, of_unsigned)                                            \
  static const fold Name##_folds[4] = {{Name##_one_f32, Name##_each_f32, {.f64 = f64_start}}, \
                                       {Name##_one_f64, Name##_each_f64, {.f64 = f64_start}}, \
                                       {Name##_one_i64, Name##_each_i64, {.i64 = i64_start}}, \
                                       {Name##_one_u64, Name##_each_u64, {.u64 = u64_start}}};
FOLDS(sum, sum + v, (uint64_t)sum + (uint64_t)v, sum + v, 0.0, 0, 0)
FOLDS(prod, sum *v, (uint64_t)sum *(uint64_t)v, sum *v, 1.0, 1, 1)
FOLDS(max, v > sum || v != v ? v : sum, v > sum ? v : sum, v > sum ? v : sum, -INFINITY, INT64_MIN, 0)
FOLDS(min, v < sum || v != v ? v : sum, v < sum ? v : sum, v < sum ? v : sum, INFINITY, INT64_MAX, UINT64_MAX)

REF_KERNEL(SumForward) {
  REF_UNPACK(SumForward)
  return reduce("SumForward", sum_folds, a.x, a.y, 0, err);
}

REF_KERNEL(ProdForward) {
  REF_UNPACK(ProdForward)
  return reduce("ProdForward", prod_folds, a.x, a.y, 0, err);
}

REF_KERNEL(MeanForward) {
  REF_UNPACK(MeanForward)
  return reduce("MeanForward", sum_folds, a.x, a.y, 1, err);
}

REF_KERNEL(MaxForward) {
  REF_UNPACK(MaxForward)
  return reduce("MaxForward", max_folds, a.x, a.y, 0, err);
}

REF_KERNEL(MinForward) {
  REF_UNPACK(MinForward)
  return reduce("MinForward", min_folds, a.x, a.y, 0, err);
}

REF_KERNEL(SquaredNorm) {
  REF_UNPACK(SquaredNorm)
  const int dtype = itp_dtype_bit(a.x->dtype);
  const int64_t size = itp_numel(a.x);
  double total = a.accumulate ? ref_get_f64(a.y, 0) : 0.0;
  ref_buffer room;
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    const double *x = ref_load_f64(&room, dtype, ref_at(a.x, i), n);
    double sum = 0.0;
    for (int64_t j = 0; j < n; ++j) sum += x[j] * x[j];
    total += sum;
  }
  ref_set_f64(a.y, 0, total);
  return ITP_OK;
}
