/* A small provider for the conformance kit to judge: honest as it stands, with one lie for each LIE_... that
 * is defined.
 *
 * One device in the host's memory, tier 0 and an embedding from the SDK's portable kernels, ready-made
 * streams. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "infinitrain/dtype.h"
#include "infinitrain/export.h"
#include "infinitrain/reference.h"
#include "infinitrain/strided.h"
#include "infinitrain/sync.h"

#define TOTAL (UINT64_C(1) << 30)
#ifdef LIE_ALIGNMENT
#define SAID_ALIGNMENT 4096
#else
#define SAID_ALIGNMENT 64
#endif
#define ALL_DTYPES ((UINT64_C(1) << (ITP_DT_F64 + 1)) - 1)

static atomic_uint_fast64_t used;

#ifdef WITH_TABLES
#include "liar_tables.h"
#define TABLE_CAPS ITP_CAP_GRAPHS
/* What a stream that records does with a call: keeps a launch, refuses what waits. */
#define KEEP_IF_RECORDING(l)                               \
  if (recorder((l)->stream) != NULL && status == ITP_OK) { \
    itp_graph g = recorder((l)->stream);                   \
    g->launches[g->n++] = (l);                             \
    return ITP_OK;                                         \
  }
#define REFUSE_IF_RECORDING(c) \
  if (recorder((c)->stream) != NULL) return ITP_FAIL(err, UNIMPLEMENTED, "copy", "the stream records")
#else
#define TABLE_CAPS 0
#define KEEP_IF_RECORDING(l)
#define REFUSE_IF_RECORDING(c)
#endif

static itp_status check_device(const char *slot, int32_t device, itp_error *err) {
#ifdef LIE_MISSING_STATUS
  return ITP_OK;
#endif
  return device == 0 ? ITP_OK : ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d of 1", (int)device);
}

/* ---- runtime -------------------------------------------------------------------------------------- */

static itp_status device_count(void *self, int32_t *n, itp_error *err) {
  (void)self, (void)err;
#ifdef LIE_RECORD_ON_OK
  if (err != NULL) err->code = ITP_E_INTERNAL;
#endif
  *n = 1;
  return ITP_OK;
}

static itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  (void)self;
  if (device != 0) return ITP_FAIL(err, INVALID_ARGUMENT, "device_info", "device %d of 1", (int)device);
  itp_device_info info = {.struct_size = out->struct_size,
                          .dlpack_device_type = 12,
                          .name = "Liar",
                          .total_memory = TOTAL,
                          .min_alignment = SAID_ALIGNMENT,
                          .compute_dtype_mask = UINT64_C(1) << ITP_DT_F32,
                          .storage_dtype_mask = ALL_DTYPES,
                          .caps = ITP_CAP_TIMING_EVENTS | ITP_CAP_STREAM_ORDERED_ALLOC | TABLE_CAPS};
#ifdef LIE_STRUCT_SIZE
  *out = info;
#else
  memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
#endif
  return ITP_OK;
}

static itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                        void **out, itp_error *err) {
  (void)self, (void)stream;
  if (check_device("alloc", device, err) != ITP_OK) return ITP_E_INVALID_ARGUMENT;
  if (kind > ITP_MEM_MANAGED || nbytes == 0) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "kind %u", kind);
  if (kind != ITP_MEM_DEVICE) return ITP_FAIL(err, UNIMPLEMENTED, "alloc", "kind %u", kind);
  void *block = NULL;
  if (nbytes > TOTAL || atomic_load(&used) + nbytes > TOTAL || posix_memalign(&block, 64, nbytes) != 0)
#ifdef LIE_MESSAGE
    return ITP_FAIL(err, OUT_OF_MEMORY, "malloc", "no memory");
#else
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for", (unsigned long long)nbytes);
#endif
  atomic_fetch_add(&used, nbytes);
  *out = block;
  return ITP_OK;
}

