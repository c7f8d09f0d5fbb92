/* The geometry that convolutions and pools share, one dimension at a time: output position o sees the input
 * positions o * stride - pad + tap * dilation, tap in [0, kernel). */
#ifndef INFINITRAIN_REFERENCE_WINDOW_H_
#define INFINITRAIN_REFERENCE_WINDOW_H_

#include "block.h"

typedef struct ref_axis {
  int64_t in, out, kernel, stride, pad, dilation;
} ref_axis;

static inline int64_t ref_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* a / b rounded up, b > 0. */
static inline int64_t ref_ceil_div(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

static inline int ref_axis_ok(const ref_axis *x) {
  return x->in >= 0 && x->kernel > 0 && x->stride > 0 && x->pad >= 0 && x->dilation > 0;
}

/* Output positions that a convolution has. */
static inline int64_t ref_axis_outputs(const ref_axis *x) {
  const int64_t room = x->in + 2 * x->pad - x->dilation * (x->kernel - 1) - 1;
  return room < 0 ? 0 : room / x->stride + 1;
}

/* The outputs [*first, *last) that see an input position of [begin, end) through a tap. */
static inline void ref_axis_outputs_of(const ref_axis *x, int64_t tap, int64_t begin, int64_t end,
                                       int64_t *first, int64_t *last) {
  const int64_t shift = x->pad - tap * x->dilation;
  *first = ref_max(0, ref_ceil_div(begin + shift, x->stride));
  *last = ref_min(x->out, ref_ceil_div(end + shift, x->stride));
}

/* The input position that an output sees through a tap; may lie outside. */
static inline int64_t ref_axis_input(const ref_axis *x, int64_t output, int64_t tap) {
  return output * x->stride - x->pad + tap * x->dilation;
}

/* A window of outputs that may end outside the image: each of them begins at a padded position at least. */
static inline int ref_axis_window_ok(const ref_axis *x) {
  return ref_axis_ok(x) && (x->out == 0 || (x->out - 1) * x->stride < x->in + x->pad);
}

#endif
