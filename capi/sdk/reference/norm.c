/* Layer normalisation: in double, rounded once. Ba, Kiros and Hinton 2016, arXiv:1607.06450. */
#include <math.h>
#include <string.h>

#include "block.h"

/* n elements of weight or bias as double; `absent` where the operand is NULL. */
static const double *parameter(ref_buffer *room, const itp_tensor *t, int64_t first, int64_t n,
                               double absent) {
  if (t != NULL) return ref_load_f64(room, itp_dtype_bit(t->dtype), ref_at(t, first), n);
  for (int64_t j = 0; j < n; ++j) room->f64[j] = absent;
  return room->f64;
}

REF_KERNEL(LayerNormForward) {
  REF_UNPACK(LayerNormForward)
  REF_REQUIRE("LayerNormForward", a.x->ndim == 2 && itp_same_shape(a.x, a.y), "x and y (R, C) expected");
  const int64_t rows = a.x->shape[0], width = a.x->shape[1];
  REF_REQUIRE("LayerNormForward",
              (a.weight == NULL || itp_numel(a.weight) == width) &&
                  (a.bias == NULL || itp_numel(a.bias) == width) && itp_numel(a.mean) == rows &&
                  itp_numel(a.rstd) == rows,
              "weight and bias (C), mean and rstd (R) expected");
  const int dtype = itp_dtype_bit(a.x->dtype);
  ref_buffer room, room_w, room_b, result;
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *x = ref_load_f64(&room, dtype, ref_at(a.x, r * width + i), n);
      for (int64_t j = 0; j < n; ++j) sum += x[j];
    }
    const double mean = sum / (double)width;
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *x = ref_load_f64(&room, dtype, ref_at(a.x, r * width + i), n);
      for (int64_t j = 0; j < n; ++j) squares += (x[j] - mean) * (x[j] - mean);
    }
    const double rstd = 1.0 / sqrt(squares / (double)width + a.eps);
    ref_set_f64(a.mean, r, mean);
    ref_set_f64(a.rstd, r, rstd);
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *x = ref_load_f64(&room, dtype, ref_at(a.x, r * width + i), n);
      const double *w = parameter(&room_w, a.weight, i, n, 1.0), *b = parameter(&room_b, a.bias, i, n, 0.0);
      for (int64_t j = 0; j < n; ++j) result.f64[j] = (x[j] - mean) * rstd * w[j] + b[j];
      ref_store_f64(dtype, ref_at(a.y, r * width + i), result.f64, n);
    }
  }
  return ITP_OK;
}

/* With z = (x - mean) rstd and h = grad * weight, row by row:
 *   dx = rstd (h - mean(h) - z mean(h z)),  dweight = sum over rows of grad z,  dbias = sum over rows of
 * grad. */
REF_KERNEL(LayerNormBackward) {
  REF_UNPACK(LayerNormBackward)
  REF_REQUIRE("LayerNormBackward", a.x->ndim == 2 && itp_same_shape(a.x, a.grad) && itp_same_shape(a.x, a.dx),
              "x, grad and dx (R, C) expected");
  const int64_t rows = a.x->shape[0], width = a.x->shape[1];
  REF_REQUIRE("LayerNormBackward",
              (a.weight == NULL || itp_numel(a.weight) == width) &&
                  (a.dweight == NULL || itp_numel(a.dweight) == width) &&
                  (a.dbias == NULL || itp_numel(a.dbias) == width) && itp_numel(a.mean) == rows &&
                  itp_numel(a.rstd) == rows,
              "weight, dweight and dbias (C), mean and rstd (R) expected");
  const int dtype = itp_dtype_bit(a.x->dtype);
  ref_buffer room_x, room_g, room_w, result, dweight, dbias;
  for (int64_t i = 0; i < width && (a.dweight != NULL || a.dbias != NULL); i += REF_BLOCK) {
    const int64_t n = ref_min(width - i, REF_BLOCK);
    memset(&dweight, 0, sizeof dweight);
    memset(&dbias, 0, sizeof dbias);
    for (int64_t r = 0; r < rows; ++r) {
      const double mean = ref_get_f64(a.mean, r), rstd = ref_get_f64(a.rstd, r);
      const double *x = ref_load_f64(&room_x, dtype, ref_at(a.x, r * width + i), n);
      const double *g = ref_load_f64(&room_g, dtype, ref_at(a.grad, r * width + i), n);
      for (int64_t j = 0; j < n; ++j) {
        dweight.f64[j] += g[j] * (x[j] - mean) * rstd;
        dbias.f64[j] += g[j];
      }
    }
    const struct {
      const itp_tensor *out;
      ref_buffer *sums;
    } wanted[] = {{a.dweight, &dweight}, {a.dbias, &dbias}};
    for (int k = 0; k < 2; ++k) {
      if (wanted[k].out == NULL) continue;
      double *sums = wanted[k].sums->f64;
      for (int64_t j = 0; a.accumulate && j < n; ++j) sums[j] += ref_get_f64(wanted[k].out, i + j);
      ref_store_f64(dtype, ref_at(wanted[k].out, i), sums, n);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    const double mean = ref_get_f64(a.mean, r), rstd = ref_get_f64(a.rstd, r);
    double sum_h = 0.0, sum_hz = 0.0;
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *x = ref_load_f64(&room_x, dtype, ref_at(a.x, r * width + i), n);
      const double *g = ref_load_f64(&room_g, dtype, ref_at(a.grad, r * width + i), n);
      const double *w = parameter(&room_w, a.weight, i, n, 1.0);
      for (int64_t j = 0; j < n; ++j) {
        sum_h += g[j] * w[j];
        sum_hz += g[j] * w[j] * (x[j] - mean) * rstd;
      }
    }
    const double mean_h = sum_h / (double)width, mean_hz = sum_hz / (double)width;
    for (int64_t i = 0; i < width; i += REF_BLOCK) {
      const int64_t n = ref_min(width - i, REF_BLOCK);
      const double *x = ref_load_f64(&room_x, dtype, ref_at(a.x, r * width + i), n);
      const double *g = ref_load_f64(&room_g, dtype, ref_at(a.grad, r * width + i), n);
      const double *w = parameter(&room_w, a.weight, i, n, 1.0);
      for (int64_t j = 0; j < n; ++j) {
        result.f64[j] = rstd * (g[j] * w[j] - mean_h - (x[j] - mean) * rstd * mean_hz);
      }
      ref_store_f64(dtype, ref_at(a.dx, r * width + i), result.f64, n);
    }
  }
  return ITP_OK;
}
