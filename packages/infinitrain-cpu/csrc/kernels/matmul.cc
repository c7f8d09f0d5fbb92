// Matrix products. Pieces of all results of a launch go to the pool's threads; each piece is one call of the
// library (float, double), or is multiplied by blocks converted to float32 (half types) and rounded once.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

// Half types: a piece of the result and the blocks it is made from, per thread.
constexpr int64_t kHalfRows = 256, kHalfColumns = 512, kHalfDepth = 512;
constexpr int64_t kHalfFloats = kHalfRows * kHalfDepth + kHalfDepth * kHalfColumns + kHalfRows * kHalfColumns;

bool is_half(const itp_tensor *t) { return item_size(t) == 2; }

uint64_t half_workspace(Pool &pool, const itp_tensor *y) {
  return is_half(y) ? static_cast<uint64_t>(pool.size()) * kHalfFloats * sizeof(float) : 0;
}

// y (batch, m, n) = alpha a (batch, m, k) b (batch, k, n) + (accumulate ? beta y : bias).
template <class T>
struct Product {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Matrix<const T> a = {}, b = {};
  T *y = nullptr;  // row-major, compact
  const T *bias = nullptr;
  bool accumulate = false;
  acc<T> alpha = 1, beta = 1;
  // Where the matrices of batch element i begin, in elements; NULL: there is one.
  void (*place)(const void *context, int64_t i, int64_t *a, int64_t *b) = nullptr;
  const void *context = nullptr;
};

template <class T>
void multiply_piece(const Provider &cpu, const Product<T> &p, Matrix<const T> a, Matrix<const T> b, T *c,
                    const T *bias, int64_t m, int64_t n, float *) {
  cpu.gemm.multiply(m, n, p.k, a, b, p.accumulate, c, p.n, p.alpha, p.beta);
  if (bias == nullptr) return;
  for (int64_t i = 0; i < m; ++i) {
    cpu.simd.rows<T>().add_bias(c + i * p.n, bias, c + i * p.n, static_cast<size_t>(n));
  }
}

// A block of `rows` x `columns` elements of a half matrix as float, in the matrix's own order: row length is
// the shorter of what memory has.
template <class T>
Matrix<const float> widen(Convert convert, Matrix<const T> x, int64_t rows, int64_t columns, float *room) {
  const int64_t lines = x.transposed ? columns : rows, length = x.transposed ? rows : columns;
  for (int64_t i = 0; i < lines; ++i) {
    convert(x.data + i * x.ld, room + i * length, static_cast<size_t>(length));
  }
  return {room, length, x.transposed};
}

template <class T>
void multiply_half(const Provider &cpu, Convert convert, const Product<T> &p, Matrix<const T> a,
                   Matrix<const T> b, T *c, const T *bias, int64_t m, int64_t n, float *room) {
  float *room_a = room, *room_b = room_a + kHalfRows * kHalfDepth,
        *room_c = room_b + kHalfDepth * kHalfColumns;
  if (p.accumulate) widen(convert, Matrix<const T>{c, p.n, false}, m, n, room_c);
  for (int64_t k = 0; k < p.k; k += kHalfDepth) {
    const int64_t depth = std::min(kHalfDepth, p.k - k);
    const auto left = widen(convert, a.block(0, k), m, depth, room_a);
    const auto right = widen(convert, b.block(k, 0), depth, n, room_b);
    cpu.gemm.multiply(m, n, depth, left, right, p.accumulate || k > 0, room_c, n, p.alpha,
                      k > 0 ? 1 : p.beta);
  }
  for (int64_t i = 0; i < m; ++i) {
    cpu.simd.rows<T>().add_bias(room_c + i * n, bias, c + i * p.n, static_cast<size_t>(n));
  }
}
void multiply_piece(const Provider &cpu, const Product<bf16> &p, Matrix<const bf16> a, Matrix<const bf16> b,
                    bf16 *c, const bf16 *bias, int64_t m, int64_t n, float *room) {
  multiply_half(cpu, cpu.simd.bf16_to_f32, p, a, b, c, bias, m, n, room);
}
void multiply_piece(const Provider &cpu, const Product<f16> &p, Matrix<const f16> a, Matrix<const f16> b,
                    f16 *c, const f16 *bias, int64_t m, int64_t n, float *room) {
  multiply_half(cpu, cpu.simd.f16_to_f32, p, a, b, c, bias, m, n, room);
}

