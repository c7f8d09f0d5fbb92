/* Elementwise kernels: one expression each, written once for all dtypes (map.h). */
#include <string.h>

#include "map.h"

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
static const ref_block_set GeluTanhBackward_blocks = {GeluTanhBackward_f32, GeluTanhBackward_f64, NULL, NULL};
BINARY_FLOATS_BLOCKS(GeluErfBackward, b *(NORMAL_CDF(a) + a * NORMAL_DENSITY(a)))

REF_KERNEL(GeluForward) {
  REF_UNPACK(GeluForward)
  return ref_apply("GeluForward", a.tanh ? GeluTanh_blocks : GeluErf_blocks, l, NULL, err);
}

REF_KERNEL(GeluBackward) {
  REF_UNPACK(GeluBackward)
  return ref_apply("GeluBackward", a.tanh ? GeluTanhBackward_blocks : GeluErfBackward_blocks, l, NULL, err);
}

/* ---- SiLU: Elfwing, Uchibe and Doya 2017, arXiv:1702.03118 -------------------------------------- */

UNARY_FLOATS(SiluForward, x / (1 + exp(-x)))

#define SILU_SLOPE(kind, type)            \
  static type silu_slope_##kind(type x) { \
    const type s = 1 / (1 + exp(-x));     \
    return s * (1 + x * (1 - s));         \
  }
SILU_SLOPE(f32, float)
SILU_SLOPE(f64, double)
BINARY(SiluBackward, f32, float, float, b *silu_slope_f32(a))
BINARY(SiluBackward, f64, double, double, b *silu_slope_f64(a))
static const ref_block_set SiluBackward_blocks = {SiluBackward_f32, SiluBackward_f64, NULL, NULL};
KERNEL(SiluBackward)

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
static const ref_block_set FloorDivideForward_blocks = {FloorDivideForward_f32, FloorDivideForward_f64,
                                                        FloorDivideForward_i64, FloorDivideForward_u64};
KERNEL(FloorDivideForward)

