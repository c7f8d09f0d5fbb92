/* Convolutions by direct loops over whole rows of the image: sums in double, rounded once. */
#include "window.h"

/* Sizes of a convolution: N images, C input and O output channels in groups. */
typedef struct convolution {
  int64_t images, channels, outputs, groups;
  ref_axis h, w;
} convolution;

/* n elements of a float dtype, `step` elements apart, in double. */
static const double *load_row(ref_buffer *room, int dtype, int64_t size, const char *data, int64_t step,
                              int64_t n) {
  if (dtype == ITP_DT_F64) return (const double *)ref_load(room, dtype, data, step * size, n);
  ref_buffer singles;
  const float *v = (const float *)ref_load(&singles, dtype, data, step * size, n);
  for (int64_t i = 0; i < n; ++i) room->f64[i] = (double)v[i];
  return room->f64;
}

static itp_status check(const char *name, const itp_tensor *x, const itp_tensor *weight, const itp_tensor *y,
                        convolution *c, itp_error *err) {
  REF_REQUIRE(name, x->ndim == 4 && weight->ndim == 4 && y->ndim == 4,
              "x (N, C, H, W), weight (O, C / groups, U, V) and y or grad (N, O, P, Q) expected");
  c->images = x->shape[0];
  c->channels = x->shape[1];
  c->outputs = y->shape[1];
  c->h.in = x->shape[2], c->h.out = y->shape[2], c->h.kernel = weight->shape[2];
  c->w.in = x->shape[3], c->w.out = y->shape[3], c->w.kernel = weight->shape[3];
  REF_REQUIRE(name, ref_axis_ok(&c->h) && ref_axis_ok(&c->w),
              "kernel, stride and dilation of at least 1 and padding of at least 0 expected");
  REF_REQUIRE(name,
              c->groups > 0 && c->channels % c->groups == 0 && c->outputs % c->groups == 0 &&
                  weight->shape[0] == c->outputs && weight->shape[1] * c->groups == c->channels &&
                  y->shape[0] == c->images,
              "channels that groups divide, and weight (O, C / groups, U, V) expected");
  REF_REQUIRE(name, c->h.out == ref_axis_outputs(&c->h) && c->w.out == ref_axis_outputs(&c->w),
              "y or grad of the size that kernel, stride, padding and dilation give expected");
  return ITP_OK;
}

/* The attributes of a launch; sizes come from `check`. */
#define CONVOLUTION(a)                                                             \
  {                                                                                \
      .groups = (a).groups,                                                        \
      .h = {.stride = (a).stride_h, .pad = (a).pad_h, .dilation = (a).dilation_h}, \
      .w = {.stride = (a).stride_w, .pad = (a).pad_w, .dilation = (a).dilation_w}, \
  }

REF_KERNEL(Conv2dForward) {
  REF_UNPACK(Conv2dForward)
  convolution c = CONVOLUTION(a);
  const itp_status status = check("Conv2dForward", a.x, a.weight, a.y, &c, err);
  if (status != ITP_OK) return status;
  REF_REQUIRE("Conv2dForward", a.bias == NULL || itp_numel(a.bias) == c.outputs, "bias (O) expected");
  const int dtype = itp_dtype_bit(a.y->dtype);
  const int64_t size = itp_element_size(a.y), taps = c.h.kernel * c.w.kernel;
  const int64_t inside = c.channels / c.groups, outside = c.outputs / c.groups;
  ref_buffer room, sums;
  for (int64_t row = 0; row < c.images * c.outputs * c.h.out; ++row) {
    const int64_t i = row % c.h.out, o = row / c.h.out % c.outputs, image = row / c.h.out / c.outputs;
    const int64_t base = image * c.channels + o / outside * inside;
    for (int64_t j = 0; j < c.w.out; j += REF_BLOCK) {
      const int64_t n = ref_min(c.w.out - j, REF_BLOCK);
      for (int64_t q = 0; q < n; ++q) sums.f64[q] = a.bias != NULL ? ref_get_f64(a.bias, o) : 0.0;
      for (int64_t t = 0; t < inside * taps; ++t) {
        const int64_t v = t % c.w.kernel, u = t / c.w.kernel % c.h.kernel, y = ref_axis_input(&c.h, i, u);
        if (y < 0 || y >= c.h.in) continue;
        int64_t first, last;
        ref_axis_outputs_of(&c.w, v, 0, c.w.in, &first, &last);
        first = ref_max(first, j), last = ref_min(last, j + n);
        if (first >= last) continue;
        const double weight = ref_get_f64(a.weight, o * inside * taps + t);
        const int64_t at = ((base + t / taps) * c.h.in + y) * c.w.in + ref_axis_input(&c.w, first, v);
        const double *x = load_row(&room, dtype, size, ref_at(a.x, at), c.w.stride, last - first);
        for (int64_t q = first; q < last; ++q) sums.f64[q - j] += weight * x[q - first];
      }
      ref_store_f64(dtype, ref_at(a.y, row * c.w.out + j), sums.f64, n);
    }
  }
  return ITP_OK;
}

