/* Signs, whole parts, neighbours and classes of numbers: exact at every dtype. */
#include "map.h"

UNARY_NUMERIC(SquareForward, x *x, (uint64_t)x *(uint64_t)x, x *x)
UNARY_NUMERIC(SignForward, x != x ? x : (x > 0) - (x < 0), (x > 0) - (x < 0), x > 0)
UNARY_FLOATS(FloorForward, floor(x))
UNARY_FLOATS(CeilForward, ceil(x))
UNARY_FLOATS(TruncForward, trunc(x))
UNARY_FLOATS(RoundForward, nearbyint(x))

PREDICATE(SignbitForward, signbit(x) != 0)
PREDICATE(IsNanForward, x != x)
PREDICATE(IsInfForward, isinf(x) != 0)
PREDICATE(IsFiniteForward, isfinite(x) != 0)

BINARY_FLOATS(CopysignForward, copysign(a, b))

/* The smallest integer % -1 traps on some machines. */
BINARY_NUMERIC(FmodForward, fmod(a, b), b == 0 || b == -1 ? 0 : a % b, b == 0 ? 0 : a % b)

/* On bit patterns, whose order is that of the numbers on each side of 0. p[0] is the sign's bit, p[1] the
 * pattern of infinity. */
static uint64_t next_after(uint64_t a, uint64_t b, const uint64_t *p) {
  const uint64_t size_a = a & (p[0] - 1), size_b = b & (p[0] - 1);
  if (size_a > p[1]) return a;
  if (size_b > p[1] || a == b || (size_a | size_b) == 0) return b;
  if (size_a == 0) return (b & p[0]) | 1;
  return (a & p[0]) == (b & p[0]) && size_b > size_a ? a + 1 : a - 1;
}

static void next(int64_t n, const void *const *in, void *out) {
  const uint64_t *a = (const uint64_t *)in[0], *b = (const uint64_t *)in[1], *p = (const uint64_t *)in[2];
  uint64_t *y = (uint64_t *)out;
  for (int64_t i = 0; i < n; ++i) y[i] = next_after(a[i], b[i], p);
}

REF_KERNEL(NextafterForward) {
  static const ref_block_set blocks = {NULL, NULL, NULL, next};
  REF_UNPACK(NextafterForward)
  const itp_tensor *tensors[] = {a.a, a.b, a.y};
  const int raw = ref_raw_dtype(itp_element_size(a.y));
  const int dtypes[] = {raw, raw, raw};
  const int dtype = itp_dtype_bit(a.y->dtype);
  const uint64_t numbers[2] = {UINT64_C(1) << (a.y->dtype.bits - 1), dtype == ITP_DT_BF16  ? 0x7F80
                                                                     : dtype == ITP_DT_F16 ? 0x7C00
                                                                     : dtype == ITP_DT_F32
                                                                         ? UINT64_C(0x7F800000)
                                                                         : UINT64_C(0x7FF0000000000000)};
  return ref_map("NextafterForward", blocks, REF_U64, tensors, dtypes, 2, numbers, err);
}
