// Convolutions as matrix products: tiles of output positions are laid out as columns (im2col), one column a
// position and one row a tap of a channel, and multiplied with the weight. A tile's place does not depend on
// threads, and a result is summed by one thread, so the bits are fixed. Half types multiply in float32.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/window.h"

namespace itp {
namespace {

constexpr int64_t kTile = 256;  // output positions of a tile

struct Convolution {
  int64_t images, channels, outputs, groups, inside, outside;  // inside, outside: channels of one group
  Axis h, w;

  int64_t taps() const { return h.kernel * w.kernel; }
  int64_t depth() const { return inside * taps(); }
  int64_t positions() const { return h.out * w.out; }
  int64_t plane() const { return h.in * w.in; }
  int64_t tiles() const { return (positions() + kTile - 1) / kTile; }
};

template <class Args>
Convolution begin(const Args &a, const itp_tensor *x, const itp_tensor *weight, const itp_tensor *y) {
  Convolution c = {};
  if (x->ndim != 4 || weight->ndim != 4 || y->ndim != 4 || a.groups <= 0) return c;
  c.images = x->shape[0], c.channels = x->shape[1], c.outputs = y->shape[1], c.groups = a.groups;
  c.inside = c.channels / a.groups, c.outside = c.outputs / a.groups;
  c.h = {x->shape[2], y->shape[2], weight->shape[2], a.stride_h, a.pad_h, a.dilation_h};
  c.w = {x->shape[3], y->shape[3], weight->shape[3], a.stride_w, a.pad_w, a.dilation_w};
  return c;
}

itp_status check(const char *name, const Convolution &c, const itp_tensor *weight, const itp_tensor *y,
                 itp_error *err) {
  ITP_REQUIRE(name, c.groups > 0 && c.h.sane() && c.w.sane(),
              "expected x (N, C, H, W), weight (O, C / groups, U, V) and y or grad (N, O, P, Q), and kernel, "
              "stride and "
              "dilation of at least 1");
  ITP_REQUIRE(name,
              c.channels % c.groups == 0 && c.outputs % c.groups == 0 && weight->shape[0] == c.outputs &&
                  weight->shape[1] == c.inside && y->shape[0] == c.images,
              "expected channels that groups divide, and a weight (O, C / groups, U, V)");
  ITP_REQUIRE(name, c.h.out == c.h.outputs() && c.w.out == c.w.outputs(),
              "expected y or grad of the size that kernel, stride, padding and dilation give");
  return ITP_OK;
}

// Lay channels [first, first + count) of an image (planes at x) out as columns for n output positions from p:
// row-major (count taps, n).
template <class T>
void lay_out(const Convolution &c, const T *x, int64_t count, int64_t p, int64_t n, acc<T> *columns) {
  for (int64_t row = 0; row < count * c.taps(); ++row, columns += n) {
    const int64_t v = row % c.w.kernel, u = row / c.w.kernel % c.h.kernel;
    const T *plane = x + row / c.taps() * c.plane();
    for (int64_t at = p; at < p + n;) {
      const int64_t i = at / c.w.out, j = at % c.w.out, end = std::min(c.w.out, j + p + n - at);
      acc<T> *to = columns + (at - p) - j;  // indexed by j
      const int64_t y = c.h.input(i, u);
      int64_t first = end, last = end;
      if (c.h.holds(y)) c.w.inside(v, j, end, &first, &last);
      std::fill(to + j, to + first, acc<T>(0));
      const T *from = plane + y * c.w.in;
      for (int64_t q = first; q < last; ++q) to[q] = load_one(from[c.w.input(q, v)]);
      std::fill(to + last, to + end, acc<T>(0));
      at += end - j;
    }
  }
}

// Add columns of gradients to the planes that they were laid out from.
template <class T>
void add_back(const Convolution &c, const T *columns, int64_t p, int64_t n, T *dx) {
  for (int64_t row = 0; row < c.depth(); ++row, columns += n) {
    const int64_t v = row % c.w.kernel, u = row / c.w.kernel % c.h.kernel;
    T *plane = dx + row / c.taps() * c.plane();
    for (int64_t at = p; at < p + n;) {
      const int64_t i = at / c.w.out, j = at % c.w.out, end = std::min(c.w.out, j + p + n - at);
      const int64_t y = c.h.input(i, u);
      int64_t first = end, last = end;
      if (c.h.holds(y)) c.w.inside(v, j, end, &first, &last);
      for (int64_t q = first; q < last; ++q) plane[y * c.w.in + c.w.input(q, v)] += columns[at - p - j + q];
      at += end - j;
    }
  }
}

// Rows of a matrix in the computing type: as they lie there, or converted into `room`.
template <class T>
Matrix<const acc<T>> rows_as_computed(const T *x, int64_t rows, int64_t columns, int64_t ld, acc<T> *room) {
  if constexpr (sizeof(T) == sizeof(acc<T>)) {
    return {x, std::max<int64_t>(ld, 1), false};
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) room[i * columns + j] = load_one(x[i * ld + j]);
    }
    return {room, std::max<int64_t>(columns, 1), false};
  }
}

