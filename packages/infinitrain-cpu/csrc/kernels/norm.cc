// LayerNorm.
#include <algorithm>

#include "kernels/kernel.h"

namespace itp {
namespace {

constexpr int64_t kParts =
    32;  // shares of the rows; a function of the shape, so that sums do not depend on threads
constexpr int64_t kRowsInBlock = 64;

int64_t parts_of(int64_t rows) { return std::clamp<int64_t>(rows / 32, 1, kParts); }

// The gradients of weight and bias that one share of the rows gives: blocks of rows in A, their sum in
// double.
template <class A>
struct Partial {
  double *weight, *bias;
  A *block_weight, *block_bias;
  int64_t columns;

  static uint64_t bytes(int64_t columns) {
    return static_cast<uint64_t>(columns) * 2 * (sizeof(double) + sizeof(A));
  }

  Partial(void *workspace, int64_t part, int64_t n) : columns(n) {
    weight =
        reinterpret_cast<double *>(static_cast<char *>(workspace) + static_cast<uint64_t>(part) * bytes(n));
    bias = weight + n;
    block_weight = reinterpret_cast<A *>(bias + n);
    block_bias = block_weight + n;
  }
  void clear() const {
    std::fill(weight, weight + 2 * columns, 0.0);
    std::fill(block_weight, block_weight + 2 * columns, A(0));
  }
  void close_block() const {
    for (int64_t j = 0; j < 2 * columns; ++j) weight[j] += static_cast<double>(block_weight[j]);
    std::fill(block_weight, block_weight + 2 * columns, A(0));
  }
};

itp_status backward_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_LayerNormBackward a;
  if (const itp_status status = itp_unpack_LayerNormBackward(l, &a, err)) return status;
  const RowShape shape = rows_of(a.x);
  const bool wanted = a.dweight != nullptr || a.dbias != nullptr;
  const uint64_t part =
      item_size(a.x) == 8 ? Partial<double>::bytes(shape.columns) : Partial<float>::bytes(shape.columns);
  *bytes = wanted ? static_cast<uint64_t>(parts_of(shape.rows)) * part : 0;
  return ITP_OK;
}

// out (+)= the sum of the shares' totals, each `stride` doubles behind the one before.
template <class T>
void join(Pool &pool, const RowTable<T> &rows, const double *totals, int64_t parts, int64_t stride,
          const itp_tensor *out, bool accumulate) {
  if (out == nullptr) return;
  pool.range(itp_numel(out), 4 * kBlock, [&](int64_t begin, int64_t end) {
    for (; begin < end; begin += kBlock) {
      const int64_t n = std::min(kBlock, end - begin);
      acc<T> sum[kBlock];
      for (int64_t j = 0; j < n; ++j) {
        double total = 0;
        for (int64_t part = 0; part < parts; ++part) total += totals[part * stride + begin + j];
        sum[j] = static_cast<acc<T>>(total);
      }
      T *place = data<T>(out) + begin;
      rows.add_bias(sum, accumulate ? place : nullptr, place, static_cast<size_t>(n));
    }
  });
}

}  // namespace

ITP_CPU_KERNEL(LayerNormForward) {
  const RowShape shape = rows_of(a.x);
  return with_float("LayerNormForward", a.x, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const auto layer_norm = cpu.simd.rows<T>().layer_norm;
    for_rows(cpu.pool, shape, 2, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row * shape.columns;
        layer_norm(data<T>(a.x) + i, data<T>(a.weight), data<T>(a.bias), data<T>(a.y) + i,
                   static_cast<size_t>(shape.columns), a.eps, data<A>(a.mean) + row, data<A>(a.rstd) + row);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL_WITH(LayerNormBackward, backward_workspace) {
  uint64_t bytes = 0;
  if (const itp_status s = backward_workspace(nullptr, l, &bytes, err)) return s;
  if (const itp_status s = check_workspace("LayerNormBackward", l, bytes, err)) return s;
  const RowShape shape = rows_of(a.x);
  if (shape.columns == 0) return ITP_OK;
  return with_float("LayerNormBackward", a.x, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const RowTable<T> &rows = cpu.simd.rows<T>();
    const int64_t parts = parts_of(shape.rows);
    const A *mean = data<A>(a.mean), *rstd = data<A>(a.rstd);
    const auto share = [&](int64_t part) {
      const Partial<A> sums(l->workspace, part, shape.columns);
      if (bytes > 0) sums.clear();
      const int64_t begin = shape.rows * part / parts, end = shape.rows * (part + 1) / parts;
      for (int64_t row = begin; row < end; ++row) {
        const T *x = data<T>(a.x) + row * shape.columns, *grad = data<T>(a.grad) + row * shape.columns;
        const size_t n = static_cast<size_t>(shape.columns);
        rows.layer_norm_backward(x, data<T>(a.weight), grad, data<T>(a.dx) + row * shape.columns, n,
                                 mean[row], rstd[row]);
        if (bytes == 0) continue;
        rows.layer_norm_parameters(x, grad, sums.block_weight, sums.block_bias, n, mean[row], rstd[row]);
        if ((row - begin) % kRowsInBlock == kRowsInBlock - 1) sums.close_block();
      }
      if (bytes > 0) sums.close_block();
    };
    cpu.pool.range(parts, 16384 / (shape.columns * shape.rows / parts + 1) + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t part = begin; part < end; ++part) share(part);
                   });
    if (bytes == 0) return ITP_OK;
    const double *totals = static_cast<const double *>(l->workspace);
    const int64_t stride = static_cast<int64_t>(Partial<A>::bytes(shape.columns) / sizeof(double));
    join<T>(cpu.pool, rows, totals, parts, stride, a.dweight, a.accumulate != 0);
    join<T>(cpu.pool, rows, totals + shape.columns, parts, stride, a.dbias, a.accumulate != 0);
    return ITP_OK;
  });
}

}  // namespace itp
