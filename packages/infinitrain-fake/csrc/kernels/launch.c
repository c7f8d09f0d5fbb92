/* The way of a launch to its stream: everything that can be seen to be wrong is refused at once, and the rest
 * is copied, because descriptors, shapes and attributes are only borrowed for the call. */
#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "infinitrain/dtype.h"
#include "infinitrain/strided.h"

/* ---- dtypes against the schema --------------------------------------------------------------------- */

/* The next "TYPE[?] name" of a schema; false at the end of the list. */
static int next_operand(const char **schema, char type[8]) {
  const char *p = *schema;
  while (*p == ' ' || *p == ',' || *p == '(') ++p;
  if (*p == ')' || *p == '*' || *p == '\0') return 0;
  if (strncmp(p, "inout ", 6) == 0) p += 6;
  size_t n = strcspn(p, " ?");
  memcpy(type, p, n < 7 ? n : 7);
  type[n < 7 ? n : 7] = '\0';
  *schema = p + strcspn(p, ",)");
  return 1;
}

static int dtype_named(const char *name) {
  static const char *const names[] = {"bool", "u8",  "i8",   "u16", "i16", "u32", "i32",
                                      "u64",  "i64", "bf16", "f16", "f32", "f64"};
  for (int bit = 0; bit <= ITP_DT_F64; ++bit) {
    if (strcmp(name, names[bit]) == 0) return bit;
  }
  return -1;
}

/* Is a tensor's dtype what the schema says? T is bound by the first tensor that has it. */
static int dtype_fits(const char *type, int bit, uint64_t mask, int *bound) {
  if (bit < 0) return 0;
  if (strcmp(type, "U") == 0) return 1;
  if (strcmp(type, "A") == 0) return bit == (*bound == ITP_DT_F64 ? ITP_DT_F64 : ITP_DT_F32);
  if (strcmp(type, "T") != 0) return bit == dtype_named(type);
  if (*bound < 0) *bound = bit;
  return bit == *bound && (mask >> bit & 1) != 0;
}

/* T comes before A in every list but may follow it across lists, so both lists are read for T first. */
static itp_status check_dtypes(const itp_launch *l, itp_error *err) {
  const itp_kernel *kernel = l->kernel;
  int bound = -1;
  for (int pass = 0; pass < 2; ++pass) {
    const char *schema = strchr(kernel->schema, '(');
    for (int outputs = 0; outputs < 2; ++outputs) {
      const uint32_t n = outputs ? l->n_outputs : l->n_inputs;
      char type[8];
      for (uint32_t i = 0; i < n && next_operand(&schema, type); ++i) {
        const itp_tensor *t = outputs ? l->outputs[i] : l->inputs[i];
        if (t == NULL || (pass == 0 && strcmp(type, "T") != 0)) continue; /* an optional one is absent */
        if (dtype_fits(type, itp_dtype_bit(t->dtype), kernel->dtype_mask, &bound)) continue;
        return ITP_FAIL(err, INVALID_ARGUMENT, kernel->name,
                        "%s %u has dtype code %u, %u bits, which %s does not allow",
                        outputs ? "output" : "input", i, t->dtype.code, t->dtype.bits, kernel->schema);
      }
      schema = strstr(schema, "-> ");
      if (schema != NULL) schema += 3;
    }
  }
  return ITP_OK;
}

/* ---- copying a launch --------------------------------------------------------------------------------- */

typedef struct launch_op {
  fake_op op;
  itp_launch launch;
  /* behind it: tensor pointers, tensors, their shapes and strides, attributes and what they point at */
} launch_op;

/* Memory behind the operation, handed out in pieces of 8 bytes. */
static void *piece(char **next, size_t size) {
  void *p = *next;
  *next += (size + 7) / 8 * 8;
  return p;
}

static size_t attribute_size(const itp_value *v) {
  return v->kind == ITP_V_I64S ? 8 * (size_t)v->count : v->kind == ITP_V_STR ? v->count : 0;
}

static size_t tensor_size(const itp_tensor *t) {
  return t == NULL ? 0 : sizeof *t + 16 * (size_t)(t->ndim > 0 ? t->ndim : 0);
}

static size_t size_behind(const itp_launch *l) {
  size_t size = (l->n_inputs + l->n_outputs) * sizeof(itp_tensor *) + l->n_attrs * sizeof(itp_value);
  for (uint32_t i = 0; i < l->n_inputs; ++i) size += tensor_size(l->inputs[i]);
  for (uint32_t i = 0; i < l->n_outputs; ++i) size += tensor_size(l->outputs[i]);
  for (uint32_t i = 0; i < l->n_attrs; ++i) size += attribute_size(&l->attrs[i]) + 8;
  return size;
}

/* The bytes that a tensor's elements lie in, from its first element: [*low, *high). */
static void extent(const itp_tensor *t, int64_t *low, int64_t *high) {
  *low = 0;
  *high = itp_element_size(t);
  for (int32_t d = 0; d < t->ndim; ++d) {
    const int64_t reach = (t->shape[d] - 1) * itp_stride(t, d) * itp_element_size(t);
    *(reach < 0 ? low : high) += reach;
  }
}