template <class T>
void fill_without_depth(const Product<T> &p) {
  if (p.accumulate) {
    for (int64_t i = 0; p.beta != 1 && i < p.batch * p.m * p.n; ++i)
      store_one(p.beta * load_one(p.y[i]), p.y + i);
    return;
  }
  for (int64_t i = 0; i < p.batch * p.m; ++i) {
    T *row = p.y + i * p.n;
    const size_t bytes = static_cast<size_t>(p.n) * sizeof(T);
    if (p.bias != nullptr) {
      memcpy(static_cast<void *>(row), p.bias, bytes);
    } else {
      memset(static_cast<void *>(row), 0, bytes);
    }
  }
}

template <class T>
itp_status multiply(Provider &cpu, const char *name, const itp_launch *l, const Product<T> &p,
                    itp_error *err) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) return ITP_OK;
  if (p.k == 0) {
    fill_without_depth(p);
    return ITP_OK;
  }
  constexpr bool half = sizeof(T) == 2;
  if (half) {
    const uint64_t bytes = static_cast<uint64_t>(cpu.pool.size()) * kHalfFloats * sizeof(float);
    if (const itp_status status = check_workspace(name, l, bytes, err)) return status;
  }
  // Enough pieces for all threads; a batch has them already.
  const int threads = p.batch >= 2 * cpu.pool.size() ? 1 : cpu.pool.size();
  Grid grid = gemm_grid(p.m, p.n, p.k, threads);
  if (half) {
    grid.tile_rows = std::min(grid.tile_rows, kHalfRows);
    grid.tile_columns = std::min(grid.tile_columns, kHalfColumns);
    grid.rows = (p.m + grid.tile_rows - 1) / grid.tile_rows;
    grid.columns = (p.n + grid.tile_columns - 1) / grid.tile_columns;
  }
  const int64_t pieces = grid.rows * grid.columns;
  const auto piece = [&](int64_t index, int worker) {
    const int64_t element = index / pieces, tile = index % pieces;
    const int64_t i = tile / grid.columns * grid.tile_rows, j = tile % grid.columns * grid.tile_columns;
    int64_t offset_a = 0, offset_b = 0;
    if (p.place != nullptr) p.place(p.context, element, &offset_a, &offset_b);
    Matrix<const T> a = p.a.block(i, 0), b = p.b.block(0, j);
    a.data += offset_a;
    b.data += offset_b;
    multiply_piece(cpu, p, a, b, p.y + (element * p.m + i) * p.n + j,
                   p.bias != nullptr ? p.bias + j : nullptr, std::min(grid.tile_rows, p.m - i),
                   std::min(grid.tile_columns, p.n - j),
                   half ? static_cast<float *>(l->workspace) + worker * kHalfFloats : nullptr);
  };
  // Small products go to a thread by the handful.
  const double work =
      static_cast<double>(grid.tile_rows) * static_cast<double>(grid.tile_columns) * static_cast<double>(p.k);
  const int64_t total = p.batch * pieces, handful = static_cast<int64_t>(1e6 / work) + 1;
  const int64_t tasks =
      std::min((total + handful - 1) / handful, std::max<int64_t>(pieces, 8 * cpu.pool.size()));
  cpu.pool.worker_tasks(tasks, [&](int64_t task, int worker) {
    for (int64_t index = total * task / tasks; index < total * (task + 1) / tasks; ++index)
      piece(index, worker);
  });
  return ITP_OK;
}

// ---- MatmulForward
// ------------------------------------------------------------------------------------------------

// The last two dimensions of a tensor as a matrix: one of them has stride 1.
template <class T>
bool as_matrix(const itp_tensor *t, Matrix<const T> *out) {
  const int64_t rows = t->shape[t->ndim - 2], columns = t->shape[t->ndim - 1];
  const int64_t row = itp_stride(t, t->ndim - 2), column = itp_stride(t, t->ndim - 1);
  if ((column == 1 || columns <= 1) && (row >= columns || rows <= 1)) {
    *out = {data<T>(t), std::max<int64_t>({rows <= 1 ? 1 : row, columns, 1}), false};
    return true;
  }
  if ((row == 1 || rows <= 1) && (column >= rows || columns <= 1)) {
    *out = {data<T>(t), std::max<int64_t>({columns <= 1 ? 1 : column, rows, 1}), true};
    return true;
  }
  return false;
}

// Leading dimensions of a, b and y: equal sizes, any strides.
struct Batch {
  const itp_tensor *a, *b;

