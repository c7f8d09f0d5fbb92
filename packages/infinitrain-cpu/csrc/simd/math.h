// Elementary functions on vectors: float by polynomials to a few units in the last place, correct for
// infinities, NaN, zeros of both signs and subnormal numbers; double one lane at a time by libm.
#pragma once

#include "simd/vector.h"

namespace itp {
namespace ITP_ISA {

template <class F>
ITP_INLINE f64v each_lane(f64v x, const F &f) {
  for (int i = 0; i < kLanes<f64v>; ++i) x[i] = f(x[i]);
  return x;
}
template <class F>
ITP_INLINE f32v each_lane(f32v x, const F &f) {
  for (int i = 0; i < kLanes<f32v>; ++i) x[i] = f(x[i]);
  return x;
}

// Horner's rule, highest coefficient first.
ITP_INLINE f32v horner(f32v, f32v sum) { return sum; }
template <class... C>
ITP_INLINE f32v horner(f32v x, f32v sum, float c, C... rest) {
  return horner(x, fma(sum, x, all<f32v>(c)), rest...);
}
template <class... C>
ITP_INLINE f32v polynomial(f32v x, float c0, C... rest) {
  return horner(x, all<f32v>(c0), rest...);
}

// e^x = 2^n e^r with |r| <= ln(2) / 2; ln 2 in two parts, the first short enough for n times it to be exact.
// Polynomial: Moshier, Cephes, expf. 2^n is applied in two halves, so that subnormal results come out rounded
// once and results up to FLT_MAX do not pass through infinity.
ITP_INLINE f32v exp(f32v x) {
  constexpr float kMagic = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits
  x = x > 89.0f ? all<f32v>(89.0f) : x;
  x = x < -104.0f ? all<f32v>(-104.0f) : x;
  const f32v shifted = fma(x, all<f32v>(0x1.715476p0f), all<f32v>(kMagic));
  const f32v n = shifted - kMagic;
  f32v r = fma(n, all<f32v>(-0.693359375f), x);
  r = fma(n, all<f32v>(2.12194440e-4f), r);
  const f32v p = polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                            1.6666665459e-1f, 5.0000001201e-1f);
  const f32v e = fma(p * r, r, r) + 1.0f;
#if defined(__AVX512F__)
  return _mm512_scalef_ps(e, n);
#else
  const i32v exponent = (i32v)shifted - 0x4B400000;
  const i32v half = exponent >> 1;
  const f32v first = (f32v)((half + 127) << 23), second = (f32v)((exponent - half + 127) << 23);
  return e * first * second;
#endif
}
ITP_INLINE f64v exp(f64v x) {
  return each_lane(x, [](double v) { return __builtin_exp(v); });
}

// ln x = ln m + e ln 2 with m in [sqrt(1/2), sqrt(2)). Polynomial: Moshier, Cephes, logf.
ITP_INLINE f32v log(f32v x) {
  const auto subnormal = x < 0x1p-126f;
  const f32v scaled = subnormal ? x * 0x1p23f : x;
  const i32v bits = (i32v)scaled;
  i32v exponent = ((bits >> 23) & 0xFF) - 127;
  exponent = subnormal ? exponent - 23 : exponent;
  f32v m = (f32v)((bits & 0x007FFFFF) | 0x3F800000);
  const auto large = m > 1.41421356f;
  m = large ? m * 0.5f : m;
  exponent = large ? exponent + 1 : exponent;
  const f32v e = __builtin_convertvector(exponent, f32v);
  const f32v f = m - 1.0f;
  const f32v z = f * f;
  f32v p =
      polynomial(f, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                 1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  p = fma(e, all<f32v>(-2.12194440e-4f), p * f * z);
  p = fma(z, all<f32v>(-0.5f), p);
  f32v y = fma(e, all<f32v>(0.693359375f), f + p);
  y = x == __builtin_inff() ? x : y;
  y = x == 0.0f ? all<f32v>(-__builtin_inff()) : y;
  return x >= 0.0f ? y : all<f32v>(__builtin_nanf(""));
}
ITP_INLINE f64v log(f64v x) {
  return each_lane(x, [](double v) { return __builtin_log(v); });
}

// Range reduction of large arguments is libm's; these two are called for tables of positions, not in hot
// loops.
ITP_INLINE f32v sin(f32v x) {
  return each_lane(x, [](float v) { return __builtin_sinf(v); });
}
ITP_INLINE f64v sin(f64v x) {
  return each_lane(x, [](double v) { return __builtin_sin(v); });
}
ITP_INLINE f32v cos(f32v x) {
  return each_lane(x, [](float v) { return __builtin_cosf(v); });
}
ITP_INLINE f64v cos(f64v x) {
  return each_lane(x, [](double v) { return __builtin_cos(v); });
}

// tanh x: an odd polynomial (Cephes, tanhf) below 0.625, 1 - 2 / (e^2x + 1) above.
ITP_INLINE f32v tanh(f32v x) {
  const f32v a = magnitude(x);
  const f32v z = x * x;
  const f32v p = polynomial(z, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                            -3.33332819422e-1f);
  const f32v small = fma(p * z, x, x);
  const f32v large = with_sign(1.0f - 2.0f / (exp(a + a) + 1.0f), x);
  return a < 0.625f ? small : large;
}
ITP_INLINE f64v tanh(f64v x) {
  return each_lane(x, [](double v) { return __builtin_tanh(v); });
}

template <class V>
ITP_INLINE V sigmoid(V x) {
  return 1 / (1 + exp(-x));
}

// Of x sigmoid(x). Elfwing, Uchibe and Doya 2017.
template <class V>
ITP_INLINE V silu_backward(V x, V grad) {
  const V s = sigmoid(x);
  return grad * (s * (1 + x * (1 - s)));
}

// erf x by a rational approximation in x^2 (as in Eigen and XLA) up to 3.92, beyond which it is 1 in float.
ITP_INLINE f32v erf(f32v x) {
  const f32v a = magnitude(x) < 3.92f ? x : f32v{};
  const f32v z = a * a;
  const f32v p = polynomial(z, -2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f,
                            -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f,
                            -1.60960333262415e-02f);
  const f32v q = polynomial(z, -1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                            -7.37332916720468e-03f, -1.42647390514189e-02f);
  const f32v inside = a * p / q;
  const f32v outside = with_sign(all<f32v>(1.0f), x);
  return magnitude(x) >= 3.92f ? outside : inside + (x - x);  // x - x is NaN for NaN
}
ITP_INLINE f64v erf(f64v x) {
  return each_lane(x, [](double v) { return __builtin_erf(v); });
}

// 1/2 (1 + tanh u) = sigmoid(2 u), which keeps its relative precision where tanh is near -1.
// u = sqrt(2 / pi) (x + 0.044715 x^3). Hendrycks and Gimpel 2016.
constexpr double kGeluLinear = 1.5957691216057308;  // 2 sqrt(2 / pi)
constexpr double kGeluCubic = kGeluLinear * 0.044715;
constexpr double kSqrtHalf = 0.70710678118654752;
constexpr double kInvSqrtTwoPi = 0.39894228040143268;

template <class V>
ITP_INLINE V gelu_tanh(V x) {
  using T = lane<V>;
  const V s = sigmoid(x * (static_cast<T>(kGeluLinear) + static_cast<T>(kGeluCubic) * (x * x)));
  return x * s;
}
template <class V>
ITP_INLINE V gelu_tanh_backward(V x, V grad) {
  using T = lane<V>;
  const V z = x * x;
  const V s = sigmoid(x * (static_cast<T>(kGeluLinear) + static_cast<T>(kGeluCubic) * z));
  const V slope = s * (1 - s) * x * (static_cast<T>(kGeluLinear) + static_cast<T>(3 * kGeluCubic) * z);
  const V derivative = s + ((s == 0) | (s == 1) ? V{} : slope);
  return grad * derivative;
}
template <class V>
ITP_INLINE V gelu_erf(V x) {
  using T = lane<V>;
  return x * (static_cast<T>(0.5) * (1 + erf(x * static_cast<T>(kSqrtHalf))));
}
template <class V>
ITP_INLINE V gelu_erf_backward(V x, V grad) {
  using T = lane<V>;
  const V distribution = static_cast<T>(0.5) * (1 + erf(x * static_cast<T>(kSqrtHalf)));
  const V density = static_cast<T>(kInvSqrtTwoPi) * exp(static_cast<T>(-0.5) * (x * x));
  const V slope = density == 0 ? V{} : x * density;
  return grad * (distribution + slope);
}

}  // namespace ITP_ISA
}  // namespace itp
