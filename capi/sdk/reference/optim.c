/* Gradients and optimizers: in double, rounded once. */
#include <math.h>

#include "block.h"

REF_KERNEL(AccumulateGrad) {
  REF_UNPACK(AccumulateGrad)
  REF_REQUIRE("AccumulateGrad", itp_numel(a.grad) == itp_numel(a.y), "grad and y of one size expected");
  const int dtype = itp_dtype_bit(a.y->dtype);
  const double rate = a.rate != NULL ? ref_get_f64(a.rate, 0) : 1.0;
  const int64_t size = itp_numel(a.y);
  ref_buffer room_y, room_g, sums;
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    const double *y = ref_load_f64(&room_y, dtype, ref_at(a.y, i), n);
    const double *grad = ref_load_f64(&room_g, dtype, ref_at(a.grad, i), n);
    for (int64_t j = 0; j < n; ++j) sums.f64[j] = y[j] + rate * grad[j];
    ref_store_f64(dtype, ref_at(a.y, i), sums.f64, n);
  }
  return ITP_OK;
}

/* Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2. */
REF_KERNEL(AdamAccumulateGrad) {
  REF_UNPACK(AdamAccumulateGrad)
  const int64_t size = itp_numel(a.param);
  REF_REQUIRE("AdamAccumulateGrad",
              itp_numel(a.grad) == size && itp_numel(a.m) == size && itp_numel(a.v) == size,
              "grad, param, m and v of one size expected");
  const int dtype = itp_dtype_bit(a.param->dtype), state = itp_dtype_bit(a.m->dtype);
  const double step = (double)*(const int64_t *)(const void *)itp_data(a.step);
  const double lr = ref_get_f64(a.lr, 0), scale = a.grad_scale != NULL ? ref_get_f64(a.grad_scale, 0) : 1.0;
  const double m_unbias = 1.0 / (1.0 - pow(a.beta1, step)), v_unbias = 1.0 / (1.0 - pow(a.beta2, step));
  const double keep = 1.0 - lr * a.weight_decay;
  ref_buffer room_g, room_p, room_m, room_v, new_p, new_m, new_v;
  for (int64_t i = 0; i < size; i += REF_BLOCK) {
    const int64_t n = ref_min(size - i, REF_BLOCK);
    const double *grad = ref_load_f64(&room_g, dtype, ref_at(a.grad, i), n);
    const double *param = ref_load_f64(&room_p, dtype, ref_at(a.param, i), n);
    const double *m = ref_load_f64(&room_m, state, ref_at(a.m, i), n);
    const double *v = ref_load_f64(&room_v, state, ref_at(a.v, i), n);
    for (int64_t j = 0; j < n; ++j) {
      const double g = grad[j] * scale;
      new_m.f64[j] = a.beta1 * m[j] + (1.0 - a.beta1) * g;
      new_v.f64[j] = a.beta2 * v[j] + (1.0 - a.beta2) * g * g;
      new_p.f64[j] =
          param[j] * keep - lr * (new_m.f64[j] * m_unbias) / (sqrt(new_v.f64[j] * v_unbias) + a.eps);
    }
    ref_store_f64(dtype, ref_at(a.param, i), new_p.f64, n);
    ref_store_f64(state, ref_at(a.m, i), new_m.f64, n);
    ref_store_f64(state, ref_at(a.v, i), new_v.f64, n);
  }
  return ITP_OK;
}