static itp_status copy_tensor(fake_device *device, const itp_kernel *kernel, const itp_tensor *from,
                              char **next, itp_tensor **to, itp_error *err) {
  *to = NULL;
  if (from == NULL) return ITP_OK;
  if (from->device_type != 12 || from->device_id != device->index) {
    return ITP_FAIL(err, INVALID_ARGUMENT, kernel->name,
                    "a tensor of device type %d, index %d in a launch on fake:%d", (int)from->device_type,
                    (int)from->device_id, (int)device->index);
  }
  if (from->ndim < 0 || from->ndim > ITP_MAX_RANK) {
    return ITP_FAIL(err, INVALID_ARGUMENT, kernel->name, "rank %d", (int)from->ndim);
  }
  itp_tensor *t = piece(next, sizeof *t);
  const size_t size = 8 * (size_t)from->ndim;
  *t = *from;
  t->shape = piece(next, size);
  if (size > 0) memcpy(t->shape, from->shape, size);
  if (from->strides != NULL) {
    t->strides = piece(next, size);
    if (size > 0) memcpy(t->strides, from->strides, size);
  }
  *to = t;
  for (int32_t d = 0; d < t->ndim; ++d) {
    if (t->shape[d] < 0) return ITP_FAIL(err, INVALID_ARGUMENT, kernel->name, "a negative size");
  }
  if (itp_numel(t) == 0) { /* nothing will be touched, but memset and memcpy want an address even so */
    t->data = t;
    t->byte_offset = 0;
    return ITP_OK;
  }
  int64_t low, high;
  extent(t, &low, &high);
  const char *first = itp_data(from) + low;
  if (fake_arena_find(&device->arena, first, (uint64_t)(high - low)) == NULL) {
    return ITP_FAIL(err, INVALID_ARGUMENT, kernel->name,
                    "%lld bytes at %p are not inside a live block of fake:%d", (long long)(high - low),
                    (const void *)first, (int)device->index);
  }
  t->data = fake_alias(&device->arena, itp_data(from));
  t->byte_offset = 0;
  return ITP_OK;
}

static itp_status copy_launch(fake_device *device, const itp_launch *l, launch_op *op, itp_error *err) {
  char *next = (char *)(op + 1);
  /* An older core's launch is shorter; what it does not have stays zero. */
  memcpy(&op->launch, l, l->struct_size < sizeof *l ? l->struct_size : sizeof *l);
  op->launch.struct_size = sizeof op->launch;
  itp_tensor **tensors = piece(&next, (l->n_inputs + l->n_outputs) * sizeof *tensors);
  op->launch.inputs = (const itp_tensor *const *)tensors;
  op->launch.outputs = tensors + l->n_inputs;
  for (uint32_t i = 0; i < l->n_inputs + l->n_outputs; ++i) {
    const itp_tensor *from = i < l->n_inputs ? l->inputs[i] : l->outputs[i - l->n_inputs];
    const itp_status status = copy_tensor(device, l->kernel, from, &next, &tensors[i], err);
    if (status != ITP_OK) return status;
  }
  itp_value *attrs = piece(&next, l->n_attrs * sizeof *attrs);
  op->launch.attrs = attrs;
  for (uint32_t i = 0; i < l->n_attrs; ++i) {
    const size_t size = attribute_size(&l->attrs[i]);
    attrs[i] = l->attrs[i];
    if (size > 0) attrs[i].u.p = memcpy(piece(&next, size), l->attrs[i].u.p, size);
  }
  return ITP_OK;
}

/* ---- launching ------------------------------------------------------------------------------------------
 */

static itp_status run_launch(fake_op *op, itp_error *err) {
  const itp_launch *l = &((launch_op *)op)->launch;
  return ((const fake_kernel *)(const void *)l->kernel)->run(NULL, l, err);
}

static itp_status run_failure(fake_op *op, itp_error *err) {
  return ITP_FAIL(err, INTERNAL, ((launch_op *)op)->launch.kernel->name,
                  "this launch fails, as option fail_launch_at wants");
}

/* With the lock. */
static itp_status launch_locked(fake_device *device, const itp_launch *l, itp_error *err) {
  fake *self = device->self;
  const char *name = l->kernel->name;
  itp_stream stream = fake_stream(device, l->stream);
  if (stream == NULL) {
    return ITP_FAIL(err, INVALID_ARGUMENT, name, "%p is no stream of fake:%d", (void *)l->stream,
                    (int)device->index);
  }
  itp_status status = ((const fake_kernel *)(const void *)l->kernel)->check(l, err);
  if (status == ITP_OK) status = check_dtypes(l, err);
  if (status != ITP_OK) return status;
  if ((status = fake_count(device, name, err)) != ITP_OK) return status;
  const int fails = (int64_t)++self->n_launches == self->options.fail_launch_at;
  launch_op *op = calloc(1, sizeof *op + size_behind(l));
  if (op == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, name, "no host memory for an operation");
  op->op.run = fails ? run_failure : run_launch;
  op->op.tag = l->tag;
  op->op.profiled = 1;
  status = copy_launch(device, l, op, err);
  if (status == ITP_OK && fails && !self->options.fail_launch_async) status = run_failure(&op->op, err);
  if (status != ITP_OK) {
    free(op);
    return status;
  }
  return fake_enqueue(stream, &op->op, name, err);
}

itp_status fake_launch(void *self, const itp_launch *l, itp_error *err) {
  fake_device *device;
  if (!ITP_HAS(l, itp_launch, kernel) || l->flags != 0 || l->kernel == NULL ||
      l->kernel->launch != fake_launch) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "launch",
                    "a launch of one of fake's own kernels, without flags, expected");
  }
  itp_status status = fake_enter_device((fake *)self, l->kernel->name, l->device, &device, err);
  if (status != ITP_OK) return status;
  return fake_leave((fake *)self, launch_locked(device, l, err));
}

itp_status fake_submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done,
                       itp_error *err) {
  itp_status status = ITP_OK;
  uint64_t i = 0;
  for (; i < n && status == ITP_OK; ++i) status = fake_launch(self, list[i], err);
  if (done != NULL) *done = status == ITP_OK ? n : i - 1;
  return status;
}