  static void place(const void *context, int64_t index, int64_t *offset_a, int64_t *offset_b) {
    const Batch &batch = *static_cast<const Batch *>(context);
    for (int32_t d = batch.a->ndim - 3; d >= 0; index /= batch.a->shape[d--]) {
      *offset_a += index % batch.a->shape[d] * itp_stride(batch.a, d);
      *offset_b += index % batch.a->shape[d] * itp_stride(batch.b, d);
    }
  }

  // One b for all, and the matrices of a stand one below the other: a single tall product.
  bool is_tall() const {
    int64_t below = itp_stride(a, a->ndim - 2) * a->shape[a->ndim - 2];
    for (int32_t d = a->ndim - 3; d >= 0; below *= a->shape[d--]) {
      if (a->shape[d] != 1 && (itp_stride(b, d) != 0 || itp_stride(a, d) != below)) return false;
    }
    return true;
  }
};

itp_status check_matmul(const char *name, const itp_tensor *a, const itp_tensor *b, const itp_tensor *y,
                        bool turn_a, bool turn_b, itp_error *err) {
  const int32_t rank = y->ndim;
  ITP_REQUIRE(name, rank >= 2 && a->ndim == rank && b->ndim == rank, "ranks differ or are below 2");
  ITP_REQUIRE(name, a->shape[rank - (turn_a ? 2 : 1)] == b->shape[rank - (turn_b ? 1 : 2)],
              "inner sizes differ");
  ITP_REQUIRE(name,
              a->shape[rank - (turn_a ? 1 : 2)] == y->shape[rank - 2] &&
                  b->shape[rank - (turn_b ? 2 : 1)] == y->shape[rank - 1],
              "y is not (M, N)");
  for (int32_t d = 0; d < rank - 2; ++d) {
    ITP_REQUIRE(name, a->shape[d] == y->shape[d] && b->shape[d] == y->shape[d],
                "leading sizes differ from y's");
  }
  return ITP_OK;
}

itp_status matmul_workspace(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  if (l->n_outputs < 1 || l->outputs[0] == nullptr) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "workspace", "the output is missing");
  }
  *bytes = half_workspace(Provider::of(self).pool, l->outputs[0]);
  return ITP_OK;
}

// ---- linear layers
// ------------------------------------------------------------------------------------------------

struct LinearSizes {
  int64_t rows, in, out;
};

itp_status linear_sizes(const char *name, const itp_tensor *x, const itp_tensor *weight,
                        const itp_tensor *grad, LinearSizes *out, itp_error *err) {
  ITP_REQUIRE(name, x->ndim == 2 && weight->ndim == 2 && grad->ndim == 2, "expected matrices");
  *out = {x->shape[0], x->shape[1], weight->shape[0]};
  ITP_REQUIRE(name, weight->shape[1] == out->in && grad->shape[0] == out->rows && grad->shape[1] == out->out,
              "expected (R, I), (O, I) and (R, O)");
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL_WITH(MatmulForward, matmul_workspace) {
  if (const itp_status status = check_matmul("MatmulForward", a.a, a.b, a.y, false, false, err))
    return status;
  return with_float("MatmulForward", a.y, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    const int32_t rank = a.y->ndim;
    const Batch batch = {a.a, a.b};
    Product<T> p;
    ITP_REQUIRE("MatmulForward", as_matrix(a.a, &p.a) && as_matrix(a.b, &p.b),
                "of the last two dimensions one must have stride 1");
    p.batch = itp_size_between(a.y, 0, rank - 2);
    p.m = a.y->shape[rank - 2];
    p.n = a.y->shape[rank - 1];
    p.k = a.a->shape[rank - 1];
    p.y = data<T>(a.y);
    p.accumulate = a.accumulate != 0;
    if (p.batch > 1 && p.m > 1 && !p.a.transposed && batch.is_tall()) {
      p.m *= p.batch;
      p.batch = 1;
    } else if (p.batch > 1) {
      p.place = Batch::place;
      p.context = &batch;
    }
    return multiply<T>(cpu, "MatmulForward", l, p, err);
  });
}

ITP_CPU_KERNEL_WITH(Gemm, matmul_workspace) {
  if (const itp_status status = check_matmul("Gemm", a.a, a.b, a.y, a.transpose_a, a.transpose_b, err))
    return status;
  return with_float("Gemm", a.y, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    const int32_t rank = a.y->ndim;
    const Batch batch = {a.a, a.b};
    Product<T> p;
    p.batch = itp_size_between(a.y, 0, rank - 2);
    p.m = a.y->shape[rank - 2];
    p.n = a.y->shape[rank - 1];
    p.k = a.a->shape[rank - (a.transpose_a ? 2 : 1)];
    p.a = {data<T>(a.a), std::max<int64_t>(a.a->shape[rank - 1], 1), a.transpose_a != 0};
    p.b = {data<T>(a.b), std::max<int64_t>(a.b->shape[rank - 1], 1), a.transpose_b != 0};
    p.y = data<T>(a.y);
    p.alpha = static_cast<acc<T>>(a.alpha);
    p.beta = static_cast<acc<T>>(a.beta);
    p.accumulate = a.beta != 0;
    if (p.batch > 1) {
      p.place = Batch::place;
      p.context = &batch;
    }
    return multiply<T>(cpu, "Gemm", l, p, err);
  });
}

