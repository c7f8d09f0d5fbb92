// What is compiled once per instruction set: functions over contiguous spans, reached through one table that
// init chooses. Strides, dtypes, threads and argument checks live outside, compiled once (kernels/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace itp {

// Half types as they lie in memory; they compute in float.
struct bf16 {
  uint16_t bits;
};
struct f16 {
  uint16_t bits;
};

// A: what T accumulates in.
template <class T>
struct Accumulator {
  using type = float;
};
template <>
struct Accumulator<double> {
  using type = double;
};
template <class T>
using acc = typename Accumulator<T>::type;

enum class Unary {
  kNeg,
  kAbs,
  kReciprocal,
  kSqrt,
  kRsqrt,
  kExp,
  kLog,
  kSin,
  kCos,
  kTanh,
  kSigmoid,
  kRelu,
  kGeluTanh,
  kGeluErf,
  kSilu,
  kErf,
  kSquare,
  kSign,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kCount
};
enum class Binary {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kPow,
  kFloorDivide,
  kRemainder,
  kFmod,
  kTanhBackward,
  kSigmoidBackward,
  kReluBackward,  // (y, grad)
  kGeluTanhBackward,
  kGeluErfBackward,  // (x, grad)
  kSiluBackward,     // (x, grad)
  kCount
};
enum class Compare { kEquals, kNe, kLt, kLe, kGt, kGe, kCount };
enum class Predicate { kIsNan, kIsInf, kIsFinite, kSignbit, kCount };

// Elementwise, on the types that arithmetic is done in (float, double). y may be x or an operand itself.
template <class T>
struct ElementwiseTable {
  void (*unary[static_cast<int>(Unary::kCount)])(const T *x, T *y, size_t n);
  void (*binary[static_cast<int>(Binary::kCount)])(const T *a, const T *b, T *y, size_t n);
  void (*compare[static_cast<int>(Compare::kCount)])(const T *a, const T *b, uint8_t *y, size_t n);
  void (*compare_scalar[static_cast<int>(Compare::kCount)])(const T *a, T value, uint8_t *y, size_t n);
  void (*predicate[static_cast<int>(Predicate::kCount)])(const T *x, uint8_t *y, size_t n);
  void (*add_scalar)(const T *x, T value, T *y, size_t n);
  void (*mul_scalar)(const T *x, T value, T *y, size_t n);
  void (*clamp)(const T *x, T low, T high, T *y, size_t n);
  void (*leaky_relu)(const T *x, T slope, T *y, size_t n);
};

template <class A>
struct AdamConstants {
  A beta1, beta2, eps;
  A rest1, rest2;  // 1 - beta1, 1 - beta2
  A decay;         // 1 - lr weight_decay
  A step_size;     // lr / (1 - beta1^step)
  A rsqrt_bias;    // 1 / sqrt(1 - beta2^step)
  A grad_scale;
};

// Whole rows, on any stored float type S; sums run in fixed lanes whatever the instruction set.
template <class S>
struct RowTable {
  using A = acc<S>;
  double (*sum)(const S *x, size_t n);
  double (*sum_squares)(const S *x, size_t n);
  void (*add_to)(const S *x, A *total, size_t n);                // total += x
  void (*add_four_to)(const S *const x[4], A *total, size_t n);  // total += (x0 + x1) + (x2 + x3)
  void (*softmax)(const S *x, S *y, size_t n, A scale);
  void (*softmax_backward)(const S *y, const S *grad, S *dx, size_t n, A scale);
  A (*log_sum_exp)(const S *x, size_t n);
  void (*cross_entropy_backward)(const S *x, S *dx, size_t n, A lse, A grad);  // dx = exp(x - lse) grad
  void (*layer_norm)(const S *x, const S *weight, const S *bias, S *y, size_t n, double eps, A *mean,
                     A *rstd);
  void (*layer_norm_backward)(const S *x, const S *weight, const S *grad, S *dx, size_t n, A mean, A rstd);
  // dweight += grad (x - mean) rstd, dbias += grad
  void (*layer_norm_parameters)(const S *x, const S *grad, A *dweight, A *dbias, size_t n, A mean, A rstd);
  void (*multiply)(const S *x, const A *factor, S *y, size_t n);  // y = x factor, 0 where factor is 0
  void (*axpy)(const S *x, A rate, S *y, size_t n);               // y += rate x
  void (*adam)(const S *grad, S *param, A *m, A *v, size_t n, const AdamConstants<A> &c);
  void (*add_bias)(const A *x, const S *bias, S *y, size_t n);  // y = x + bias (no bias: NULL), rounded once
};

struct Simd {
  const char *name;
  ElementwiseTable<float> f32;
  ElementwiseTable<double> f64;
  RowTable<float> rows_f32;
  RowTable<double> rows_f64;
  RowTable<bf16> rows_bf16;
  RowTable<f16> rows_f16;
  void (*philox)(uint64_t seed, uint64_t counter, uint32_t *words, size_t blocks);  // 4 words a block
  void (*normals)(const uint32_t *words, double *z, size_t n);                      // itp_normal of each word
  void (*bf16_to_f32)(const void *x, void *y, size_t n);
  void (*f16_to_f32)(const void *x, void *y, size_t n);
  void (*f32_to_bf16)(const void *x, void *y, size_t n);
  void (*f32_to_f16)(const void *x, void *y, size_t n);

  template <class S>
  const RowTable<S> &rows() const;
};
template <>
inline const RowTable<float> &Simd::rows<float>() const {
  return rows_f32;
}
template <>
inline const RowTable<double> &Simd::rows<double>() const {
  return rows_f64;
}
template <>
inline const RowTable<bf16> &Simd::rows<bf16>() const {
  return rows_bf16;
}
template <>
inline const RowTable<f16> &Simd::rows<f16>() const {
  return rows_f16;
}

// One definition per instruction set; those that the compiler cannot make for this processor family are
// absent.
const Simd &simd_baseline();
const Simd &simd_avx2();
const Simd &simd_avx512();

}  // namespace itp
