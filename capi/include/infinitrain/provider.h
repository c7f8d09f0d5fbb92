/* A draft of the contract: names, tables and order as decided in abi.md. It compiles clean
 * as C99..C17 and C++98..20 with -Wall -Wextra -pedantic -Wpadded -Werror, and cffi parses the
 * text between the markers unchanged, with the same sizes and offsets. The real header keeps this
 * shape and carries the documentation: every slot has its contract comment (abi.md, section 8). */
#ifndef INFINITRAIN_PROVIDER_H_
#define INFINITRAIN_PROVIDER_H_
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define ITP_ENTRY_SYMBOL "infinitrain_provider_v1"
/* A field exists when the writer's struct_size reaches past it. */
#define ITP_HAS(p, type, field) \
  ((p) != NULL && (size_t)(p)->struct_size >= offsetof(type, field) + sizeof(((type *)0)->field))

/* [cdef-begin] */

/* ---- version ---------------------------------------------------------------- */
#define ITP_ABI_MAJOR 1
#define ITP_ABI_MINOR 0

/* ---- status ----------------------------------------------------------------- */
typedef int32_t itp_status;
#define ITP_OK 0
#define ITP_E_INVALID_ARGUMENT 1
#define ITP_E_UNIMPLEMENTED 2
#define ITP_E_OUT_OF_MEMORY 3
#define ITP_E_NOT_READY 4
#define ITP_E_UNAVAILABLE 5
#define ITP_E_DEVICE_LOST 6
#define ITP_E_ASYNC 7
#define ITP_E_TIMEOUT 8
#define ITP_E_ABORTED 9
#define ITP_E_FORKED 10
#define ITP_E_VERSION 11
#define ITP_E_INTERNAL 12
#define ITP_E_OUT_OF_RANGE 13

typedef struct itp_error {
  uint32_t struct_size;
  itp_status code;
  int64_t native_code;
  uint64_t origin_tag;
  char *message;
  uint64_t message_capacity;
  uint64_t message_length;
  const char *file;
  uint64_t line;
} itp_error;

/* ---- tensors: the first 48 bytes are a DLTensor ------------------------------ */
typedef struct itp_dtype { uint8_t code; uint8_t bits; uint16_t lanes; } itp_dtype;

/* Bit positions in every dtype mask. */
#define ITP_DT_BOOL 0
#define ITP_DT_U8 1
#define ITP_DT_I8 2
#define ITP_DT_U16 3
#define ITP_DT_I16 4
#define ITP_DT_U32 5
#define ITP_DT_I32 6
#define ITP_DT_U64 7
#define ITP_DT_I64 8
#define ITP_DT_BF16 9
#define ITP_DT_F16 10
#define ITP_DT_F32 11
#define ITP_DT_F64 12

typedef struct itp_tensor {
  void *data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  itp_dtype dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
  uint64_t nbytes;
  uint64_t flags;
} itp_tensor;

/* ---- handles ----------------------------------------------------------------- */
typedef struct itp_stream_s *itp_stream;
typedef struct itp_event_s *itp_event;
typedef struct itp_comm_s *itp_comm;
typedef struct itp_graph_s *itp_graph;

/* ---- kernels ------------------------------------------------------------------ */
#define ITP_V_NONE 0
#define ITP_V_I64 1
#define ITP_V_F64 2
#define ITP_V_BOOL 3
#define ITP_V_DTYPE 4
#define ITP_V_I64S 5
#define ITP_V_STR 6
typedef union itp_value_u { int64_t i; double d; const void *p; } itp_value_u;
typedef struct itp_value {
  uint32_t kind;
  uint32_t count;
  itp_value_u u;
} itp_value;

typedef struct itp_kernel itp_kernel;
typedef struct itp_launch {
  uint32_t struct_size;
  int32_t device;
  itp_stream stream;
  const itp_tensor *const *inputs;
  itp_tensor *const *outputs;
  const itp_value *attrs;
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t n_attrs;
  uint32_t flags;
  void *workspace;
  uint64_t workspace_size;
  uint64_t tag;
  const itp_kernel *kernel;
} itp_launch;

#define ITP_K_CAPTURABLE 0x1
#define ITP_K_DETERMINISTIC 0x2
#define ITP_K_STRIDED 0x4
#define ITP_K_MAY_ALIAS 0x8
#define ITP_K_HOST_SYNC 0x10
struct itp_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *name;
  const char *schema;
  uint64_t dtype_mask;
  uint64_t flags;
  void *state;
  itp_status (*launch)(void *self, const itp_launch *l, itp_error *err);
  itp_status (*workspace)(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err);
  itp_status (*supports)(void *self, const itp_launch *l, itp_error *err);
};

