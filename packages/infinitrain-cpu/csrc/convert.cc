#include "convert.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace itp {
namespace {

// ---- one value
// ------------------------------------------------------------------------------------------------

template <class To, class From>
To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  memcpy(&y, &x, sizeof y);
  return y;
}

// To float, rounded towards the neighbour with an odd last bit where the value is not exact. Rounding that to
// a half type then gives what rounding the value itself would: the odd bit remembers that something was cut
// off.
float round_to_odd(double x) {
  const float y = static_cast<float>(x);
  const double back = y;
  if (back == x || x != x || std::isinf(y)) return y;
  const uint32_t bits = bits_as<uint32_t>(y);
  if ((bits & 1) != 0) return y;
  // The other neighbour is the odd one.
  return bits_as<float>((std::fabs(back) < std::fabs(x)) ? bits + 1 : bits - 1);
}

// The same for whole numbers: all but the leading 32 bits decide only whether something was cut off.
float round_to_odd(uint64_t x) {
  if (x >> 53 == 0) return round_to_odd(static_cast<double>(x));
  const int shift = 64 - 32 - __builtin_clzll(x);
  const uint64_t kept = x >> shift << shift;
  return round_to_odd(static_cast<double>(kept | (kept != x ? uint64_t{1} << (shift - 1) : 0)));
}
float round_to_odd(int64_t x) {
  const uint64_t size = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const float y = round_to_odd(size);
  return x < 0 ? -y : y;
}
float round_to_odd(float x) { return x; }

// Towards zero; NaN gives 0; out of range saturates. Integers wrap.
template <class To, class From>
To to_integer(From x) {
  if constexpr (std::is_floating_point_v<From>) {
    // 2^digits is a power of two and exact; the limit itself need not be.
    const From end = std::ldexp(From(1), std::numeric_limits<To>::digits);
    const From begin = std::is_signed_v<To> ? -end : From(0);
    if (x != x) return 0;
    if (x >= end) return std::numeric_limits<To>::max();
    if (x <= begin) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(x);
}

// ---- arrays
// ---------------------------------------------------------------------------------------------------

template <class From, class To>
void widen(const void *from, void *to, size_t n) {
  const From *x = static_cast<const From *>(from);
  To *y = static_cast<To *>(to);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<To>(x[i]);
}

void load_bool(const void *from, void *to, size_t n) {
  const uint8_t *x = static_cast<const uint8_t *>(from);
  uint64_t *y = static_cast<uint64_t *>(to);
  for (size_t i = 0; i < n; ++i) y[i] = x[i] != 0;
}

template <class From>
void to_bool(const void *from, void *to, size_t n) {
  const From *x = static_cast<const From *>(from);
  uint8_t *y = static_cast<uint8_t *>(to);
  for (size_t i = 0; i < n; ++i) y[i] = x[i] != 0;
}

template <class From, class To>
void to_integers(const void *from, void *to, size_t n) {
  const From *x = static_cast<const From *>(from);
  To *y = static_cast<To *>(to);
  for (size_t i = 0; i < n; ++i) y[i] = to_integer<To>(x[i]);
}

template <class From, class Half>
void to_half(const void *from, void *to, size_t n) {
  const From *x = static_cast<const From *>(from);
  Half *y = static_cast<Half *>(to);
  for (size_t i = 0; i < n; ++i) {
    const float f = round_to_odd(x[i]);
    const auto narrow = [&] {
      if constexpr (std::is_same_v<Half, bf16>) return simd_baseline().f32_to_bf16;
      if constexpr (std::is_same_v<Half, f16>) return simd_baseline().f32_to_f16;
    }();
    narrow(&f, &y[i], 1);
  }
}

template <class From>
Convert store_from(int dtype) {
  switch (dtype) {
    case ITP_DT_BOOL:
      return to_bool<From>;
    case ITP_DT_U8:
      return to_integers<From, uint8_t>;
    case ITP_DT_I8:
      return to_integers<From, int8_t>;
    case ITP_DT_U16:
      return to_integers<From, uint16_t>;
    case ITP_DT_I16:
      return to_integers<From, int16_t>;
    case ITP_DT_U32:
      return to_integers<From, uint32_t>;
    case ITP_DT_I32:
      return to_integers<From, int32_t>;
    case ITP_DT_U64:
      return to_integers<From, uint64_t>;
    case ITP_DT_I64:
      return to_integers<From, int64_t>;
    case ITP_DT_BF16:
      return to_half<From, bf16>;
    case ITP_DT_F16:
      return to_half<From, f16>;
    case ITP_DT_F32:
      return widen<From, float>;
    default:
      return widen<From, double>;
  }
}

}  // namespace

