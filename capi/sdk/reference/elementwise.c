/* Elementwise kernels: one expression each, written once for all dtypes.
 *
 * A block function works on arrays of one class (block.h); `apply` walks over the tensors and feeds it.
 * Integer arithmetic is done modulo 2^64 and cut when stored, which is two's complement wrapping at every
 * width. */
#include <math.h>
#include <tgmath.h>

#include "block.h"

typedef void (*block_fn)(int64_t n, const void *const *in, void *out);
typedef block_fn block_set[4]; /* by ref_class; NULL where the kernel is not defined */

/* tensors: n_in operands and the result, each read or written as its dtype; `constant` is one more operand.
 */
static itp_status map(const char *name, const block_set blocks, ref_class kind,
                      const itp_tensor *const *tensors, const int *dtypes, int n_in, const void *constant,
                      itp_error *err) {
  const ref_class result = dtypes[n_in] == ITP_DT_BOOL ? REF_U64 : kind;
  const void *in[ITP_MAX_OPERANDS + 1];
  ref_buffer rooms[ITP_MAX_OPERANDS];
  itp_strided it;
  REF_REQUIRE(name, blocks[kind] != NULL, "the dtype is not among those of the kernel");
  REF_REQUIRE(name, itp_strided_begin(&it, tensors, n_in + 1), "operands of equal shapes expected");
  in[n_in] = constant;
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; i += REF_BLOCK) {
      const int64_t n = ref_min(it.count - i, REF_BLOCK);
      for (int k = 0; k < n_in; ++k) {
        in[k] = ref_load(&rooms[k], dtypes[k], it.data[k] + i * it.step[k], it.step[k], n);
      }
      char *data = it.data[n_in] + i * it.step[n_in];
      void *out = ref_target(&rooms[n_in], dtypes[n_in], data, it.step[n_in]);
      blocks[kind](n, in, out);
      ref_store(dtypes[n_in], data, it.step[n_in], result, out, n);
    }
  }
  return ITP_OK;
}

/* The usual case: all inputs, then the first output, each as what it is. */
static itp_status apply(const char *name, const block_set blocks, const itp_launch *l, const void *constant,
                        itp_error *err) {
  const itp_tensor *tensors[ITP_MAX_OPERANDS];
  int dtypes[ITP_MAX_OPERANDS];
  const int n = (int)l->n_inputs;
  for (int k = 0; k <= n; ++k) {
    tensors[k] = k < n ? l->inputs[k] : l->outputs[0];
    dtypes[k] = itp_dtype_bit(tensors[k]->dtype);
  }
  return map(name, blocks, ref_class_of(dtypes[0]), tensors, dtypes, n, constant, err);
}

/* `real` is the computing type inside an expression of x, or of a and b. */
#define UNARY(Name, kind, type, expression)                                \
  static void Name##_##kind(int64_t n, const void *const *in, void *out) { \
    typedef type real;                                                     \
    const real *px = (const real *)in[0];                                  \
    real *py = (real *)out;                                                \
    REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) {                      \
      const real x = px[i];                                                \
      py[i] = (real)(expression);                                          \
    }                                                                      \
  }
#define BINARY(Name, kind, type, result, expression)                       \
  static void Name##_##kind(int64_t n, const void *const *in, void *out) { \
    typedef type real;                                                     \
    const real *pa = (const real *)in[0], *pb = (const real *)in[1];       \
    result *py = (result *)out;                                            \
    REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) {                      \
      const real a = pa[i], b = pb[i];                                     \
      py[i] = (result)(expression);                                        \
    }                                                                      \
  }
