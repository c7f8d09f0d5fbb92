// LayerNorm.
#include <algorithm>

#include "kernels/kernel.h"

namespace itp {
namespace {

constexpr int64_t kColumns = 128;  // of the parameters' gradients, for one task
constexpr int64_t kRowsInBlock = 64;

// dweight and dbias for columns [first, first + n): rows in blocks, blocks in double.
template <class T>
void parameter_gradients(const RowTable<T> &rows, const itp_args_LayerNormBackward &a, RowShape shape, int64_t first,
                         int64_t n) {
  using A = acc<T>;
  double weight[kColumns] = {}, bias[kColumns] = {};
  for (int64_t begin = 0; begin < shape.rows; begin += kRowsInBlock) {
    alignas(64) A block_weight[kColumns] = {}, block_bias[kColumns] = {};
    for (int64_t row = begin; row < std::min(begin + kRowsInBlock, shape.rows); ++row) {
      const int64_t i = row * shape.columns + first;
      rows.layer_norm_parameters(data<T>(a.x) + i, data<T>(a.grad) + i, block_weight, block_bias,
                                 static_cast<size_t>(n), data<A>(a.mean)[row], data<A>(a.rstd)[row]);
    }
    for (int64_t j = 0; j < n; ++j) {
      weight[j] += static_cast<double>(block_weight[j]);
      bias[j] += static_cast<double>(block_bias[j]);
    }
  }
  const auto put = [&](T *place, const double *total) {
    alignas(64) A sum[kColumns];
    for (int64_t j = 0; j < n; ++j) sum[j] = static_cast<A>(total[j]);
    rows.add_bias(sum, a.accumulate != 0 ? place : nullptr, place, static_cast<size_t>(n));
  };
  if (a.dweight != nullptr) put(data<T>(a.dweight) + first, weight);
  if (a.dbias != nullptr) put(data<T>(a.dbias) + first, bias);
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

ITP_CPU_KERNEL(LayerNormBackward) {
  const RowShape shape = rows_of(a.x);
  return with_float("LayerNormBackward", a.x, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const RowTable<T> &rows = cpu.simd.rows<T>();
    for_rows(cpu.pool, shape, 3, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t i = row * shape.columns;
        rows.layer_norm_backward(data<T>(a.x) + i, data<T>(a.weight), data<T>(a.grad) + i, data<T>(a.dx) + i,
                                 static_cast<size_t>(shape.columns), data<A>(a.mean)[row], data<A>(a.rstd)[row]);
      }
    });
    if (a.dweight == nullptr && a.dbias == nullptr) return ITP_OK;
    const int64_t tasks = (shape.columns + kColumns - 1) / kColumns;
    cpu.pool.range(tasks, 32768 / (kColumns * std::max<int64_t>(shape.rows, 1)) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task * kColumns;
        parameter_gradients<T>(rows, a, shape, first, std::min(kColumns, shape.columns - first));
      }
    });
    return ITP_OK;
  });
}

}  // namespace itp
