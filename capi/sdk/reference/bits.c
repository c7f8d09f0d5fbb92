/* Bitwise kernels of integers. Signed ones arrive sign-extended to 64 bits, so that both shifts are right at
 * every width. */
#include "map.h"

#define BITWISE(Name, of_signed, of_unsigned)                                      \
  BINARY(Name, i64, int64_t, int64_t, of_signed)                                   \
  BINARY(Name, u64, uint64_t, uint64_t, of_unsigned)                               \
  static const ref_block_set Name##_blocks = {NULL, NULL, Name##_i64, Name##_u64}; \
  KERNEL(Name)

BITWISE(BitwiseAndForward, a &b, a &b)
BITWISE(BitwiseOrForward, a | b, a | b)
BITWISE(BitwiseXorForward, a ^ b, a ^ b)

UNARY(BitwiseNotForward, i64, int64_t, int64_t, ~x)
UNARY(BitwiseNotForward, u64, uint64_t, uint64_t, ~x)
static const ref_block_set BitwiseNotForward_blocks = {NULL, NULL, BitwiseNotForward_i64,
                                                       BitwiseNotForward_u64};
KERNEL(BitwiseNotForward)

/* A shift count that C does not define is an endless shift. */
static uint64_t left(uint64_t a, uint64_t count) { return count > 63 ? 0 : a << count; }
static uint64_t right_unsigned(uint64_t a, uint64_t count) { return count > 63 ? 0 : a >> count; }
static int64_t right_signed(int64_t a, uint64_t count) {
  if (count > 63) count = 63;
  return a < 0 ? ~(int64_t)(~(uint64_t)a >> count) : (int64_t)((uint64_t)a >> count);
}

BITWISE(LeftShiftForward, left((uint64_t)a, (uint64_t)b), left(a, b))
BITWISE(RightShiftForward, right_signed(a, (uint64_t)b), right_unsigned(a, b))
