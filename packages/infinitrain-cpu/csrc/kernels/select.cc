// Choosing between values: where, masks and bounds.
#include <cstring>

#include "kernels/elementwise.h"

namespace itp {
namespace {

template <class T>
struct Select {
  void operator()(const void *const *in, void *out, size_t n) const {
    const uint8_t *condition = as<uint8_t>(in[0]);
    const T *a = as<T>(in[1]), *b = as<T>(in[2]);
    for (size_t i = 0; i < n; ++i) as<T>(out)[i] = condition[i] != 0 ? a[i] : b[i];
  }
};

template <class T>
struct Mask {
  T value;
  void operator()(const void *const *in, void *out, size_t n) const {
    const T *x = as<T>(in[0]);
    const uint8_t *mask = as<uint8_t>(in[1]);
    for (size_t i = 0; i < n; ++i) as<T>(out)[i] = mask[i] != 0 ? value : x[i];
  }
};

// x held in [low, high].
template <class T>
void integer_clamp(const T *x, T low, T high, T *y, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const T least = x[i] > low ? x[i] : low;
    y[i] = least < high ? least : high;
  }
}
template <class T, class F>
void run_clamp(Provider &cpu, const Map &map, int64_t cost, const itp_args_ClampForward &a, const F &f) {
  T low, high;
  load_converted(cpu.simd, *a.min, dtype_of(a.x), &low);
  load_converted(cpu.simd, *a.max, dtype_of(a.x), &high);
  map.run(cpu.pool, cost,
          [=](const void *const *in, void *out, size_t n) { f(as<T>(in[0]), low, high, as<T>(out), n); });
}

}  // namespace

ITP_CPU_KERNEL(ClampForward) {
  const Class type = class_of(dtype_of(a.x));
  const itp_tensor *tensors[] = {a.x, a.y};
  const Form forms[] = {operand_form(cpu.simd, a.x), output_form(cpu.simd, a.y, type)};
  Map map;
  if (!map.begin(tensors, forms, 2)) return different_shapes("ClampForward", err);
  switch (type) {
    case Class::kF32:
      run_clamp<float>(cpu, map, 1, a, cpu.simd.f32.clamp);
      break;
    case Class::kF64:
      run_clamp<double>(cpu, map, 2, a, cpu.simd.f64.clamp);
      break;
    case Class::kI64:
      run_clamp<int64_t>(cpu, map, 2, a, integer_clamp<int64_t>);
      break;
    default:
      run_clamp<uint64_t>(cpu, map, 2, a, integer_clamp<uint64_t>);
      break;
  }
  return ITP_OK;
}

ITP_CPU_KERNEL(MaskForward) {
  const itp_tensor *tensors[] = {a.x, a.mask, a.y};
  const Form forms[] = {raw_form(a.x), raw_form(a.mask), raw_form(a.y)};
  Map map;
  if (!map.begin(tensors, forms, 3)) return different_shapes("MaskForward", err);
  uint64_t stored = 0;
  store_scalar(cpu.simd, *a.value, dtype_of(a.x), &stored);
  const auto run = [&](auto value) {
    std::memcpy(&value, &stored, sizeof value);
    map.run(cpu.pool, 1, Mask<decltype(value)>{value});
  };
  switch (item_size(a.y)) {
    case 1:
      run(uint8_t());
      break;
    case 2:
      run(uint16_t());
      break;
    case 4:
      run(uint32_t());
      break;
    default:
      run(uint64_t());
      break;
  }
  return ITP_OK;
}

ITP_CPU_KERNEL(WhereForward) {
  const itp_tensor *tensors[] = {a.condition, a.a, a.b, a.y};
  const Form forms[] = {raw_form(a.condition), raw_form(a.a), raw_form(a.b), raw_form(a.y)};
  Map map;
  if (!map.begin(tensors, forms, 4)) return different_shapes("WhereForward", err);
  switch (item_size(a.y)) {
    case 1:
      map.run(cpu.pool, 1, Select<uint8_t>());
      break;
    case 2:
      map.run(cpu.pool, 1, Select<uint16_t>());
      break;
    case 4:
      map.run(cpu.pool, 1, Select<uint32_t>());
      break;
    default:
      map.run(cpu.pool, 1, Select<uint64_t>());
      break;
  }
  return ITP_OK;
}

}  // namespace itp