Class class_of(int dtype) {
  switch (dtype) {
    case ITP_DT_F64:
      return Class::kF64;
    case ITP_DT_F32:
    case ITP_DT_F16:
    case ITP_DT_BF16:
      return Class::kF32;
    case ITP_DT_I8:
    case ITP_DT_I16:
    case ITP_DT_I32:
    case ITP_DT_I64:
      return Class::kI64;
    default:
      return Class::kU64;
  }
}

Convert load_function(const Simd &simd, int dtype) {
  switch (dtype) {
    case ITP_DT_BOOL:
      return load_bool;
    case ITP_DT_U8:
      return widen<uint8_t, uint64_t>;
    case ITP_DT_I8:
      return widen<int8_t, int64_t>;
    case ITP_DT_U16:
      return widen<uint16_t, uint64_t>;
    case ITP_DT_I16:
      return widen<int16_t, int64_t>;
    case ITP_DT_U32:
      return widen<uint32_t, uint64_t>;
    case ITP_DT_I32:
      return widen<int32_t, int64_t>;
    case ITP_DT_BF16:
      return simd.bf16_to_f32;
    case ITP_DT_F16:
      return simd.f16_to_f32;
    default:
      return nullptr;
  }
}

Convert store_function(const Simd &simd, Class from, int dtype) {
  switch (from) {
    case Class::kF32:
      if (dtype == ITP_DT_BF16) return simd.f32_to_bf16;
      if (dtype == ITP_DT_F16) return simd.f32_to_f16;
      return dtype == ITP_DT_F32 ? nullptr : store_from<float>(dtype);
    case Class::kF64:
      return dtype == ITP_DT_F64 ? nullptr : store_from<double>(dtype);
    case Class::kI64:
      return dtype == ITP_DT_I64 ? nullptr : store_from<int64_t>(dtype);
    default:
      return dtype == ITP_DT_U64 ? nullptr : store_from<uint64_t>(dtype);
  }
}

void load_scalar(const itp_value &value, Class to, void *out) {
  const double f = value.kind == ITP_V_F64 ? value.u.d : static_cast<double>(value.u.i);
  const bool is_float = value.kind == ITP_V_F64;
  if (to == Class::kF32) {
    const float x = is_float ? static_cast<float>(value.u.d) : static_cast<float>(value.u.i);
    memcpy(out, &x, sizeof x);
  } else if (to == Class::kF64) {
    memcpy(out, &f, sizeof f);
  } else if (to == Class::kI64) {
    const int64_t x = is_float ? to_integer<int64_t>(f) : value.u.i;
    memcpy(out, &x, sizeof x);
  } else {
    const uint64_t x = is_float ? to_integer<uint64_t>(f) : static_cast<uint64_t>(value.u.i);
    memcpy(out, &x, sizeof x);
  }
}

void store_scalar(const Simd &simd, const itp_value &value, int dtype, void *out) {
  const Class from = value.kind == ITP_V_F64 ? Class::kF64 : Class::kI64;
  const Convert store = store_function(simd, from, dtype);
  if (store != nullptr) {
    store(&value.u, out, 1);
  } else {
    memcpy(out, &value.u, sizeof value.u);
  }
}

void load_converted(const Simd &simd, const itp_value &value, int dtype, void *out) {
  uint64_t stored = 0;
  store_scalar(simd, value, dtype, &stored);
  const Convert load = load_function(simd, dtype);
  if (load != nullptr) {
    load(&stored, out, 1);
  } else {
    memcpy(out, &stored, class_of(dtype) == Class::kF32 ? 4 : 8);
  }
}

}  // namespace itp
