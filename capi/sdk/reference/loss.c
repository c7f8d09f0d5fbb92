/* Cross-entropy with integer targets. Rows in the type that the accumulator A asks for: exp of a vocabulary
 * is most of the work, and in float32 it is three times as fast as in double. */
#include <math.h>
#include <string.h>

#include "block.h"

static float exp_f32(float x) { return expf(x); }
static double exp_f64(double x) { return exp(x); }

/* Per class: log-sum-exp of a row, and (exp(x - lse) - onehot(target)) * grad of a row. */
#define ROWS(kind, class, real)                                                                        \
  static double lse_##kind(int dtype, const char *row, int64_t size, int64_t width) {                  \
    ref_buffer room;                                                                                   \
    double sum = 0.0;                                                                                  \
    real top = (real) - INFINITY;                                                                      \
    for (int64_t i = 0; i < width; i += REF_BLOCK) {                                                   \
      const int64_t n = ref_min(width - i, REF_BLOCK);                                                 \
      const real *x = (const real *)ref_load(&room, dtype, row + i * size, size, n);                   \
      for (int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;                                   \
    }                                                                                                  \
    if (top == (real) - INFINITY) top = 0;                                                             \
    for (int64_t i = 0; i < width; i += REF_BLOCK) {                                                   \
      const int64_t n = ref_min(width - i, REF_BLOCK);                                                 \
      const real *x = (const real *)ref_load(&room, dtype, row + i * size, size, n);                   \
      for (int64_t j = 0; j < n; ++j) sum += exp_##kind(x[j] - top);                                   \
    }                                                                                                  \
    return (double)top + log(sum);                                                                     \
  }                                                                                                    \
  static void gradient_##kind(int dtype, const char *row, char *out, int64_t size, int64_t width,      \
                              int64_t target, double lse, double grad) {                               \
    ref_buffer room, result;                                                                           \
    for (int64_t i = 0; i < width; i += REF_BLOCK) {                                                   \
      const int64_t n = ref_min(width - i, REF_BLOCK);                                                 \
      const real *x = (const real *)ref_load(&room, dtype, row + i * size, size, n);                   \
      real *y = (real *)ref_target(&result, dtype, out + i * size, size);                              \
      const real shift = (real)lse, factor = (real)grad;                                               \
      real at_target = 0;                                                                              \
      if (target >= i && target < i + n) at_target = (exp_##kind(x[target - i] - shift) - 1) * factor; \
      for (int64_t j = 0; j < n; ++j) y[j] = exp_##kind(x[j] - shift) * factor;                        \
      if (target >= i && target < i + n) y[target - i] = at_target;                                    \
      ref_store(dtype, out + i * size, size, class, y, n);                                             \
    }                                                                                                  \
  }
ROWS(f32, REF_F32, float)
ROWS(f64, REF_F64, double)

/* Every target is ignore_index or a column: checked before anything is written. */
static itp_status check_targets(const char *name, const int64_t *target, int64_t rows, int64_t width,
                                int64_t ignore_index, itp_error *err) {
  for (int64_t r = 0; r < rows; ++r) {
    if (target[r] != ignore_index && (target[r] < 0 || target[r] >= width)) {
      return ref_out_of_range(name, "target", target[r], "row", r, width, err);
    }
  }
  return ITP_OK;
}

REF_KERNEL(CrossEntropyForward) {
  REF_UNPACK(CrossEntropyForward)
  REF_REQUIRE("CrossEntropyForward", a.logits->ndim == 2 && itp_numel(a.target) == a.logits->shape[0],
              "logits (R, V) and target (R) expected");
  const int dtype = itp_dtype_bit(a.logits->dtype);
  const int64_t rows = a.logits->shape[0], width = a.logits->shape[1], size = itp_element_size(a.logits);
  const int64_t *target = (const int64_t *)(const void *)itp_data(a.target);
  const itp_status status = check_targets("CrossEntropyForward", target, rows, width, a.ignore_index, err);
  if (status != ITP_OK) return status;
  for (int64_t r = 0; r < rows; ++r) {
    const char *row = ref_at(a.logits, r * width);
    const double lse =
        dtype == ITP_DT_F64 ? lse_f64(dtype, row, size, width) : lse_f32(dtype, row, size, width);
    ref_set_f64(a.lse, r, lse);
    ref_set_f64(a.loss, r,
                target[r] == a.ignore_index ? 0.0 : lse - ref_get_f64(a.logits, r * width + target[r]));
  }
  return ITP_OK;
}

REF_KERNEL(CrossEntropyBackward) {
  REF_UNPACK(CrossEntropyBackward)
  REF_REQUIRE(
      "CrossEntropyBackward",
      a.logits->ndim == 2 && itp_numel(a.target) == a.logits->shape[0] && itp_same_shape(a.logits, a.dlogits),
      "logits and dlogits (R, V) and target (R) expected");
  const int dtype = itp_dtype_bit(a.logits->dtype);
  const int64_t rows = a.logits->shape[0], width = a.logits->shape[1], size = itp_element_size(a.logits);
  const int64_t *target = (const int64_t *)(const void *)itp_data(a.target);
  const itp_status status = check_targets("CrossEntropyBackward", target, rows, width, a.ignore_index, err);
  if (status != ITP_OK) return status;
  for (int64_t r = 0; r < rows; ++r) {
    const char *row = ref_at(a.logits, r * width);
    char *out = ref_at(a.dlogits, r * width);
    if (target[r] == a.ignore_index) {
      memset(out, 0, (size_t)(width * size));
    } else if (dtype == ITP_DT_F64) {
      gradient_f64(dtype, row, out, size, width, target[r], ref_get_f64(a.lse, r), ref_get_f64(a.grad, r));
    } else {
      gradient_f32(dtype, row, out, size, width, target[r], ref_get_f64(a.lse, r), ref_get_f64(a.grad, r));
    }
  }
  return ITP_OK;
}

REF_KERNEL(VocabParallelCrossEntropyBackward) {
  REF_UNPACK(VocabParallelCrossEntropyBackward)
  static const char *const name = "VocabParallelCrossEntropyBackward";
  REF_REQUIRE(name,
              a.softmax->ndim == 2 && itp_numel(a.target) == a.softmax->shape[0] &&
                  itp_numel(a.grad) == a.softmax->shape[0] && itp_same_shape(a.softmax, a.dlogits),
              "softmax and dlogits (R, V), target and grad (R) expected");
  REF_REQUIRE(name, a.vocab_start >= 0 && a.vocab_size > 0,
              "vocab_start of at least 0 and a vocab_size expected");
  const int dtype = itp_dtype_bit(a.softmax->dtype);
  const int64_t rows = a.softmax->shape[0], width = a.softmax->shape[1];
  const int64_t *target = (const int64_t *)(const void *)itp_data(a.target);
  const itp_status status = check_targets(name, target, rows, a.vocab_size, a.ignore_index, err);
  if (status != ITP_OK) return status;
  const double even = a.label_smoothing / (double)a.vocab_size;
  ref_buffer room, result;
  for (int64_t r = 0; r < rows; ++r) {
    const double grad = ref_get_f64(a.grad, r);
    const int64_t chosen = target[r] - a.vocab_start, valid = a.vocab_size - a.vocab_start;
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *y = ref_load_f64(&room, dtype, ref_at(a.softmax, r * width + i), n);
      for (int64_t j = 0; j < n; ++j) {
        const double share = y[j] - even - (i + j == chosen ? 1.0 - a.label_smoothing : 0.0);
        result.f64[j] = target[r] == a.ignore_index || i + j >= valid ? 0.0 : share * grad;
      }
      ref_store_f64(dtype, ref_at(a.dlogits, r * width + i), result.f64, n);
    }
  }
  return ITP_OK;
}
