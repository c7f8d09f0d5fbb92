// Matrix products from OpenBLAS, one thread a call: the split over threads is ours, so that there is one pool
// and any number of calling threads. The split follows the shape and the number of threads alone. A product's
// last bits depend on it (the library's inner loops differ at the edges of a piece), so they are fixed for a
// number of threads.
#pragma once

#include <cstdint>

#include "infinitrain/provider.h"

namespace itp {

// A matrix in memory: element (i, j) at data[i * ld + j], or at data[j * ld + i] where transposed.
template <class T>
struct Matrix {
  T *data;
  int64_t ld;
  bool transposed;

  T *at(int64_t i, int64_t j) const { return data + (transposed ? j * ld + i : i * ld + j); }
  Matrix block(int64_t i, int64_t j) const { return {at(i, j), ld, transposed}; }
};

class Gemm {
 public:
  // Open the library. UNAVAILABLE, with what was tried, where it cannot be.
  static itp_status open(Gemm *out, itp_error *err);

  // c (m, n), row-major with row length ldc, = alpha a (m, k) b (k, n) + (accumulate ? beta c : 0), on the
  // calling thread.
  void multiply(int64_t m, int64_t n, int64_t k, Matrix<const float> a, Matrix<const float> b,
                bool accumulate, float *c, int64_t ldc, float alpha = 1, float beta = 1) const;
  void multiply(int64_t m, int64_t n, int64_t k, Matrix<const double> a, Matrix<const double> b,
                bool accumulate, double *c, int64_t ldc, double alpha = 1, double beta = 1) const;

  const char *config() const { return config_(); }

 private:
  template <class T>
  using Function = void (*)(int order, int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, T alpha,
                            const T *a, int64_t lda, const T *b, int64_t ldb, T beta, T *c, int64_t ldc);
  Function<float> sgemm_ = nullptr;
  Function<double> dgemm_ = nullptr;
  const char *(*config_)() = nullptr;
};

// Pieces of an (m, n) result for `threads` threads: a grid whose pieces are as square as the count allows,
// cut at multiples of 16.
struct Grid {
  int64_t rows, columns;            // pieces
  int64_t tile_rows, tile_columns;  // elements of a piece
};
Grid gemm_grid(int64_t m, int64_t n, int64_t k, int threads);

}  // namespace itp
