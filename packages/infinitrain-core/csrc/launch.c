/* Descriptors and launches. The usual launch is checked here in a few nanoseconds; whatever is unusual is
 * handed back to Python (IT_UNFIT), which makes it fit or says what is wrong with it. */
#include <stddef.h>
#include <string.h>

#include "call.h"
#include "infinitrain/dtype.h"

void it_describe(it_descriptor *d, const it_provider *p, uint64_t address, int32_t device_type,
                 int32_t device_id, uint32_t dtype, int32_t ndim, const int64_t *shape,
                 const int64_t *strides, uint64_t byte_offset, uint64_t nbytes) {
  itp_tensor *t = &d->tensor;
  const size_t length = (size_t)ndim * sizeof(int64_t);
  d->provider = p;
  t->data = it_pointer(address);
  t->device_type = device_type;
  t->device_id = device_id;
  t->ndim = ndim;
  t->dtype.code = (uint8_t)(dtype & 0xFFu);
  t->dtype.bits = (uint8_t)((dtype >> 8) & 0xFFu);
  t->dtype.lanes = 1;
  t->byte_offset = byte_offset;
  t->nbytes = nbytes;
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
  }
}

/* ---- is this launch the usual one? ------------------------------------------------------------------------
 */

static int is_matrix(const itp_tensor *t) {
  if (t->ndim < 2) return 0;
  const int64_t rows = t->shape[t->ndim - 2], columns = t->shape[t->ndim - 1];
  const int64_t row_step = t->strides[t->ndim - 2], column_step = t->strides[t->ndim - 1];
  return (column_step == 1 && row_step >= columns) || (row_step == 1 && column_step >= rows);
}

/* The bytes that a view spans, gaps included. */
static void extent(const itp_tensor *t, uintptr_t *begin, uintptr_t *end) {
  *begin = (uintptr_t)t->data + (uintptr_t)t->byte_offset;
  uintptr_t length = (uintptr_t)t->nbytes;
  if (t->strides != NULL && length != 0) {
    uint64_t reach = 0;
    for (int32_t i = 0; i < t->ndim; ++i) reach += (uint64_t)(t->strides[i] * (t->shape[i] - 1));
    length = (uintptr_t)((reach + 1) * itp_itemsize(t->dtype));
  }
  *end = *begin + length;
}

static int is_same_view(const itp_tensor *a, const itp_tensor *b) {
  return a->strides == NULL && b->strides == NULL && a->ndim == b->ndim && a->byte_offset == b->byte_offset &&
         memcmp(&a->dtype, &b->dtype, sizeof(a->dtype)) == 0 &&
         (a->ndim == 0 || memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(int64_t)) == 0);
}

static int may_overlap(const itp_tensor *in, const itp_tensor *out, uint32_t flags) {
  if (in->data != out->data || in->nbytes == 0) return 0; /* buffers do not overlap each other */
  if ((flags & IT_MAY_ALIAS) && is_same_view(in, out)) return 0;
  uintptr_t in_begin, in_end, out_begin, out_end;
  extent(in, &in_begin, &in_end);
  extent(out, &out_begin, &out_end);
  return in_begin < out_end && out_begin < in_end;
}

static int dtype_fits(uint8_t rule, int bit, int *t_bit, int *u_bit, const it_kernel *k) {
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

static int fits(const it_provider *p, const it_kernel *k, const it_stream *s, it_descriptor *const *inputs,
                uint32_t n_inputs, it_descriptor *const *outputs, uint32_t n_outputs) {
  if (n_inputs != k->n_inputs || n_outputs != k->n_outputs) return 0;
  int t_bit = -1, u_bit = -1;
  for (uint32_t i = 0; i < n_inputs + n_outputs; ++i) {
    const it_descriptor *d = i < n_inputs ? inputs[i] : outputs[i - n_inputs];
    if (d == NULL) {
      if (!(k->rules[i] & IT_OPTIONAL)) return 0;
      continue;
    }
    const itp_tensor *t = &d->tensor;
    if (d->provider != p || t->device_id != s->device) return 0;
    const int bit = itp_dtype_bit(t->dtype);
    if (bit < 0 || !dtype_fits(k->rules[i], bit, &t_bit, &u_bit, k)) return 0;
    if (i >= n_inputs) {
      if (t->strides != NULL || t->nbytes == 0) return 0;
      for (uint32_t j = 0; j < n_inputs; ++j)
        if (inputs[j] != NULL && may_overlap(&inputs[j]->tensor, t, k->flags)) return 0;
    } else if (t->strides != NULL && !(k->flags & IT_LAYOUT_STRIDED) &&
               !((k->flags & IT_LAYOUT_MATRIX) && is_matrix(t))) {
      return 0;
    }
  }
  return 1;
}

/* ---- launch
 * ------------------------------------------------------------------------------------------------- */

static _Thread_local uint64_t wanted_workspace;

uint64_t it_wanted_workspace(void) { return wanted_workspace; }

static int32_t ask_workspace(it_provider *p, const it_stream *s, const itp_launch *l) {
  CALL(p, s, l->kernel->name, l->kernel->workspace(p->self, l, &wanted_workspace, err));
}

/* Launch a kernel. With `checked` 0 the operands are first held against the kernel's rules, and IT_UNFIT is
 * returned where they are not plainly right. IT_WANTS_WORKSPACE: call again with it_wanted_workspace() bytes.
 */
int32_t it_launch(it_provider *p, const it_kernel *k, it_stream *s, it_descriptor *const *inputs,
                  uint32_t n_inputs, it_descriptor *const *outputs, uint32_t n_outputs,
                  const itp_value *attrs, uint64_t workspace, uint64_t workspace_size, uint64_t tag,
                  int32_t checked) {
  const itp_tensor *in[IT_MAX_OPERANDS];
  itp_tensor *out[IT_MAX_OPERANDS];
  if (n_inputs + n_outputs > IT_MAX_OPERANDS) return IT_UNFIT;
  if (!checked && !fits(p, k, s, inputs, n_inputs, outputs, n_outputs)) return IT_UNFIT;
  for (uint32_t i = 0; i < n_inputs; ++i) in[i] = inputs[i] != NULL ? &inputs[i]->tensor : NULL;
  for (uint32_t i = 0; i < n_outputs; ++i) out[i] = outputs[i] != NULL ? &outputs[i]->tensor : NULL;
  itp_launch l;
  l.struct_size = (uint32_t)sizeof(l);
  l.device = s->device;
  l.stream = s->handle;
  l.inputs = in;
  l.outputs = out;
  l.attrs = attrs;
  l.n_inputs = n_inputs;
  l.n_outputs = n_outputs;
  l.n_attrs = k->n_attrs;
  l.flags = 0;
  l.workspace = it_pointer(workspace);
  l.workspace_size = workspace_size;
  l.tag = tag;
  l.kernel = k->kernel;
  if (k->kernel->workspace != NULL && workspace_size == 0) {
    wanted_workspace = 0;
    const int32_t status = ask_workspace(p, s, &l);
    if (status != ITP_OK) return status;
    if (wanted_workspace != 0) return IT_WANTS_WORKSPACE;
  }
  CALL(p, s, k->kernel->name, k->kernel->launch(p->self, &l, err));
}
