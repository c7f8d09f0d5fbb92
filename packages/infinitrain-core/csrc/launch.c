/* Descriptors and launches. The usual launch is checked here in a few nanoseconds; whatever is unusual is
 * handed back to Python (IT_UNFIT), which makes it fit or says what is wrong with it. */
#include <string.h>

#include "call.h"
#include "infinitrain/dtype.h"

/* ---- descriptors ------------------------------------------------------------------------------------------
 */

/* How far from the first element the last one begins, in elements. Strides are never negative. */
static uint64_t reach_of(const itp_tensor *t) {
  uint64_t reach = 0, count = 1;
  for (int32_t i = 0; i < t->ndim; ++i) {
    reach += (uint64_t)(t->strides != NULL ? t->strides[i] * (t->shape[i] - 1) : 0);
    count *= (uint64_t)t->shape[i];
  }
  return t->strides != NULL ? reach : count - 1;
}

/* Describe a view of the block of `nbytes` bytes at `address`. Foreign memory need not be aligned as the
 * device's own: `data` is then moved down to the last aligned address and the offset grows. */
void it_describe(it_descriptor *d, const it_device *device, uint64_t address, uint64_t nbytes, uint32_t dtype,
                 int32_t ndim, const int64_t *shape, const int64_t *strides, uint64_t byte_offset,
                 uint32_t read_only) {
  itp_tensor *t = &d->tensor;
  const uint64_t skew = address & (device->alignment - 1);
  const size_t length = (size_t)ndim * sizeof(int64_t);
  int empty = 0;
  d->device = device;
  d->read_only = read_only;
  t->data = it_pointer(address - skew);
  t->device_type = device->type;
  t->device_id = device->index;
  t->ndim = ndim;
  t->dtype.code = (uint8_t)(dtype & 0xFFu);
  t->dtype.bits = (uint8_t)((dtype >> 8) & 0xFFu);
  t->dtype.lanes = 1;
  t->byte_offset = byte_offset + skew;
  t->nbytes = nbytes + skew;
  t->flags = 0;
  t->shape = NULL;
  t->strides = NULL;
  if (ndim > 0) {
    memcpy(d->dims, shape, length);
    t->shape = d->dims;
    if (strides != NULL) {
      memcpy(d->dims + IT_MAX_NDIM, strides, length);
      t->strides = d->dims + IT_MAX_NDIM;
    }
    for (int32_t i = 0; i < ndim; ++i) empty |= shape[i] == 0;
  }
  d->bit = itp_dtype_bit(t->dtype);
  d->begin = address + byte_offset;
  d->end = empty ? d->begin : d->begin + (reach_of(t) + 1) * itp_itemsize(t->dtype);
}

/* ---- is this launch the usual one? ------------------------------------------------------------------------
 */

static int is_matrix(const itp_tensor *t) {
  if (t->ndim < 2) return 0;
  const int64_t rows = t->shape[t->ndim - 2], columns = t->shape[t->ndim - 1];
  const int64_t row_step = t->strides[t->ndim - 2], column_step = t->strides[t->ndim - 1];
  return (column_step == 1 && row_step >= columns) || (row_step == 1 && column_step >= rows);
}

static int is_same_shape(const itp_tensor *a, const itp_tensor *b) {
  if (a->ndim != b->ndim) return 0;
  for (int32_t i = 0; i < a->ndim; ++i)
    if (a->shape[i] != b->shape[i]) return 0;
  return 1;
}

static int is_same_view(const it_descriptor *a, const it_descriptor *b) {
  return a->tensor.strides == NULL && b->tensor.strides == NULL && a->begin == b->begin && a->bit == b->bit &&
         is_same_shape(&a->tensor, &b->tensor);
}

static int meet(const it_descriptor *a, const it_descriptor *b) {
  return a->begin < b->end && b->begin < a->end;
}

static int dtype_fits(const it_kernel *k, uint8_t rule, int bit, int *t_bit, int *u_bit) {
  switch (rule & ~IT_OPTIONAL) {
    case IT_RULE_T:
      if (*t_bit < 0) *t_bit = bit;
      return bit == *t_bit && (k->t_mask >> bit & 1u);
    case IT_RULE_U:
      if (*u_bit < 0) *u_bit = bit;
      return bit == *u_bit && (k->u_mask >> bit & 1u);
    case IT_RULE_A:
      return bit == (*t_bit == ITP_DT_F64 ? ITP_DT_F64 : ITP_DT_F32);
    default:
      return bit == (rule & ~IT_OPTIONAL);
  }
}

/* Outputs are compact, writable, not empty, and meet no other tensor but where the kernel may alias. */
static int output_fits(const it_kernel *k, it_descriptor *const *tensors, uint32_t index) {
  const it_descriptor *d = tensors[index];
  if (d->tensor.strides != NULL || d->begin == d->end || d->read_only) return 0;
  for (uint32_t i = 0; i < index; ++i) {
    const it_descriptor *other = tensors[i];
    if (other == NULL || !meet(other, d)) continue;
    if (i >= k->n_inputs || !(k->flags & IT_MAY_ALIAS) || !is_same_view(other, d)) return 0;
  }
  return 1;
}