#define KERNEL(Name)                                  \
  REF_KERNEL(Name) {                                  \
    REF_UNPACK(Name)                                  \
    (void)a;                                          \
    return apply(#Name, Name##_blocks, l, NULL, err); \
  }
#define UNARY_FLOATS_BLOCKS(Name, expression) \
  UNARY(Name, f32, float, expression)         \
  UNARY(Name, f64, double, expression)        \
  static const block_set Name##_blocks = {Name##_f32, Name##_f64, NULL, NULL};
#define UNARY_FLOATS(Name, expression) UNARY_FLOATS_BLOCKS(Name, expression) KERNEL(Name)
#define UNARY_NUMERIC(Name, of_float, of_signed, of_unsigned)                              \
  UNARY(Name, f32, float, of_float)                                                        \
  UNARY(Name, f64, double, of_float)                                                       \
  UNARY(Name, i64, int64_t, of_signed)                                                     \
  UNARY(Name, u64, uint64_t, of_unsigned)                                                  \
  static const block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64}; \
  KERNEL(Name)
#define BINARY_FLOATS_BLOCKS(Name, expression)  \
  BINARY(Name, f32, float, float, expression)   \
  BINARY(Name, f64, double, double, expression) \
  static const block_set Name##_blocks = {Name##_f32, Name##_f64, NULL, NULL};
#define BINARY_FLOATS(Name, expression) BINARY_FLOATS_BLOCKS(Name, expression) KERNEL(Name)
#define BINARY_NUMERIC_BLOCKS(Name, of_float, of_signed, of_unsigned) \
  BINARY(Name, f32, float, float, of_float)                           \
  BINARY(Name, f64, double, double, of_float)                         \
  BINARY(Name, i64, int64_t, int64_t, of_signed)                      \
  BINARY(Name, u64, uint64_t, uint64_t, of_unsigned)                  \
  static const block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64};
#define BINARY_NUMERIC(Name, of_float, of_signed, of_unsigned) \
  BINARY_NUMERIC_BLOCKS(Name, of_float, of_signed, of_unsigned) KERNEL(Name)
#define COMPARISON(Name, expression)                                                       \
  BINARY(Name, f32, float, uint64_t, expression)                                           \
  BINARY(Name, f64, double, uint64_t, expression)                                          \
  BINARY(Name, i64, int64_t, uint64_t, expression)                                         \
  BINARY(Name, u64, uint64_t, uint64_t, expression)                                        \
  static const block_set Name##_blocks = {Name##_f32, Name##_f64, Name##_i64, Name##_u64}; \
  KERNEL(Name)

/* ---- of one operand ---------------------------------------------------------------------------- */

UNARY_NUMERIC(NegForward, -x, 0 - (uint64_t)x, 0 - x)
UNARY_NUMERIC(AbsForward, fabs(x), x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x)
UNARY_NUMERIC(ReluForward, x > 0 || x != x ? x : 0, x > 0 ? x : 0, x)
UNARY_FLOATS(ReciprocalForward, 1 / x)
UNARY_FLOATS(SqrtForward, sqrt(x))
UNARY_FLOATS(RsqrtForward, 1 / sqrt(x))
UNARY_FLOATS(ExpForward, exp(x))
UNARY_FLOATS(LogForward, log(x))
UNARY_FLOATS(SinForward, sin(x))
UNARY_FLOATS(CosForward, cos(x))
UNARY_FLOATS(TanhForward, tanh(x))
UNARY_FLOATS(SigmoidForward, x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)))

/* Their derivatives: a is what the forward left, b the gradient. */
BINARY_FLOATS(TanhBackward, b * (1 - a * a))
BINARY_FLOATS(SigmoidBackward, b * a * (1 - a))
BINARY_FLOATS(ReluBackward, a > 0 ? b : 0)

/* ---- GELU: Hendrycks and Gimpel 2016, arXiv:1606.08415 ------------------------------------------ */

/* (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), written as a sigmoid: nothing cancels where x is
 * far below 0. */
#define CUBIC ((real)0.044715)
#define SQRT_8_OVER_PI ((real)1.59576912160573071176) /* 2 sqrt(2 / pi) */
#define TANH_SHARE(x) (1 / (1 + exp(-SQRT_8_OVER_PI * (x + CUBIC * x * x * x))))
/* The distribution function of the normal law; erfc does not cancel there either. */
#define NORMAL_CDF(x) ((real)0.5 * erfc(-x * (real)0.70710678118654752440))
#define NORMAL_DENSITY(x) ((real)0.39894228040143267794 * exp((real) - 0.5 * x * x))