static itp_status dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                          itp_stream stream, itp_error *err) {
  (void)self, (void)kind, (void)stream;
  if (check_device("dealloc", device, err) != ITP_OK) return ITP_E_INVALID_ARGUMENT;
#ifdef LIE_LEAK
  if (nbytes >= 1 << 25) return ITP_OK;
#endif
  atomic_fetch_sub(&used, nbytes);
  free(ptr);
  return ITP_OK;
}

static itp_status mem_info(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total,
                           itp_error *err) {
  (void)self;
  *total = TOTAL;
  *free_bytes = TOTAL - atomic_load(&used);
  return check_device("mem_info", device, err);
}

static itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  (void)self;
  const int32_t low = c->dst_device < c->src_device ? c->dst_device : c->src_device;
  const int32_t high = c->dst_device < c->src_device ? c->src_device : c->dst_device;
  if (low < ITP_DEVICE_HOST || high != 0)
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "devices %d, %d", low, high);
  if ((c->flags & ~(uint32_t)ITP_COPY_HOST_STABLE) != 0)
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "flags");
  REFUSE_IF_RECORDING(c);
#ifdef LIE_COPY_ROUNDS_UP
  if (c->src_device == ITP_DEVICE_HOST && c->bytes == 63) {
    memset((char *)c->dst + 63, 0, 1);
  }
#endif
  memmove(c->dst, c->src, c->bytes);
  return ITP_OK;
}

static const itp_runtime runtime = {
    sizeof(itp_runtime), 0, device_count, device_info, alloc, dealloc, mem_info, copy, NULL};

/* ---- guard ------------------------------------------------------------------------------------------ */

static itp_status stream_create(void *self, int32_t device, uint32_t flags, int32_t priority, itp_stream *out,
                                itp_error *err) {
#ifdef LIE_STREAM_FLAGS
  flags &= ~1u;
#endif
  return itp_sync_stream_create(self, device, flags, priority, out, err);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

#define KERNEL(Name)                                                                  \
  static itp_status lie_##Name(const itp_launch *l);                                  \
  static itp_status launch_##Name(void *self, const itp_launch *l, itp_error *err) {  \
    if (l->device != 0) return ITP_FAIL(err, INVALID_ARGUMENT, #Name, "device of 1"); \
    itp_status status = ITP_OK;                                                       \
    KEEP_IF_RECORDING(l)                                                              \
    status = itp_ref_##Name(self, l, err);                                            \
    return status == ITP_OK && l->n_outputs == 1 ? lie_##Name(l) : status;            \
  }                                                                                   \
  static const itp_kernel kernel_##Name = {                                           \
      .struct_size = sizeof(itp_kernel),                                              \
      .op_version = 1,                                                                \
      .name = #Name,                                                                  \
      .schema = itp_schema_##Name,                                                    \
      .dtype_mask = ITP_DTYPES_##Name,                                                \
      .flags = ITP_ALLOWS_##Name | ITP_K_DETERMINISTIC | ITP_K_CAPTURABLE,            \
      .launch = launch_##Name};
KERNEL(Cast)
KERNEL(Fill)
KERNEL(Copy)
KERNEL(NoOpForward)
KERNEL(NoOpBackward)

/* What a kernel does beside its work. */

static itp_status lie_Cast(const itp_launch *l) {
#ifdef LIE_CAST_ROUNDING
  /* float32 to bfloat16 by cutting off */
  const itp_tensor *x = l->inputs[0], *y = l->outputs[0];
  const itp_tensor *tensors[] = {x, y};
  itp_strided it;
  if (itp_dtype_bit(x->dtype) != ITP_DT_F32 || itp_dtype_bit(y->dtype) != ITP_DT_BF16) return ITP_OK;
  for (itp_strided_begin(&it, tensors, 2); it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; ++i) {
      uint32_t bits;
      memcpy(&bits, it.data[0] + i * it.step[0], 4);
      const uint16_t cut = (uint16_t)(bits >> 16);
      if ((bits & 0x7F800000) != 0x7F800000) memcpy(it.data[1] + i * it.step[1], &cut, 2);
    }
  }
#endif
#ifdef LIE_STRIDED
  /* takes the output for compact, whatever its strides */
  const itp_tensor *y = l->outputs[0];
  if (y->strides != NULL && y->ndim > 1 && itp_numel(y) > 1)
    memset(itp_data(y), 0, (size_t)itp_element_size(y));
#endif
  (void)l;
  return ITP_OK;
}

