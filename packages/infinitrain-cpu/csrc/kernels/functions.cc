// Functions of the C library, one element at a time; half types compute in float.
#include <cmath>

#include "kernels/kernel.h"

namespace itp {
namespace {

// f on each element of one or two operands, the output last: f is called with float or with double.
// f(a, b) on each element, as T; of one operand, f(x, x).
template <class T, class F>
void each_element(Provider &cpu, const Map &map, int operands, const F &f) {
  if (operands == 1) {
    map.run(cpu.pool, 16, [&f](const void *const *in, void *out, size_t n) {
      const T *x = static_cast<const T *>(in[0]);
      T *y = static_cast<T *>(out);
      for (size_t i = 0; i < n; ++i) y[i] = f(x[i], x[i]);
    });
    return;
  }
  map.run(cpu.pool, 16, [&f](const void *const *in, void *out, size_t n) {
    const T *a = static_cast<const T *>(in[0]), *b = static_cast<const T *>(in[1]);
    T *y = static_cast<T *>(out);
    for (size_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  });
}

template <class F>
itp_status apply(Provider &cpu, const char *name, const itp_launch *l, itp_error *err, const F &f) {
  const int operands = static_cast<int>(l->n_inputs);
  const itp_tensor *tensors[ITP_MAX_OPERANDS] = {};
  Form forms[ITP_MAX_OPERANDS];
  const Class type = class_of(dtype_of(l->outputs[0]));
  for (int k = 0; k < operands; ++k) {
    tensors[k] = l->inputs[k];
    forms[k] = operand_form(cpu.simd, tensors[k]);
  }
  tensors[operands] = l->outputs[0];
  forms[operands] = output_form(cpu.simd, l->outputs[0], type);
  Map map;
  ITP_REQUIRE(name, map.begin(tensors, forms, operands + 1), "operands of different shapes");
  type == Class::kF64 ? each_element<double>(cpu, map, operands, f)
                      : each_element<float>(cpu, map, operands, f);
  return ITP_OK;
}

template <class T>
T logaddexp(T a, T b) {
  if (a == b) return a + static_cast<T>(0.69314718055994530942);  // equal infinities have no difference
  const T larger = a > b || a != a ? a : b;                       // NaN wins
  return larger + std::log1p(std::exp(-std::fabs(a - b)));
}

}  // namespace

#define ITP_FUNCTION(Name, f)                                            \
  ITP_CPU_KERNEL(Name) {                                                 \
    return apply(cpu, #Name, l, err, [](auto x, auto) { return f(x); }); \
  }
#define ITP_FUNCTION_OF_TWO(Name, f)                                          \
  ITP_CPU_KERNEL(Name) {                                                      \
    return apply(cpu, #Name, l, err, [](auto p, auto q) { return f(p, q); }); \
  }

ITP_FUNCTION(TanForward, std::tan)
ITP_FUNCTION(AsinForward, std::asin)
ITP_FUNCTION(AcosForward, std::acos)
ITP_FUNCTION(AtanForward, std::atan)
ITP_FUNCTION(SinhForward, std::sinh)
ITP_FUNCTION(CoshForward, std::cosh)
ITP_FUNCTION(AsinhForward, std::asinh)
ITP_FUNCTION(AcoshForward, std::acosh)
ITP_FUNCTION(AtanhForward, std::atanh)
ITP_FUNCTION(Expm1Forward, std::expm1)
ITP_FUNCTION(Log1pForward, std::log1p)
ITP_FUNCTION(Log2Forward, std::log2)
ITP_FUNCTION(Log10Forward, std::log10)

ITP_FUNCTION_OF_TWO(Atan2Forward, std::atan2)
ITP_FUNCTION_OF_TWO(HypotForward, std::hypot)
ITP_FUNCTION_OF_TWO(CopysignForward, std::copysign)
ITP_FUNCTION_OF_TWO(LogaddexpForward, logaddexp)

ITP_CPU_KERNEL(SoftplusForward) {
  return apply(cpu, "SoftplusForward", l, err, [&a](auto x, auto) {
    using T = decltype(x);
    const T beta = static_cast<T>(a.beta), scaled = x * beta;
    return scaled > static_cast<T>(a.threshold) ? x : std::log1p(std::exp(scaled)) / beta;
  });
}

}  // namespace itp
