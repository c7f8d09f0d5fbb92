// Triangles of matrices.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

// y = x in columns [keep_begin, keep_end) of each row, else 0; the two are functions of the row within its
// matrix.
template <class F>
itp_status keep_columns(Provider &cpu, const char *name, const itp_tensor *x, const itp_tensor *y,
                        itp_error *err, const F &kept) {
  ITP_REQUIRE(name, x->ndim >= 2, "x needs rows and columns, two dimensions at least");
  const RowShape shape = rows_of(x);
  const int64_t size = item_size(x), height = x->shape[x->ndim - 2];
  for_rows(cpu.pool, shape, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const char *from = itp_data(x) + row * shape.columns * size;
      char *to = itp_data(y) + row * shape.columns * size;
      const auto [first, last] = kept(row % height, shape.columns);
      memset(to, 0, static_cast<size_t>(first * size));
      if (from != to)
        memcpy(to + first * size, from + first * size, static_cast<size_t>((last - first) * size));
      memset(to + last * size, 0, static_cast<size_t>((shape.columns - last) * size));
    }
  });
  return ITP_OK;
}

struct Range {
  int64_t first, last;
};

// row + diagonal + extra within [0, columns], without overflow for any diagonal.
int64_t edge(int64_t row, int64_t diagonal, int64_t extra, int64_t columns) {
  const int64_t limit = std::clamp<int64_t>(diagonal, -(INT64_C(1) << 62), INT64_C(1) << 62);
  return std::clamp<int64_t>(row + limit + extra, 0, columns);
}

}  // namespace

ITP_CPU_KERNEL(TrilForward) {
  return keep_columns(cpu, "TrilForward", a.x, a.y, err, [&](int64_t row, int64_t columns) {
    return Range{0, edge(row, a.diagonal, 1, columns)};
  });
}

ITP_CPU_KERNEL(TriuForward) {
  return keep_columns(cpu, "TriuForward", a.x, a.y, err, [&](int64_t row, int64_t columns) {
    return Range{edge(row, a.diagonal, 0, columns), columns};
  });
}

}  // namespace itp
