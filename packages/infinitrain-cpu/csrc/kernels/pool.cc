// Pools, a plane a task. Gradients are gathered: an input position collects from the outputs that see it, in
// row-major order, so that a sum is rounded once.
#include <algorithm>
#include <limits>

#include "kernels/kernel.h"
#include "kernels/window.h"

namespace itp {
namespace {

struct Planes {
  int64_t count;
  Axis h, w;

  int64_t in() const { return h.in * w.in; }
  int64_t out() const { return h.out * w.out; }
  int64_t taps() const { return h.kernel * w.kernel; }
};

template <class Args>
itp_status begin(const char *name, const Args &a, int64_t dilation_h, int64_t dilation_w, const itp_tensor *x,
                 const itp_tensor *y, Planes *p, itp_error *err) {
  ITP_REQUIRE(name, x->ndim == 4 && y->ndim == 4 && x->shape[0] == y->shape[0] && x->shape[1] == y->shape[1],
              "expected x or dx (N, C, H, W) and y or grad (N, C, P, Q)");
  p->count = x->shape[0] * x->shape[1];
  p->h = {x->shape[2], y->shape[2], a.kernel_h, a.stride_h, a.pad_h, dilation_h};
  p->w = {x->shape[3], y->shape[3], a.kernel_w, a.stride_w, a.pad_w, dilation_w};
  ITP_REQUIRE(
      name, p->h.begins_inside() && p->w.begins_inside(),
      "expected windows that begin in the image or its padding, kernel, stride and dilation of at least 1");
  return ITP_OK;
}

// Call f(plane, i, j, at) for every position of planes of `rows` x `columns`; `at` counts all positions.
template <class F>
void each_position(Pool &pool, int64_t planes, int64_t rows, int64_t columns, int64_t cost, const F &f) {
  for_rows(pool, {planes * rows, columns}, cost, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t j = 0; j < columns; ++j) f(row / rows, row % rows, j, row * columns + j);
    }
  });
}

// Call f(i, j) for the outputs that see an input position, in row-major order: a later tap is an earlier
// output.
template <class F>
void each_viewer(const Planes &p, int64_t y, int64_t x, const F &f) {
  for (int64_t u = p.h.kernel - 1; u >= 0; --u) {
    const int64_t i = p.h.output(y, u);
    for (int64_t v = p.w.kernel - 1; i >= 0 && v >= 0; --v) {
      const int64_t j = p.w.output(x, v);
      if (j >= 0) f(i, j);
    }
  }
}

// How many positions the window [begin, begin + kernel) has in [-pad, in + pad).
int64_t covered(const Axis &x, int64_t begin, int64_t pad) {
  return std::min(begin + x.kernel, x.in + pad) - std::max(begin, -pad);
}

template <class Args>
int64_t divisor_of(const Args &a, const Planes &p, int64_t i, int64_t j) {
  if (a.divisor != 0) return a.divisor;
  const bool pads = a.count_include_pad != 0;
  return covered(p.h, p.h.input(i, 0), pads ? p.h.pad : 0) *
         covered(p.w, p.w.input(j, 0), pads ? p.w.pad : 0);
}

}  // namespace