ITP_CPU_KERNEL(OuterForward) {
  const int64_t n = itp_numel(a.b);
  ITP_REQUIRE("OuterForward", itp_numel(a.y) == itp_numel(a.a) * n, "y is not (M, N)");
  return with_float("OuterForward", a.y, err, [&](auto element) {
    using T = decltype(element);
    for_rows(cpu.pool, {itp_numel(a.a), n}, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const acc<T> left = load_one(data<T>(a.a)[row]);
        T *y = data<T>(a.y) + row * n;
        for (int64_t j = 0; j < n; ++j) store_one(left * load_one(data<T>(a.b)[j]), y + j);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL_WITH(OuterBackward, matmul_workspace) {
  const int64_t m = itp_numel(a.a), n = itp_numel(a.b);
  ITP_REQUIRE("OuterBackward", itp_numel(a.grad) == m * n && itp_numel(a.da) == m && itp_numel(a.db) == n,
              "grad is not (M, N), or a gradient has not its operand's size");
  return with_float("OuterBackward", a.da, err, [&](auto element) -> itp_status {
    using T = decltype(element);
    Product<T> p;
    p.m = m, p.n = 1, p.k = n;
    p.a = {data<T>(a.grad), std::max<int64_t>(n, 1), false};
    p.b = {data<T>(a.b), 1, false};
    p.y = data<T>(a.da);
    if (const itp_status status = multiply<T>(cpu, "OuterBackward", l, p, err)) return status;
    p.m = n, p.k = m;
    p.a.transposed = true;
    p.b = {data<T>(a.a), 1, false};
    p.y = data<T>(a.db);
    return multiply<T>(cpu, "OuterBackward", l, p, err);
  });
}

ITP_CPU_KERNEL_WITH(LinearForward, matmul_workspace) {
  LinearSizes size;
  if (const itp_status status = linear_sizes("LinearForward", a.x, a.weight, a.y, &size, err)) return status;
  return with_float("LinearForward", a.y, err, [&](auto element) {
    using T = decltype(element);
    Product<T> p;
    p.m = size.rows, p.n = size.out, p.k = size.in;
    p.a = {data<T>(a.x), size.in, false};
    p.b = {data<T>(a.weight), size.in, true};
    p.y = data<T>(a.y);
    p.bias = data<T>(a.bias);
    return multiply<T>(cpu, "LinearForward", l, p, err);
  });
}

ITP_CPU_KERNEL_WITH(LinearBackwardInput, matmul_workspace) {
  LinearSizes size;
  if (const itp_status status = linear_sizes("LinearBackwardInput", a.dx, a.weight, a.grad, &size, err))
    return status;
  return with_float("LinearBackwardInput", a.dx, err, [&](auto element) {
    using T = decltype(element);
    Product<T> p;
    p.m = size.rows, p.n = size.in, p.k = size.out;
    p.a = {data<T>(a.grad), size.out, false};
    p.b = {data<T>(a.weight), size.in, false};
    p.y = data<T>(a.dx);
    p.accumulate = a.accumulate != 0;
    return multiply<T>(cpu, "LinearBackwardInput", l, p, err);
  });
}

ITP_CPU_KERNEL_WITH(LinearBackwardWeight, matmul_workspace) {
  LinearSizes size;
  if (const itp_status status = linear_sizes("LinearBackwardWeight", a.x, a.dweight, a.grad, &size, err))
    return status;
  return with_float("LinearBackwardWeight", a.dweight, err, [&](auto element) {
    using T = decltype(element);
    Product<T> p;
    p.m = size.out, p.n = size.in, p.k = size.rows;
    p.a = {data<T>(a.grad), size.out, true};
    p.b = {data<T>(a.x), size.in, false};
    p.y = data<T>(a.dweight);
    p.accumulate = a.accumulate != 0;
    return multiply<T>(cpu, "LinearBackwardWeight", l, p, err);
  });
}

}  // namespace itp
