/* What the core keeps in C: opening libraries, its own full copy of a provider's tables, descriptors,
 * launches.
 *
 * Everything below the marker is read by cffi as well. Python calls these functions, never a provider's slot:
 * each of them refuses to enter a provider in a forked child, serialises the calls on one stream, and leaves
 * the error record of the calling thread for Python to read.
 */
#ifndef INFINITRAIN_SHIM_H_
#define INFINITRAIN_SHIM_H_

#include "infinitrain/provider.h"

/* [cdef-begin] */
#define IT_MAX_NDIM 16
#define IT_MAX_OPERANDS 64

typedef struct it_provider {
  itp_provider info;
  itp_runtime runtime;
  itp_guard guard;
  itp_kernels kernels;
  itp_ccl ccl;
  itp_graphs graphs;
  itp_host host;
  void *self;
  int64_t life;      /* 0 not started, the process's generation while it runs, IT_ENDED after shutdown */
  void *validator;   /* what validates it, NULL: nothing does */
  int64_t validates; /* set before it_provider_complete: put a validating layer before the provider */
  void *serial; /* the one lock of a provider that wants to be entered by one thread at a time, else NULL */
} it_provider;
#define IT_ENDED -1

typedef struct it_device {
  it_provider *provider;
  int32_t type;
  int32_t index;
  uint64_t alignment;
} it_device;

/* `lock` is room for a mutex. */
typedef struct it_stream {
  itp_stream handle;
  it_device *device;
  int64_t lock[8];
} it_stream;

typedef struct it_event {
  itp_event handle;
  it_device *device;
  int64_t lock[8];
} it_event;

typedef struct it_descriptor {
  itp_tensor tensor;
  const it_device *device;
  uint64_t begin; /* the addresses that the view spans, gaps included; equal when it has no element */
  uint64_t end;
  uint32_t read_only;
  int32_t bit; /* ITP_DT_* of the dtype */
  int64_t dims[32];
} it_descriptor;

/* A kernel with what the table says of its operands, so that the usual launch is checked here. `rules` holds
 * one entry a tensor, inputs first: an ITP_DT_* bit, or one of the symbols below, plus IT_OPTIONAL. */
#define IT_RULE_T 32
#define IT_RULE_U 33
#define IT_RULE_A 34
#define IT_OPTIONAL 64
#define IT_LAYOUT_STRIDED 0x1
#define IT_LAYOUT_MATRIX 0x2
#define IT_MAY_ALIAS 0x4
#define IT_SAME_SHAPE 0x8
typedef struct it_kernel {
  it_provider *provider;
  const itp_kernel *kernel;
  uint64_t t_mask;
  uint64_t u_mask;
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t n_attrs;
  uint32_t flags;
  uint8_t rules[64];
} it_kernel;

/* Results of a launch besides a provider's status: nothing was launched. */
#define IT_UNFIT -1
#define IT_WANTS_WORKSPACE -2

/* ---- libraries ---- */
void *it_library_open(const char *path, char *error, uint64_t capacity);
void *it_library_symbol(void *library, const char *name);
const itp_provider *it_library_query(void *symbol, uint32_t core_abi_minor);

/* ---- tables ---- */
uint32_t it_struct_size(const void *table);
void it_copy_prefix(void *to, uint32_t to_size, const void *from);
void it_provider_complete(it_provider *p);
const itp_kernel *it_validate_kernel(const itp_kernel *kernel);
const char *it_missing_slot(const it_provider *p, uint32_t index);

/* ---- the calling thread's error record ---- */
const itp_error *it_last_error(void);

/* ---- life ---- */
int32_t it_init(it_provider *p, const itp_config *config);
int32_t it_shutdown(it_provider *p, uint32_t reason);
int32_t it_forked(const it_provider *p);
int64_t it_next_log(int32_t *level, char *text, uint64_t capacity);

/* ---- runtime ---- */
int32_t it_device_count(it_provider *p, int32_t *n);
int32_t it_device_info(it_provider *p, int32_t device, itp_device_info *out);
int32_t it_mem_info(it_provider *p, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes);
int32_t it_alloc(it_stream *s, uint32_t kind, uint64_t nbytes, void **out);
int32_t it_dealloc(it_stream *s, uint32_t kind, uint64_t address, uint64_t nbytes);
int32_t it_copy(it_stream *s, uint64_t dst, int32_t dst_device, uint64_t src, int32_t src_device,
                uint64_t bytes, uint32_t flags);
int32_t it_fill_bytes(it_stream *s, uint64_t address, int32_t byte, uint64_t nbytes);

/* ---- guard ---- */
int32_t it_device_sync(it_device *d);
int32_t it_device_sync_within(it_device *d, uint32_t milliseconds);
void it_stream_prepare(it_stream *s, it_device *d);
int32_t it_stream_create(it_stream *s, uint32_t flags, int32_t priority);
int32_t it_stream_destroy(it_stream *s);
int32_t it_stream_sync(it_stream *s);
int32_t it_stream_query(it_stream *s);
int32_t it_stream_wait_event(it_stream *s, it_event *e);
int32_t it_stream_native(it_stream *s, void **out);
void it_event_prepare(it_event *e, it_device *d);
int32_t it_event_create(it_event *e, uint32_t flags);
int32_t it_event_destroy(it_event *e);
int32_t it_event_record(it_event *e, it_stream *s);
int32_t it_event_sync(it_event *e);
int32_t it_event_query(it_event *e);
int32_t it_event_elapsed_ns(it_event *begin, it_event *end, uint64_t *ns);

/* ---- kernels ---- */
void it_describe(it_descriptor *d, const it_device *device, uint64_t address, uint64_t nbytes, uint32_t dtype,
                 int32_t ndim, const int64_t *shape, const int64_t *strides, uint64_t byte_offset,
                 uint32_t read_only);
uint64_t it_wanted_workspace(void);
uint64_t it_last_tag(void); /* of the calling thread's last launch */
int32_t it_launch(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *const *tensors,
                  uint64_t workspace, uint64_t workspace_size, int32_t checked);
int32_t it_launch_4(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *a,
                    it_descriptor *b, it_descriptor *c, it_descriptor *d);
int32_t it_launch_8(const it_kernel *k, it_stream *s, const itp_value *attrs, it_descriptor *a,
                    it_descriptor *b, it_descriptor *c, it_descriptor *d, it_descriptor *e, it_descriptor *f,
                    it_descriptor *g, it_descriptor *h);
int32_t it_replay(it_stream *s, itp_launch *launches, itp_launch *const *list, uint64_t n, uint64_t *done);
/* [cdef-end] */

#endif
