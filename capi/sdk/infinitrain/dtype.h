/* Element types: bit position, size, and the conversions of the half types. Convenience, not part of the ABI.
 */
#ifndef INFINITRAIN_DTYPE_H_
#define INFINITRAIN_DTYPE_H_

#include <stdint.h>
#include <string.h>

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

/* The type codes of DLPack's DLDataTypeCode that the contract uses. */
#define ITP_CODE_INT 0
#define ITP_CODE_UINT 1
#define ITP_CODE_FLOAT 2
#define ITP_CODE_BFLOAT 4
#define ITP_CODE_BOOL 6

/* Bytes of one element. */
ITP_MAYBE_UNUSED static inline uint32_t itp_itemsize(itp_dtype dtype) { return (dtype.bits + 7u) / 8u; }

/* The ITP_DT_* bit position of a dtype, -1 for one that the contract does not have. */
ITP_MAYBE_UNUSED static inline int itp_dtype_bit(itp_dtype dtype) {
  if (dtype.lanes != 1) return -1;
  switch (dtype.code * 256 + dtype.bits) {
    case ITP_CODE_BOOL * 256 + 8:
      return ITP_DT_BOOL;
    case ITP_CODE_UINT * 256 + 8:
      return ITP_DT_U8;
    case ITP_CODE_INT * 256 + 8:
      return ITP_DT_I8;
    case ITP_CODE_UINT * 256 + 16:
      return ITP_DT_U16;
    case ITP_CODE_INT * 256 + 16:
      return ITP_DT_I16;
    case ITP_CODE_UINT * 256 + 32:
      return ITP_DT_U32;
    case ITP_CODE_INT * 256 + 32:
      return ITP_DT_I32;
    case ITP_CODE_UINT * 256 + 64:
      return ITP_DT_U64;
    case ITP_CODE_INT * 256 + 64:
      return ITP_DT_I64;
    case ITP_CODE_BFLOAT * 256 + 16:
      return ITP_DT_BF16;
    case ITP_CODE_FLOAT * 256 + 16:
      return ITP_DT_F16;
    case ITP_CODE_FLOAT * 256 + 32:
      return ITP_DT_F32;
    case ITP_CODE_FLOAT * 256 + 64:
      return ITP_DT_F64;
    default:
      return -1;
  }
}

/* The dtype at an ITP_DT_* bit position. */
ITP_MAYBE_UNUSED static inline itp_dtype itp_dtype_at(int bit) {
  static const itp_dtype dtypes[] = {
      {ITP_CODE_BOOL, 8, 1},  {ITP_CODE_UINT, 8, 1},    {ITP_CODE_INT, 8, 1},    {ITP_CODE_UINT, 16, 1},
      {ITP_CODE_INT, 16, 1},  {ITP_CODE_UINT, 32, 1},   {ITP_CODE_INT, 32, 1},   {ITP_CODE_UINT, 64, 1},
      {ITP_CODE_INT, 64, 1},  {ITP_CODE_BFLOAT, 16, 1}, {ITP_CODE_FLOAT, 16, 1}, {ITP_CODE_FLOAT, 32, 1},
      {ITP_CODE_FLOAT, 64, 1}};
  static const itp_dtype none = {0, 0, 0};
  return bit >= 0 && bit <= ITP_DT_F64 ? dtypes[bit] : none;
}

ITP_MAYBE_UNUSED static inline uint32_t itp_f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

ITP_MAYBE_UNUSED static inline float itp_f32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* bfloat16 is the upper half of a float32. */
ITP_MAYBE_UNUSED static inline float itp_bf16_to_f32(uint16_t bits) {
  return itp_f32_from_bits((uint32_t)bits << 16);
}

/* Nearest, ties to even; a NaN stays a (quiet) NaN instead of being carried into infinity. */
ITP_MAYBE_UNUSED static inline uint16_t itp_f32_to_bf16(float value) {
  const uint32_t bits = itp_f32_bits(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/* IEEE binary16, exact. */
ITP_MAYBE_UNUSED static inline float itp_f16_to_f32(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1Fu;
  const uint32_t fraction = half & 0x3FFu;
  if (exponent == 0x1F) return itp_f32_from_bits(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) return itp_f32_from_bits(sign | ((exponent + 112u) << 23) | (fraction << 13));
  const float magnitude = (float)fraction * (1.0f / 16777216.0f); /* subnormal: fraction * 2^-24, exact */
  return itp_f32_from_bits(sign | itp_f32_bits(magnitude));
}

/* Nearest, ties to even; overflow gives infinity, NaN stays NaN. */
ITP_MAYBE_UNUSED static inline uint16_t itp_f32_to_f16(float value) {
  const uint32_t bits = itp_f32_bits(value);
  const uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return (uint16_t)(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
  if (magnitude >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u); /* 65520 and above round to infinity */
  if (magnitude >= 0x38800000u) {                                  /* normal: rebias, round at bit 13 */
    const uint32_t rounded = magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u);
    return (uint16_t)(sign | (rounded >> 13));
  }
  if (magnitude < 0x33000000u) return sign; /* below half of the smallest subnormal */
  const uint32_t shift = 126u - (magnitude >> 23);
  const uint32_t fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint32_t kept = fraction >> shift;
  const uint32_t rest = fraction & ((1u << shift) - 1u);
  const uint32_t half = 1u << (shift - 1u);
  return (uint16_t)(sign | (kept + (rest > half || (rest == half && (kept & 1u)))));
}

#endif
