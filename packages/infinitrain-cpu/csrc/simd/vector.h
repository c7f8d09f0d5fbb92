// Vectors of the instruction set that this file is compiled for, on the compiler's vector extension: + - * /
// and comparisons are operators, a mask selects with ?:. Everything is inside ITP_ISA, a namespace per
// instruction set, and nothing of the standard library's inline functions is used: a linker may keep one copy
// of those, and it could be the copy for a processor that is not there.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "simd/table.h"

namespace itp {
namespace ITP_ISA {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

typedef float f32v __attribute__((vector_size(kBytes)));
typedef double f64v __attribute__((vector_size(kBytes)));
typedef int32_t i32v __attribute__((vector_size(kBytes)));
typedef uint32_t u32v __attribute__((vector_size(kBytes)));
typedef int64_t i64v __attribute__((vector_size(kBytes)));
typedef uint16_t u16v __attribute__((vector_size(kBytes / 2)));

// The vector that a stored type computes in.
template <class S>
struct VectorOf {
  using type = f32v;
};
template <>
struct VectorOf<double> {
  using type = f64v;
};
template <class S>
using vec = typename VectorOf<S>::type;
template <class V>
struct Lane;
template <>
struct Lane<f32v> {
  using type = float;
};
template <>
struct Lane<f64v> {
  using type = double;
};
template <class V>
using lane = typename Lane<V>::type;
template <class V>
constexpr int kLanes = kBytes / static_cast<int>(sizeof(lane<V>));

#define ITP_INLINE inline __attribute__((always_inline))

template <class V>
ITP_INLINE V all(lane<V> x) {
  V v = {};
  return v + x;
}

// a * b + c, in one rounding where the instruction set can.
ITP_INLINE f32v fma(f32v a, f32v b, f32v c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}
ITP_INLINE f64v fma(f64v a, f64v b, f64v c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#else
  return a * b + c;
#endif
}

ITP_INLINE f32v sqrt(f32v x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_ps(x);
#elif defined(__AVX2__)
  return _mm256_sqrt_ps(x);
#else
  for (int i = 0; i < kLanes<f32v>; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
ITP_INLINE f64v sqrt(f64v x) {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(x);
#elif defined(__AVX2__)
  return _mm256_sqrt_pd(x);
#else
  for (int i = 0; i < kLanes<f64v>; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

// The larger; NaN if either is.
template <class V>
ITP_INLINE V maximum(V a, V b) {
  const V m = a > b ? a : b;
  return a != a ? a : m;
}
template <class V>
ITP_INLINE V minimum(V a, V b) {
  const V m = a < b ? a : b;
  return a != a ? a : m;
}

ITP_INLINE f32v magnitude(f32v x) { return (f32v)((i32v)x & 0x7FFFFFFF); }
ITP_INLINE f64v magnitude(f64v x) { return (f64v)((i64v)x & INT64_C(0x7FFFFFFFFFFFFFFF)); }
ITP_INLINE f32v with_sign(f32v x, f32v s) { return (f32v)((i32v)x | ((i32v)s & (int32_t)0x80000000)); }
ITP_INLINE f64v with_sign(f64v x, f64v s) { return (f64v)((i64v)x | ((i64v)s & INT64_MIN)); }

// ---- memory: whole vectors, and the last few elements of a span -----------------------------------

template <class V>
ITP_INLINE V raw_load(const void *p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
ITP_INLINE void raw_store(void *p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

ITP_INLINE f32v load(const float *p) { return raw_load<f32v>(p); }
ITP_INLINE f64v load(const double *p) { return raw_load<f64v>(p); }
ITP_INLINE void store(float *p, f32v v) { raw_store(p, v); }
ITP_INLINE void store(double *p, f64v v) { raw_store(p, v); }

ITP_INLINE f32v load(const bf16 *p) { return (f32v)(__builtin_convertvector(raw_load<u16v>(p), u32v) << 16); }
// To nearest, ties to even; a NaN keeps its sign and its upper bits and stays one.
ITP_INLINE void store(bf16 *p, f32v v) {
  const u32v bits = (u32v)v;
  const u32v rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const u32v quiet = (bits >> 16) | 0x40;
  raw_store(p, __builtin_convertvector(v == v ? rounded : quiet, u16v));
}

ITP_INLINE f32v load(const f16 *p) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps((__m256i)raw_load<u16v>(p));
#elif defined(__F16C__)
  return _mm256_cvtph_ps((__m128i)raw_load<u16v>(p));
#else
  // Exponent and fraction moved to float32's place; the product with 2^112 sets the exponent right and makes
  // subnormal halves normal. Infinity and NaN get float32's largest exponent.
  const u32v half = __builtin_convertvector(raw_load<u16v>(p), u32v);
  const u32v body = (half & 0x7FFF) << 13;
  const u32v sign = (half & 0x8000) << 16;
  const u32v finite = (u32v)((f32v)body * 0x1p112f);
  const u32v special = body | 0x7F800000;
  return (f32v)(((half & 0x7FFF) >= 0x7C00 ? special : finite) | sign);
#endif
}
ITP_INLINE void store(f16 *p, f32v v) {
#if defined(__AVX512F__)
  raw_store(p, (u16v)_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#elif defined(__F16C__)
  raw_store(p, (u16v)_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#else
  const u32v bits = (u32v)v & 0x7FFFFFFF;
  const u32v sign = ((u32v)v >> 16) & 0x8000;
  // Normal halves: round the fraction to ten bits, then move the exponent's bias from 127 to 15.
  const u32v normal = (bits + 0xFFF + ((bits >> 13) & 1) - 0x38000000) >> 13;
  // Subnormal ones: adding 1/2 leaves units of 2^-24 in the low bits, rounded by the addition itself.
  const u32v subnormal = (u32v)((f32v)bits + 0.5f) - 0x3F000000;
  u32v half = bits < 0x38800000 ? subnormal : normal;
  half = bits >= 0x477FF000 ? u32v{} + 0x7C00 : half;                 // 65520 and above
  half = bits > 0x7F800000 ? ((bits >> 13) & 0x3FF) | 0x7E00 : half;  // NaN
  raw_store(p, __builtin_convertvector(half | sign, u16v));
#endif
}

// The lanes below n.
ITP_INLINE i32v first_lanes(f32v, size_t n) {
  i32v index;
  for (int i = 0; i < kLanes<f32v>; ++i) index[i] = i;
  return index < static_cast<int32_t>(n);
}
ITP_INLINE i64v first_lanes(f64v, size_t n) {
  i64v index;
  for (int i = 0; i < kLanes<f64v>; ++i) index[i] = i;
  return index < static_cast<int64_t>(n);
}

// n < kLanes elements; the rest of the vector is 0.
template <class S>
ITP_INLINE vec<S> load_part(const S *p, size_t n) {
  S part[kLanes<vec<S>>];
  __builtin_memset(part, 0, sizeof part);
  for (size_t i = 0; i < n; ++i) part[i] = p[i];
  return load(part);
}
template <class S>
ITP_INLINE void store_part(S *p, vec<S> v, size_t n) {
  S part[kLanes<vec<S>>];
  store(part, v);
  for (size_t i = 0; i < n; ++i) p[i] = part[i];
}
#if defined(__AVX512F__)
ITP_INLINE f32v load_part(const float *p, size_t n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
}
ITP_INLINE void store_part(float *p, f32v v, size_t n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), v);
}
#elif defined(__AVX2__)
ITP_INLINE f32v load_part(const float *p, size_t n) {
  return _mm256_maskload_ps(p, (__m256i)first_lanes(f32v{}, n));
}
ITP_INLINE void store_part(float *p, f32v v, size_t n) {
  _mm256_maskstore_ps(p, (__m256i)first_lanes(v, n), v);
}
#endif

// Where a loop stands in its spans: at a whole vector, or at the n < kLanes elements that are left.
template <class V>
struct Whole {
  size_t i;
  template <class S>
  ITP_INLINE V load(const S *p) const {
    return ITP_ISA::load(p + i);
  }
  template <class S>
  ITP_INLINE void store(S *p, V v) const {
    ITP_ISA::store(p + i, v);
  }
};
template <class V>
struct Part {
  size_t i, n;
  template <class S>
  ITP_INLINE V load(const S *p) const {
    return load_part(p + i, n);
  }
  template <class S>
  ITP_INLINE void store(S *p, V v) const {
    store_part(p + i, v, n);
  }
};

// f(at) at each place of spans of n elements: the loop that most functions are.
template <class V, class F>
ITP_INLINE void each(size_t n, const F &f) {
  constexpr size_t w = kLanes<V>;
  size_t i = 0;
  for (; i + w <= n; i += w) f(Whole<V>{i});
  if (i < n) f(Part<V>{i, n - i});
}

// ---- sums -------------------------------------------------------------------------------------------
// 64 running totals whatever the vector's width, added up as a tree: the same bits with any instruction set,
// and an error that grows with n / 64.

constexpr int kTotals = 64;

template <class V>
struct Totals {
  static constexpr int kVectors = kTotals / kLanes<V>;
  V part[kVectors];

  ITP_INLINE explicit Totals(lane<V> start = 0) {
    for (int k = 0; k < kVectors; ++k) part[k] = all<V>(start);
  }

  // total = combine(total, term(at)) for the n elements of a row.
  template <class Term, class Combine>
  ITP_INLINE void run(size_t n, const Term &term, const Combine &combine) {
    constexpr size_t w = kLanes<V>;
    size_t i = 0;
    for (; i + kTotals <= n; i += kTotals) {
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; ++k) part[k] = combine(part[k], term(Whole<V>{i + k * w}));
    }
    for (int k = 0; i < n; ++k, i += w) {
      if (i + w <= n) {
        part[k] = combine(part[k], term(Whole<V>{i}));
      } else {
        const V next = combine(part[k], term(Part<V>{i, n - i}));
        part[k] = first_lanes(next, n - i) ? next : part[k];
      }
    }
  }

  // Halves are folded together until one is left: first whole vectors, then lanes of the last one.
  template <class Combine>
  ITP_INLINE lane<V> total(const Combine &combine) const {
    V t[kVectors];
    for (int k = 0; k < kVectors; ++k) t[k] = part[k];
    for (int half = kVectors / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) t[k] = combine(t[k], t[k + half]);
    }
    lane<V> last[kLanes<V>];
    store(last, t[0]);
    for (int half = kLanes<V> / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) last[j] = combine(last[j], last[j + half]);
    }
    return last[0];
  }
};

struct Plus {
  template <class T>
  ITP_INLINE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  ITP_INLINE T operator()(T a, T b) const {
    return maximum(a, b);
  }
};

// The sum of term(at) over n elements.
template <class V, class Term>
ITP_INLINE lane<V> sum(size_t n, const Term &term) {
  Totals<V> totals;
  totals.run(n, term, Plus());
  return totals.total(Plus());
}

// The largest term(at) over n > 0 elements; NaN if there is one.
template <class V, class Term>
ITP_INLINE lane<V> largest(size_t n, const Term &term) {
  Totals<V> totals(-__builtin_inff());
  totals.run(n, term, Larger());
  return totals.total(Larger());
}

}  // namespace ITP_ISA
}  // namespace itp