static itp_status lie_Fill(const itp_launch *l) {
  (void)l;
  return ITP_OK;
}

static itp_status lie_Copy(const itp_launch *l) {
  (void)l;
#ifdef LIE_ALLOCATES
  void *block;
  itp_error error = {.struct_size = sizeof error};
  return alloc(NULL, 0, ITP_MEM_DEVICE, 64, NULL, &block, &error);
#endif
  return ITP_OK;
}

static itp_status lie_NoOpForward(const itp_launch *l) {
  const itp_tensor *x = l->inputs[0], *y = l->outputs[0];
  const int64_t n = itp_numel(x);
  (void)y, (void)n;
#ifdef LIE_CRASH
  if (itp_dtype_bit(x->dtype) == ITP_DT_U16 && n == 4099) raise(SIGSEGV);
#endif
#ifdef LIE_HANG
  while (itp_dtype_bit(x->dtype) == ITP_DT_I16 && n == 4099) pause();
#endif
  return ITP_OK;
}

static itp_status lie_NoOpBackward(const itp_launch *l) {
  const itp_tensor *x = l->inputs[0], *y = l->outputs[0];
  if (itp_numel(x) > 16 && itp_data(x) != itp_data(y)) {
#ifdef LIE_INPUT_MODIFIED
    memset(itp_data(x), 0, 1);
#endif
#ifdef LIE_PAST_THE_END
    memset(itp_data(y) + itp_numel(y) * itp_element_size(y), 0, 1);
#endif
  }
  return ITP_OK;
}

#ifdef LIE_NOT_WRITTEN
/* Leaves the last element of long outputs alone. */
static itp_status unfinished(void *self, const itp_launch *l, itp_error *err) {
  if (l->n_inputs != 1 || l->n_outputs != 1 || l->n_attrs != 0 || l->device != 0 || l->inputs[0] == NULL) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "NoOpForward", "counts or device");
  }
  const itp_tensor *x = l->inputs[0], *y = l->outputs[0];
  const int64_t n = itp_numel(x);
  (void)self;
  memmove(itp_data(y), itp_data(x), (size_t)((n > 16 ? n - 1 : n) * itp_element_size(x)));
  return ITP_OK;
}
static const itp_kernel kernel_unfinished = {.struct_size = sizeof(itp_kernel),
                                             .op_version = 1,
                                             .name = "NoOpForward",
                                             .schema = itp_schema_NoOpForward,
                                             .dtype_mask = ITP_DTYPES_NoOpForward,
                                             .flags = ITP_ALLOWS_NoOpForward,
                                             .launch = unfinished};
#define NO_OP_FORWARD &kernel_unfinished
#else
#define NO_OP_FORWARD &kernel_NoOpForward
#endif

#ifdef LIE_NATIVE_CODE
/* Reports a bad index late, with a number of its own. */
static uint64_t late;
static itp_status late_sync(void *self, int32_t device, itp_error *err) {
  const uint64_t tag = late;
  late = 0;
  if (tag == 0) return itp_sync_device_sync(self, device, err);
  (void)ITP_FAIL_WITH(err, ASYNC, "device_sync", 719,
                      "[EmbeddingForward][OUT_OF_RANGE] index 9, driver error 719");
  if (err != NULL) err->origin_tag = tag;
  return ITP_E_ASYNC;
}
#endif

