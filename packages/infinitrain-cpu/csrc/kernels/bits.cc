// Kernels on bit patterns, each at the width that its dtype has: nothing is converted.
#include <type_traits>

#include "kernels/kernel.h"

namespace itp {
namespace {

template <class T, class F>
itp_status map_raw(Provider &cpu, const char *name, const itp_tensor *a, const itp_tensor *b,
                   const itp_tensor *y, itp_error *err, const F &f) {
  const itp_tensor *tensors[] = {a, b, y};
  const Form forms[] = {raw_form(a), raw_form(b), raw_form(y)};
  Map map;
  ITP_REQUIRE(name, map.begin(tensors, forms, 3), "operands of different shapes");
  map.run(cpu.pool, 1, [&f](const void *const *in, void *out, size_t n) {
    const T *p = static_cast<const T *>(in[0]), *q = static_cast<const T *>(in[1]);
    T *z = static_cast<T *>(out);
    for (size_t i = 0; i < n; ++i) z[i] = static_cast<T>(f(p[i], q[i]));
  });
  return ITP_OK;
}

// f(a, b) on integers of the type that `y` has.
template <class F>
itp_status integers(Provider &cpu, const char *name, const itp_tensor *a, const itp_tensor *b,
                    const itp_tensor *y, itp_error *err, const F &f) {
  switch (dtype_of(y)) {
    case ITP_DT_U8:
      return map_raw<uint8_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_I8:
      return map_raw<int8_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_U16:
      return map_raw<uint16_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_I16:
      return map_raw<int16_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_U32:
      return map_raw<uint32_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_I32:
      return map_raw<int32_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_U64:
      return map_raw<uint64_t>(cpu, name, a, b, y, err, f);
    case ITP_DT_I64:
      return map_raw<int64_t>(cpu, name, a, b, y, err, f);
    default:
      return ITP_FAIL(err, UNIMPLEMENTED, name, "expected an integer dtype, found code %d of %d bits",
                      y->dtype.code, y->dtype.bits);
  }
}

// A negative count is a large one: what lies beyond the width is an endless shift.
struct Left {
  template <class T>
  T operator()(T a, T count) const {
    using U = std::make_unsigned_t<T>;
    constexpr unsigned kBits = 8 * sizeof(T);
    const U n = static_cast<U>(count);
    return n < kBits ? static_cast<T>(static_cast<uint64_t>(a) << n) : T(0);
  }
};
struct Right {
  template <class T>
  T operator()(T a, T count) const {
    using U = std::make_unsigned_t<T>;
    constexpr unsigned kBits = 8 * sizeof(T);
    const U n = static_cast<U>(count);
    if (n < kBits) return static_cast<T>(a >> n);
    return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T(0);
  }
};

// The next pattern of a half type, whose patterns count up from 0 on both sides of it.
uint16_t next_half(uint16_t a, uint16_t b, int infinity) {
  const auto place = [](uint16_t bits) { return (bits & 0x8000) != 0 ? -(bits & 0x7FFF) : bits & 0x7FFF; };
  if ((a & 0x7FFF) > infinity) return a;
  const int from = place(a), to = place(b);
  if ((b & 0x7FFF) > infinity || from == to) return b;
  const int next = to > from ? from + 1 : from - 1;
  if (next == 0) return a & 0x8000;
  return static_cast<uint16_t>(next < 0 ? 0x8000 | -next : next);
}

}  // namespace

#define ITP_BITWISE(Name, f) \
  ITP_CPU_KERNEL(Name) { return integers(cpu, #Name, a.a, a.b, a.y, err, f); }

ITP_BITWISE(BitwiseAndForward, [](auto p, auto q) { return p & q; })
ITP_BITWISE(BitwiseOrForward, [](auto p, auto q) { return p | q; })
ITP_BITWISE(BitwiseXorForward, [](auto p, auto q) { return p ^ q; })
ITP_BITWISE(LeftShiftForward, Left())
ITP_BITWISE(RightShiftForward, Right())

ITP_CPU_KERNEL(BitwiseNotForward) {
  return integers(cpu, "BitwiseNotForward", a.x, a.x, a.y, err, [](auto p, auto) { return ~p; });
}

ITP_CPU_KERNEL(NextafterForward) {
  const char *name = "NextafterForward";
  switch (dtype_of(a.y)) {
    case ITP_DT_F64:
      return map_raw<double>(cpu, name, a.a, a.b, a.y, err,
                             [](double p, double q) { return __builtin_nextafter(p, q); });
    case ITP_DT_F32:
      return map_raw<float>(cpu, name, a.a, a.b, a.y, err,
                            [](float p, float q) { return __builtin_nextafterf(p, q); });
    default: {
      const int infinity = dtype_of(a.y) == ITP_DT_BF16 ? 0x7F80 : 0x7C00;
      return map_raw<uint16_t>(cpu, name, a.a, a.b, a.y, err,
                               [=](uint16_t p, uint16_t q) { return next_half(p, q, infinity); });
    }
  }
}

}  // namespace itp
