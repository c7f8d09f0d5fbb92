// Gradients and optimizers.
#include <cmath>

#include "kernels/kernel.h"

namespace itp {

ITP_CPU_KERNEL(AccumulateGrad) {
  const int64_t n = itp_numel(a.y);
  const float rate = a.rate != nullptr ? *data<float>(a.rate) : 1.0f;
  return with_float("AccumulateGrad", a.y, err, [&](auto element) {
    using T = decltype(element);
    cpu.pool.range(n, 32768, [&](int64_t begin, int64_t end) {
      cpu.simd.rows<T>().axpy(data<T>(a.grad) + begin, rate, data<T>(a.y) + begin,
                              static_cast<size_t>(end - begin));
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(AdamAccumulateGrad) {
  const int64_t n = itp_numel(a.param);
  const double lr = static_cast<double>(*data<float>(a.lr));
  const double step = static_cast<double>(*data<int64_t>(a.step));
  return with_float("AdamAccumulateGrad", a.param, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    AdamConstants<A> c;
    c.beta1 = static_cast<A>(a.beta1);
    c.beta2 = static_cast<A>(a.beta2);
    c.rest1 = static_cast<A>(1 - a.beta1);
    c.rest2 = static_cast<A>(1 - a.beta2);
    c.eps = static_cast<A>(a.eps);
    c.decay = static_cast<A>(1 - lr * a.weight_decay);
    c.step_size = static_cast<A>(lr / (1 - std::pow(a.beta1, step)));
    c.rsqrt_bias = static_cast<A>(1 / std::sqrt(1 - std::pow(a.beta2, step)));
    c.grad_scale = a.grad_scale != nullptr ? static_cast<A>(*data<float>(a.grad_scale)) : 1;
    cpu.pool.range(n, 16384, [&](int64_t begin, int64_t end) {
      cpu.simd.rows<T>().adam(data<T>(a.grad) + begin, data<T>(a.param) + begin, data<A>(a.m) + begin,
                              data<A>(a.v) + begin, static_cast<size_t>(end - begin), c);
    });
    return ITP_OK;
  });
}

}  // namespace itp
