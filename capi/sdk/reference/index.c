/* Kernels that read positions from a tensor. All positions are checked before anything is written. */
#include <string.h>

#include "block.h"

static const int64_t *indices(const itp_tensor *t) { return (const int64_t *)(const void *)itp_data(t); }

static itp_status check_indices(const char *name, const itp_tensor *index, int64_t bound, itp_error *err) {
  const int64_t *at = indices(index), n = itp_numel(index);
  for (int64_t i = 0; i < n; ++i) {
    if (at[i] < 0 || at[i] >= bound) return ref_out_of_range(name, "index", at[i], "position", i, bound, err);
  }
  return ITP_OK;
}

/* Is there a j in [begin, i) with at[j * step] == at[i * step]? */
static int occurred(const int64_t *at, int64_t step, int64_t begin, int64_t i) {
  for (int64_t j = begin; j < i; ++j) {
    if (at[j * step] == at[i * step]) return 1;
  }
  return 0;
}

/* ---- embedding: rows of a table ---------------------------------------------------------------- */

REF_KERNEL(EmbeddingForward) {
  REF_UNPACK(EmbeddingForward)
  const int64_t n = itp_numel(a.index);
  REF_REQUIRE("EmbeddingForward", a.weight->ndim == 2 && itp_numel(a.y) == n * a.weight->shape[1],
              "index (N), weight (V, C) and y (N, C) expected");
  const itp_status status = check_indices("EmbeddingForward", a.index, a.weight->shape[0], err);
  if (status != ITP_OK) return status;
  const int64_t width = a.weight->shape[1], bytes = width * itp_element_size(a.weight);
  for (int64_t i = 0; i < n; ++i)
    memcpy(ref_at(a.y, i * width), ref_at(a.weight, indices(a.index)[i] * width), (size_t)bytes);
  return ITP_OK;
}

/* Each row of dweight that occurs is summed in double over its occurrences, in ascending order, and rounded
 * once. The search for equal indices is quadratic: the price of needing no memory. */
REF_KERNEL(EmbeddingBackward) {
  REF_UNPACK(EmbeddingBackward)
  const int64_t n = itp_numel(a.index);
  REF_REQUIRE("EmbeddingBackward", a.dweight->ndim == 2 && itp_numel(a.grad) == n * a.dweight->shape[1],
              "index (N), grad (N, C) and dweight (V, C) expected");
  const itp_status status = check_indices("EmbeddingBackward", a.index, a.dweight->shape[0], err);
  if (status != ITP_OK) return status;
  const int dtype = itp_dtype_bit(a.grad->dtype);
  const int64_t width = a.dweight->shape[1], *at = indices(a.index);
  ref_buffer room, sums;
  if (!a.accumulate)
    memset(itp_data(a.dweight), 0, (size_t)(itp_numel(a.dweight) * itp_element_size(a.dweight)));
  for (int64_t i = 0; i < n; ++i) {
    if (occurred(at, 1, 0, i)) continue;
    for (int64_t c = 0; c < width; c += REF_BLOCK) {
      const int64_t m = ref_min(width - c, REF_BLOCK);
      char *row = ref_at(a.dweight, at[i] * width + c);
      memcpy(sums.f64, ref_load_f64(&room, dtype, row, m), sizeof(double) * (size_t)m);
      for (int64_t j = i; j < n; ++j) {
        if (at[j] != at[i]) continue;
        const double *grad = ref_load_f64(&room, dtype, ref_at(a.grad, j * width + c), m);
        for (int64_t k = 0; k < m; ++k) sums.f64[k] += grad[k];
      }
      ref_store_f64(dtype, row, sums.f64, m);
    }
  }
  return ITP_OK;
}

/* ---- gather and scatter along one dimension ----------------------------------------------------- */

/* Lines along `dim`: a walk over the other dimensions of `index`, with the line's beginning in the indexed
 * tensor (operand 0) and in index (operand 1). Steps along the line are in elements. */
typedef struct lines {
  itp_strided it;
  int64_t length, index_step, step, bound;
} lines;

