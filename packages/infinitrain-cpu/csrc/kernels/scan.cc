// Running totals along one dimension: floats in double, integers modulo 2^64.
#include <algorithm>

#include "kernels/kernel.h"

namespace itp {
namespace {

constexpr int64_t kColumns = 128;  // neighbouring lines that go side by side

// A tensor as (outer, length, inner) around one dimension.
struct Axis {
  int64_t outer, length, inner;

  Axis(const itp_tensor *x, int64_t dim)
      : outer(itp_size_between(x, 0, static_cast<int32_t>(dim))),
        length(x->shape[dim]),
        inner(itp_size_between(x, static_cast<int32_t>(dim) + 1, x->ndim)) {}

  // f(first element, number of neighbouring lines) for every bundle of lines.
  template <class F>
  void bundles(Pool &pool, const F &f) const {
    const int64_t wide = std::min(kColumns, std::max<int64_t>(inner, 1)),
                  per_outer = (inner + wide - 1) / wide;
    pool.range(outer * per_outer, 16384 / std::max<int64_t>(length * wide, 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t b = begin; b < end; ++b) {
                   const int64_t column = b % per_outer * wide;
                   f(b / per_outer * length * inner + column, std::min(wide, inner - column));
                 }
               });
  }
};

double number(double x) { return x; }
double number(float x) { return static_cast<double>(x); }
double number(bf16 x) { return static_cast<double>(itp_bf16_to_f32(x.bits)); }
double number(f16 x) { return static_cast<double>(itp_f16_to_f32(x.bits)); }
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
uint64_t number(T x) {
  return static_cast<uint64_t>(x);
}

// One rounding to T, but for the half types, which go by way of float32.
template <class T>
void put(const RowTable<T> &rows, T *to, double x) {
  const acc<T> one = static_cast<acc<T>>(x);
  rows.add_bias(&one, nullptr, to, 1);
}
void put(const RowTable<float> &, float *to, double x) { *to = static_cast<float>(x); }
void put(const RowTable<double> &, double *to, double x) { *to = x; }

template <class T, bool kProduct, class Put>
void scan_lines(Pool &pool, const Axis &axis, const T *x, T *y, bool reverse, const Put &store) {
  using Total = decltype(number(T()));
  axis.bundles(pool, [&](int64_t first, int64_t n) {
    Total total[kColumns];
    std::fill(total, total + n, kProduct ? Total(1) : Total(0));
    for (int64_t k = 0; k < axis.length; ++k) {
      const int64_t place = first + (reverse ? axis.length - 1 - k : k) * axis.inner;
      for (int64_t j = 0; j < n; ++j) {
        const Total v = number(x[place + j]);
        total[j] = kProduct ? total[j] * v : total[j] + v;
        store(y + place + j, total[j]);
      }
    }
  });
}

template <bool kProduct>
itp_status scan(Provider &cpu, const char *name, const itp_tensor *x, const itp_tensor *y, int64_t dim,
                bool reverse, itp_error *err) {
  ITP_REQUIRE(name, itp_same_shape(x, y), "x and y have different shapes");
  ITP_REQUIRE(name, dim >= 0 && dim < x->ndim, "dim is outside the rank");
  if (itp_numel(x) == 0) return ITP_OK;
  const Axis axis(x, dim);
  const auto whole = [&](auto element) {
    using T = decltype(element);
    scan_lines<T, kProduct>(cpu.pool, axis, data<T>(x), data<T>(y), reverse,
                            [](T *to, uint64_t total) { *to = static_cast<T>(total); });
    return ITP_OK;
  };
  switch (itp_element_size(x) * (dtype_of(x) < ITP_DT_BF16)) {
    case 1:  // sums and products modulo 2^n do not know signs
      return whole(uint8_t());
    case 2:
      return whole(uint16_t());
    case 4:
      return whole(uint32_t());
    case 8:
      return whole(uint64_t());
    default:
      return with_float(name, x, err, [&](auto element) {
        using T = decltype(element);
        const RowTable<T> &rows = cpu.simd.rows<T>();
        scan_lines<T, kProduct>(cpu.pool, axis, data<T>(x), data<T>(y), reverse,
                                [&rows](T *to, double total) { put(rows, to, total); });
        return ITP_OK;
      });
  }
}

itp_status cumprod_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_CumProdBackward a;
  if (const itp_status status = itp_unpack_CumProdBackward(l, &a, err)) return status;
  *bytes = static_cast<uint64_t>(itp_numel(a.x)) * sizeof(double);
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL(CumSumForward) {
  return scan<false>(cpu, "CumSumForward", a.x, a.y, a.dim, a.reverse != 0, err);
}

ITP_CPU_KERNEL(CumProdForward) { return scan<true>(cpu, "CumProdForward", a.x, a.y, a.dim, false, err); }

// Forwards the products of what stands before, kept in the workspace; backwards the sums of what comes
// behind.
ITP_CPU_KERNEL_WITH(CumProdBackward, cumprod_workspace) {
  ITP_REQUIRE("CumProdBackward", itp_same_shape(a.x, a.dx) && itp_same_shape(a.x, a.grad),
              "x, grad and dx have different shapes");
  ITP_REQUIRE("CumProdBackward", a.dim >= 0 && a.dim < a.x->ndim, "dim is outside the rank");
  const int64_t numel = itp_numel(a.x);
  if (numel == 0) return ITP_OK;
  if (const itp_status s =
          check_workspace("CumProdBackward", l, static_cast<uint64_t>(numel) * sizeof(double), err))
    return s;
  const Axis axis(a.x, a.dim);
  double *before = static_cast<double *>(l->workspace);
  return with_float("CumProdBackward", a.x, err, [&](auto element) {
    using T = decltype(element);
    const RowTable<T> &rows = cpu.simd.rows<T>();
    const T *x = data<T>(a.x), *grad = data<T>(a.grad);
    T *dx = data<T>(a.dx);
    axis.bundles(cpu.pool, [&](int64_t first, int64_t n) {
      double total[kColumns];
      std::fill(total, total + n, 1.0);
      for (int64_t k = 0; k < axis.length; ++k) {
        const int64_t place = first + k * axis.inner;
        for (int64_t j = place; j < place + n; ++j) {
          before[j] = total[j - place];
          total[j - place] *= number(x[j]);
        }
      }
      for (int64_t k = axis.length - 1; k >= 0; --k) {
        const int64_t place = first + k * axis.inner;
        for (int64_t j = place; j < place + n; ++j) {
          double &behind = total[j - place];
          behind = number(grad[j]) + (k + 1 < axis.length ? number(x[j + axis.inner]) * behind : 0.0);
          put(rows, dx + j, before[j] * behind);
        }
      }
    });
    return ITP_OK;
  });
}

}  // namespace itp