/* Far out the bend is 0 to all digits, while what it would be multiplied by overflows. */
#define TANH_SLOPE(kind, type)                                                      \
  static type gelu_tanh_slope_##kind(type x) {                                      \
    typedef type real;                                                              \
    const real s = TANH_SHARE(x), bend = s * (1 - s);                               \
    return bend == 0 ? s : s + x * bend * SQRT_8_OVER_PI * (1 + 3 * CUBIC * x * x); \
  }
TANH_SLOPE(f32, float)
TANH_SLOPE(f64, double)

UNARY_FLOATS_BLOCKS(GeluTanh, x *TANH_SHARE(x))
UNARY_FLOATS_BLOCKS(GeluErf, x *NORMAL_CDF(x))
BINARY(GeluTanhBackward, f32, float, float, b *gelu_tanh_slope_f32(a))
BINARY(GeluTanhBackward, f64, double, double, b *gelu_tanh_slope_f64(a))
static const block_set GeluTanhBackward_blocks = {GeluTanhBackward_f32, GeluTanhBackward_f64, NULL, NULL};
BINARY_FLOATS_BLOCKS(GeluErfBackward, b *(NORMAL_CDF(a) + a * NORMAL_DENSITY(a)))

REF_KERNEL(GeluForward) {
  REF_UNPACK(GeluForward)
  return apply("GeluForward", a.tanh ? GeluTanh_blocks : GeluErf_blocks, l, NULL, err);
}

REF_KERNEL(GeluBackward) {
  REF_UNPACK(GeluBackward)
  return apply("GeluBackward", a.tanh ? GeluTanhBackward_blocks : GeluErfBackward_blocks, l, NULL, err);
}

/* ---- of two operands --------------------------------------------------------------------------- */

BINARY_NUMERIC(AddForward, a + b, (uint64_t)a + (uint64_t)b, a + b)
BINARY_NUMERIC(SubForward, a - b, (uint64_t)a - (uint64_t)b, a - b)
BINARY_NUMERIC(MulForward, a *b, (uint64_t)a *(uint64_t)b, a *b)
BINARY_FLOATS(DivForward, a / b)
BINARY_NUMERIC(MaximumForward, a > b || a != a ? a : b, a > b ? a : b, a > b ? a : b)
BINARY_NUMERIC(MinimumForward, a < b || a != a ? a : b, a < b ? a : b, a < b ? a : b)

/* Division towards minus infinity, as Python divides. Floats start from the exact remainder: a / b itself may
 * round up to an integer that the true quotient does not reach. */
#define FLOAT_DIVISION(kind, real)                                       \
  static real remainder_##kind(real a, real b) {                         \
    const real m = fmod(a, b);                                           \
    if (m == 0) return copysign(m, b);                                   \
    return (m < 0) != (b < 0) ? m + b : m;                               \
  }                                                                      \
  static real quotient_##kind(real a, real b) {                          \
    if (b == 0 || isinf(a / b)) return a / b;                            \
    const real m = fmod(a, b);                                           \
    const real q = (a - m) / b - (m != 0 && (m < 0) != (b < 0) ? 1 : 0); \
    return q == 0 ? copysign(q, a / b) : round(q);                       \
  }
FLOAT_DIVISION(f32, float)
FLOAT_DIVISION(f64, double)

