/* A provider that is written against the header alone, so that it builds with each version of it: one device
 * in host memory that does a float32 sum. What a later version added is used where the header has it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "infinitrain/provider.h"
#include "schemas.h" /* SCHEMA_<kernel>: the strings of the version's kernel table */

#define UNUSED(x) (void)(x)
static char instance;

static itp_status fail(itp_error *err, itp_status status, const char *text) {
  if (err == NULL) return status;
  err->code = status;
  err->native_code = 0;
  err->origin_tag = 0;
  err->message_length = 0;
  if (err->message != NULL && err->message_capacity > strlen(text)) {
    strcpy(err->message, text);
    err->message_length = strlen(text);
  }
  return status;
}

static itp_status init(const itp_host *host, const itp_config *config, void **self, itp_error *err) {
  UNUSED(host), UNUSED(config), UNUSED(err);
  *self = &instance;
  return ITP_OK;
}
static itp_status device_count(void *self, int32_t *n, itp_error *err) {
  UNUSED(self), UNUSED(err);
  *n = 1;
  return ITP_OK;
}
static itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  UNUSED(self);
  if (device != 0) return fail(err, ITP_E_INVALID_ARGUMENT, "[device_info][INVALID_ARGUMENT] one device");
  itp_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = out->struct_size;
  info.dlpack_device_type = 12;
  strcpy(info.name, "Small");
  info.total_memory = 1 << 26;
  info.min_alignment = 64;
  info.storage_dtype_mask = 1 << ITP_DT_F32;
#if ITP_ABI_MINOR >= 1
  info.numa_node = 77;
#endif
  memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
  return ITP_OK;
}
static itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                        void **out, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(stream);
  if (kind != ITP_MEM_DEVICE)
    return fail(err, ITP_E_UNIMPLEMENTED, "[alloc][UNIMPLEMENTED] device memory only");
#if ITP_ABI_MINOR >= 1
  if (nbytes > 1 << 26) return fail(err, ITP_E_BUSY, "[alloc][BUSY] others are using the device");
#endif
  *out = aligned_alloc(64, (nbytes + 63) / 64 * 64);
  return *out != NULL ? ITP_OK : fail(err, ITP_E_OUT_OF_MEMORY, "[alloc][OUT_OF_MEMORY] none left");
}
static itp_status dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                          itp_stream stream, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(kind), UNUSED(nbytes), UNUSED(stream), UNUSED(err);
  free(ptr);
  return ITP_OK;
}
static itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  UNUSED(self), UNUSED(err);
  memmove(c->dst, c->src, c->bytes);
  return ITP_OK;
}
#if ITP_ABI_MINOR >= 1
static itp_status trim(void *self, int32_t device, uint64_t *freed, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(err);
  *freed = 4096;
  return ITP_OK;
}
#endif

static itp_status on_device(void *self, int32_t d, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(err), ITP_OK;
}
static itp_status stream_create(void *self, int32_t d, uint32_t f, int32_t p, itp_stream *out,
                                itp_error *err) {
  UNUSED(self), UNUSED(d), UNUSED(f), UNUSED(p), UNUSED(err);
  *out = (itp_stream)&instance;
  return ITP_OK;
}
static itp_status on_stream(void *self, int32_t d, itp_stream s, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(s), UNUSED(err), ITP_OK;
}
static itp_status wait_event(void *self, int32_t d, itp_stream s, itp_event e, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(s), UNUSED(e), UNUSED(err), ITP_OK;
}
static itp_status event_create(void *self, int32_t d, uint32_t f, itp_event *out, itp_error *err) {
  UNUSED(self), UNUSED(d), UNUSED(f), UNUSED(err);
  *out = (itp_event)&instance;
  return ITP_OK;
}
static itp_status on_event(void *self, int32_t d, itp_event e, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(e), UNUSED(err), ITP_OK;
}
static itp_status event_record(void *self, int32_t d, itp_event e, itp_stream s, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(e), UNUSED(s), UNUSED(err), ITP_OK;
}

/* Float32 only, output compact, inputs of any strides. */
static float *data(const itp_tensor *t) { return (float *)(void *)((char *)t->data + t->byte_offset); }
static int64_t count(const itp_tensor *t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->ndim; ++i) n *= t->shape[i];
  return n;
}
static float at(const itp_tensor *t, int64_t index) {
  int64_t place = index;
  if (t->strides != NULL) {
    place = 0;
    for (int32_t i = t->ndim - 1; i >= 0; --i) {
      place += index % t->shape[i] * t->strides[i];
      index /= t->shape[i];
    }
  }
  return data(t)[place];
}
static itp_status launch(void *self, const itp_launch *l, itp_error *err) {
  UNUSED(self);
  itp_tensor *y = l->outputs[0];
  const int64_t n = count(y);
  if (y->strides != NULL) return fail(err, ITP_E_UNIMPLEMENTED, "[small][UNIMPLEMENTED] a compact output");
#if ITP_ABI_MINOR >= 1
  if (ITP_HAS(l, itp_launch, hint) && l->hint != 0) return fail(err, ITP_E_INVALID_ARGUMENT, "a hint");
#endif
  for (int64_t i = 0; i < n; ++i) {
    float value = l->n_attrs == 1
                      ? (float)(l->attrs[0].kind == ITP_V_F64 ? l->attrs[0].u.d : (double)l->attrs[0].u.i)
                      : 0;
    for (uint32_t j = 0; j < l->n_inputs; ++j) value += at(l->inputs[j], i);
    data(y)[i] = value;
  }
  return ITP_OK;
}

#define KERNEL(Name) \
  {sizeof(itp_kernel), 1, #Name, SCHEMA_##Name, 1 << ITP_DT_F32, ITP_K_STRIDED, NULL, launch, NULL, NULL}
static const itp_kernel table[] = {KERNEL(Cast),        KERNEL(Fill),         KERNEL(Copy),
                                   KERNEL(NoOpForward), KERNEL(NoOpBackward), KERNEL(AddForward)};
static const itp_kernel *const items[] = {&table[0], &table[1], &table[2], &table[3], &table[4], &table[5]};

static const itp_runtime runtime = {
    .struct_size = sizeof(itp_runtime),
    .device_count = device_count,
    .device_info = device_info,
    .alloc = alloc,
    .dealloc = dealloc,
    .copy = copy,
#if ITP_ABI_MINOR >= 1
    .trim = trim,
#endif
};
static const itp_guard guard = {
    .struct_size = sizeof(itp_guard),
    .device_sync = on_device,
    .stream_create = stream_create,
    .stream_destroy = on_stream,
    .stream_sync = on_stream,
    .stream_query = on_stream,
    .stream_wait_event = wait_event,
    .event_create = event_create,
    .event_destroy = on_event,
    .event_record = event_record,
    .event_sync = on_event,
    .event_query = on_event,
};
static const itp_kernels kernels = {.struct_size = sizeof(itp_kernels), .count = 6, .items = items};
static const itp_provider provider = {
    .struct_size = sizeof(itp_provider),
    .abi_minor = ITP_ABI_MINOR,
    .name = "small",
    .vendor = "tests",
    .version = "1",
    .build_info = "",
    .init = init,
    .runtime = &runtime,
    .guard = &guard,
    .kernels = &kernels,
};

__attribute__((visibility("default"))) const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor);
const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor) {
  UNUSED(core_abi_minor);
  return &provider;
}