typedef struct itp_kernels {
  uint32_t struct_size;
  uint32_t count;
  const itp_kernel *const *items;
  itp_status (*submit)(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);
} itp_kernels;

/* ---- runtime: devices, memory, copies ------------------------------------------ */
#define ITP_MEM_DEVICE 0
#define ITP_MEM_HOST_PINNED 1
#define ITP_MEM_MANAGED 2
#define ITP_CAP_HOST_READABLE 0x1
#define ITP_CAP_STREAM_ORDERED_ALLOC 0x2
#define ITP_CAP_OWN_CACHE 0x4
#define ITP_CAP_PINNED 0x8
#define ITP_CAP_PEER 0x10
#define ITP_CAP_TIMING_EVENTS 0x20
#define ITP_CAP_GRAPHS 0x40
#define ITP_CAP_DETERMINISTIC 0x80
typedef struct itp_device_info {
  uint32_t struct_size;
  int32_t dlpack_device_type;
  char name[64];
  char uuid[40];
  uint64_t total_memory;
  uint64_t min_alignment;
  uint64_t compute_dtype_mask;
  uint64_t storage_dtype_mask;
  itp_dtype autocast_dtype;
  uint32_t reserved0;
  uint64_t caps;
  uint64_t max_collective_bytes;
} itp_device_info;

/* As dst_device or src_device of a copy: that side is host memory. */
#define ITP_DEVICE_HOST -1
#define ITP_COPY_HOST_STABLE 0x1
typedef struct itp_copy {
  uint32_t struct_size;
  uint32_t flags;
  void *dst;
  const void *src;
  uint64_t bytes;
  int32_t dst_device;
  int32_t src_device;
  itp_stream stream;
  uint64_t tag;
} itp_copy;

typedef struct itp_runtime {
  uint32_t struct_size;
  uint32_t reserved0;
  itp_status (*device_count)(void *self, int32_t *n, itp_error *err);
  itp_status (*device_info)(void *self, int32_t device, itp_device_info *out, itp_error *err);
  itp_status (*alloc)(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream, void **out, itp_error *err);
  itp_status (*dealloc)(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes, itp_stream stream, itp_error *err);
  itp_status (*mem_info)(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes, itp_error *err);
  itp_status (*copy)(void *self, const itp_copy *copy, itp_error *err);
  itp_status (*fill_bytes)(void *self, int32_t device, void *ptr, int32_t byte, uint64_t nbytes, itp_stream stream, itp_error *err);
} itp_runtime;

/* ---- guard: current device, streams, events, synchronising ---------------------- */
#define ITP_STREAM_DEFAULT_FLAGS 0x0
#define ITP_EVENT_TIMING 0x1
#define ITP_EVENT_BLOCKING_SYNC 0x2
typedef struct itp_guard {
  uint32_t struct_size;
  uint32_t reserved0;
  itp_status (*enter)(void *self, int32_t device, int64_t *token, itp_error *err);
  itp_status (*leave)(void *self, int64_t token, itp_error *err);
  itp_status (*device_sync)(void *self, int32_t device, itp_error *err);
  itp_status (*stream_create)(void *self, int32_t device, uint32_t flags, int32_t priority, itp_stream *out, itp_error *err);
  itp_status (*stream_destroy)(void *self, int32_t device, itp_stream stream, itp_error *err);
  itp_status (*stream_sync)(void *self, int32_t device, itp_stream stream, itp_error *err);
  itp_status (*stream_query)(void *self, int32_t device, itp_stream stream, itp_error *err);
  itp_status (*stream_wait_event)(void *self, int32_t device, itp_stream stream, itp_event event, itp_error *err);
  itp_status (*stream_native)(void *self, int32_t device, itp_stream stream, void **out, itp_error *err);
  itp_status (*event_create)(void *self, int32_t device, uint32_t flags, itp_event *out, itp_error *err);
  itp_status (*event_destroy)(void *self, int32_t device, itp_event event, itp_error *err);
  itp_status (*event_record)(void *self, int32_t device, itp_event event, itp_stream stream, itp_error *err);
  itp_status (*event_sync)(void *self, int32_t device, itp_event event, itp_error *err);
  itp_status (*event_query)(void *self, int32_t device, itp_event event, itp_error *err);
  itp_status (*event_elapsed_ns)(void *self, int32_t device, itp_event begin, itp_event end, uint64_t *ns, itp_error *err);
} itp_guard;