static int64_t remainder_i64(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0; /* the smallest integer % -1 traps on some machines */
  const int64_t m = a % b;
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

static int64_t quotient_i64(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  const int64_t m = a % b;
  return a / b - (m != 0 && (m < 0) != (b < 0));
}

BINARY(FloorDivideForward, f32, float, float, quotient_f32(a, b))
BINARY(FloorDivideForward, f64, double, double, quotient_f64(a, b))
BINARY(FloorDivideForward, i64, int64_t, int64_t, quotient_i64(a, b))
BINARY(FloorDivideForward, u64, uint64_t, uint64_t, b == 0 ? 0 : a / b)
static const block_set FloorDivideForward_blocks = {FloorDivideForward_f32, FloorDivideForward_f64,
                                                    FloorDivideForward_i64, FloorDivideForward_u64};
KERNEL(FloorDivideForward)

BINARY(RemainderForward, f32, float, float, remainder_f32(a, b))
BINARY(RemainderForward, f64, double, double, remainder_f64(a, b))
BINARY(RemainderForward, i64, int64_t, int64_t, remainder_i64(a, b))
BINARY(RemainderForward, u64, uint64_t, uint64_t, b == 0 ? 0 : a % b)
static const block_set RemainderForward_blocks = {RemainderForward_f32, RemainderForward_f64,
                                                  RemainderForward_i64, RemainderForward_u64};
KERNEL(RemainderForward)

/* By squaring, modulo 2^64. */
static uint64_t power_u64(uint64_t a, uint64_t b) {
  uint64_t y = 1;
  for (; b != 0; b >>= 1, a *= a) {
    if (b & 1) y *= a;
  }
  return y;
}

static int64_t power_i64(int64_t a, int64_t b) {
  if (b >= 0) return (int64_t)power_u64((uint64_t)a, (uint64_t)b);
  return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
}

BINARY_NUMERIC(PowForward, pow(a, b), power_i64(a, b), power_u64(a, b))

/* With a number: a block of it is the second operand. */
static itp_status apply_scalar(const char *name, const block_set blocks, const itp_launch *l,
                               const itp_value *value, itp_error *err) {
  ref_buffer room;
  ref_broadcast_scalar(&room, itp_dtype_bit(l->inputs[0]->dtype), value);
  return apply(name, blocks, l, &room, err);
}

REF_KERNEL(AddScalar) {
  REF_UNPACK(AddScalar)
  return apply_scalar("AddScalar", AddForward_blocks, l, a.value, err);
}

REF_KERNEL(MulScalar) {
  REF_UNPACK(MulScalar)
  return apply_scalar("MulScalar", MulForward_blocks, l, a.value, err);
}

/* ---- comparison and logic ---------------------------------------------------------------------- */

COMPARISON(EqualsForward, a == b)
COMPARISON(LtForward, a < b)
COMPARISON(LeForward, a <= b)
COMPARISON(GtForward, a > b)
COMPARISON(GeForward, a >= b)

BINARY(AndForward, u64, uint64_t, uint64_t, a &b)
static const block_set AndForward_blocks = {NULL, NULL, NULL, AndForward_u64};
KERNEL(AndForward)

BINARY(OrForward, u64, uint64_t, uint64_t, a | b)
static const block_set OrForward_blocks = {NULL, NULL, NULL, OrForward_u64};
KERNEL(OrForward)

UNARY(NotForward, u64, uint64_t, !x)
static const block_set NotForward_blocks = {NULL, NULL, NULL, NotForward_u64};
KERNEL(NotForward)

/* Selects bit patterns, whatever they mean. */
static void where(int64_t n, const void *const *in, void *out) {
  const uint64_t *condition = (const uint64_t *)in[0], *a = (const uint64_t *)in[1],
                 *b = (const uint64_t *)in[2];
  uint64_t *y = (uint64_t *)out;
  REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) y[i] = condition[i] ? a[i] : b[i];
}

REF_KERNEL(WhereForward) {
  static const block_set blocks = {NULL, NULL, NULL, where};
  REF_UNPACK(WhereForward)
  const itp_tensor *tensors[] = {a.condition, a.a, a.b, a.y};
  const int raw = ref_raw_dtype(itp_element_size(a.y));
  const int dtypes[] = {ITP_DT_BOOL, raw, raw, raw};
  return map("WhereForward", blocks, REF_U64, tensors, dtypes, 3, NULL, err);
}
