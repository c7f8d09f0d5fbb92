/* Matrix products and the linear layer's gradients. */
#include <string.h>

#include "block.h"

enum { GEMM_BLOCK = 64 }; /* three blocks of floats fit the first cache */

/* A matrix in memory: steps in bytes. */
typedef struct matrix {
  char *data;
  int64_t row_step, column_step, size;
  int dtype;
} matrix;

static matrix part(matrix a, int64_t row, int64_t column) {
  a.data += row * a.row_step + column * a.column_step;
  return a;
}

static matrix transposed(matrix a) {
  const int64_t step = a.row_step;
  a.row_step = a.column_step;
  a.column_step = step;
  return a;
}

/* The last two dimensions of a tensor. */
static matrix matrix_of(const itp_tensor *t) {
  const int64_t size = itp_element_size(t);
  const matrix a = {itp_data(t), itp_stride(t, t->ndim - 2) * size, itp_stride(t, t->ndim - 1) * size, size,
                    itp_dtype_bit(t->dtype)};
  return a;
}

#define REAL float
#define KIND f32
#define CLASS REF_F32
#include "gemm.h"

#define REAL double
#define KIND f64
#define CLASS REF_F64
#include "gemm.h"

static void gemm(int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c, const char *bias,
                 int accumulate) {
  (c.dtype == ITP_DT_F64 ? gemm_f64 : gemm_f32)(m, n, k, a, b, c, bias, 1.0, accumulate ? 1.0 : 0.0);
}

/* y (..., M, N) = alpha a (..., M, K) b (..., K, N) + beta y, the last two dimensions of a and b exchanged
 * where `turn` says so. */
static itp_status batched(const char *name, const itp_tensor *a, const itp_tensor *b, const itp_tensor *y,
                          int turn_a, int turn_b, double alpha, double beta, itp_error *err) {
  const int32_t ndim = y->ndim;
  REF_REQUIRE(name, ndim >= 2 && a->ndim == ndim && b->ndim == ndim && ndim <= ITP_MAX_RANK,
              "operands of one rank, at least 2, expected");
  const int64_t m = y->shape[ndim - 2], n = y->shape[ndim - 1], k = a->shape[ndim - (turn_a ? 2 : 1)];
  REF_REQUIRE(name,
              a->shape[ndim - (turn_a ? 1 : 2)] == m && b->shape[ndim - (turn_b ? 1 : 2)] == k &&
                  b->shape[ndim - (turn_b ? 2 : 1)] == n,
              "y (..., M, N) = a (..., M, K) @ b (..., K, N) expected");
  /* Walk over the leading dimensions: one element of the walk is one product. */
  const itp_tensor *tensors[] = {a, b, y};
  itp_strided it;
  itp_strided_clear(&it, 3);
  for (int32_t d = 0; d < ndim - 2; ++d) {
    int64_t strides[3];
    for (int t = 0; t < 3; ++t) {
      REF_REQUIRE(name, tensors[t]->shape[d] == y->shape[d], "equal leading sizes expected");
      strides[t] = itp_stride(tensors[t], d) * itp_element_size(tensors[t]);
    }
    itp_strided_add(&it, y->shape[d], strides);
  }
  for (int t = 0; t < 3; ++t) it.data[t] = itp_data(tensors[t]);
  itp_strided_ready(&it);
  matrix left = turn_a ? transposed(matrix_of(a)) : matrix_of(a);
  matrix right = turn_b ? transposed(matrix_of(b)) : matrix_of(b);
  matrix out = matrix_of(y);
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; ++i) {
      left.data = it.data[0] + i * it.step[0];
      right.data = it.data[1] + i * it.step[1];
      out.data = it.data[2] + i * it.step[2];
      (out.dtype == ITP_DT_F64 ? gemm_f64 : gemm_f32)(m, n, k, left, right, out, NULL, alpha, beta);
    }
  }
  return ITP_OK;
}

REF_KERNEL(MatmulForward) {
  REF_UNPACK(MatmulForward)
  return batched("MatmulForward", a.a, a.b, a.y, 0, 0, 1.0, a.accumulate ? 1.0 : 0.0, err);
}

REF_KERNEL(Gemm) {
  REF_UNPACK(Gemm)
  return batched("Gemm", a.a, a.b, a.y, a.transpose_a, a.transpose_b, a.alpha, a.beta, err);
}

static itp_status check_outer(const char *name, const itp_tensor *a, const itp_tensor *b, const itp_tensor *y,
                              itp_error *err) {
  REF_REQUIRE(name, a->ndim == 1 && b->ndim == 1 && y->ndim == 2, "two vectors and a matrix expected");
  REF_REQUIRE(name, y->shape[0] == a->shape[0] && y->shape[1] == b->shape[0],
              "a (M), b (N) and y or grad (M, N) expected");
  return ITP_OK;
}

