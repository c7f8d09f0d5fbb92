/* Pools over windows of an image. Gradients are gathered: each input position collects from the outputs that
 * see it, in row-major order, so that every sum is rounded once and in one order. */
#include <math.h>

#include "window.h"

/* N * C planes of an image and its output. */
typedef struct pool {
  int64_t planes;
  ref_axis h, w;
} pool;

static itp_status check(const char *name, const itp_tensor *x, const itp_tensor *y, pool *p, itp_error *err) {
  REF_REQUIRE(name, x->ndim == 4 && y->ndim == 4 && x->shape[0] == y->shape[0] && x->shape[1] == y->shape[1],
              "x or dx (N, C, H, W) and y or grad (N, C, P, Q) expected");
  p->planes = x->shape[0] * x->shape[1];
  p->h.in = x->shape[2], p->h.out = y->shape[2];
  p->w.in = x->shape[3], p->w.out = y->shape[3];
  REF_REQUIRE(
      name, ref_axis_window_ok(&p->h) && ref_axis_window_ok(&p->w),
      "windows that begin in the image or its padding, kernel, stride and dilation of at least 1 expected");
  return ITP_OK;
}

#define POOL(a, dilate_h, dilate_w)                                                                    \
  {                                                                                                    \
      .h = {.kernel = (a).kernel_h, .stride = (a).stride_h, .pad = (a).pad_h, .dilation = (dilate_h)}, \
      .w = {.kernel = (a).kernel_w, .stride = (a).stride_w, .pad = (a).pad_w, .dilation = (dilate_w)}, \
  }

REF_KERNEL(MaxPool2dForward) {
  REF_UNPACK(MaxPool2dForward)
  pool p = POOL(a, a.dilation_h, a.dilation_w);
  const itp_status status = check("MaxPool2dForward", a.x, a.y, &p, err);
  if (status != ITP_OK) return status;
  REF_REQUIRE("MaxPool2dForward", itp_same_shape(a.y, a.index), "index of y's shape expected");
  int64_t *index = (int64_t *)(void *)itp_data(a.index);
  for (int64_t at = 0; at < p.planes * p.h.out * p.w.out; ++at) {
    const int64_t j = at % p.w.out, i = at / p.w.out % p.h.out, plane = at / p.w.out / p.h.out;
    double best = -INFINITY;
    int64_t place = -1;
    for (int64_t u = 0; u < p.h.kernel; ++u) {
      const int64_t y = ref_axis_input(&p.h, i, u);
      if (y < 0 || y >= p.h.in) continue;
      for (int64_t v = 0; v < p.w.kernel; ++v) {
        const int64_t x = ref_axis_input(&p.w, j, v);
        if (x < 0 || x >= p.w.in) continue;
        const double value = ref_get_f64(a.x, (plane * p.h.in + y) * p.w.in + x);
        if (place < 0 || value > best || value != value) best = value, place = y * p.w.in + x;
      }
    }
    REF_REQUIRE("MaxPool2dForward", place >= 0, "windows that see at least one element expected");
    index[at] = place;
    ref_set_f64(a.y, at, best);
  }
  return ITP_OK;
}

REF_KERNEL(MaxPool2dBackward) {
  REF_UNPACK(MaxPool2dBackward)
  pool p = POOL(a, a.dilation_h, a.dilation_w);
  const itp_status status = check("MaxPool2dBackward", a.dx, a.grad, &p, err);
  if (status != ITP_OK) return status;
  REF_REQUIRE("MaxPool2dBackward", itp_same_shape(a.grad, a.index), "index of grad's shape expected");
  const int64_t *index = (const int64_t *)(const void *)itp_data(a.index);
  for (int64_t at = 0; at < p.planes * p.h.in * p.w.in; ++at) {
    const int64_t x = at % p.w.in, y = at / p.w.in % p.h.in, plane = at / p.w.in / p.h.in;
    double sum = 0.0;
    for (int64_t u = p.h.kernel - 1; u >= 0; --u) { /* a later tap is an earlier output */
      int64_t i, below;
      ref_axis_outputs_of(&p.h, u, y, y + 1, &i, &below);
      for (int64_t v = p.w.kernel - 1; i < below && v >= 0; --v) {
        int64_t j, right;
        ref_axis_outputs_of(&p.w, v, x, x + 1, &j, &right);
        const int64_t from = (plane * p.h.out + i) * p.w.out + j;
        if (j < right && index[from] == y * p.w.in + x) sum += ref_get_f64(a.grad, from);
      }
    }
    ref_set_f64(a.dx, at, sum);
  }
  return ITP_OK;
}