static itp_status begin_lines(lines *at, const char *name, const itp_tensor *x, const itp_tensor *index,
                              int64_t dim, itp_error *err) {
  REF_REQUIRE(name, x->ndim == index->ndim && x->ndim <= ITP_MAX_RANK,
              "index of the indexed tensor's rank expected");
  REF_REQUIRE(name, (dim >= 0 && dim < x->ndim) || (dim == 0 && x->ndim == 0), "dim is not a dimension");
  at->length = at->bound = at->step = at->index_step = 1;
  itp_strided_clear(&at->it, 2);
  for (int32_t d = 0; d < x->ndim; ++d) {
    const int64_t steps[] = {itp_size_between(x, d + 1, x->ndim), itp_size_between(index, d + 1, x->ndim)};
    if (d == dim) {
      at->length = index->shape[d];
      at->bound = x->shape[d];
      at->step = steps[0];
      at->index_step = steps[1];
    } else {
      const int64_t bytes[] = {steps[0] * itp_element_size(x), steps[1] * itp_element_size(index)};
      REF_REQUIRE(name, index->shape[d] <= x->shape[d], "index is larger than the indexed tensor");
      itp_strided_add(&at->it, index->shape[d], bytes);
    }
  }
  at->it.data[0] = itp_data(x);
  at->it.data[1] = itp_data(index);
  itp_strided_ready(&at->it);
  return check_indices(name, index, at->bound, err);
}

/* Move elements between the indexed tensor and `values`, which has index's shape. */
static itp_status move_lines(const char *name, const itp_tensor *x, const itp_tensor *index,
                             const itp_tensor *values, int64_t dim, int scatter, itp_error *err) {
  const size_t size = (size_t)itp_element_size(x);
  lines at;
  REF_REQUIRE(name, itp_same_shape(index, values), "index and values of one shape expected");
  const itp_status status = begin_lines(&at, name, x, index, dim, err);
  if (status != ITP_OK) return status;
  for (; at.it.count > 0; itp_strided_next(&at.it)) {
    for (int64_t k = 0; k < at.it.count; ++k) {
      char *line = at.it.data[0] + k * at.it.step[0];
      const int64_t *where = (const int64_t *)(const void *)(at.it.data[1] + k * at.it.step[1]);
      const int64_t first = where - indices(index);
      for (int64_t i = 0; i < at.length; ++i) {
        char *element = line + where[i * at.index_step] * at.step * (int64_t)size;
        char *value = ref_at(values, first + i * at.index_step);
        memcpy(scatter ? element : value, scatter ? value : element, size);
      }
    }
  }
  return ITP_OK;
}

REF_KERNEL(GatherForward) {
  REF_UNPACK(GatherForward)
  return move_lines("GatherForward", a.x, a.index, a.y, a.dim, 0, err);
}

REF_KERNEL(ScatterForward) {
  REF_UNPACK(ScatterForward)
  return move_lines("ScatterForward", a.y, a.index, a.values, a.dim, 1, err);
}

/* float32 and float64 add one after the other, which is their accumulation. Half types sum the occurrences of
 * each index in a line first and round once. */
REF_KERNEL(GatherBackward) {
  REF_UNPACK(GatherBackward)
  const int half = itp_element_size(a.grad) == 2;
  lines at;
  REF_REQUIRE("GatherBackward", itp_same_shape(a.index, a.grad), "index and grad of one shape expected");
  const itp_status status = begin_lines(&at, "GatherBackward", a.dx, a.index, a.dim, err);
  if (status != ITP_OK) return status;
  if (!a.accumulate) memset(itp_data(a.dx), 0, (size_t)(itp_numel(a.dx) * itp_element_size(a.dx)));
  for (; at.it.count > 0; itp_strided_next(&at.it)) {
    for (int64_t k = 0; k < at.it.count; ++k) {
      const int64_t line = (at.it.data[0] + k * at.it.step[0] - itp_data(a.dx)) / itp_element_size(a.dx);
      const int64_t *where = (const int64_t *)(const void *)(at.it.data[1] + k * at.it.step[1]);
      const int64_t first = where - indices(a.index), step = at.index_step;
      for (int64_t i = 0; i < at.length; ++i) {
        if (half && occurred(where, step, 0, i)) continue;
        const int64_t target = line + where[i * step] * at.step;
        double sum = ref_get_f64(a.dx, target) + ref_get_f64(a.grad, first + i * step);
        for (int64_t j = i + 1; half && j < at.length; ++j) {
          if (where[j * step] == where[i * step]) sum += ref_get_f64(a.grad, first + j * step);
        }
        ref_set_f64(a.dx, target, sum);
      }
    }
  }
  return ITP_OK;
}