static itp_status launch_embedding(void *self, const itp_launch *l, itp_error *err) {
  if (l->device != 0) return ITP_FAIL(err, INVALID_ARGUMENT, "EmbeddingForward", "device of 1");
#ifdef LIE_INDEX
  itp_args_EmbeddingForward a;
  const itp_status status = itp_unpack_EmbeddingForward(l, &a, err);
  if (status != ITP_OK) return status;
  const int64_t *index = (const int64_t *)(const void *)itp_data(a.index), rows = a.weight->shape[0];
  const int64_t width = a.weight->shape[1] * itp_element_size(a.weight);
  for (int64_t i = 0; i < itp_numel(a.index); ++i) { /* wraps instead of refusing */
    const int64_t at = rows > 0 ? ((index[i] % rows) + rows) % rows : 0;
    memcpy(itp_data(a.y) + i * width, itp_data(a.weight) + at * width, (size_t)width);
  }
  return ITP_OK;
#elif defined(LIE_NATIVE_CODE)
  if (itp_ref_EmbeddingForward(self, l, err) == ITP_E_OUT_OF_RANGE) late = l->tag;
  return ITP_OK;
#else
  return itp_ref_EmbeddingForward(self, l, err);
#endif
}
static const itp_kernel kernel_EmbeddingForward = {.struct_size = sizeof(itp_kernel),
                                                   .op_version = 1,
                                                   .name = "EmbeddingForward",
                                                   .schema = itp_schema_EmbeddingForward,
                                                   .dtype_mask = ITP_DTYPES_EmbeddingForward,
                                                   .launch = launch_embedding};

#ifdef LIE_SUBMIT_DONE
static itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done,
                         itp_error *err) {
  const itp_status status = itp_sync_submit(self, list, n, done, err);
  *done = n;
  return status;
}
#else
#define submit itp_sync_submit
#endif

static const itp_kernel *const items[] = {&kernel_Cast,  &kernel_Fill,         &kernel_Copy,
                                          NO_OP_FORWARD, &kernel_NoOpBackward, &kernel_EmbeddingForward};
static const itp_kernels kernels = {sizeof(itp_kernels), sizeof items / sizeof items[0], items, submit};

/* ---- the provider ----------------------------------------------------------------------------------- */

static itp_guard guard = ITP_SYNC_GUARD;
static int state;

static itp_status init(const itp_host *host, const itp_config *config, void **self, itp_error *err) {
  (void)host;
#ifdef LIE_OPTIONS
  (void)config, (void)err;
#else
  if (ITP_HAS(config, itp_config, n_options) && config->n_options > 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "init", "no option '%s'", config->option_names[0]);
  }
#endif
#ifdef LIE_DIRECTORY
  if (chdir("/") != 0) return ITP_FAIL(err, INTERNAL, "init", "chdir");
#endif
  *self = &state;
  return ITP_OK;
}

static itp_status shutdown(void *self, uint32_t reason, itp_error *err) {
  (void)self, (void)reason, (void)err;
  return ITP_OK;
}

static itp_provider provider = {.struct_size = sizeof(itp_provider),
                                .abi_minor = ITP_ABI_MINOR,
                                .name = "liar",
                                .vendor = "tests",
                                .version = "1.0",
                                .build_info = "",
                                .init = init,
                                .shutdown = shutdown,
                                .runtime = &runtime,
                                .guard = &guard,
                                .kernels = &kernels};

#ifdef LIE_IMPURE_QUERY
static void *idle(void *argument) {
  for (;;) pause();
  return argument;
}
#endif

#ifdef LIE_EXPORTS
ITP_EXPORT int liar_internal(void);
ITP_EXPORT int liar_internal(void) { return state; }
#endif

ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor);
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor) {
  (void)core_abi_minor;
#ifdef LIE_IMPURE_QUERY
  pthread_t thread;
  pthread_create(&thread, NULL, idle, NULL);
#endif
  guard.stream_create = stream_create;
#ifdef LIE_NATIVE_CODE
  guard.device_sync = late_sync;
#endif
#ifdef WITH_TABLES
  guard.stream_sync = recording_sync;
  provider.ccl = &ccl;
  provider.graphs = &graphs;
#endif
  return &provider;
}