// Elements of workspace of one thread.
int64_t forward_room(const Convolution &c) {
  return c.depth() * kTile + c.outside * c.depth() + c.outside * kTile;
}
int64_t input_room(const Convolution &c) {
  return c.depth() * kTile + c.outside * c.depth() + c.outside * kTile + c.inside * c.plane();
}
// The gradient of the weight is cut at input channels, for as many tasks as there are threads.
int64_t channels_of_a_task(const Convolution &c, int threads) {
  return std::max<int64_t>(1, c.inside * c.groups / (2 * static_cast<int64_t>(threads)));
}
int64_t weight_room(const Convolution &c, int threads) {
  const int64_t depth = std::min(c.inside, channels_of_a_task(c, threads)) * c.taps();
  return depth * kTile + c.outside * kTile + c.outside * depth;
}

template <class Args>
itp_status answer(void *self, const itp_launch *l,
                  itp_status (*unpack)(const itp_launch *, Args *, itp_error *),
                  Convolution (*sizes)(const Args &), int64_t (*room)(const Convolution &, int),
                  uint64_t *bytes, itp_error *err) {
  Args a;
  if (const itp_status status = unpack(l, &a, err)) return status;
  const Convolution c = sizes(a);
  Pool &pool = Provider::of(self).pool;
  const int64_t element = item_size(l->outputs[0]) == 8 ? 8 : 4;
  *bytes = static_cast<uint64_t>(room(c, pool.size()) * element) * static_cast<uint64_t>(pool.size());
  return ITP_OK;
}

Convolution sizes_of(const itp_args_Conv2dForward &a) { return begin(a, a.x, a.weight, a.y); }
Convolution sizes_of(const itp_args_Conv2dBackwardInput &a) { return begin(a, a.dx, a.weight, a.grad); }
Convolution sizes_of(const itp_args_Conv2dBackwardWeight &a) { return begin(a, a.x, a.dweight, a.grad); }

itp_status forward_workspace(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  return answer<itp_args_Conv2dForward>(
      self, l, itp_unpack_Conv2dForward, sizes_of, [](const Convolution &c, int) { return forward_room(c); },
      bytes, err);
}
itp_status input_workspace(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  return answer<itp_args_Conv2dBackwardInput>(
      self, l, itp_unpack_Conv2dBackwardInput, sizes_of,
      [](const Convolution &c, int) { return input_room(c); }, bytes, err);
}
itp_status weight_workspace(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  return answer<itp_args_Conv2dBackwardWeight>(self, l, itp_unpack_Conv2dBackwardWeight, sizes_of,
                                               weight_room, bytes, err);
}

template <class T>
itp_status room_of(const char *name, const Provider &cpu, const itp_launch *l, int64_t each, itp_error *err) {
  return check_workspace(name, l, static_cast<uint64_t>(each * cpu.pool.size()) * sizeof(acc<T>), err);
}

}  // namespace

