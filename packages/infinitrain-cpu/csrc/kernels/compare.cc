// Comparisons, classes of numbers, and logic: results are bools.
#include "kernels/elementwise.h"

namespace itp {
namespace {

template <class T>
void integer_compare(Compare op, const T *a, const T *b, size_t b_step, uint8_t *y, size_t n) {
  const auto each = [=](auto holds) {
    for (size_t i = 0; i < n; ++i) y[i] = holds(a[i], b[i * b_step]);
  };
  switch (op) {
    case Compare::kEquals:
      return each([](T p, T q) { return p == q; });
    case Compare::kNe:
      return each([](T p, T q) { return p != q; });
    case Compare::kLt:
      return each([](T p, T q) { return p < q; });
    case Compare::kLe:
      return each([](T p, T q) { return p <= q; });
    case Compare::kGt:
      return each([](T p, T q) { return p > q; });
    default:
      return each([](T p, T q) { return p >= q; });
  }
}

itp_status compare(Provider &cpu, const char *name, Compare op, const itp_tensor *a, const itp_tensor *b,
                   const itp_tensor *y, itp_error *err) {
  const Class type = class_of(dtype_of(a));
  const itp_tensor *tensors[] = {a, b, y};
  const Form forms[] = {operand_form(cpu.simd, a), operand_form(cpu.simd, b), raw_form(y)};
  Map map;
  if (!map.begin(tensors, forms, 3)) return different_shapes(name, err);
  const int index = static_cast<int>(op);
  if (type == Class::kF32) {
    const auto f = cpu.simd.f32.compare[index];
    map.run(cpu.pool, 1, [f](const void *const *in, void *out, size_t n) {
      f(as<float>(in[0]), as<float>(in[1]), as<uint8_t>(out), n);
    });
  } else if (type == Class::kF64) {
    const auto f = cpu.simd.f64.compare[index];
    map.run(cpu.pool, 2, [f](const void *const *in, void *out, size_t n) {
      f(as<double>(in[0]), as<double>(in[1]), as<uint8_t>(out), n);
    });
  } else {
    map.run(cpu.pool, 2, [op, type](const void *const *in, void *out, size_t n) {
      if (type == Class::kI64)
        integer_compare(op, as<int64_t>(in[0]), as<int64_t>(in[1]), 1, as<uint8_t>(out), n);
      if (type == Class::kU64)
        integer_compare(op, as<uint64_t>(in[0]), as<uint64_t>(in[1]), 1, as<uint8_t>(out), n);
    });
  }
  return ITP_OK;
}

itp_status compare_scalar(Provider &cpu, const char *name, Compare op, const itp_tensor *x,
                          const itp_value &value, const itp_tensor *y, itp_error *err) {
  const Class type = class_of(dtype_of(x));
  const itp_tensor *tensors[] = {x, y};
  const Form forms[] = {operand_form(cpu.simd, x), raw_form(y)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes(name, err);
  const int index = static_cast<int>(op);
  union {
    float f32;
    double f64;
    int64_t i64;
    uint64_t u64;
  } v;
  load_converted(cpu.simd, value, dtype_of(x), &v);
  if (type == Class::kF32) {
    const auto f = cpu.simd.f32.compare_scalar[index];
    map.run(cpu.pool, 1, [=](const void *const *in, void *out, size_t n) {
      f(as<float>(in[0]), v.f32, as<uint8_t>(out), n);
    });
  } else if (type == Class::kF64) {
    const auto f = cpu.simd.f64.compare_scalar[index];
    map.run(cpu.pool, 2, [=](const void *const *in, void *out, size_t n) {
      f(as<double>(in[0]), v.f64, as<uint8_t>(out), n);
    });
  } else {
    map.run(cpu.pool, 2, [=](const void *const *in, void *out, size_t n) {
      if (type == Class::kI64) integer_compare(op, as<int64_t>(in[0]), &v.i64, 0, as<uint8_t>(out), n);
      if (type == Class::kU64) integer_compare(op, as<uint64_t>(in[0]), &v.u64, 0, as<uint8_t>(out), n);
    });
  }
  return ITP_OK;
}

itp_status predicate(Provider &cpu, const char *name, Predicate op, const itp_tensor *x, const itp_tensor *y,
                     itp_error *err) {
  const itp_tensor *tensors[] = {x, y};
  const Form forms[] = {operand_form(cpu.simd, x), raw_form(y)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes(name, err);
  const int index = static_cast<int>(op);
  if (class_of(dtype_of(x)) == Class::kF32) {
    const auto f = cpu.simd.f32.predicate[index];
    map.run(cpu.pool, 1,
            [f](const void *const *in, void *out, size_t n) { f(as<float>(in[0]), as<uint8_t>(out), n); });
  } else {
    const auto f = cpu.simd.f64.predicate[index];
    map.run(cpu.pool, 2,
            [f](const void *const *in, void *out, size_t n) { f(as<double>(in[0]), as<uint8_t>(out), n); });
  }
  return ITP_OK;
}

// f(a, b) on bools; a missing second operand is the first.
template <class F>
itp_status logical(Provider &cpu, const char *name, const itp_tensor *a, const itp_tensor *b,
                   const itp_tensor *y, itp_error *err, const F &f) {
  const itp_tensor *tensors[] = {a, b, y};
  const Form forms[] = {raw_form(a), raw_form(b), raw_form(y)};
  Map map;
  if (!map.begin(tensors, forms, 3)) return different_shapes(name, err);
  map.run(cpu.pool, 1, [f](const void *const *in, void *out, size_t n) {
    const uint8_t *p = as<uint8_t>(in[0]), *q = as<uint8_t>(in[1]);
    for (size_t i = 0; i < n; ++i) as<uint8_t>(out)[i] = f(p[i] != 0, q[i] != 0);
  });
  return ITP_OK;
}

}  // namespace

#define ITP_COMPARE(Name, op) \
  ITP_CPU_KERNEL(Name) { return compare(cpu, #Name, Compare::op, a.a, a.b, a.y, err); }
#define ITP_COMPARE_SCALAR(Name, op) \
  ITP_CPU_KERNEL(Name) { return compare_scalar(cpu, #Name, Compare::op, a.x, *a.value, a.y, err); }
#define ITP_PREDICATE(Name, op) \
  ITP_CPU_KERNEL(Name) { return predicate(cpu, #Name, Predicate::op, a.x, a.y, err); }

ITP_COMPARE(EqualsForward, kEquals)
ITP_COMPARE(NeForward, kNe)
ITP_COMPARE(LtForward, kLt)
ITP_COMPARE(LeForward, kLe)
ITP_COMPARE(GtForward, kGt)
ITP_COMPARE(GeForward, kGe)

ITP_COMPARE_SCALAR(EqualsScalar, kEquals)
ITP_COMPARE_SCALAR(NeScalar, kNe)
ITP_COMPARE_SCALAR(LtScalar, kLt)
ITP_COMPARE_SCALAR(LeScalar, kLe)
ITP_COMPARE_SCALAR(GtScalar, kGt)
ITP_COMPARE_SCALAR(GeScalar, kGe)

ITP_PREDICATE(IsNanForward, kIsNan)
ITP_PREDICATE(IsInfForward, kIsInf)
ITP_PREDICATE(IsFiniteForward, kIsFinite)
ITP_PREDICATE(SignbitForward, kSignbit)

ITP_CPU_KERNEL(AndForward) {
  return logical(cpu, "AndForward", a.a, a.b, a.y, err, [](bool p, bool q) { return p && q; });
}
ITP_CPU_KERNEL(OrForward) {
  return logical(cpu, "OrForward", a.a, a.b, a.y, err, [](bool p, bool q) { return p || q; });
}
ITP_CPU_KERNEL(XorForward) {
  return logical(cpu, "XorForward", a.a, a.b, a.y, err, [](bool p, bool q) { return p != q; });
}
ITP_CPU_KERNEL(NotForward) {
  return logical(cpu, "NotForward", a.x, a.x, a.y, err, [](bool p, bool) { return !p; });
}

}  // namespace itp