/* A vector as a column, so that products of vectors are products of matrices. */
static matrix column_of(const itp_tensor *t) {
  const int64_t size = itp_element_size(t);
  const matrix a = {itp_data(t), size, size, size, itp_dtype_bit(t->dtype)};
  return a;
}

REF_KERNEL(OuterForward) {
  REF_UNPACK(OuterForward)
  const itp_status status = check_outer("OuterForward", a.a, a.b, a.y, err);
  if (status != ITP_OK) return status;
  gemm(a.y->shape[0], a.y->shape[1], 1, column_of(a.a), transposed(column_of(a.b)), matrix_of(a.y), NULL, 0);
  return ITP_OK;
}

REF_KERNEL(OuterBackward) {
  REF_UNPACK(OuterBackward)
  const itp_status status = check_outer("OuterBackward", a.da, a.db, a.grad, err);
  if (status != ITP_OK) return status;
  REF_REQUIRE("OuterBackward", itp_same_shape(a.a, a.da) && itp_same_shape(a.b, a.db),
              "gradients of the operands' shapes expected");
  const int64_t m = a.grad->shape[0], n = a.grad->shape[1];
  gemm(m, 1, n, matrix_of(a.grad), column_of(a.b), column_of(a.da), NULL, 0);
  gemm(n, 1, m, transposed(matrix_of(a.grad)), column_of(a.a), column_of(a.db), NULL, 0);
  return ITP_OK;
}

/* Shapes of the linear layer: R rows, I inputs, O outputs. */
static itp_status check_linear(const char *name, const itp_tensor *x, const itp_tensor *weight,
                               const itp_tensor *grad, itp_error *err) {
  REF_REQUIRE(name, x->ndim == 2 && weight->ndim == 2 && grad->ndim == 2, "matrices expected");
  REF_REQUIRE(
      name,
      x->shape[0] == grad->shape[0] && x->shape[1] == weight->shape[1] && grad->shape[1] == weight->shape[0],
      "x (R, I), weight (O, I) and y or grad (R, O) expected");
  return ITP_OK;
}

REF_KERNEL(LinearForward) {
  REF_UNPACK(LinearForward)
  const itp_status status = check_linear("LinearForward", a.x, a.weight, a.y, err);
  if (status != ITP_OK) return status;
  const int64_t rows = a.x->shape[0], in = a.x->shape[1], out = a.weight->shape[0];
  REF_REQUIRE("LinearForward", a.bias == NULL || itp_numel(a.bias) == out, "bias (O) expected");
  gemm(rows, out, in, matrix_of(a.x), transposed(matrix_of(a.weight)), matrix_of(a.y),
       a.bias != NULL ? itp_data(a.bias) : NULL, 0);
  return ITP_OK;
}

REF_KERNEL(LinearBackwardInput) {
  REF_UNPACK(LinearBackwardInput)
  const itp_status status = check_linear("LinearBackwardInput", a.dx, a.weight, a.grad, err);
  if (status != ITP_OK) return status;
  gemm(a.dx->shape[0], a.dx->shape[1], a.weight->shape[0], matrix_of(a.grad), matrix_of(a.weight),
       matrix_of(a.dx), NULL, a.accumulate);
  return ITP_OK;
}

REF_KERNEL(LinearBackwardWeight) {
  REF_UNPACK(LinearBackwardWeight)
  const itp_status status = check_linear("LinearBackwardWeight", a.x, a.dweight, a.grad, err);
  if (status != ITP_OK) return status;
  gemm(a.dweight->shape[0], a.dweight->shape[1], a.x->shape[0], transposed(matrix_of(a.grad)), matrix_of(a.x),
       matrix_of(a.dweight), NULL, a.accumulate);
  return ITP_OK;
}

REF_KERNEL(LinearBackwardBias) {
  REF_UNPACK(LinearBackwardBias)
  REF_REQUIRE("LinearBackwardBias", a.grad->ndim == 2 && itp_numel(a.dbias) == a.grad->shape[1],
              "grad (R, O) and dbias (O) expected");
  const int dtype = itp_dtype_bit(a.grad->dtype);
  const int64_t rows = a.grad->shape[0], out = a.grad->shape[1];
  ref_buffer room, sums;
  for (int64_t i = 0; i < out; i += REF_BLOCK) {
    const int64_t n = ref_min(out - i, REF_BLOCK);
    for (int64_t j = 0; j < n; ++j) sums.f64[j] = a.accumulate ? ref_get_f64(a.dbias, i + j) : 0.0;
    for (int64_t r = 0; r < rows; ++r) {
      const double *grad = ref_load_f64(&room, dtype, ref_at(a.grad, r * out + i), n);
      for (int64_t j = 0; j < n; ++j) sums.f64[j] += grad[j];
    }
    ref_store_f64(dtype, ref_at(a.dbias, i), sums.f64, n);
  }
  return ITP_OK;
}