/* What the sum of an output's window is divided by. */
static double divisor_of(const pool *p, int64_t i, int64_t j, int include_pad, int64_t divisor) {
  if (divisor != 0) return (double)divisor;
  const int64_t top = ref_axis_input(&p->h, i, 0), left = ref_axis_input(&p->w, j, 0);
  const int64_t pad_h = include_pad ? p->h.pad : 0, pad_w = include_pad ? p->w.pad : 0;
  const int64_t rows = ref_min(top + p->h.kernel, p->h.in + pad_h) - ref_max(top, -pad_h);
  const int64_t columns = ref_min(left + p->w.kernel, p->w.in + pad_w) - ref_max(left, -pad_w);
  return (double)(rows * columns);
}

REF_KERNEL(AvgPool2dForward) {
  REF_UNPACK(AvgPool2dForward)
  pool p = POOL(a, 1, 1);
  const itp_status status = check("AvgPool2dForward", a.x, a.y, &p, err);
  if (status != ITP_OK) return status;
  for (int64_t at = 0; at < p.planes * p.h.out * p.w.out; ++at) {
    const int64_t j = at % p.w.out, i = at / p.w.out % p.h.out, plane = at / p.w.out / p.h.out;
    double sum = 0.0;
    for (int64_t u = 0; u < p.h.kernel; ++u) {
      const int64_t y = ref_axis_input(&p.h, i, u);
      if (y < 0 || y >= p.h.in) continue;
      for (int64_t v = 0; v < p.w.kernel; ++v) {
        const int64_t x = ref_axis_input(&p.w, j, v);
        if (x >= 0 && x < p.w.in) sum += ref_get_f64(a.x, (plane * p.h.in + y) * p.w.in + x);
      }
    }
    ref_set_f64(a.y, at, sum / divisor_of(&p, i, j, a.count_include_pad, a.divisor));
  }
  return ITP_OK;
}

REF_KERNEL(AvgPool2dBackward) {
  REF_UNPACK(AvgPool2dBackward)
  pool p = POOL(a, 1, 1);
  const itp_status status = check("AvgPool2dBackward", a.dx, a.grad, &p, err);
  if (status != ITP_OK) return status;
  for (int64_t at = 0; at < p.planes * p.h.in * p.w.in; ++at) {
    const int64_t x = at % p.w.in, y = at / p.w.in % p.h.in, plane = at / p.w.in / p.h.in;
    double sum = 0.0;
    for (int64_t u = p.h.kernel - 1; u >= 0; --u) {
      int64_t i, below;
      ref_axis_outputs_of(&p.h, u, y, y + 1, &i, &below);
      for (int64_t v = p.w.kernel - 1; i < below && v >= 0; --v) {
        int64_t j, right;
        ref_axis_outputs_of(&p.w, v, x, x + 1, &j, &right);
        if (j >= right) continue;
        const double divisor = divisor_of(&p, i, j, a.count_include_pad, a.divisor);
        sum += ref_get_f64(a.grad, (plane * p.h.out + i) * p.w.out + j) / divisor;
      }
    }
    ref_set_f64(a.dx, at, sum);
  }
  return ITP_OK;
}