static int input_fits(const it_kernel *k, const itp_tensor *t) {
  return t->strides == NULL || (k->flags & IT_LAYOUT_STRIDED) ||
         ((k->flags & IT_LAYOUT_MATRIX) && is_matrix(t));
}

static int fits(const it_kernel *k, const it_device *device, it_descriptor *const *tensors) {
  const it_descriptor *first = tensors[k->n_inputs];
  int t_bit = -1, u_bit = -1;
  if (first == NULL) return 0;
  for (uint32_t i = 0; i < k->n_inputs + k->n_outputs; ++i) {
    const it_descriptor *d = tensors[i];
    if (d == NULL) {
      if (!(k->rules[i] & IT_OPTIONAL)) return 0;
      continue;
    }
    if (d->device != device || !dtype_fits(k, k->rules[i], d->bit, &t_bit, &u_bit)) return 0;
    if ((k->flags & IT_SAME_SHAPE) && !is_same_shape(&d->tensor, &first->tensor)) return 0;
    if (i < k->n_inputs ? !input_fits(k, &d->tensor) : !output_fits(k, tensors, i)) return 0;
  }
  return 1;
}

/* ---- launch -----------------------------------------------------------------------------------------------
 */

static _Thread_local uint64_t wanted_workspace;
static uint64_t last_tag;
static _Thread_local uint64_t own_tag;

uint64_t it_wanted_workspace(void) { return wanted_workspace; }
uint64_t it_last_tag(void) { return own_tag; }

static int32_t ask_workspace(const it_provider *p, it_stream *s, const itp_launch *l) {
  CALL(p, s, NULL, l->kernel->name, l->kernel->workspace(p->self, l, &wanted_workspace, err));
}

/* Launch a kernel on as many tensors as its row has, inputs first. With `checked` 0 they are first held
 * against the row, and IT_UNFIT is returned where they are not plainly right. IT_WANTS_WORKSPACE: call again
 * with it_wanted_workspace() bytes. */
int32_t it_launch(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *const *tensors,
                  uint64_t workspace, uint64_t workspace_size, int32_t checked) {
  const it_provider *p = k->provider;
  itp_tensor *views[IT_MAX_OPERANDS];
  itp_launch l;
  if (!checked && !fits(k, s->device, tensors)) return IT_UNFIT;
  for (uint32_t i = 0; i < k->n_inputs + k->n_outputs; ++i)
    views[i] = tensors[i] != NULL ? &tensors[i]->tensor : NULL;
  l.struct_size = (uint32_t)sizeof(l);
  l.device = s->device->index;
  l.stream = s->handle;
  l.inputs = (const itp_tensor *const *)views;
  l.outputs = views + k->n_inputs;
  l.attrs = attrs;
  l.n_inputs = k->n_inputs;
  l.n_outputs = k->n_outputs;
  l.n_attrs = k->n_attrs;
  l.flags = 0;
  l.workspace = it_pointer(workspace);
  l.workspace_size = workspace_size;
  l.tag = own_tag = __atomic_add_fetch(&last_tag, 1, __ATOMIC_RELAXED);
  l.kernel = k->kernel;
  if (k->kernel->workspace != NULL && workspace_size == 0) {
    wanted_workspace = 0;
    const int32_t status = ask_workspace(p, s, &l);
    if (status != ITP_OK) return status;
    if (wanted_workspace != 0) return IT_WANTS_WORKSPACE;
  }
  CALL(p, s, NULL, k->kernel->name, k->kernel->launch(p->self, &l, err));
}

/* The same for the usual number of tensors: passing each by itself is cheaper for Python than a list. */
int32_t it_launch_4(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *a,
                    it_descriptor *b, it_descriptor *c, it_descriptor *d) {
  it_descriptor *const tensors[] = {a, b, c, d};
  return it_launch(k, s, attrs, tensors, 0, 0, 0);
}

int32_t it_launch_8(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *a,
                    it_descriptor *b, it_descriptor *c, it_descriptor *d, it_descriptor *e, it_descriptor *f,
                    it_descriptor *g, it_descriptor *h) {
  it_descriptor *const tensors[] = {a, b, c, d, e, f, g, h};
  return it_launch(k, s, attrs, tensors, 0, 0, 0);
}

/* Do recorded launches again, on a stream, under one entry. */
int32_t it_replay(it_stream *s, itp_launch *launches, itp_launch *const *list, uint64_t n, uint64_t *done) {
  const it_provider *p = s->device->provider;
  const uint64_t before = __atomic_fetch_add(&last_tag, n, __ATOMIC_RELAXED);
  for (uint64_t i = 0; i < n; ++i) {
    launches[i].stream = s->handle;
    launches[i].tag = before + 1 + i;
  }
  *done = 0;
  own_tag = before + 1; /* of the one that fails, once it is known which */
  if (!it_may_enter(p)) return it_refuse(p, "submit");
  const it_held held = it_hold(p, s, NULL);
  const itp_status status =
      p->kernels.submit(p->self, (const itp_launch *const *)list, n, done, it_fresh_error());
  it_let_go(held);
  own_tag += *done;
  return it_finished(status);
}
