// Reading and writing by index.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

// Every index lies in [0, bound), or the first that does not is named. Checked before anything is written.
itp_status check_indices(Pool &pool, const char *name, const itp_tensor *index, int64_t bound,
                         itp_error *err) {
  const int64_t *values = data<int64_t>(index);
  std::atomic<int64_t> first{INT64_MAX};
  pool.range(itp_numel(index), 1 << 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (static_cast<uint64_t>(values[i]) < static_cast<uint64_t>(bound)) continue;
      for (int64_t seen = first.load(); i < seen && !first.compare_exchange_weak(seen, i);) {
      }
      return;
    }
  });
  const int64_t position = first.load();
  if (position == INT64_MAX) return ITP_OK;
  return ITP_FAIL(err, OUT_OF_RANGE, name,
                  "index %" PRId64 " at position %" PRId64 " is outside [0, %" PRId64 ")", values[position],
                  position, bound);
}

// ---- embedding
// --------------------------------------------------------------------------------------------------

// For each row of the table that is named, the positions that name it, ascending: a small hash table from
// rows to chains of positions. Its size follows the number of positions, not that of rows.
class Chains {
 public:
  static uint64_t bytes(int64_t positions) {
    return static_cast<uint64_t>(2 * slots_for(positions) + 2 * positions) * sizeof(int64_t);
  }

  Chains(void *workspace, const int64_t *index, int64_t positions)
      : slots_(slots_for(positions)),
        row_(static_cast<int64_t *>(workspace)),
        head_(row_ + slots_),
        next_(head_ + slots_),
        used_(next_ + positions) {
    std::fill(row_, row_ + slots_, int64_t{-1});
    for (int64_t n = positions - 1; n >= 0; --n) {  // backwards, so that chains ascend
      int64_t slot =
          static_cast<int64_t>(static_cast<uint64_t>(index[n]) * 0x9E3779B97F4A7C15u >> 20) & (slots_ - 1);
      while (row_[slot] >= 0 && row_[slot] != index[n]) slot = (slot + 1) & (slots_ - 1);
      if (row_[slot] < 0) {
        row_[slot] = index[n];
        head_[slot] = -1;
        used_[count_++] = slot;
      }
      next_[n] = head_[slot];
      head_[slot] = n;
    }
  }

  int64_t rows() const { return count_; }
  int64_t row(int64_t i) const { return row_[used_[i]]; }
  int64_t first(int64_t i) const { return head_[used_[i]]; }
  int64_t after(int64_t position) const { return next_[position]; }

 private:
  static int64_t slots_for(int64_t positions) {
    int64_t slots = 16;
    while (slots < 2 * positions) slots *= 2;
    return slots;
  }

  int64_t slots_, *row_, *head_, *next_, *used_;
  int64_t count_ = 0;
};

// Row i of the chains into dweight: its gradients are summed in A and rounded once.
template <class T>
void add_gradients(const RowTable<T> &rows, const Chains &chains, int64_t i, const T *grad, T *dweight,
                   int64_t columns) {
  alignas(64) acc<T> total[kBlock];
  for (int64_t j = 0; j < columns; j += kBlock) {
    T *place = dweight + chains.row(i) * columns + j;
    const size_t n = static_cast<size_t>(std::min(kBlock, columns - j));
    std::fill(total, total + n, acc<T>(0));
    rows.add_to(place, total, n);
    for (int64_t p = chains.first(i); p >= 0; p = chains.after(p))
      rows.add_to(grad + p * columns + j, total, n);
    rows.add_bias(total, nullptr, place, n);
  }
}

itp_status embedding_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_EmbeddingBackward a;
  if (const itp_status status = itp_unpack_EmbeddingBackward(l, &a, err)) return status;
  *bytes = Chains::bytes(itp_numel(a.index));
  return ITP_OK;
}

// ---- gather and scatter
// -------------------------------------------------------------------------------------------

// How the elements of `index` stand in a tensor of its rank, one of whose coordinates (dim) the index gives.
struct Lines {
  const int64_t *index;
  int32_t ndim, dim;
  const int64_t *shape;           // index's
  int64_t strides[ITP_MAX_RANK];  // the other tensor's, in elements
  int64_t rows, columns;          // index's, over its last dimension

