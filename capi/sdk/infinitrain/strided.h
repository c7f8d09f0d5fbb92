/* Walking over tensors of one shape and different strides: broadcasts, transposes, slices. Needs no
 * allocation. C99 and C++.
 *
 *     itp_strided it;
 *     const itp_tensor *tensors[] = {a, b, y};             // the output last: its layout decides the order
 *     if (!itp_strided_begin(&it, tensors, 3)) ...         // shapes differ, or more than ITP_MAX_RANK
 * dimensions for (; it.count > 0; itp_strided_next(&it)) {
 *       // it.count elements: operand k stands at it.data[k] + i * it.step[k] bytes, 0 <= i < it.count
 *     }
 *
 * Every element is visited once, in no promised order: dimensions of size 1 vanish, neighbours that lie one
 * behind the other in every operand become one, so that compact tensors of any rank are a single run. */
#ifndef INFINITRAIN_STRIDED_H_
#define INFINITRAIN_STRIDED_H_

#include <stddef.h>
#include <stdint.h>

#include "infinitrain/provider.h"

#define ITP_MAX_RANK 64
#define ITP_MAX_OPERANDS 4

typedef struct itp_strided {
  int64_t count;                  /* elements in the current run; 0 when all is done */
  char *data[ITP_MAX_OPERANDS];   /* where the run begins in each operand */
  int64_t step[ITP_MAX_OPERANDS]; /* bytes from one element of the run to the next */
  int32_t n_operands;
  int32_t n_outer; /* dimensions outside the run, outermost first */
  int64_t shape[ITP_MAX_RANK];
  int64_t index[ITP_MAX_RANK];
  int64_t stride[ITP_MAX_OPERANDS][ITP_MAX_RANK]; /* bytes */
} itp_strided;

/* The address of a tensor's first element. */
static inline char *itp_data(const itp_tensor *t) { return (char *)t->data + t->byte_offset; }

/* Bytes of one element. */
static inline int64_t itp_element_size(const itp_tensor *t) { return t->dtype.bits / 8; }

/* Elements in dimensions [begin, end). */
static inline int64_t itp_size_between(const itp_tensor *t, int32_t begin, int32_t end) {
  int64_t n = 1;
  for (int32_t d = begin; d < end; ++d) n *= t->shape[d];
  return n;
}

static inline int64_t itp_numel(const itp_tensor *t) { return itp_size_between(t, 0, t->ndim); }

/* The stride of dimension d in elements; strides may be NULL for compact row-major. */
static inline int64_t itp_stride(const itp_tensor *t, int32_t d) {
  return t->strides != NULL ? t->strides[d] : itp_size_between(t, d + 1, t->ndim);
}

/* True where the elements lie one behind the other in row-major order. */
static inline int itp_is_compact(const itp_tensor *t) {
  int64_t expected = 1;
  if (t->strides == NULL || itp_numel(t) == 0) return 1;
  for (int32_t d = t->ndim - 1; d >= 0; expected *= t->shape[d--]) {
    if (t->shape[d] != 1 && t->strides[d] != expected) return 0;
  }
  return 1;
}

static inline int itp_same_shape(const itp_tensor *a, const itp_tensor *b) {
  if (a->ndim != b->ndim) return 0;
  for (int32_t d = 0; d < a->ndim; ++d) {
    if (a->shape[d] != b->shape[d]) return 0;
  }
  return 1;
}

/* Begin with no dimension; add them, outermost first, with itp_strided_add; then itp_strided_ready. */
static inline void itp_strided_clear(itp_strided *it, int32_t n_operands) {
  it->n_operands = n_operands;
  it->n_outer = 0;
  it->count = 1;
}

/* Append a dimension (size, strides in bytes) inside those that are there. */
static inline void itp_strided_add(itp_strided *it, int64_t size, const int64_t *strides) {
  int32_t d = it->n_outer, k;
  if (size == 0) it->count = 0;
  if (size == 1) return;
  /* The last operand's larger strides go outside: its memory is then written in order. */
  for (; d > 0 && it->stride[it->n_operands - 1][d - 1] < strides[it->n_operands - 1]; --d) {
    it->shape[d] = it->shape[d - 1];
    for (k = 0; k < it->n_operands; ++k) it->stride[k][d] = it->stride[k][d - 1];
  }
  it->shape[d] = size;
  for (k = 0; k < it->n_operands; ++k) it->stride[k][d] = strides[k];
  ++it->n_outer;
}

/* Merge neighbours and take the innermost dimension as the run. data holds the operands' first elements. */
static inline void itp_strided_ready(itp_strided *it) {
  int32_t last = 0, d, k;
  for (d = 1; d < it->n_outer; ++d) {
    int joined = 1;
    for (k = 0; k < it->n_operands; ++k) {
      joined = joined && it->stride[k][last] == it->stride[k][d] * it->shape[d];
    }
    if (!joined) ++last;
    it->shape[last] = joined ? it->shape[last] * it->shape[d] : it->shape[d];
    for (k = 0; k < it->n_operands; ++k) it->stride[k][last] = it->stride[k][d];
  }
  if (it->n_outer > 0) {
    if (it->count > 0) it->count = it->shape[last];
    for (k = 0; k < it->n_operands; ++k) it->step[k] = it->stride[k][last];
    it->n_outer = last;
  } else {
    for (k = 0; k < it->n_operands; ++k) it->step[k] = 0;
  }
  for (d = 0; d < it->n_outer; ++d) it->index[d] = 0;
}

/* Go to the next run; count is 0 after the last one. */
static inline void itp_strided_next(itp_strided *it) {
  int32_t d, k;
  for (d = it->n_outer - 1; d >= 0; --d) {
    const int more = ++it->index[d] < it->shape[d];
    const int64_t move = more ? 1 : 1 - it->shape[d];
    for (k = 0; k < it->n_operands; ++k) it->data[k] += move * it->stride[k][d];
    if (more) return;
    it->index[d] = 0;
  }
  it->count = 0;
}

/* Begin a walk over tensors of one shape. False where shapes differ or there are too many dimensions or
 * operands. */
static inline int itp_strided_begin(itp_strided *it, const itp_tensor *const *tensors, int32_t n) {
  int64_t strides[ITP_MAX_OPERANDS];
  int32_t d, k;
  if (n < 1 || n > ITP_MAX_OPERANDS || tensors[0]->ndim > ITP_MAX_RANK) return 0;
  itp_strided_clear(it, n);
  for (k = 0; k < n; ++k) {
    if (!itp_same_shape(tensors[0], tensors[k])) return 0;
    it->data[k] = itp_data(tensors[k]);
  }
  for (d = 0; d < tensors[0]->ndim; ++d) {
    for (k = 0; k < n; ++k) strides[k] = itp_stride(tensors[k], d) * itp_element_size(tensors[k]);
    itp_strided_add(it, tensors[0]->shape[d], strides);
  }
  itp_strided_ready(it);
  return 1;
}

#endif
