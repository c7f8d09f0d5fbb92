/* The validating layer: launches. */
#include <stdlib.h>
#include <string.h>

#include "validate.h"

/* ---- kernels
 * ------------------------------------------------------------------------------------------------ */

static const itp_kernel *real_of(const itp_launch *l) {
  return ((const v_kernel *)(const void *)l->kernel)->real;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size) {
  for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
  return hash;
}

/* What a kernel may not write: everything of the launch but the tensors' data. */
static uint64_t digest(const itp_launch *l) {
  uint64_t hash = mix(14695981039346656037u, l, sizeof *l);
  for (uint32_t i = 0; i < l->n_inputs + l->n_outputs; ++i) {
    const itp_tensor *t = i < l->n_inputs ? l->inputs[i] : l->outputs[i - l->n_inputs];
    if (t == NULL) continue;
    hash = mix(hash, t, sizeof *t);
    if (t->ndim > 0) hash = mix(hash, t->shape, (size_t)t->ndim * 8);
    if (t->ndim > 0 && t->strides != NULL) hash = mix(hash, t->strides, (size_t)t->ndim * 8);
  }
  return mix(hash, l->attrs, l->n_attrs * sizeof *l->attrs);
}

static int range_of(const itp_tensor *t, uint64_t *begin, uint64_t *end) {
  int64_t low = 0, high = 0, compact = 1;
  for (int32_t i = t->ndim - 1; i >= 0; --i) {
    if (t->shape[i] == 0) return 0;
    const int64_t reach = (t->shape[i] - 1) * (t->strides != NULL ? t->strides[i] : compact);
    *(reach < 0 ? &low : &high) += reach;
    compact *= t->shape[i];
  }
  const int64_t size = t->dtype.bits / 8;
  const uint64_t first = (uint64_t)(uintptr_t)t->data + t->byte_offset;
  *begin = first + (uint64_t)(low * size);
  *end = first + (uint64_t)((high + 1) * size);
  return 1;
}

static int same_view(const itp_tensor *a, const itp_tensor *b) {
  if (a->ndim != b->ndim || memcmp(&a->dtype, &b->dtype, sizeof a->dtype) != 0) return 0;
  if ((a->strides == NULL) != (b->strides == NULL)) return 1; /* may be the same written in two ways */
  const size_t size = (size_t)(a->ndim > 0 ? a->ndim : 0) * 8;
  return size == 0 || (memcmp(a->shape, b->shape, size) == 0 &&
                       (a->strides == NULL || memcmp(a->strides, b->strides, size) == 0));
}

static itp_status check_launch(validator *v, const itp_launch *l, itp_error *err) {
  const char *name = real_of(l)->name;
  v_stream *s;
  itp_status found = v_pair(v, name, l->device, l->stream, &s, err);
  if (found != ITP_OK) return found;
  (void)v_tick(v, s);
  for (uint32_t i = 0; i < l->n_inputs + l->n_outputs && found == ITP_OK; ++i) {
    const itp_tensor *t = i < l->n_inputs ? l->inputs[i] : l->outputs[i - l->n_inputs];
    uint64_t begin, end, other_begin, other_end;
    if (t == NULL || !range_of(t, &begin, &end)) continue;
    if (t->device_id != l->device)
      return MISUSED(err, name, "ITP-RT-01", "a tensor of device %d in a launch on device %d",
                     (int)t->device_id, (int)l->device);
    for (uint32_t j = 0; i >= l->n_inputs && j < i; ++j) {
      const itp_tensor *o = j < l->n_inputs ? l->inputs[j] : l->outputs[j - l->n_inputs];
      if (o == NULL || !range_of(o, &other_begin, &other_end)) continue;
      if (begin >= other_end || other_begin >= end) continue;
      if (j >= l->n_inputs || !(real_of(l)->flags & ITP_K_MAY_ALIAS) || !same_view(o, t))
        return MISUSED(err, name, "ITP-KN-12", "output %u overlaps tensor %u of the launch", i - l->n_inputs,
                       j);
    }
    found = v_touch(v, name, s, l->device, begin, end, i >= l->n_inputs, err);
  }
  return found;
}

itp_status v_launch(void *self, const itp_launch *l, itp_error *err) {
  validator *v = (validator *)self;
  const itp_kernel *real = real_of(l);
  itp_launch given = *l;
  given.kernel = real;
  pthread_mutex_lock(&v->lock);
  const itp_status found = check_launch(v, l, err);
  pthread_mutex_unlock(&v->lock);
  if (found != ITP_OK) return found;
  const uint64_t was = digest(&given);
  CHECKED(real->name, real->launch(v->self, &given, err));
  if (digest(&given) != was)
    return BROKEN(err, real->name, "ITP-KN-07", "the launch's descriptors were written to");
  return status;
}

itp_status v_workspace(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  validator *v = (validator *)self;
  const itp_kernel *real = real_of(l);
  itp_launch given = *l;
  given.kernel = real;
  uint64_t again = 0;
  CHECKED(real->name, real->workspace(v->self, &given, bytes, err));
  if (status == ITP_OK && real->workspace(v->self, &given, &again, err) == ITP_OK && again != *bytes)
    return BROKEN(err, real->name, "ITP-KN-19", "workspace was %llu bytes and is %llu for the same launch",
                  (unsigned long long)*bytes, (unsigned long long)again);
  return status;
}

itp_status v_submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err) {
  validator *v = (validator *)self;
  itp_launch *given = calloc((size_t)n + 1, sizeof *given);
  const itp_launch **pointers = calloc((size_t)n + 1, sizeof *pointers);
  itp_status found = ITP_OK;
  *done = 0;
  if (given == NULL || pointers == NULL)
    found = ITP_FAIL(err, OUT_OF_MEMORY, "submit", "no host memory to validate with");
  pthread_mutex_lock(&v->lock);
  for (uint64_t i = 0; i < n && found == ITP_OK; ++i) {
    given[i] = *list[i];
    given[i].kernel = real_of(list[i]);
    pointers[i] = &given[i];
    found = check_launch(v, list[i], err);
  }
  pthread_mutex_unlock(&v->lock);
  if (found == ITP_OK) {
    CHECKED("submit", v->real.kernels.submit(v->self, pointers, n, done, err));
    found = status;
    if (status == ITP_OK ? *done != n : *done >= n)
      found =
          BROKEN(err, "submit", "ITP-KN-24", "says that %llu of %llu launches were handed over, status %d",
                 (unsigned long long)*done, (unsigned long long)n, (int)status);
  }
  free(given);
  free(pointers);
  return found;
}

const itp_kernel *it_validate_kernel(const itp_kernel *kernel) {
  v_kernel *k = calloc(1, sizeof *k);
  if (k == NULL) return NULL;
  it_copy_prefix(&k->shown, sizeof k->shown, kernel);
  k->real = kernel;
  k->shown.launch = v_launch;
  if (k->shown.workspace != NULL) k->shown.workspace = v_workspace;
  return &k->shown;
}