  Lines(const itp_tensor *i, const itp_tensor *other, int64_t d)
      : index(data<int64_t>(i)), ndim(i->ndim), dim(static_cast<int32_t>(d)), shape(i->shape) {
    for (int32_t k = 0; k < ndim; ++k) strides[k] = itp_size_between(other, k + 1, ndim);
    rows = itp_size_between(i, 0, ndim - 1);
    columns = shape[ndim - 1];
  }

  // f(position in index, place in the other tensor) for columns [begin, end) of a row of index.
  template <class F>
  void row(int64_t r, int64_t begin, int64_t end, const F &f) const {
    int64_t base = 0;
    for (int64_t d = ndim - 2, rest = r; d >= 0; rest /= shape[d--]) {
      if (d != dim) base += rest % shape[d] * strides[d];
    }
    const int64_t step = dim == ndim - 1 ? 0 : 1, scale = strides[dim];
    for (int64_t j = begin, i = r * columns + begin; j < end; ++j, ++i)
      f(i, base + index[i] * scale + j * step);
  }

  // Writers of one place share all coordinates but dim: split work so that they stay on one thread, in order.
  template <class F>
  void in_order(Pool &pool, const F &f) const {
    const int64_t first = dim != 0 && ndim > 1 ? shape[0] : 1, per_first = rows / std::max<int64_t>(first, 1);
    if (first > 1) {
      pool.range(first, 16384 / std::max<int64_t>(per_first * columns, 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = begin * per_first; r < end * per_first; ++r) row(r, 0, columns, f);
                 });
    } else if (dim != ndim - 1) {
      pool.range(columns, std::max<int64_t>(64, 16384 / std::max<int64_t>(rows, 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t r = 0; r < rows; ++r) row(r, begin, end, f);
                 });
    } else {
      for (int64_t r = 0; r < rows; ++r) row(r, 0, columns, f);
    }
  }
};

itp_status check_lines(const char *name, const itp_tensor *index, const itp_tensor *other, int64_t dim,
                       itp_error *err) {
  ITP_REQUIRE(name, index->ndim == other->ndim && index->ndim > 0 && index->ndim <= ITP_MAX_RANK,
              "index and the tensor that it points into have different ranks, or none");
  ITP_REQUIRE(name, dim >= 0 && dim < index->ndim, "dim is outside the rank");
  for (int32_t d = 0; d < index->ndim; ++d) {
    ITP_REQUIRE(name, d == dim || index->shape[d] <= other->shape[d],
                "index is larger than the tensor it points into");
  }
  return ITP_OK;
}

template <class F>
void with_item(int64_t size, const F &f) {
  switch (size) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    default:
      return f(uint64_t());
  }
}

bool is_half(const itp_tensor *t) { return item_size(t) == 2; }

// Half types are summed in float32.
itp_status gather_backward_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_GatherBackward a;
  if (const itp_status status = itp_unpack_GatherBackward(l, &a, err)) return status;
  *bytes = is_half(a.dx) ? static_cast<uint64_t>(itp_numel(a.dx)) * sizeof(float) : 0;
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL(EmbeddingForward) {
  ITP_REQUIRE("EmbeddingForward", a.weight->ndim == 2, "weight is not (V, C)");
  const int64_t n = itp_numel(a.index), bytes = a.weight->shape[1] * item_size(a.weight);
  if (const itp_status s = check_indices(cpu.pool, "EmbeddingForward", a.index, a.weight->shape[0], err))
    return s;
  const int64_t *index = data<int64_t>(a.index);
  cpu.pool.range(n, 65536 / std::max<int64_t>(bytes, 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      memcpy(itp_data(a.y) + i * bytes, itp_data(a.weight) + index[i] * bytes, static_cast<size_t>(bytes));
    }
  });
  return ITP_OK;
}

