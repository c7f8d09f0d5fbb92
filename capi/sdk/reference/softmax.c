/* Softmax over the last dimension, plain and causal: in double, rounded once. */
#include <math.h>
#include <string.h>

#include "block.h"

/* Fill elements [begin, end) of a row with zeros. */
static void clear(const itp_tensor *t, int64_t begin, int64_t end) {
  memset(ref_at(t, begin), 0, (size_t)((end - begin) * itp_element_size(t)));
}

/* y[row, :visible] = softmax(scale * x[row, :visible]), the rest 0. Rows begin at element `first`. */
static void softmax_row(const itp_tensor *x, const itp_tensor *y, int64_t first, int64_t visible,
                        int64_t width, double scale) {
  const int dtype = itp_dtype_bit(x->dtype);
  ref_buffer room;
  double top = -INFINITY, sum = 0.0;
  for (int64_t i = 0; i < visible; i += REF_BLOCK) {
    const int64_t n = ref_min(visible - i, REF_BLOCK);
    const double *v = ref_load_f64(&room, dtype, ref_at(x, first + i), n);
    for (int64_t j = 0; j < n; ++j) top = scale * v[j] > top ? scale * v[j] : top;
  }
  for (int64_t i = 0; i < visible; i += REF_BLOCK) {
    const int64_t n = ref_min(visible - i, REF_BLOCK);
    const double *v = ref_load_f64(&room, dtype, ref_at(x, first + i), n);
    for (int64_t j = 0; j < n; ++j) sum += exp(scale * v[j] - top);
  }
  for (int64_t i = 0; i < visible; i += REF_BLOCK) {
    const int64_t n = ref_min(visible - i, REF_BLOCK);
    const double *v = ref_load_f64(&room, dtype, ref_at(x, first + i), n);
    for (int64_t j = 0; j < n; ++j) room.f64[j] = exp(scale * v[j] - top) / sum;
    ref_store_f64(dtype, ref_at(y, first + i), room.f64, n);
  }
  clear(y, first + visible, first + width);
}

/* dx = scale * y * (grad - sum(grad * y)) over the visible columns, the rest 0. */
static void softmax_row_gradient(const itp_tensor *y, const itp_tensor *grad, const itp_tensor *dx,
                                 int64_t first, int64_t visible, int64_t width, double scale) {
  const int dtype = itp_dtype_bit(y->dtype);
  ref_buffer room_y, room_g;
  double dot = 0.0;
  for (int64_t i = 0; i < visible; i += REF_BLOCK) {
    const int64_t n = ref_min(visible - i, REF_BLOCK);
    const double *v = ref_load_f64(&room_y, dtype, ref_at(y, first + i), n);
    const double *g = ref_load_f64(&room_g, dtype, ref_at(grad, first + i), n);
    for (int64_t j = 0; j < n; ++j) dot += v[j] * g[j];
  }
  for (int64_t i = 0; i < visible; i += REF_BLOCK) {
    const int64_t n = ref_min(visible - i, REF_BLOCK);
    const double *v = ref_load_f64(&room_y, dtype, ref_at(y, first + i), n);
    const double *g = ref_load_f64(&room_g, dtype, ref_at(grad, first + i), n);
    for (int64_t j = 0; j < n; ++j) room_y.f64[j] = scale * v[j] * (g[j] - dot);
    ref_store_f64(dtype, ref_at(dx, first + i), room_y.f64, n);
  }
  clear(dx, first + visible, first + width);
}

/* Columns that row `row` of a (..., queries, keys) tensor sees: the last query sees the last key. */
static int64_t visible_columns(const itp_tensor *t, int causal, int64_t row) {
  const int64_t keys = t->shape[t->ndim - 1];
  if (!causal) return keys;
  const int64_t queries = t->shape[t->ndim - 2];
  const int64_t seen = row % queries + 1 + keys - queries;
  return seen < 0 ? 0 : ref_min(seen, keys);
}

static itp_status forward(const char *name, const itp_tensor *x, const itp_tensor *y, int causal,
                          double scale, itp_error *err) {
  REF_REQUIRE(name, x->ndim >= 1 + causal && itp_same_shape(x, y), "x and y of one shape expected");
  const int64_t width = x->shape[x->ndim - 1], rows = itp_size_between(x, 0, x->ndim - 1);
  for (int64_t r = 0; r < rows; ++r) {
    softmax_row(x, y, r * width, visible_columns(x, causal, r), width, scale);
  }
  return ITP_OK;
}

static itp_status backward(const char *name, const itp_tensor *y, const itp_tensor *grad,
                           const itp_tensor *dx, int causal, double scale, itp_error *err) {
  REF_REQUIRE(name, y->ndim >= 1 + causal && itp_same_shape(y, grad) && itp_same_shape(y, dx),
              "y, grad and dx of one shape expected");
  const int64_t width = y->shape[y->ndim - 1], rows = itp_size_between(y, 0, y->ndim - 1);
  for (int64_t r = 0; r < rows; ++r) {
    softmax_row_gradient(y, grad, dx, r * width, visible_columns(y, causal, r), width, scale);
  }
  return ITP_OK;
}

REF_KERNEL(SoftmaxForward) {
  REF_UNPACK(SoftmaxForward)
  return forward("SoftmaxForward", a.x, a.y, 0, 1.0, err);
}

REF_KERNEL(SoftmaxBackward) {
  REF_UNPACK(SoftmaxBackward)
  return backward("SoftmaxBackward", a.y, a.grad, a.dx, 0, 1.0, err);
}

REF_KERNEL(CausalSoftmaxForward) {
  REF_UNPACK(CausalSoftmaxForward)
  return forward("CausalSoftmaxForward", a.x, a.y, 1, a.scale, err);
}

REF_KERNEL(CausalSoftmaxBackward) {
  REF_UNPACK(CausalSoftmaxBackward)
  return backward("CausalSoftmaxBackward", a.y, a.grad, a.dx, 1, a.scale, err);
}