ITP_CPU_KERNEL_WITH(Conv2dForward, forward_workspace) {
  const Convolution c = sizes_of(a);
  if (const itp_status status = check("Conv2dForward", c, a.weight, a.y, err)) return status;
  return with_float("Conv2dForward", a.y, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    using A = acc<T>;
    const int64_t each = forward_room(c), depth = c.depth(), tiles = c.tiles();
    if (const itp_status status = room_of<T>("Conv2dForward", cpu, l, each, err)) return status;
    cpu.pool.worker_tasks(c.images * c.groups * tiles, [&](int64_t task, int worker) {
      A *columns = static_cast<A *>(l->workspace) + worker * each;
      A *room = columns + depth * kTile, *sums = room + c.outside * depth;
      const int64_t p = task % tiles * kTile, group = task / tiles % c.groups,
                    image = task / tiles / c.groups;
      const int64_t n = std::min(kTile, c.positions() - p), o = group * c.outside;
      lay_out(c, data<T>(a.x) + (image * c.channels + group * c.inside) * c.plane(), c.inside, p, n, columns);
      const auto weight = rows_as_computed(data<T>(a.weight) + o * depth, c.outside, depth, depth, room);
      for (int64_t i = 0; i < c.outside; ++i) {
        std::fill(sums + i * n, sums + (i + 1) * n,
                  a.bias != nullptr ? load_one(data<T>(a.bias)[o + i]) : A(0));
      }
      if (depth > 0) cpu.gemm.multiply(c.outside, n, depth, weight, {columns, n, false}, true, sums, n);
      for (int64_t i = 0; i < c.outside; ++i) {
        T *y = data<T>(a.y) + (image * c.outputs + o + i) * c.positions() + p;
        for (int64_t q = 0; q < n; ++q) store_one(sums[i * n + q], y + q);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL_WITH(Conv2dBackwardInput, input_workspace) {
  const Convolution c = sizes_of(a);
  if (const itp_status status = check("Conv2dBackwardInput", c, a.weight, a.grad, err)) return status;
  return with_float("Conv2dBackwardInput", a.dx, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    using A = acc<T>;
    const int64_t each = input_room(c), depth = c.depth();
    if (const itp_status status = room_of<T>("Conv2dBackwardInput", cpu, l, each, err)) return status;
    cpu.pool.worker_tasks(c.images * c.groups, [&](int64_t task, int worker) {
      A *columns = static_cast<A *>(l->workspace) + worker * each;
      A *room = columns + depth * kTile, *slopes = room + c.outside * depth,
        *total = slopes + c.outside * kTile;
      const int64_t group = task % c.groups, image = task / c.groups, o = group * c.outside;
      const int64_t count = c.inside * c.plane();
      T *dx = data<T>(a.dx) + (image * c.channels + group * c.inside) * c.plane();
      for (int64_t i = 0; i < count; ++i) total[i] = a.accumulate ? load_one(dx[i]) : A(0);
      auto weight = rows_as_computed(data<T>(a.weight) + o * depth, c.outside, depth, depth, room);
      weight.transposed = true;
      for (int64_t p = 0; p < c.positions() && c.outside > 0 && depth > 0; p += kTile) {
        const int64_t n = std::min(kTile, c.positions() - p);
        const T *grad = data<T>(a.grad) + (image * c.outputs + o) * c.positions() + p;
        const auto right = rows_as_computed(grad, c.outside, n, c.positions(), slopes);
        cpu.gemm.multiply(depth, n, c.outside, weight, right, false, columns, n);
        add_back(c, columns, p, n, total);
      }
      for (int64_t i = 0; i < count; ++i) store_one(total[i], dx + i);
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL_WITH(Conv2dBackwardWeight, weight_workspace) {
  const Convolution c = sizes_of(a);
  if (const itp_status status = check("Conv2dBackwardWeight", c, a.dweight, a.grad, err)) return status;
  return with_float("Conv2dBackwardWeight", a.dweight, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    using A = acc<T>;
    const int64_t each = weight_room(c, cpu.pool.size()), piece = channels_of_a_task(c, cpu.pool.size());
    if (const itp_status status = room_of<T>("Conv2dBackwardWeight", cpu, l, each, err)) return status;
    const int64_t pieces = (c.inside + piece - 1) / piece;
    cpu.pool.worker_tasks(c.groups * pieces, [&](int64_t task, int worker) {
      const int64_t group = task / pieces, first = task % pieces * piece;
      const int64_t count = std::min(piece, c.inside - first), depth = count * c.taps(),
                    o = group * c.outside;
      A *columns = static_cast<A *>(l->workspace) + worker * each;
      A *slopes = columns + depth * kTile, *total = slopes + c.outside * kTile;
      T *dweight = data<T>(a.dweight) + (o * c.inside + first) * c.taps();
      const int64_t ld = c.inside * c.taps();
      for (int64_t i = 0; i < c.outside * depth; ++i) {
        total[i] = a.accumulate ? load_one(dweight[i / depth * ld + i % depth]) : A(0);
      }
      for (int64_t image = 0; image < c.images && c.outside > 0; ++image) {
        const T *x = data<T>(a.x) + (image * c.channels + group * c.inside + first) * c.plane();
        for (int64_t p = 0; p < c.positions(); p += kTile) {
          const int64_t n = std::min(kTile, c.positions() - p);
          lay_out(c, x, count, p, n, columns);
          const T *grad = data<T>(a.grad) + (image * c.outputs + o) * c.positions() + p;
          const auto left = rows_as_computed(grad, c.outside, n, c.positions(), slopes);
          cpu.gemm.multiply(c.outside, depth, n, left, {columns, n, true}, true, total, depth);
        }
      }
      for (int64_t i = 0; i < c.outside * depth; ++i)
        store_one(total[i], dweight + i / depth * ld + i % depth);
    });
    return ITP_OK;
  });
}

}  // namespace itp