ITP_CPU_KERNEL_WITH(EmbeddingBackward, embedding_workspace) {
  uint64_t bytes = 0;
  if (const itp_status s = embedding_workspace(nullptr, l, &bytes, err)) return s;
  if (const itp_status s = check_workspace("EmbeddingBackward", l, bytes, err)) return s;
  ITP_REQUIRE("EmbeddingBackward", a.dweight->ndim == 2, "dweight is not (V, C)");
  const int64_t rows = a.dweight->shape[0], columns = a.dweight->shape[1], n = itp_numel(a.index);
  if (const itp_status s = check_indices(cpu.pool, "EmbeddingBackward", a.index, rows, err)) return s;
  if (a.accumulate == 0) {
    cpu.pool.range(rows * columns * item_size(a.dweight), 1 << 18, [&](int64_t begin, int64_t end) {
      memset(itp_data(a.dweight) + begin, 0, static_cast<size_t>(end - begin));
    });
  }
  if (n == 0 || columns == 0) return ITP_OK;
  const Chains chains(l->workspace, data<int64_t>(a.index), n);
  return with_float("EmbeddingBackward", a.dweight, err, [&](auto element) {
    using T = decltype(element);
    cpu.pool.range(chains.rows(), 16384 / columns + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        add_gradients<T>(cpu.simd.rows<T>(), chains, i, data<T>(a.grad), data<T>(a.dweight), columns);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(GatherForward) {
  if (const itp_status s = check_lines("GatherForward", a.index, a.x, a.dim, err)) return s;
  if (const itp_status s = check_indices(cpu.pool, "GatherForward", a.index, a.x->shape[a.dim], err))
    return s;
  if (itp_numel(a.index) == 0) return ITP_OK;
  const Lines lines(a.index, a.x, a.dim);
  with_item(item_size(a.x), [&](auto element) {
    using T = decltype(element);
    const T *x = data<T>(a.x);
    T *y = data<T>(a.y);
    for_rows(cpu.pool, {lines.rows, lines.columns}, 2, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        lines.row(r, 0, lines.columns, [=](int64_t i, int64_t place) { y[i] = x[place]; });
      }
    });
  });
  return ITP_OK;
}

ITP_CPU_KERNEL_WITH(GatherBackward, gather_backward_workspace) {
  if (const itp_status s = check_lines("GatherBackward", a.index, a.dx, a.dim, err)) return s;
  uint64_t bytes = 0;
  if (const itp_status s = gather_backward_workspace(nullptr, l, &bytes, err)) return s;
  if (const itp_status s = check_workspace("GatherBackward", l, bytes, err)) return s;
  if (const itp_status s = check_indices(cpu.pool, "GatherBackward", a.index, a.dx->shape[a.dim], err))
    return s;
  const int64_t n = itp_numel(a.dx);
  if (n == 0) return ITP_OK;
  return with_float("GatherBackward", a.dx, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const RowTable<T> &rows = cpu.simd.rows<T>();
    constexpr bool half = sizeof(T) < sizeof(A);
    T *dx = data<T>(a.dx);
    A *total = half ? static_cast<A *>(l->workspace) : reinterpret_cast<A *>(dx);
    if (half || a.accumulate == 0) memset(total, 0, static_cast<size_t>(n) * sizeof(A));
    if (half && a.accumulate != 0) rows.add_to(dx, total, static_cast<size_t>(n));
    if (itp_numel(a.index) > 0) {
      const T *grad = data<T>(a.grad);
      Lines(a.index, a.dx, a.dim).in_order(cpu.pool, [=, &rows](int64_t i, int64_t place) {
        total[place] += static_cast<A>(rows.sum(grad + i, 1));
      });
    }
    if (half) rows.add_bias(total, nullptr, dx, static_cast<size_t>(n));
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(ScatterForward) {
  if (const itp_status s = check_lines("ScatterForward", a.index, a.y, a.dim, err)) return s;
  if (const itp_status s = check_indices(cpu.pool, "ScatterForward", a.index, a.y->shape[a.dim], err))
    return s;
  if (itp_numel(a.index) == 0) return ITP_OK;
  with_item(item_size(a.y), [&](auto element) {
    using T = decltype(element);
    const T *values = data<T>(a.values);
    T *y = data<T>(a.y);
    Lines(a.index, a.y, a.dim).in_order(cpu.pool, [=](int64_t i, int64_t place) { y[place] = values[i]; });
  });
  return ITP_OK;
}

}  // namespace itp
