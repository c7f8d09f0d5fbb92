/* The smallest provider that passes negotiation, with one thing wrong where a test asks for it by a macro.
 * Its device is host memory that it does not call host-readable; with REFERENCE it computes by the SDK's
 * kernels. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "infinitrain/error.h"
#include "infinitrain/export.h"
#include "infinitrain/kernels.h"
#include "infinitrain/provider.h"
#ifdef REFERENCE
#include "infinitrain/reference.h"
#endif

#ifndef NAME
#define NAME "acme"
#endif
#ifndef DEVICES
#define DEVICES 1
#endif
#ifndef PROVIDER_SIZE
#define PROVIDER_SIZE sizeof(itp_provider)
#endif
#ifndef RUNTIME_SIZE
#define RUNTIME_SIZE sizeof(itp_runtime)
#endif
#ifndef ENTRY
#define ENTRY infinitrain_provider_v1
#endif
#define UNUSED(x) (void)(x)

#ifdef SERIAL
#define FLAGS ITP_P_SERIAL
#else
#define FLAGS 0
#endif
#ifndef COPY_FLAGS
#define COPY_FLAGS ITP_K_STRIDED
#endif
#ifndef VENDOR
#define VENDOR "Acme"
#endif

/* With WATCH: say so when two calls overlap on the default stream, with SERIAL on any. */
static atomic_int inside;
static itp_status watched(itp_stream stream, itp_error *err) {
  itp_status status = ITP_OK;
#ifdef WATCH
#ifndef SERIAL
  if (stream != NULL) return ITP_OK;
#endif
  if (atomic_fetch_add(&inside, 1) != 0) status = ITP_FAIL(err, INTERNAL, "watch", "two calls at once");
  usleep(20);
  atomic_fetch_sub(&inside, 1);
#endif
  UNUSED(stream), UNUSED(err), UNUSED(inside);
  return status;
}

static char instance;
static int inits;

static itp_status init(const itp_host *host, const itp_config *config, void **self, itp_error *err) {
  UNUSED(host), UNUSED(config);
  ++inits;
#ifdef INIT_CRASHES
  abort();
#endif
#ifdef INIT_HANGS
  for (;;) pause();
#endif
#ifdef INIT_FAILS
  return ITP_FAIL_WITH(err, UNAVAILABLE, "init", 35, "no driver was found (attempt %d)", inits);
#else
  UNUSED(err);
  *self = &instance;
  return ITP_OK;
#endif
}
static itp_status device_count(void *self, int32_t *n, itp_error *err) {
  UNUSED(self), UNUSED(err);
  *n = DEVICES;
#ifdef WRONG_RECORD
  err->code = ITP_E_INTERNAL;
#endif
#ifdef WRONG_COUNT
  static int calls;
  *n += calls++;
#endif
  return ITP_OK;
}
static itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(err);
  const uint32_t size = out->struct_size;
#ifdef WRONG_INFO
  memset(out, 0, sizeof(*out) + 8);
#endif
  memset(out, 0, sizeof(*out));
  out->struct_size = size;
  out->dlpack_device_type = 12;
  strcpy(out->name, "Acme 1");
  out->min_alignment = 64;
  return ITP_OK;
}
static itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                        void **out, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(kind), UNUSED(stream);
#ifdef ALLOC_LIMIT
  if (nbytes > ALLOC_LIMIT)
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes", (unsigned long long)nbytes);
#endif
#ifdef WRONG_CODE
  return ITP_E_INTERNAL;
#endif
#ifdef WRONG_ROOM
  err->message_capacity = 1;
  return ITP_FAIL(err, INTERNAL, "alloc", "no");
#endif
#if defined(WRONG_ALIGN) || defined(WRONG_OVERLAP)
  static _Alignas(64) char arena[1 << 22];
#ifdef WRONG_ALIGN
  *out = arena + 8;
#else
  *out = arena;
#endif
  return ITP_OK;
#endif
  UNUSED(err);
  *out = aligned_alloc(64, (nbytes + 63) / 64 * 64);
  return *out != NULL ? ITP_OK : ITP_E_OUT_OF_MEMORY;
}
static itp_status dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                          itp_stream stream, itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(kind), UNUSED(nbytes), UNUSED(stream), UNUSED(err);
  free(ptr);
  return ITP_OK;
}
#ifdef WRONG_FREE
static itp_status mem_info(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total,
                           itp_error *err) {
  UNUSED(self), UNUSED(device), UNUSED(err);
  *free_bytes = 2;
  *total = 1;
  return ITP_OK;
}
#endif
static itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  UNUSED(self), UNUSED(err);
  memmove(c->dst, c->src, c->bytes);
#ifdef COPY_LIES
  ((char *)c->dst)[c->bytes - 1] = 7;
#endif
  return ITP_OK;
}
static itp_status device_sync(void *self, int32_t d, itp_error *err) {
  return UNUSED(self), UNUSED(d), UNUSED(err), ITP_OK;
}
static itp_status stream_create(void *self, int32_t d, uint32_t f, int32_t p, itp_stream *out,
                                itp_error *err) {
  UNUSED(self), UNUSED(d), UNUSED(f), UNUSED(p), UNUSED(err);
  *out = (itp_stream)&instance;
  return ITP_OK;
}
static itp_status on_stream(void *self, int32_t d, itp_stream s, itp_error *err) {
  return UNUSED(self), UNUSED(d), watched(s, err);
}
#ifdef WRONG_NATIVE
static itp_status failed_sync(void *self, int32_t d, itp_stream s, itp_error *err) {
  UNUSED(self), UNUSED(d), UNUSED(s);
  return ITP_FAIL_WITH(err, ASYNC, "stream_sync", 719, "driver error");
}
#endif
#ifdef WRONG_HANDLE
static itp_status stream_native(void *self, int32_t d, itp_stream s, void **out, itp_error *err) {
  static char handles[64];
  static int calls;
  UNUSED(self), UNUSED(d), UNUSED(s), UNUSED(err);
  *out = &handles[calls++];
  return ITP_OK;
}
#endif
#ifdef WRONG_DONE
static itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done,
                         itp_error *err) {
  UNUSED(self), UNUSED(list), UNUSED(err);
  *done = n + 1;
  return ITP_OK;
}
#endif
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