/* ---- ccl: collectives -------------------------------------------------------------- */
#define ITP_REDUCE_SUM 0
#define ITP_REDUCE_PROD 1
#define ITP_REDUCE_MAX 2
#define ITP_REDUCE_MIN 3
#define ITP_REDUCE_AVG 4
typedef struct itp_ccl {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t reduce_op_mask;
  uint64_t dtype_mask;
  itp_status (*unique_id)(void *self, void *buffer, uint64_t *size, itp_error *err);
  itp_status (*comm_init)(void *self, int32_t device, int32_t n_ranks, int32_t rank, const void *id, uint64_t id_size, itp_comm *out, itp_error *err);
  itp_status (*comm_destroy)(void *self, itp_comm comm, itp_error *err);
  itp_status (*comm_abort)(void *self, itp_comm comm, itp_error *err);
  itp_status (*comm_async_error)(void *self, itp_comm comm, itp_error *err);
  itp_status (*group_begin)(void *self, itp_error *err);
  itp_status (*group_end)(void *self, itp_error *err);
  itp_status (*all_reduce)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, uint32_t op, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*broadcast)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, int32_t root, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*reduce)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, uint32_t op, int32_t root, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*all_gather)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*reduce_scatter)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, uint32_t op, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*all_to_all)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*send)(void *self, const void *src, uint64_t count, itp_dtype dtype, int32_t peer, itp_comm comm, itp_stream stream, itp_error *err);
  itp_status (*recv)(void *self, void *dst, uint64_t count, itp_dtype dtype, int32_t peer, itp_comm comm, itp_stream stream, itp_error *err);
} itp_ccl;

/* ---- graphs (optional) --------------------------------------------------------------- */
typedef struct itp_graphs {
  uint32_t struct_size;
  uint32_t reserved0;
  itp_status (*capture_begin)(void *self, int32_t device, itp_stream stream, itp_error *err);
  itp_status (*capture_end)(void *self, int32_t device, itp_stream stream, itp_graph *out, itp_error *err);
  itp_status (*replay)(void *self, int32_t device, itp_graph graph, itp_stream stream, itp_error *err);
  itp_status (*destroy)(void *self, int32_t device, itp_graph graph, itp_error *err);
} itp_graphs;

/* ---- what the core gives the provider --------------------------------------------------- */
typedef struct itp_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *core_version;
  void *ctx;
  void (*log)(void *ctx, int32_t level, const char *file, int32_t line, const char *message, uint64_t length);
  void (*profile)(void *ctx, uint32_t kind, uint64_t tag, uint64_t begin_ns, uint64_t end_ns);
  const void *(*get_extension)(void *ctx, const char *name, uint32_t version);
} itp_host;

typedef struct itp_option {
  uint32_t struct_size;
  uint32_t kind;
  const char *name;
  const char *default_text;
  const char *help;
} itp_option;

typedef struct itp_config {
  uint32_t struct_size;
  int32_t world_size;
  int32_t rank;
  int32_t local_rank;
  int32_t data_parallel;
  int32_t tensor_parallel;
  int32_t pipeline_parallel;
  int32_t context_parallel;
  const char *const *option_names;
  const char *const *option_values;
  uint64_t n_options;
} itp_config;

/* ---- the provider -------------------------------------------------------------------------- */
#define ITP_P_SERIAL 0x1
#define ITP_P_SANITIZED 0x2
#define ITP_P_LAUNCH_BLOCKING 0x4
typedef struct itp_provider {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *name;
  const char *vendor;
  const char *version;
  const char *build_info;
  uint64_t flags;
  const itp_option *const *options;
  uint64_t n_options;
  itp_status (*init)(const itp_host *host, const itp_config *config, void **self, itp_error *err);
  itp_status (*shutdown)(void *self, uint32_t reason, itp_error *err);
  const itp_runtime *runtime;
  const itp_guard *guard;
  const itp_kernels *kernels;
  const itp_ccl *ccl;
  const itp_graphs *graphs;
  const void *(*get_extension)(void *self, const char *name, uint32_t version);
} itp_provider;

/* The one exported symbol. Pure: no driver call, no thread; callable before fork and with no device. */
typedef const itp_provider *(*itp_entry_fn)(uint32_t core_abi_minor);

/* [cdef-end] */

#ifdef __cplusplus
}
#endif
#endif