REF_KERNEL(Conv2dBackwardInput) {
  REF_UNPACK(Conv2dBackwardInput)
  convolution c = CONVOLUTION(a);
  const itp_status status = check("Conv2dBackwardInput", a.dx, a.weight, a.grad, &c, err);
  if (status != ITP_OK) return status;
  const int dtype = itp_dtype_bit(a.dx->dtype);
  const int64_t size = itp_element_size(a.dx);
  const int64_t inside = c.channels / c.groups, outside = c.outputs / c.groups;
  ref_buffer room, sums;
  for (int64_t row = 0; row < c.images * c.channels * c.h.in; ++row) {
    const int64_t y = row % c.h.in, channel = row / c.h.in % c.channels, image = row / c.h.in / c.channels;
    const int64_t group = channel / inside;
    for (int64_t j = 0; j < c.w.in; j += REF_BLOCK) {
      const int64_t n = ref_min(c.w.in - j, REF_BLOCK);
      for (int64_t x = 0; x < n; ++x)
        sums.f64[x] = a.accumulate ? ref_get_f64(a.dx, row * c.w.in + j + x) : 0.0;
      for (int64_t u = 0; u < c.h.kernel; ++u) {
        int64_t i, below;
        ref_axis_outputs_of(&c.h, u, y, y + 1, &i, &below);
        if (i >= below) continue;
        for (int64_t v = 0; v < c.w.kernel; ++v) {
          int64_t first, last;
          ref_axis_outputs_of(&c.w, v, j, j + n, &first, &last);
          if (first >= last) continue;
          for (int64_t o = group * outside; o < (group + 1) * outside; ++o) {
            const int64_t tap = ((o * inside + channel % inside) * c.h.kernel + u) * c.w.kernel + v;
            const double weight = ref_get_f64(a.weight, tap);
            const int64_t at = ((image * c.outputs + o) * c.h.out + i) * c.w.out + first;
            const double *grad = load_row(&room, dtype, size, ref_at(a.grad, at), 1, last - first);
            double *to = sums.f64 + (ref_axis_input(&c.w, first, v) - j);
            for (int64_t q = 0; q < last - first; ++q) to[q * c.w.stride] += weight * grad[q];
          }
        }
      }
      ref_store_f64(dtype, ref_at(a.dx, row * c.w.in + j), sums.f64, n);
    }
  }
  return ITP_OK;
}

REF_KERNEL(Conv2dBackwardWeight) {
  REF_UNPACK(Conv2dBackwardWeight)
  convolution c = CONVOLUTION(a);
  const itp_status status = check("Conv2dBackwardWeight", a.x, a.dweight, a.grad, &c, err);
  if (status != ITP_OK) return status;
  const int dtype = itp_dtype_bit(a.dweight->dtype);
  const int64_t size = itp_element_size(a.dweight), taps = c.h.kernel * c.w.kernel;
  const int64_t inside = c.channels / c.groups, outside = c.outputs / c.groups;
  ref_buffer seen, slopes;
  for (int64_t t = 0; t < c.outputs * inside * taps; ++t) {
    const int64_t v = t % c.w.kernel, u = t / c.w.kernel % c.h.kernel, o = t / taps / inside;
    const int64_t channel = o / outside * inside + t / taps % inside;
    int64_t first, last, top, bottom;
    ref_axis_outputs_of(&c.w, v, 0, c.w.in, &first, &last);
    ref_axis_outputs_of(&c.h, u, 0, c.h.in, &top, &bottom);
    double sum = a.accumulate ? ref_get_f64(a.dweight, t) : 0.0;
    for (int64_t image = 0; image < c.images; ++image) {
      for (int64_t i = top; i < bottom; ++i) {
        const int64_t line = (image * c.channels + channel) * c.h.in + ref_axis_input(&c.h, i, u);
        for (int64_t j = first; j < last; j += REF_BLOCK) {
          const int64_t n = ref_min(last - j, REF_BLOCK);
          const int64_t at = ((image * c.outputs + o) * c.h.out + i) * c.w.out + j;
          const char *from = ref_at(a.x, line * c.w.in + ref_axis_input(&c.w, j, v));
          const double *x = load_row(&seen, dtype, size, from, c.w.stride, n);
          const double *grad = load_row(&slopes, dtype, size, ref_at(a.grad, at), 1, n);
          for (int64_t q = 0; q < n; ++q) sum += grad[q] * x[q];
        }
      }
    }
    ref_set_f64(a.dweight, t, sum);
  }
  return ITP_OK;
}
