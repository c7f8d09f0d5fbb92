/* Running totals along one dimension of compact tensors. Floats accumulate in double, integers modulo 2^64.
 */
#include "block.h"

/* A tensor as (outer, length, inner) around its dimension `dim`. */
typedef struct axis {
  int64_t outer, length, inner;
} axis;

static itp_status axis_of(const char *name, const itp_tensor *x, const itp_tensor *y, int64_t dim, axis *at,
                          itp_error *err) {
  REF_REQUIRE(name, itp_same_shape(x, y), "operands and output of one shape expected");
  REF_REQUIRE(name, dim >= 0 && dim < x->ndim, "dim is not a dimension");
  at->outer = itp_size_between(x, 0, (int32_t)dim);
  at->length = x->shape[dim];
  at->inner = itp_size_between(x, (int32_t)dim + 1, x->ndim);
  return ITP_OK;
}

typedef union total {
  double f64;
  uint64_t u64;
} total;

/* The running sum or product of x in y. */
static itp_status scan(const char *name, const itp_tensor *x, const itp_tensor *y, int64_t dim, int reverse,
                       int product, itp_error *err) {
  axis at;
  const itp_status status = axis_of(name, x, y, dim, &at, err);
  if (status != ITP_OK) return status;
  const int dtype = itp_dtype_bit(x->dtype);
  const ref_class kind = ref_class_of(dtype);
  const int floats = kind == REF_F32 || kind == REF_F64;
  const int64_t size = itp_element_size(x);
  ref_buffer room;
  for (int64_t o = 0; o < at.outer; ++o) {
    for (int64_t i = 0; i < at.inner; ++i) {
      total sum;
      if (floats)
        sum.f64 = product;
      else
        sum.u64 = (uint64_t)product;
      for (int64_t k = 0; k < at.length; ++k) {
        const int64_t place = (o * at.length + (reverse ? at.length - 1 - k : k)) * at.inner + i;
        if (floats) {
          const double v = *ref_load_f64(&room, dtype, ref_at(x, place), 1);
          sum.f64 = product ? sum.f64 * v : sum.f64 + v;
          ref_store_f64(dtype, ref_at(y, place), &sum.f64, 1);
        } else {
          const uint64_t v = *(const uint64_t *)ref_load(&room, dtype, ref_at(x, place), size, 1);
          sum.u64 = product ? sum.u64 * v : sum.u64 + v;
          ref_store(dtype, ref_at(y, place), size, REF_U64, &sum, 1);
        }
      }
    }
  }
  return ITP_OK;
}

REF_KERNEL(CumSumForward) {
  REF_UNPACK(CumSumForward)
  return scan("CumSumForward", a.x, a.y, a.dim, a.reverse, 0, err);
}

REF_KERNEL(CumProdForward) {
  REF_UNPACK(CumProdForward)
  return scan("CumProdForward", a.x, a.y, a.dim, 0, 1, err);
}

/* Blocks of prefixes from the front would need memory for all of them. The suffix sums of a block are begun
 * by running over what stands behind it, so that a line costs length / REF_BLOCK runs and no memory. */
REF_KERNEL(CumProdBackward) {
  REF_UNPACK(CumProdBackward)
  axis at;
  itp_status status = axis_of("CumProdBackward", a.x, a.dx, a.dim, &at, err);
  if (status != ITP_OK) return status;
  REF_REQUIRE("CumProdBackward", itp_same_shape(a.x, a.grad), "x and grad of one shape expected");
  double prefix[REF_BLOCK];
  for (int64_t o = 0; o < at.outer; ++o) {
    for (int64_t i = 0; i < at.inner; ++i) {
      const int64_t begin = o * at.length * at.inner + i;
      double before = 1.0;
      for (int64_t first = 0; first < at.length; first += REF_BLOCK) {
        const int64_t n = ref_min(at.length - first, REF_BLOCK);
        double suffix = 0.0;
        for (int64_t k = at.length - 1; k >= first + n; --k) {
          const double next = k + 1 < at.length ? ref_get_f64(a.x, begin + (k + 1) * at.inner) : 0.0;
          suffix = ref_get_f64(a.grad, begin + k * at.inner) + (k + 1 < at.length ? suffix * next : 0.0);
        }
        for (int64_t k = 0; k < n; ++k) {
          prefix[k] = before;
          before *= ref_get_f64(a.x, begin + (first + k) * at.inner);
        }
        /* suffix is s[k + 1] here, to be multiplied with x[k + 1]. */
        for (int64_t k = n - 1; k >= 0; --k) {
          const int64_t place = begin + (first + k) * at.inner;
          const int last = first + k + 1 == at.length;
          suffix = ref_get_f64(a.grad, place) +
                   (last ? 0.0 : suffix * ref_get_f64(a.x, begin + (first + k + 1) * at.inner));
          ref_set_f64(a.dx, place, prefix[k] * suffix);
        }
      }
    }
  }
  return ITP_OK;
}
