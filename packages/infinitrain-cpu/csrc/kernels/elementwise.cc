// Elementwise kernels. Floats go to the instruction set's table; integers are computed here at full width and
// cut when stored.
#include "kernels/elementwise.h"

namespace itp {
namespace {

// ---- integers: on uint64_t, where wrapping is defined; what the sign changes asks for int64_t by name ----

using Integer = uint64_t (*)(uint64_t a, uint64_t b);

int64_t sign(uint64_t a) { return static_cast<int64_t>(a); }

uint64_t floor_divide_signed(uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  if (sign(b) == -1) return 0 - a;  // the smallest integer wraps
  const int64_t q = sign(a) / sign(b), r = sign(a) % sign(b);
  return static_cast<uint64_t>(r != 0 && (r < 0) != (sign(b) < 0) ? q - 1 : q);
}
uint64_t remainder_signed(uint64_t a, uint64_t b) {
  if (b == 0 || sign(b) == -1) return 0;
  const int64_t r = sign(a) % sign(b);
  return static_cast<uint64_t>(r != 0 && (r < 0) != (sign(b) < 0) ? r + sign(b) : r);
}
uint64_t power_unsigned(uint64_t a, uint64_t b) {
  uint64_t y = 1;
  for (; b != 0; b >>= 1, a *= a) {
    if ((b & 1) != 0) y *= a;
  }
  return y;
}
uint64_t power_signed(uint64_t a, uint64_t b) {
  if (sign(b) >= 0) return power_unsigned(a, b);
  return a == 1 ? 1 : sign(a) != -1 ? 0 : (b & 1) != 0 ? a : 1;
}

uint64_t fmod_signed(uint64_t a, uint64_t b) {
  if (b == 0 || sign(b) == -1) return 0;
  return static_cast<uint64_t>(sign(a) % sign(b));
}

struct IntegerFunctions {
  Integer on_signed, on_unsigned;
};

IntegerFunctions integer_functions(Binary op) {
  const Integer none = nullptr;
  switch (op) {
    case Binary::kMaximum:
      return {[](uint64_t a, uint64_t b) { return sign(a) > sign(b) ? a : b; },
              [](uint64_t a, uint64_t b) { return a > b ? a : b; }};
    case Binary::kMinimum:
      return {[](uint64_t a, uint64_t b) { return sign(a) < sign(b) ? a : b; },
              [](uint64_t a, uint64_t b) { return a < b ? a : b; }};
    case Binary::kFloorDivide:
      return {floor_divide_signed, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }};
    case Binary::kRemainder:
      return {remainder_signed, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }};
    case Binary::kFmod:
      return {fmod_signed, [](uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }};
    case Binary::kPow:
      return {power_signed, power_unsigned};
    default:
      return {none, none};
  }
}

