// Functions over whole rows, on any stored float type. Compiled once per instruction set.
#include "simd/math.h"
#include "simd/parts.h"

namespace itp {
namespace ITP_ISA {
namespace {

template <class S>
double sum_row(const S *x, size_t n) {
  return sum<vec<S>>(n, [=](auto at) { return at.load(x); });
}

template <class S>
double sum_squares(const S *x, size_t n) {
  return sum<vec<S>>(n, [=](auto at) {
    const vec<S> v = at.load(x);
    return v * v;
  });
}

template <class S>
void add_to(const S *x, acc<S> *total, size_t n) {
  each<vec<S>>(n, [=](auto at) { at.store(total, at.load(total) + at.load(x)); });
}

template <class S>
void add_four_to(const S *const x[4], acc<S> *total, size_t n) {
  const S *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  each<vec<S>>(n, [=](auto at) {
    const vec<S> four = (at.load(x0) + at.load(x1)) + (at.load(x2) + at.load(x3));
    at.store(total, at.load(total) + four);
  });
}

template <class S>
void multiply(const S *x, const acc<S> *factor, S *y, size_t n) {
  each<vec<S>>(n, [=](auto at) {
    const vec<S> f = at.load(factor), product = at.load(x) * f;
    at.store(y, f == 0 ? vec<S>{} : product);
  });
}

template <class S>
void axpy(const S *x, acc<S> rate, S *y, size_t n) {
  each<vec<S>>(n, [=](auto at) { at.store(y, fma(all<vec<S>>(rate), at.load(x), at.load(y))); });
}

template <class S>
void add_bias(const acc<S> *x, const S *bias, S *y, size_t n) {
  if (bias == nullptr) {
    each<vec<S>>(n, [=](auto at) { at.store(y, at.load(x)); });
  } else {
    each<vec<S>>(n, [=](auto at) { at.store(y, at.load(x) + at.load(bias)); });
  }
}

// ---- softmax and cross-entropy ------------------------------------------------------------------------

template <class S>
void softmax(const S *x, S *y, size_t n, acc<S> scale) {
  using A = acc<S>;
  const A top = largest<vec<S>>(n, [=](auto at) { return at.load(x) * scale; });
  constexpr bool keeps = sizeof(S) == sizeof(A);  // y can hold what the sum is made of
  const A total = sum<vec<S>>(n, [=](auto at) {
    const vec<S> e = exp(at.load(x) * scale - top);
    if (keeps) at.store(y, e);
    return e;
  });
  const A factor = 1 / total;
  each<vec<S>>(n, [=](auto at) {
    const vec<S> e = keeps ? at.load(y) : exp(at.load(x) * scale - top);
    at.store(y, e * factor);
  });
}

template <class S>
void softmax_backward(const S *y, const S *grad, S *dx, size_t n, acc<S> scale) {
  const acc<S> dot = sum<vec<S>>(n, [=](auto at) { return at.load(y) * at.load(grad); });
  each<vec<S>>(n, [=](auto at) { at.store(dx, at.load(y) * scale * (at.load(grad) - dot)); });
}

// One pass over memory: a block's maximum and sum are found while it is in the first-level cache, and the sum
// so far is rescaled when the maximum grows.
template <class S>
acc<S> log_sum_exp(const S *x, size_t n) {
  using A = acc<S>;
  constexpr size_t block = 2048;
  A top = -__builtin_inff();
  double total = 0;
  for (size_t i = 0; i < n; i += block, x += block) {
    const size_t m = n - i < block ? n - i : block;
    const A here = largest<vec<S>>(m, [=](auto at) { return at.load(x); });
    const A next = maximum(top, here);
    if (next - next != 0) {  // infinite or NaN: minus infinity adds nothing, the others decide
      if (next != -__builtin_inff()) return next;
      continue;
    }
    const A part = sum<vec<S>>(m, [=](auto at) { return exp(at.load(x) - next); });
    total = total * __builtin_exp(static_cast<double>(top) - static_cast<double>(next)) + part;
    top = next;
  }
  return static_cast<A>(top + __builtin_log(total));
}

template <class S>
void cross_entropy_backward(const S *x, S *dx, size_t n, acc<S> lse, acc<S> grad) {
  each<vec<S>>(n, [=](auto at) { at.store(dx, exp(at.load(x) - lse) * grad); });
}

// ---- LayerNorm. Ba, Kiros and Hinton 2016 ---------------------------------------------------------------

template <class S>
void layer_norm(const S *x, const S *weight, const S *bias, S *y, size_t n, double eps, acc<S> *mean,
                acc<S> *rstd) {
  using A = acc<S>;
  using V = vec<S>;
  const A center = sum<V>(n, [=](auto at) { return at.load(x); }) / static_cast<A>(n);
  const A variance = sum<V>(n,
                            [=](auto at) {
                              const V d = at.load(x) - center;
                              return d * d;
                            }) /
                     static_cast<A>(n);
  const A scale = static_cast<A>(1 / __builtin_sqrt(variance + eps));
  // What rounding the mean left over: it counts where the mean is large and the spread is small.
  const A rest = sum<V>(n, [=](auto at) { return at.load(x) - center; }) / static_cast<A>(n);
  each<V>(n, [=](auto at) {
    V v = ((at.load(x) - center) - rest) * scale;
    if (weight != nullptr) v = v * at.load(weight);
    if (bias != nullptr) v = v + at.load(bias);
    at.store(y, v);
  });
  *mean = center;
  *rstd = scale;
}

// With h = (x - mean) rstd and u = grad weight: dx = rstd (u - mean(u) - h mean(u h)).
template <class S>
void layer_norm_backward(const S *x, const S *weight, const S *grad, S *dx, size_t n, acc<S> mean,
                         acc<S> rstd) {
  using A = acc<S>;
  using V = vec<S>;
  const auto scaled = [=](auto at) {
    return weight != nullptr ? at.load(grad) * at.load(weight) : at.load(grad);
  };
  const A size = static_cast<A>(n);
  const A mean_u = sum<V>(n, scaled) / size;
  const A mean_uh = sum<V>(n, [=](auto at) { return scaled(at) * ((at.load(x) - mean) * rstd); }) / size;
  each<V>(n, [=](auto at) {
    const V h = (at.load(x) - mean) * rstd;
    at.store(dx, rstd * (scaled(at) - mean_u - h * mean_uh));
  });
}

template <class S>
void layer_norm_parameters(const S *x, const S *grad, acc<S> *dweight, acc<S> *dbias, size_t n, acc<S> mean,
                           acc<S> rstd) {
  using V = vec<S>;
  each<V>(n, [=](auto at) {
    const V g = at.load(grad);
    at.store(dweight, at.load(dweight) + g * ((at.load(x) - mean) * rstd));
    at.store(dbias, at.load(dbias) + g);
  });
}

// ---- AdamW. Loshchilov and Hutter 2019, algorithm 2 -------------------------------------------------------

template <class S>
void adam(const S *grad, S *param, acc<S> *m, acc<S> *v, size_t n, const AdamConstants<acc<S>> &constants) {
  using A = acc<S>;
  using V = vec<S>;
  const AdamConstants<A> c = constants;
  each<V>(n, [=](auto at) {
    const V g = at.load(grad) * c.grad_scale;
    const V first = at.load(m) * c.beta1 + g * c.rest1;
    const V second = at.load(v) * c.beta2 + g * g * c.rest2;
    const V change = first / (sqrt(second) * c.rsqrt_bias + c.eps);
    at.store(m, first);
    at.store(v, second);
    at.store(param, at.load(param) * c.decay - change * c.step_size);
  });
}

template <class S>
constexpr RowTable<S> row_table() {
  return {sum_row<S>,
          sum_squares<S>,
          add_to<S>,
          add_four_to<S>,
          softmax<S>,
          softmax_backward<S>,
          log_sum_exp<S>,
          cross_entropy_backward<S>,
          layer_norm<S>,
          layer_norm_backward<S>,
          layer_norm_parameters<S>,
          multiply<S>,
          axpy<S>,
          adam<S>,
          add_bias<S>};
}

}  // namespace

void add_rows(Simd *table) {
  table->rows_f32 = row_table<float>();
  table->rows_f64 = row_table<double>();
  table->rows_bf16 = row_table<bf16>();
  table->rows_f16 = row_table<f16>();
}

}  // namespace ITP_ISA
}  // namespace itp
