/* Functions of the C library's mathematics, for float and double; half types are float32 and rounded once. */
#include "map.h"

UNARY_FLOATS(TanForward, tan(x))
UNARY_FLOATS(AsinForward, asin(x))
UNARY_FLOATS(AcosForward, acos(x))
UNARY_FLOATS(AtanForward, atan(x))
UNARY_FLOATS(SinhForward, sinh(x))
UNARY_FLOATS(CoshForward, cosh(x))
UNARY_FLOATS(AsinhForward, asinh(x))
UNARY_FLOATS(AcoshForward, acosh(x))
UNARY_FLOATS(AtanhForward, atanh(x))
UNARY_FLOATS(Expm1Forward, expm1(x))
UNARY_FLOATS(Log1pForward, log1p(x))
UNARY_FLOATS(Log2Forward, log2(x))
UNARY_FLOATS(Log10Forward, log10(x))
UNARY_FLOATS(ErfForward, erf(x))

BINARY_FLOATS(Atan2Forward, atan2(a, b))
BINARY_FLOATS(HypotForward, hypot(a, b))

/* Equal infinities have no difference; ln 2 is what the formula gives for equal numbers. */
#define LN_2 ((real)0.69314718055994530942)
BINARY_FLOATS(LogaddexpForward, a == b ? a + LN_2 : (a > b ? a : b) + log1p(exp(-fabs(a - b))))

#define SOFTPLUS(kind, type) \
  PARAMETRIC(SoftplusForward, kind, type, x *p[0] > p[1] ? x : log1p(exp(x * p[0])) / p[0])
SOFTPLUS(f32, float)
SOFTPLUS(f64, double)
static const ref_block_set SoftplusForward_blocks = {SoftplusForward_f32, SoftplusForward_f64, NULL, NULL};

REF_KERNEL(SoftplusForward) {
  ref_buffer room;
  REF_UNPACK(SoftplusForward)
  return ref_apply("SoftplusForward", SoftplusForward_blocks, l, ref_numbers(&room, a.x, a.beta, a.threshold),
                   err);
}

PARAMETRIC(LeakyReluForward, f32, float, x > 0 ? x : x * p[0])
PARAMETRIC(LeakyReluForward, f64, double, x > 0 ? x : x * p[0])
static const ref_block_set LeakyReluForward_blocks = {LeakyReluForward_f32, LeakyReluForward_f64, NULL, NULL};

REF_KERNEL(LeakyReluForward) {
  ref_buffer room;
  REF_UNPACK(LeakyReluForward)
  return ref_apply("LeakyReluForward", LeakyReluForward_blocks, l, ref_numbers(&room, a.x, a.slope, 0), err);
}