ITP_CPU_KERNEL(MaxPool2dForward) {
  Planes p;
  if (const itp_status s = begin("MaxPool2dForward", a, a.dilation_h, a.dilation_w, a.x, a.y, &p, err))
    return s;
  ITP_REQUIRE("MaxPool2dForward", itp_same_shape(a.y, a.index), "expected an index of y's shape");
  ITP_REQUIRE("MaxPool2dForward", p.h.always_sees() && p.w.always_sees(),
              "expected windows that see at least one element");
  return with_float("MaxPool2dForward", a.y, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    each_position(cpu.pool, p.count, p.h.out, p.w.out, p.taps(),
                  [&](int64_t plane, int64_t i, int64_t j, int64_t at) {
                    const T *x = data<T>(a.x) + plane * p.in();
                    A best = -std::numeric_limits<A>::infinity();
                    int64_t place = -1;
                    for (int64_t u = 0; u < p.h.kernel; ++u) {
                      const int64_t row = p.h.input(i, u);
                      if (!p.h.holds(row)) continue;
                      for (int64_t v = 0; v < p.w.kernel; ++v) {
                        const int64_t column = p.w.input(j, v);
                        if (!p.w.holds(column)) continue;
                        const A value = load_one(x[row * p.w.in + column]);
                        if (place < 0 || value > best || value != value)
                          best = value, place = row * p.w.in + column;
                      }
                    }
                    data<int64_t>(a.index)[at] = place;
                    data<T>(a.y)[at] = x[place];
                  });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(MaxPool2dBackward) {
  Planes p;
  if (const itp_status s = begin("MaxPool2dBackward", a, a.dilation_h, a.dilation_w, a.dx, a.grad, &p, err))
    return s;
  ITP_REQUIRE("MaxPool2dBackward", itp_same_shape(a.grad, a.index), "expected an index of grad's shape");
  return with_float("MaxPool2dBackward", a.dx, err, [&](auto element) {
    using T = decltype(element);
    each_position(cpu.pool, p.count, p.h.in, p.w.in, p.taps(),
                  [&](int64_t plane, int64_t y, int64_t x, int64_t at) {
                    const T *grad = data<T>(a.grad) + plane * p.out();
                    const int64_t *index = data<int64_t>(a.index) + plane * p.out();
                    acc<T> sum = 0;
                    each_viewer(p, y, x, [&](int64_t i, int64_t j) {
                      const int64_t from = i * p.w.out + j;
                      if (index[from] == y * p.w.in + x) sum += load_one(grad[from]);
                    });
                    store_one(sum, data<T>(a.dx) + at);
                  });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(AvgPool2dForward) {
  Planes p;
  if (const itp_status s = begin("AvgPool2dForward", a, 1, 1, a.x, a.y, &p, err)) return s;
  return with_float("AvgPool2dForward", a.y, err, [&](auto element) {
    using T = decltype(element);
    each_position(cpu.pool, p.count, p.h.out, p.w.out, p.taps(),
                  [&](int64_t plane, int64_t i, int64_t j, int64_t at) {
                    const T *x = data<T>(a.x) + plane * p.in();
                    const int64_t top = p.h.input(i, 0), left = p.w.input(j, 0);
                    const int64_t bottom = std::min(top + p.h.kernel, p.h.in),
                                  right = std::min(left + p.w.kernel, p.w.in);
                    acc<T> sum = 0;
                    for (int64_t y = std::max<int64_t>(top, 0); y < bottom; ++y) {
                      for (int64_t z = std::max<int64_t>(left, 0); z < right; ++z)
                        sum += load_one(x[y * p.w.in + z]);
                    }
                    store_one(sum / static_cast<acc<T>>(divisor_of(a, p, i, j)), data<T>(a.y) + at);
                  });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(AvgPool2dBackward) {
  Planes p;
  if (const itp_status s = begin("AvgPool2dBackward", a, 1, 1, a.dx, a.grad, &p, err)) return s;
  return with_float("AvgPool2dBackward", a.dx, err, [&](auto element) {
    using T = decltype(element);
    each_position(cpu.pool, p.count, p.h.in, p.w.in, p.taps(),
                  [&](int64_t plane, int64_t y, int64_t x, int64_t at) {
                    const T *grad = data<T>(a.grad) + plane * p.out();
                    acc<T> sum = 0;
                    each_viewer(p, y, x, [&](int64_t i, int64_t j) {
                      sum += load_one(grad[i * p.w.out + j]) / static_cast<acc<T>>(divisor_of(a, p, i, j));
                    });
                    store_one(sum, data<T>(a.dx) + at);
                  });
    return ITP_OK;
  });
}

}  // namespace itp
