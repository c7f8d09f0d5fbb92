// Random numbers and dropout. The bits are infinitrain/philox.h's, the same on every provider.
#include <algorithm>

#include "infinitrain/philox.h"
#include "kernels/kernel.h"

namespace itp {
namespace {

// f(begin, words, n) with the words of elements [begin, begin + n), in blocks on all threads.
template <class F>
void each_block(Provider &cpu, const itp_tensor *state, int64_t n, const F &f) {
  const uint64_t seed = data<uint64_t>(state)[0], offset = data<uint64_t>(state)[1];
  cpu.pool.range(n, 4 * kBlock, [&](int64_t begin, int64_t end) {
    uint32_t words[kBlock];
    for (; begin < end; begin += kBlock) {
      const int64_t here = std::min(kBlock, end - begin);
      cpu.simd.philox(seed, offset + static_cast<uint64_t>(begin / 4), words,
                      static_cast<size_t>((here + 3) / 4));
      f(begin, words, here);
    }
  });
}

// y from fill(words, values, n), computed in double and rounded once.
template <class F>
void draw(Provider &cpu, const itp_tensor *state, const itp_tensor *y, const F &fill) {
  const Convert store = store_function(cpu.simd, Class::kF64, dtype_of(y));
  const int64_t size = item_size(y);
  each_block(cpu, state, itp_numel(y), [&](int64_t begin, const uint32_t *words, int64_t n) {
    double room[kBlock];
    char *place = itp_data(y) + begin * size;
    double *values = store != nullptr ? room : reinterpret_cast<double *>(place);
    fill(words, values, n);
    if (store != nullptr) store(values, place, static_cast<size_t>(n));
  });
}

// y = x (1 / (1 - p)) where mask, else 0.
template <class T>
void keep(Provider &cpu, const T *x, const uint8_t *mask, T *y, int64_t n, double p) {
  using A = acc<T>;
  const A factor = static_cast<A>(1 / (1 - p));
  A scaled[kBlock];
  for (int64_t i = 0; i < n; ++i) scaled[i] = mask[i] != 0 ? factor : 0;
  cpu.simd.rows<T>().multiply(x, scaled, y, static_cast<size_t>(n));
}

}  // namespace

ITP_CPU_KERNEL(UniformForward) {
  const double low = a.low, width = a.high - a.low;
  draw(cpu, a.state, a.y, [=](const uint32_t *words, double *values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) values[i] = low + width * itp_uniform(words[i]);
  });
  return ITP_OK;
}

ITP_CPU_KERNEL(NormalForward) {
  const double mean = a.mean, deviation = a.std;
  draw(cpu, a.state, a.y, [=, &cpu](const uint32_t *words, double *values, int64_t n) {
    cpu.simd.normals(words, values, static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) values[i] = mean + deviation * values[i];
  });
  return ITP_OK;
}

ITP_CPU_KERNEL(DropoutForward) {
  return with_float("DropoutForward", a.x, err, [&](auto element) {
    using T = decltype(element);
    uint8_t *mask = data<uint8_t>(a.mask);
    each_block(cpu, a.state, itp_numel(a.x), [&](int64_t begin, const uint32_t *words, int64_t n) {
      for (int64_t i = 0; i < n; ++i) mask[begin + i] = itp_uniform(words[i]) >= a.p;
      keep<T>(cpu, data<T>(a.x) + begin, mask + begin, data<T>(a.y) + begin, n, a.p);
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(DropoutBackward) {
  return with_float("DropoutBackward", a.grad, err, [&](auto element) {
    using T = decltype(element);
    cpu.pool.range(itp_numel(a.grad), 16 * kBlock, [&](int64_t begin, int64_t end) {
      for (; begin < end; begin += kBlock) {
        const int64_t n = std::min(kBlock, end - begin);
        keep<T>(cpu, data<T>(a.grad) + begin, data<uint8_t>(a.mask) + begin, data<T>(a.dx) + begin, n, a.p);
      }
    });
    return ITP_OK;
  });
}

}  // namespace itp
