// Elementwise functions over contiguous spans of float and double. Compiled once per instruction set.
#include "simd/math.h"
#include "simd/parts.h"

namespace itp {
namespace ITP_ISA {
namespace {

// A functor for each row of the tables, on any vector.
#define ITP_UNARY(Name, expression)      \
  struct Name {                          \
    template <class V>                   \
    ITP_INLINE V operator()(V x) const { \
      return expression;                 \
    }                                    \
  };
#define ITP_BINARY(Name, expression)          \
  struct Name {                               \
    template <class V>                        \
    ITP_INLINE V operator()(V a, V b) const { \
      return expression;                      \
    }                                         \
  };

ITP_UNARY(Neg, -x)
ITP_UNARY(Abs, magnitude(x))
ITP_UNARY(Reciprocal, 1 / x)
ITP_UNARY(Sqrt, sqrt(x))
ITP_UNARY(Rsqrt, 1 / sqrt(x))
ITP_UNARY(Exp, exp(x))
ITP_UNARY(Log, log(x))
ITP_UNARY(Sin, sin(x))
ITP_UNARY(Cos, cos(x))
ITP_UNARY(Tanh, tanh(x))
ITP_UNARY(Sigmoid, sigmoid(x))
ITP_UNARY(Relu, x <= 0 ? V{} : x)  // NaN fails the comparison and stays
ITP_UNARY(GeluTanh, gelu_tanh(x))
ITP_UNARY(GeluErf, gelu_erf(x))
ITP_UNARY(Silu, x *sigmoid(x))
ITP_UNARY(Erf, erf(x))
ITP_UNARY(Square, x *x)
ITP_UNARY(Sign, x == 0 ? V{} : x != x ? x : with_sign(all<V>(1), x))

ITP_BINARY(Add, a + b)
ITP_BINARY(Sub, a - b)
ITP_BINARY(Mul, a *b)
ITP_BINARY(Div, a / b)
ITP_BINARY(Maximum, maximum(a, b))
ITP_BINARY(Minimum, minimum(a, b))
ITP_BINARY(TanhBackward, b * (1 - a * a))
ITP_BINARY(SigmoidBackward, b *(a * (1 - a)))
ITP_BINARY(ReluBackward, a > 0 ? b : V{})
ITP_BINARY(GeluTanhBackward, gelu_tanh_backward(a, b))
ITP_BINARY(GeluErfBackward, gelu_erf_backward(a, b))
ITP_BINARY(SiluBackward, silu_backward(a, b))

// libm, one element at a time.
inline float power(float a, float b) { return __builtin_powf(a, b); }
inline double power(double a, double b) { return __builtin_pow(a, b); }
inline float modulo(float a, float b) { return __builtin_fmodf(a, b); }
inline double modulo(double a, double b) { return __builtin_fmod(a, b); }
inline float sign_of(float a, float b) { return __builtin_copysignf(a, b); }
inline double sign_of(double a, double b) { return __builtin_copysign(a, b); }

// One instruction each where the instruction set rounds; the compiler sees it in the plain loop.
inline float floor_of(float x) { return __builtin_floorf(x); }
inline double floor_of(double x) { return __builtin_floor(x); }
inline float ceil_of(float x) { return __builtin_ceilf(x); }
inline double ceil_of(double x) { return __builtin_ceil(x); }
inline float trunc_of(float x) { return __builtin_truncf(x); }
inline double trunc_of(double x) { return __builtin_trunc(x); }
inline float round_of(float x) { return __builtin_rintf(x); }
inline double round_of(double x) { return __builtin_rint(x); }

// The remainder with the divisor's sign, as Python has it.
template <class T>
T remainder(T a, T b) {
  const T m = modulo(a, b);
  if (m == 0) return sign_of(m, b);
  return (m < 0) != (b < 0) ? m + b : m;
}

// floor(a / b) from the exact remainder, so that a quotient just below an integer is not rounded up to it. In
// double for float too: the quotient is then the exact integer, rounded once.
inline double floor_divide(double a, double b) {
  const double quotient = a / b;
  if (b == 0 || !__builtin_isfinite(quotient)) return quotient;
  if (!__builtin_isfinite(b)) return a == 0 ? quotient : (a < 0) != (b < 0) ? -1 : sign_of(0.0, quotient);
  const double whole = __builtin_rint((a - remainder(a, b)) / b);
  return whole == 0 ? sign_of(0.0, quotient) : whole;
}
inline float floor_divide(float a, float b) {
  const float quotient = a / b;
  if (b == 0 || !__builtin_isfinite(quotient)) return quotient;
  return static_cast<float>(floor_divide(static_cast<double>(a), static_cast<double>(b)));
}

template <class T, class F>
void unary(const T *x, T *y, size_t n) {
  each<vec<T>>(n, [=](auto at) { at.store(y, F()(at.load(x))); });
}
template <class T, class F>
void binary(const T *a, const T *b, T *y, size_t n) {
  each<vec<T>>(n, [=](auto at) { at.store(y, F()(at.load(a), at.load(b))); });
}
template <class T, T (*f)(T)>
void unary_scalar(const T *x, T *y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <class T, T (*f)(T, T)>
void binary_scalar(const T *a, const T *b, T *y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
}

template <class T>
void add_scalar(const T *x, T value, T *y, size_t n) {
  each<vec<T>>(n, [=](auto at) { at.store(y, at.load(x) + value); });
}
template <class T>
void mul_scalar(const T *x, T value, T *y, size_t n) {
  each<vec<T>>(n, [=](auto at) { at.store(y, at.load(x) * value); });
}

// Bounds of x; NaN in x or a bound wins.
template <class T>
void clamp(const T *x, T low, T high, T *y, size_t n) {
  const auto least = all<vec<T>>(low), most = all<vec<T>>(high);
  each<vec<T>>(n, [=](auto at) { at.store(y, minimum(maximum(at.load(x), least), most)); });
}
template <class T>
void leaky_relu(const T *x, T slope, T *y, size_t n) {
  each<vec<T>>(n, [=](auto at) {
    const auto v = at.load(x);
    at.store(y, v > 0 ? v : v * slope);
  });
}

template <class T, Compare op>
bool holds(T a, T b) {
  return op == Compare::kEquals ? a == b
         : op == Compare::kNe   ? a != b
         : op == Compare::kLt   ? a < b
         : op == Compare::kLe   ? a <= b
         : op == Compare::kGt   ? a > b
                                : a >= b;
}
template <class T, Compare op>
void compare(const T *a, const T *b, uint8_t *y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = holds<T, op>(a[i], b[i]);
}
template <class T, Compare op>
void compare_scalar(const T *a, T value, uint8_t *y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = holds<T, op>(a[i], value);
}

template <class T, Predicate op>
void predicate(const T *x, uint8_t *y, size_t n) {
  const T infinity = static_cast<T>(__builtin_inf());
  for (size_t i = 0; i < n; ++i) {
    const T size = x[i] < 0 ? -x[i] : x[i];
    y[i] = op == Predicate::kIsNan      ? x[i] != x[i]
           : op == Predicate::kIsInf    ? size == infinity
           : op == Predicate::kIsFinite ? size < infinity
                                        : __builtin_signbit(x[i]) != 0;
  }
}

template <class T>
constexpr ElementwiseTable<T> elementwise_table() {
  return {
      {unary<T, Neg>,
       unary<T, Abs>,
       unary<T, Reciprocal>,
       unary<T, Sqrt>,
       unary<T, Rsqrt>,
       unary<T, Exp>,
       unary<T, Log>,
       unary<T, Sin>,
       unary<T, Cos>,
       unary<T, Tanh>,
       unary<T, Sigmoid>,
       unary<T, Relu>,
       unary<T, GeluTanh>,
       unary<T, GeluErf>,
       unary<T, Silu>,
       unary<T, Erf>,
       unary<T, Square>,
       unary<T, Sign>,
       unary_scalar<T, floor_of>,
       unary_scalar<T, ceil_of>,
       unary_scalar<T, trunc_of>,
       unary_scalar<T, round_of>},
      {binary<T, Add>, binary<T, Sub>, binary<T, Mul>, binary<T, Div>, binary<T, Maximum>, binary<T, Minimum>,
       binary_scalar<T, power>, binary_scalar<T, floor_divide>, binary_scalar<T, remainder>,
       binary_scalar<T, modulo>, binary<T, TanhBackward>, binary<T, SigmoidBackward>, binary<T, ReluBackward>,
       binary<T, GeluTanhBackward>, binary<T, GeluErfBackward>, binary<T, SiluBackward>},
      {compare<T, Compare::kEquals>, compare<T, Compare::kNe>, compare<T, Compare::kLt>,
       compare<T, Compare::kLe>, compare<T, Compare::kGt>, compare<T, Compare::kGe>},
      {compare_scalar<T, Compare::kEquals>, compare_scalar<T, Compare::kNe>, compare_scalar<T, Compare::kLt>,
       compare_scalar<T, Compare::kLe>, compare_scalar<T, Compare::kGt>, compare_scalar<T, Compare::kGe>},
      {predicate<T, Predicate::kIsNan>, predicate<T, Predicate::kIsInf>, predicate<T, Predicate::kIsFinite>,
       predicate<T, Predicate::kSignbit>},
      add_scalar<T>,
      mul_scalar<T>,
      clamp<T>,
      leaky_relu<T>};
}

// Between a half type and float.
template <class From, class To>
void convert(const void *from, void *to, size_t n) {
  const From *x = static_cast<const From *>(from);
  To *y = static_cast<To *>(to);
  each<f32v>(n, [=](auto at) { at.store(y, at.load(x)); });
}

}  // namespace

void add_elementwise(Simd *table) {
  table->f32 = elementwise_table<float>();
  table->f64 = elementwise_table<double>();
  table->bf16_to_f32 = convert<bf16, float>;
  table->f16_to_f32 = convert<f16, float>;
  table->f32_to_bf16 = convert<float, bf16>;
  table->f32_to_f16 = convert<float, f16>;
}

}  // namespace ITP_ISA
}  // namespace itp