static const itp_runtime runtime = {
    .struct_size = (uint32_t)RUNTIME_SIZE,
    .device_count = device_count,
#ifndef NO_DEVICE_INFO
    .device_info = device_info,
#endif
#ifndef NO_ALLOC
    .alloc = alloc,
#endif
    .dealloc = dealloc,
    .copy = copy,
#ifdef WRONG_FREE
    .mem_info = mem_info,
#endif
};
static const itp_guard guard = {
    .struct_size = sizeof(itp_guard),
    .device_sync = device_sync,
    .stream_create = stream_create,
    .stream_destroy = on_stream,
#ifdef WRONG_NATIVE
    .stream_sync = failed_sync,
#else
    .stream_sync = on_stream,
#endif
#ifdef WRONG_HANDLE
    .stream_native = stream_native,
#endif
    .stream_query = on_stream,
    .stream_wait_event = wait_event,
    .event_create = event_create,
    .event_destroy = on_event,
    .event_record = event_record,
    .event_sync = on_event,
    .event_query = on_event,
};

#ifdef REFERENCE
static itp_kernels kernels = {.struct_size = sizeof(itp_kernels)};
#else
static itp_status nothing(void *self, const itp_launch *l, itp_error *err) {
  UNUSED(self);
#ifdef PICKY
  return ITP_FAIL(err, UNIMPLEMENTED, l->kernel->name, "not between these types");
#endif
#ifdef WRONG_LAUNCH
  l->outputs[0]->flags = 1;
#endif
  return watched(l->stream, err);
}
#define ALL 0x1FFF
#ifndef MASK
#define MASK ALL
#endif
#define KERNEL(K, F)                                                       \
  static const itp_kernel kernel_##K = {.struct_size = sizeof(itp_kernel), \
                                        .op_version = 1,                   \
                                        .name = #K,                        \
                                        .schema = itp_schema_##K,          \
                                        .dtype_mask = MASK,                \
                                        .flags = F,                        \
                                        .launch = nothing}
KERNEL(Cast, ITP_K_STRIDED);
KERNEL(Fill, ITP_K_STRIDED);
KERNEL(Copy, COPY_FLAGS);
KERNEL(NoOpForward, 0);
KERNEL(NoOpBackward, 0);
static const itp_kernel other_version = {.struct_size = sizeof(itp_kernel),
                                         .op_version = 7,
                                         .name = "AddForward",
                                         .schema = itp_schema_AddForward,
                                         .launch = nothing};
static const itp_kernel other_schema = {.struct_size = sizeof(itp_kernel),
                                        .op_version = 1,
                                        .name = "MulForward",
                                        .schema = "MulForward(T a) -> (T y)",
                                        .launch = nothing};
static const itp_kernel unknown = {.struct_size = sizeof(itp_kernel),
                                   .op_version = 1,
                                   .name = "Frobnicate",
                                   .schema = "Frobnicate(T a) -> (T y)",
                                   .launch = nothing};
static const itp_kernel *const items[] = {
    &other_version, &other_schema, &unknown, &kernel_Copy, &kernel_NoOpForward, &kernel_NoOpBackward,
#ifndef NO_CAST_NO_FILL
    &kernel_Cast,   &kernel_Fill,
#endif
#ifdef TWICE
    &kernel_Fill,
#endif
};
static const itp_kernels kernels = {.struct_size = sizeof(itp_kernels),
                                    .count = sizeof(items) / sizeof(items[0]),
                                    .items = items,
#ifdef WRONG_DONE
                                    .submit = submit
#endif
};
#endif

#ifdef BAD_OPTIONS
static const itp_option no_help = {
    .struct_size = sizeof(itp_option), .kind = ITP_V_I64, .name = "speed", .default_text = "1"};
static const itp_option bad_name = {.struct_size = sizeof(itp_option),
                                    .kind = ITP_V_I64,
                                    .name = "Top-Speed",
                                    .default_text = "1",
                                    .help = "How fast"};
static const itp_option *const options[] = {&no_help, &bad_name, &no_help, NULL};
#endif

static struct {
  itp_provider provider;
  uint64_t later_fields[2];
} table = {.provider = {
               .struct_size = (uint32_t)(PROVIDER_SIZE),
               .abi_minor = ITP_ABI_MINOR,
               .name = NAME,
               .vendor = VENDOR,
               .flags = FLAGS,
#ifdef BAD_OPTIONS
               .options = options,
               .n_options = 4,
#endif
               .version = "1.0",
               .build_info = "test",
               .init = init,
               .runtime = &runtime,
#ifndef NO_GUARD
               .guard = &guard,
#endif
               .kernels = &kernels,
           }};

ITP_EXPORT const itp_provider *ENTRY(uint32_t core_abi_minor) {
  UNUSED(core_abi_minor);
#ifdef DECLINES
  return NULL;
#endif
#ifdef REFERENCE
  kernels.items = itp_reference_kernels(&kernels.count);
#endif
  return &table.provider;
}
#ifdef UNDEFINED
extern void a_function_that_nobody_has(void);
void user(void) { a_function_that_nobody_has(); }
#endif
