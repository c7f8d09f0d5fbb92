#include "gemm.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>

#include "infinitrain/error.h"

namespace itp {
namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

// OpenBLAS starts one thread for each processor that it may use when it is loaded. It gets none of its own
// here: for the moment of loading, the calling thread may use one processor only.
void *open_with_one_thread(const char *file) {
  cpu_set_t before, one;
  const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
  if (known) {
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (known) sched_setaffinity(0, sizeof before, &before);
  return library;
}

template <class F>
bool find(void *library, const char *symbol, F *out) {
  *out = reinterpret_cast<F>(dlsym(library, symbol));
  return *out != nullptr;
}

}  // namespace

itp_status Gemm::open(Gemm *out, itp_error *err) {
  // Found by this library's run path: beside this package in site-packages, or where the build found it.
  void *library = open_with_one_thread("libscipy_openblas64_.so");
  if (library == nullptr) {
    return ITP_FAIL(err, UNAVAILABLE, "init", "OpenBLAS cannot be loaded: %s. Install scipy-openblas64",
                    dlerror());
  }
  void (*set_threads)(int) = nullptr;
  if (!find(library, "scipy_cblas_sgemm64_", &out->sgemm_) ||
      !find(library, "scipy_cblas_dgemm64_", &out->dgemm_) ||
      !find(library, "scipy_openblas_get_config64_", &out->config_) ||
      !find(library, "scipy_openblas_set_num_threads64_", &set_threads)) {
    return ITP_FAIL(err, UNAVAILABLE, "init",
                    "OpenBLAS lacks a function: %s. Install scipy-openblas64 >= 0.3.27", dlerror());
  }
  set_threads(1);  // where somebody else loaded it before
  return ITP_OK;
}

void Gemm::multiply(int64_t m, int64_t n, int64_t k, Matrix<const float> a, Matrix<const float> b,
                    bool accumulate, float *c, int64_t ldc, float alpha, float beta) const {
  sgemm_(kRowMajor, a.transposed ? kTrans : kNoTrans, b.transposed ? kTrans : kNoTrans, m, n, k, alpha,
         a.data, a.ld, b.data, b.ld, accumulate ? beta : 0, c, ldc);
}

void Gemm::multiply(int64_t m, int64_t n, int64_t k, Matrix<const double> a, Matrix<const double> b,
                    bool accumulate, double *c, int64_t ldc, double alpha, double beta) const {
  dgemm_(kRowMajor, a.transposed ? kTrans : kNoTrans, b.transposed ? kTrans : kNoTrans, m, n, k, alpha,
         a.data, a.ld, b.data, b.ld, accumulate ? beta : 0, c, ldc);
}

Grid gemm_grid(int64_t m, int64_t n, int64_t k, int threads) {
  constexpr int64_t kUnit = 16;
  constexpr double kWorthAThread = 1e6;  // multiplications
  constexpr int64_t kLong = 4096;        // pieces this long lose nothing when cut again, and balance better
  const double work =
      static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<int64_t>(k, 1));
  int64_t pieces = std::min<int64_t>(threads, static_cast<int64_t>(work / kWorthAThread));
  if (pieces <= 1) return {1, 1, m, n};
  if (std::max(m, n) / pieces >= kLong) pieces *= std::min<int64_t>(4, std::max(m, n) / pieces / (kLong / 2));
  int64_t rows = 1;
  double best = 0;
  for (int64_t r = 1; r <= pieces;
       ++r) {  // each piece packs its part of a and of b: the shorter its edge the better
    if (pieces % r != 0) continue;
    const double edge = static_cast<double>(m) / static_cast<double>(r) +
                        static_cast<double>(n) / static_cast<double>(pieces / r);
    if (best == 0 || edge < best) {
      best = edge;
      rows = r;
    }
  }
  const auto tile = [](int64_t size, int64_t parts) {
    return ((size + parts - 1) / parts + kUnit - 1) / kUnit * kUnit;
  };
  Grid grid;
  grid.tile_rows = std::min(m, tile(m, rows));
  grid.tile_columns = std::min(n, tile(n, pieces / rows));
  grid.rows = (m + grid.tile_rows - 1) / grid.tile_rows;
  grid.columns = (n + grid.tile_columns - 1) / grid.tile_columns;
  return grid;
}

}  // namespace itp