void integer_binary(Binary op, bool is_signed, const uint64_t *a, const uint64_t *b, uint64_t *y, size_t n) {
  switch (op) {
    case Binary::kAdd:
      for (size_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
      return;
    case Binary::kSub:
      for (size_t i = 0; i < n; ++i) y[i] = a[i] - b[i];
      return;
    case Binary::kMul:
      for (size_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
      return;
    default: {
      const IntegerFunctions f = integer_functions(op);
      const Integer function = is_signed ? f.on_signed : f.on_unsigned;
      for (size_t i = 0; i < n; ++i) y[i] = function(a[i], b[i]);
    }
  }
}

void integer_unary(Unary op, bool is_signed, const uint64_t *x, uint64_t *y, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const bool negative = is_signed && sign(x[i]) < 0;
    y[i] = op == Unary::kNeg      ? 0 - x[i]
           : op == Unary::kAbs    ? (negative ? 0 - x[i] : x[i])
           : op == Unary::kSquare ? x[i] * x[i]
           : op == Unary::kSign   ? (negative ? ~UINT64_C(0) : x[i] != 0)
           : negative             ? 0
                                  : x[i];
  }
}

// ---- any dtype ---------------------------------------------------------------------------------------

itp_status unary(Provider &cpu, const char *name, Unary op, int64_t cost, const itp_tensor *x,
                 const itp_tensor *y, itp_error *err) {
  const Class type = class_of(dtype_of(x));
  const itp_tensor *tensors[] = {x, y};
  const Form forms[] = {operand_form(cpu.simd, x), output_form(cpu.simd, y, type)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes(name, err);
  const int index = static_cast<int>(op);
  if (type == Class::kF32) {
    const auto f = cpu.simd.f32.unary[index];
    map.run(cpu.pool, cost,
            [f](const void *const *in, void *out, size_t n) { f(as<float>(in[0]), as<float>(out), n); });
  } else if (type == Class::kF64) {
    const auto f = cpu.simd.f64.unary[index];
    map.run(cpu.pool, 4 * cost,
            [f](const void *const *in, void *out, size_t n) { f(as<double>(in[0]), as<double>(out), n); });
  } else {
    map.run(cpu.pool, cost, [op, type](const void *const *in, void *out, size_t n) {
      integer_unary(op, type == Class::kI64, as<uint64_t>(in[0]), as<uint64_t>(out), n);
    });
  }
  return ITP_OK;
}

itp_status binary(Provider &cpu, const char *name, Binary op, int64_t cost, const itp_tensor *a,
                  const itp_tensor *b, const itp_tensor *y, itp_error *err) {
  const Class type = class_of(dtype_of(a));
  const itp_tensor *tensors[] = {a, b, y};
  const Form forms[] = {operand_form(cpu.simd, a), operand_form(cpu.simd, b), output_form(cpu.simd, y, type)};
  Map map;
  if (!map.begin(tensors, forms, 3)) return different_shapes(name, err);
  const int index = static_cast<int>(op);
  if (type == Class::kF32) {
    const auto f = cpu.simd.f32.binary[index];
    map.run(cpu.pool, cost, [f](const void *const *in, void *out, size_t n) {
      f(as<float>(in[0]), as<float>(in[1]), as<float>(out), n);
    });
  } else if (type == Class::kF64) {
    const auto f = cpu.simd.f64.binary[index];
    map.run(cpu.pool, 2 * cost, [f](const void *const *in, void *out, size_t n) {
      f(as<double>(in[0]), as<double>(in[1]), as<double>(out), n);
    });
  } else {
    map.run(cpu.pool, cost, [op, type](const void *const *in, void *out, size_t n) {
      integer_binary(op, type == Class::kI64, as<uint64_t>(in[0]), as<uint64_t>(in[1]), as<uint64_t>(out), n);
    });
  }
  return ITP_OK;
}

// y = x op value.
itp_status scalar(Provider &cpu, const char *name, Binary op, const itp_tensor *x, const itp_value &value,
                  const itp_tensor *y, itp_error *err) {
  const Class type = class_of(dtype_of(x));
  const itp_tensor *tensors[] = {x, y};
  const Form forms[] = {operand_form(cpu.simd, x), output_form(cpu.simd, y, type)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes(name, err);
  if (type == Class::kF32) {
    float v;
    load_scalar(value, type, &v);
    const auto f = op == Binary::kAdd ? cpu.simd.f32.add_scalar : cpu.simd.f32.mul_scalar;
    map.run(cpu.pool, 1,
            [=](const void *const *in, void *out, size_t n) { f(as<float>(in[0]), v, as<float>(out), n); });
  } else if (type == Class::kF64) {
    double v;
    load_scalar(value, type, &v);
    const auto f = op == Binary::kAdd ? cpu.simd.f64.add_scalar : cpu.simd.f64.mul_scalar;
    map.run(cpu.pool, 2,
            [=](const void *const *in, void *out, size_t n) { f(as<double>(in[0]), v, as<double>(out), n); });
  } else {
    // Converted to T first, which saturates and cuts, then widened again.
    uint64_t v;
    load_converted(cpu.simd, value, dtype_of(x), &v);
    map.run(cpu.pool, 2, [=](const void *const *in, void *out, size_t n) {
      const uint64_t *p = as<uint64_t>(in[0]);
      uint64_t *q = as<uint64_t>(out);
      for (size_t i = 0; i < n; ++i) q[i] = op == Binary::kAdd ? p[i] + v : p[i] * v;
    });
  }
  return ITP_OK;
}

}  // namespace

// ---- the rows ----------------------------------------------------------------------------------------

#define ITP_UNARY(Name, op, cost) \
  ITP_CPU_KERNEL(Name) { return unary(cpu, #Name, Unary::op, cost, a.x, a.y, err); }
#define ITP_BINARY(Name, op, cost) \
  ITP_CPU_KERNEL(Name) { return binary(cpu, #Name, Binary::op, cost, a.a, a.b, a.y, err); }

ITP_UNARY(NegForward, kNeg, 1)
ITP_UNARY(AbsForward, kAbs, 1)
ITP_UNARY(ReluForward, kRelu, 1)
ITP_UNARY(ReciprocalForward, kReciprocal, 1)
ITP_UNARY(SqrtForward, kSqrt, 1)
ITP_UNARY(RsqrtForward, kRsqrt, 2)
ITP_UNARY(ExpForward, kExp, 4)
ITP_UNARY(LogForward, kLog, 4)
ITP_UNARY(SinForward, kSin, 16)
ITP_UNARY(CosForward, kCos, 16)
ITP_UNARY(TanhForward, kTanh, 4)
ITP_UNARY(SigmoidForward, kSigmoid, 4)
ITP_UNARY(SiluForward, kSilu, 4)
ITP_UNARY(ErfForward, kErf, 4)
ITP_UNARY(SquareForward, kSquare, 1)
ITP_UNARY(SignForward, kSign, 1)
ITP_UNARY(FloorForward, kFloor, 1)
ITP_UNARY(CeilForward, kCeil, 1)
ITP_UNARY(TruncForward, kTrunc, 1)
ITP_UNARY(RoundForward, kRound, 1)

ITP_BINARY(AddForward, kAdd, 1)
ITP_BINARY(SubForward, kSub, 1)
ITP_BINARY(MulForward, kMul, 1)
ITP_BINARY(DivForward, kDiv, 1)
ITP_BINARY(MaximumForward, kMaximum, 1)
ITP_BINARY(MinimumForward, kMinimum, 1)
ITP_BINARY(FloorDivideForward, kFloorDivide, 16)
ITP_BINARY(RemainderForward, kRemainder, 16)
ITP_BINARY(FmodForward, kFmod, 16)
ITP_BINARY(PowForward, kPow, 16)

ITP_CPU_KERNEL(TanhBackward) {
  return binary(cpu, "TanhBackward", Binary::kTanhBackward, 1, a.y, a.grad, a.dx, err);
}
ITP_CPU_KERNEL(SigmoidBackward) {
  return binary(cpu, "SigmoidBackward", Binary::kSigmoidBackward, 1, a.y, a.grad, a.dx, err);
}
ITP_CPU_KERNEL(ReluBackward) {
  return binary(cpu, "ReluBackward", Binary::kReluBackward, 1, a.y, a.grad, a.dx, err);
}
ITP_CPU_KERNEL(GeluForward) {
  return unary(cpu, "GeluForward", a.tanh ? Unary::kGeluTanh : Unary::kGeluErf, 4, a.x, a.y, err);
}
ITP_CPU_KERNEL(GeluBackward) {
  return binary(cpu, "GeluBackward", a.tanh ? Binary::kGeluTanhBackward : Binary::kGeluErfBackward, 4, a.x,
                a.grad, a.dx, err);
}

ITP_CPU_KERNEL(SiluBackward) {
  return binary(cpu, "SiluBackward", Binary::kSiluBackward, 4, a.x, a.grad, a.dx, err);
}

ITP_CPU_KERNEL(AddScalar) { return scalar(cpu, "AddScalar", Binary::kAdd, a.x, *a.value, a.y, err); }
ITP_CPU_KERNEL(MulScalar) { return scalar(cpu, "MulScalar", Binary::kMul, a.x, *a.value, a.y, err); }

ITP_CPU_KERNEL(LeakyReluForward) {
  const Class type = class_of(dtype_of(a.x));
  const itp_tensor *tensors[] = {a.x, a.y};
  const Form forms[] = {operand_form(cpu.simd, a.x), output_form(cpu.simd, a.y, type)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes("LeakyReluForward", err);
  if (type == Class::kF32) {
    map.run(
        cpu.pool, 1,
        [f = cpu.simd.f32.leaky_relu, slope = static_cast<float>(a.slope)](
            const void *const *in, void *out, size_t n) { f(as<float>(in[0]), slope, as<float>(out), n); });
  } else {
    map.run(cpu.pool, 2,
            [f = cpu.simd.f64.leaky_relu, slope = a.slope](const void *const *in, void *out, size_t n) {
              f(as<double>(in[0]), slope, as<double>(out), n);
            });
  }
  return ITP_OK;
}

}  // namespace itp