BINARY(RemainderForward, f32, float, float, remainder_f32(a, b))
BINARY(RemainderForward, f64, double, double, remainder_f64(a, b))
BINARY(RemainderForward, i64, int64_t, int64_t, remainder_i64(a, b))
BINARY(RemainderForward, u64, uint64_t, uint64_t, b == 0 ? 0 : a % b)
static const ref_block_set RemainderForward_blocks = {RemainderForward_f32, RemainderForward_f64,
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
static itp_status apply_scalar(const char *name, const ref_block_set blocks, const itp_launch *l,
                               const itp_value *value, itp_error *err) {
  ref_buffer room;
  ref_broadcast_scalar(&room, itp_dtype_bit(l->inputs[0]->dtype), value);
  return ref_apply(name, blocks, l, &room, err);
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
COMPARISON(NeForward, a != b)
COMPARISON(LtForward, a < b)
COMPARISON(LeForward, a <= b)
COMPARISON(GtForward, a > b)
COMPARISON(GeForward, a >= b)

/* With a number of the operand's own dtype. */
#define COMPARISON_SCALAR(Name, Forward)                                                              \
  REF_KERNEL(Name) {                                                                                  \
    ref_buffer room;                                                                                  \
    REF_UNPACK(Name)                                                                                  \
    return ref_apply(#Name, Forward##_blocks, l, ref_converted(&room, a.x, a.value, REF_BLOCK), err); \
  }
COMPARISON_SCALAR(EqualsScalar, EqualsForward)
COMPARISON_SCALAR(NeScalar, NeForward)
COMPARISON_SCALAR(LtScalar, LtForward)
COMPARISON_SCALAR(LeScalar, LeForward)
COMPARISON_SCALAR(GtScalar, GtForward)
COMPARISON_SCALAR(GeScalar, GeForward)

BINARY(AndForward, u64, uint64_t, uint64_t, a &b)
static const ref_block_set AndForward_blocks = {NULL, NULL, NULL, AndForward_u64};
KERNEL(AndForward)

BINARY(OrForward, u64, uint64_t, uint64_t, a | b)
static const ref_block_set OrForward_blocks = {NULL, NULL, NULL, OrForward_u64};
KERNEL(OrForward)

BINARY(XorForward, u64, uint64_t, uint64_t, a ^ b)
static const ref_block_set XorForward_blocks = {NULL, NULL, NULL, XorForward_u64};
KERNEL(XorForward)

UNARY(NotForward, u64, uint64_t, uint64_t, !x)
static const ref_block_set NotForward_blocks = {NULL, NULL, NULL, NotForward_u64};
KERNEL(NotForward)

/* Selects bit patterns, whatever they mean. */
static void where(int64_t n, const void *const *in, void *out) {
  const uint64_t *condition = (const uint64_t *)in[0], *a = (const uint64_t *)in[1],
                 *b = (const uint64_t *)in[2];
  uint64_t *y = (uint64_t *)out;
  REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) y[i] = condition[i] ? a[i] : b[i];
}

REF_KERNEL(WhereForward) {
  static const ref_block_set blocks = {NULL, NULL, NULL, where};
  REF_UNPACK(WhereForward)
  const itp_tensor *tensors[] = {a.condition, a.a, a.b, a.y};
  const int raw = ref_raw_dtype(itp_element_size(a.y));
  const int dtypes[] = {ITP_DT_BOOL, raw, raw, raw};
  return ref_map("WhereForward", blocks, REF_U64, tensors, dtypes, 3, NULL, err);
}

static void mask(int64_t n, const void *const *in, void *out) {
  const uint64_t *x = (const uint64_t *)in[0], *chosen = (const uint64_t *)in[1],
                 *value = (const uint64_t *)in[2];
  uint64_t *y = (uint64_t *)out;
  REF_INDEPENDENT for (int64_t i = 0; i < n; ++i) y[i] = chosen[i] ? *value : x[i];
}

REF_KERNEL(MaskForward) {
  static const ref_block_set blocks = {NULL, NULL, NULL, mask};
  ref_buffer room;
  uint64_t element = 0;
  REF_UNPACK(MaskForward)
  const itp_tensor *tensors[] = {a.x, a.mask, a.y};
  const int raw = ref_raw_dtype(itp_element_size(a.y));
  const int dtypes[] = {raw, ITP_DT_BOOL, raw};
  ref_store_scalar(itp_dtype_bit(a.x->dtype), (char *)&element, a.value);
  const void *value = ref_load(&room, raw, (const char *)&element, 0, 1);
  return ref_map("MaskForward", blocks, REF_U64, tensors, dtypes, 2, value, err);
}

/* Held in [p[0], p[1]]; a NaN bound makes NaN of everything, as in maximum and minimum. */
#define LARGER(x, y) ((x) > (y) || (x) != (x) ? (x) : (y))
#define SMALLER(x, y) ((x) < (y) || (x) != (x) ? (x) : (y))
#define CLAMP(kind, type) PARAMETRIC(ClampForward, kind, type, SMALLER(LARGER(x, p[0]), p[1]))
CLAMP(f32, float)
CLAMP(f64, double)
CLAMP(i64, int64_t)
CLAMP(u64, uint64_t)
static const ref_block_set ClampForward_blocks = {ClampForward_f32, ClampForward_f64, ClampForward_i64,
                                                  ClampForward_u64};

REF_KERNEL(ClampForward) {
  ref_buffer low, high, bounds;
  REF_UNPACK(ClampForward)
  const size_t size = ref_class_of(itp_dtype_bit(a.x->dtype)) == REF_F32 ? 4 : 8;
  memcpy(&bounds, ref_converted(&low, a.x, a.min, 1), size);
  memcpy((char *)&bounds + size, ref_converted(&high, a.x, a.max, 1), size);
  return ref_apply("ClampForward", ClampForward_blocks, l, &bounds, err);
}
