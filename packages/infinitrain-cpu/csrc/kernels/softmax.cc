// Softmax over the last dimension, whole and causal.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

// Columns of a (..., Q, K) tensor's row that the query of this row may see: the last query sees the last key.
int64_t visible_columns(const itp_tensor *x, int64_t row) {
  const int64_t keys = x->shape[x->ndim - 1], queries = x->shape[x->ndim - 2];
  return std::clamp<int64_t>(row % queries + keys - queries + 1, 0, keys);
}

}  // namespace

ITP_CPU_KERNEL(SoftmaxForward) {
  const RowShape shape = rows_of(a.x);
  return with_float("SoftmaxForward", a.x, err, [&](auto element) {
    using T = decltype(element);
    const auto softmax = cpu.simd.rows<T>().softmax;
    for_rows(cpu.pool, shape, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * shape.columns; i < end * shape.columns; i += shape.columns) {
        softmax(data<T>(a.x) + i, data<T>(a.y) + i, static_cast<size_t>(shape.columns), 1);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(SoftmaxBackward) {
  const RowShape shape = rows_of(a.y);
  return with_float("SoftmaxBackward", a.y, err, [&](auto element) {
    using T = decltype(element);
    const auto backward = cpu.simd.rows<T>().softmax_backward;
    for_rows(cpu.pool, shape, 2, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * shape.columns; i < end * shape.columns; i += shape.columns) {
        backward(data<T>(a.y) + i, data<T>(a.grad) + i, data<T>(a.dx) + i, static_cast<size_t>(shape.columns),
                 1);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(CausalSoftmaxForward) {
  ITP_REQUIRE("CausalSoftmaxForward", a.x->ndim >= 2, "x needs queries and keys, two dimensions at least");
  const RowShape shape = rows_of(a.x);
  return with_float("CausalSoftmaxForward", a.x, err, [&](auto element) {
    using T = decltype(element);
    const auto softmax = cpu.simd.rows<T>().softmax;
    const auto scale = static_cast<acc<T>>(a.scale);
    for_rows(cpu.pool, shape, 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = visible_columns(a.x, row);
        T *y = data<T>(a.y) + row * shape.columns;
        if (n > 0) softmax(data<T>(a.x) + row * shape.columns, y, static_cast<size_t>(n), scale);
        memset(static_cast<void *>(y + n), 0, static_cast<size_t>(shape.columns - n) * sizeof(T));
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(CausalSoftmaxBackward) {
  ITP_REQUIRE("CausalSoftmaxBackward", a.y->ndim >= 2, "y needs queries and keys, two dimensions at least");
  const RowShape shape = rows_of(a.y);
  return with_float("CausalSoftmaxBackward", a.y, err, [&](auto element) {
    using T = decltype(element);
    const auto backward = cpu.simd.rows<T>().softmax_backward;
    const auto scale = static_cast<acc<T>>(a.scale);
    for_rows(cpu.pool, shape, 2, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = visible_columns(a.y, row), i = row * shape.columns;
        T *dx = data<T>(a.dx) + i;
        backward(data<T>(a.y) + i, data<T>(a.grad) + i, dx, static_cast<size_t>(n), scale);
        memset(static_cast<void *>(dx + n), 0, static_cast<size_t>(shape.columns - n) * sizeof(T));
      }
    });
    return ITP_OK;
  });
}

}  // namespace itp
