/* Randomness: infinitrain/philox.h applied to tensors. */
#include "block.h"
#include "infinitrain/philox.h"

/* One block of words for elements [first, first + n); first is a multiple of 4. state (2,): seed, offset. */
static void words(const itp_tensor *state, int64_t first, int64_t n, uint32_t *out) {
  const int64_t *cell = (const int64_t *)(const void *)itp_data(state);
  const uint64_t seed = (uint64_t)cell[0], offset = (uint64_t)cell[1] + (uint64_t)first / 4;
  for (int64_t i = 0; i < n; i += 4) itp_philox4x32_10(seed, offset + (uint64_t)i / 4, out + i);
}

/* y = base + factor * draw(word). */
static itp_status draw(const itp_tensor *state, const itp_tensor *y, double (*of_word)(uint32_t), double base,
                       double factor) {
  const int dtype = itp_dtype_bit(y->dtype);
  const int64_t size = itp_numel(y);
  uint32_t bits[REF_BLOCK];
  ref_buffer values;
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    words(state, i, n, bits);
    for (int64_t j = 0; j < n; ++j) values.f64[j] = base + factor * of_word(bits[j]);
    ref_store_f64(dtype, ref_at(y, i), values.f64, n);
  }
  return ITP_OK;
}

REF_KERNEL(UniformForward) {
  REF_UNPACK(UniformForward)
  REF_REQUIRE("UniformForward", itp_numel(a.state) == 2, "state (2,) expected");
  return draw(a.state, a.y, itp_uniform, a.low, a.high - a.low);
}

REF_KERNEL(NormalForward) {
  REF_UNPACK(NormalForward)
  REF_REQUIRE("NormalForward", itp_numel(a.state) == 2, "state (2,) expected");
  return draw(a.state, a.y, itp_normal, a.mean, a.std);
}

/* y = x / (1 - p) where the mask is set, else 0. */
static void apply_mask(int dtype, const char *x, const uint8_t *mask, char *y, int64_t n, double p) {
  const double scale = 1.0 / (1.0 - p);
  ref_buffer room, result;
  const double *v = ref_load_f64(&room, dtype, x, n);
  for (int64_t j = 0; j < n; ++j) result.f64[j] = mask[j] ? v[j] * scale : 0.0;
  ref_store_f64(dtype, y, result.f64, n);
}

REF_KERNEL(DropoutForward) {
  REF_UNPACK(DropoutForward)
  const int64_t size = itp_numel(a.x);
  REF_REQUIRE("DropoutForward",
              itp_numel(a.state) == 2 && itp_numel(a.y) == size && itp_numel(a.mask) == size,
              "state (2,), and y and mask of x's size expected");
  const int dtype = itp_dtype_bit(a.x->dtype);
  uint8_t *mask = (uint8_t *)itp_data(a.mask);
  uint32_t bits[REF_BLOCK];
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    words(a.state, i, n, bits);
    for (int64_t j = 0; j < n; ++j) mask[i + j] = itp_uniform(bits[j]) >= a.p;
    apply_mask(dtype, ref_at(a.x, i), mask + i, ref_at(a.y, i), n, a.p);
  }
  return ITP_OK;
}

REF_KERNEL(DropoutBackward) {
  REF_UNPACK(DropoutBackward)
  const int64_t size = itp_numel(a.grad);
  REF_REQUIRE("DropoutBackward", itp_numel(a.dx) == size && itp_numel(a.mask) == size,
              "grad, mask and dx of one size expected");
  const int dtype = itp_dtype_bit(a.grad->dtype);
  const uint8_t *mask = (const uint8_t *)itp_data(a.mask);
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    apply_mask(dtype, ref_at(a.grad, i), mask + i, ref_at(a.dx, i), n, a.p);
  }
  return ITP_OK;
}
