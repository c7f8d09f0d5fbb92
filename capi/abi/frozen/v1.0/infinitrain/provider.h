/* infinitrain/provider.h - the contract between infinitrain and the library of an accelerator's vendor.
 *
 * INTRODUCTION
 *
 * A provider is one shared library that exports one function, infinitrain_provider_v1. It returns a constant
 * table, and the table leads to everything else. What does not stand in this header is not part of the
 * contract. The SDK's headers (infinitrain/error.h, kernels.h, ...) are conveniences that are compiled into
 * the provider and free to change.
 *
 * The sections follow the order of use: version, status and errors, tensors, kernels, runtime, guard,
 * collectives, graphs, what the core gives, the provider itself. A first provider fills `runtime`, the five
 * kernels of tier 0, and takes `guard` and `submit` ready-made from infinitrain/sync.h.
 *
 * Sentences that a test can prove carry an id, [ITP-XX-nn] (NEG negotiation, LIFE, ERR errors, KN kernels,
 * RT runtime, GD guard, CCL, GR graphs). The conformance kit has a test of that name for each, and
 * `infinitrain conformance LIB` runs them on any library. An id is never used again.
 *
 * Ownership words, written at each pointer:
 *
 *   borrowed for the call   The callee reads it (writes it, where it is not const) until it returns, and
 *                           keeps no pointer to it. What a device reads later has to be copied before.
 *   owned by caller         The caller has it and gives it back by the call that is named.
 *   owned by provider       The caller reads it and never frees it. Tables and their strings stay until
 *                           the process ends.
 *
 * `[out]` parameters are written on OK only, unless it says otherwise; they are never NULL.
 *
 * Thread words, at `@threads`:
 *
 *   any thread              Several at once, for one device too, without locks of the caller's. Two calls
 *                           on one stream, event or communicator never overlap: the core sees to that. A
 *                           provider that sets ITP_P_SERIAL is entered by one thread at a time.
 *   one thread              With no other call in flight.
 *
 * Slots run without the interpreter's lock. A provider never calls Python, and calls the core only through
 * itp_host.
 *
 * Slot words, at `@since`:
 *
 *   required                NULL makes the library be refused, with all its other problems listed.
 *   optional (default: D)   NULL is replaced by D, each slot alone.
 *
 * Versioning. The major version is in the entry symbol's name. Within it, minor versions only append: slots
 * and fields at the end of a struct, statuses, flags, kernels. Nothing is removed, reordered, retyped or
 * given another meaning, and an optional slot never becomes required. Each struct begins with struct_size,
 * the sizeof of who wrote it, and has no padding. A reader uses the bytes that both sides know (ITP_HAS) and
 * takes zero for the rest: zero is the default of every field that is added. Nobody writes into a struct of
 * the other side, `[out]` parameters excepted. An unknown flag bit is INVALID_ARGUMENT in a request and is
 * ignored in a description.
 *
 * Lifetime. The library is never unloaded. It is queried any number of times; init comes at the first use of
 * one of its devices; at exit the core submits no more, synchronises with a deadline, gives back
 * communicators, graphs, events, streams and memory, and calls shutdown. A provider links no vendor library:
 * it opens it in init, and says UNAVAILABLE, with the reason, where that fails.
 *
 * Devices are named by index in every call. There is no current device in this contract; what the vendor's
 * runtime calls so is the thread's own business.
 *
 * - Every slot leaves the thread's native current device as it was.                             [ITP-GD-01]
 * - A device outside [0, device_count) is INVALID_ARGUMENT in every slot that takes one.        [ITP-RT-01]
 *
 * Order. Work on one stream runs in the order in which it was submitted; between streams only events make an
 * order. A slot may return before its work is done, except where it says that it waits.
 *
 * - NULL is the device's default stream, wherever a stream is taken.                            [ITP-GD-02]
 * - What goes wrong after the call is reported as ASYNC, once, with the failing launch's tag, by the next
 *   synchronising call that covers it: stream_sync, stream_query, event_sync, event_query, device_sync, a
 *   copy that waits.                                                                           [ITP-ERR-01]
 *
 * Size. 0 bytes are never asked for, and nothing is rounded: what is named is what may be touched.
 *
 * Fork. In a child of a process that has called init, the core enters no slot but the query: each call is
 * FORKED.                                                                                     [ITP-LIFE-01]
 */
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

/* What stands between the markers is also read, unchanged, by cffi: plain declarations and comments only. */
/* [cdef-begin] */

/* ==== Version ========================================================================================= */
#define ITP_ABI_MAJOR 1
#define ITP_ABI_MINOR 0

/* ==== Status and errors =============================================================================== */

typedef int32_t itp_status;
#define ITP_OK 0
#define ITP_E_INVALID_ARGUMENT 1 /* the caller's mistake; nothing was done */
#define ITP_E_UNIMPLEMENTED 2    /* never, not on this device, or not for these operands */
#define ITP_E_OUT_OF_MEMORY 3    /* the core empties its caches and tries once more */
#define ITP_E_NOT_READY 4        /* answer of the queries; not an error */
#define ITP_E_UNAVAILABLE 5      /* no driver, no device, no permission: the message says which */
#define ITP_E_DEVICE_LOST 6      /* stays: every later call for that device says so too */
#define ITP_E_ASYNC 7            /* earlier work failed: origin_tag says which */
#define ITP_E_TIMEOUT 8
#define ITP_E_ABORTED 9 /* by comm_abort */
#define ITP_E_FORKED 10
#define ITP_E_VERSION 11
#define ITP_E_INTERNAL 12     /* the provider's own mistake */
#define ITP_E_OUT_OF_RANGE 13 /* an index in a tensor's data; IndexError in Python */

/**
 * What is known of a failure. [owned by caller, borrowed for the call] The last parameter of every slot.
 *
 * - It may be NULL: the status says enough.                                                    [ITP-ERR-02]
 * - It is left alone where the status is OK.                                                   [ITP-ERR-03]
 * - `code` is the status that is returned.                                                     [ITP-ERR-04]
 * - `message` reads "[slot or kernel][STATUS] text", as "[alloc][OUT_OF_MEMORY] 64 bytes asked for".
 *                                                                                              [ITP-ERR-05]
 * - The text ends with NUL within message_capacity bytes, cut where it is too long; message_length does not
 *   count the NUL.                                                                             [ITP-ERR-06]
 * - With message_capacity 0 (`message` may then be NULL) no text is written.                   [ITP-ERR-07]
 * - struct_size, message and message_capacity are the caller's and stay as they are.           [ITP-ERR-08]
 * - A call that failed has changed nothing: the next right call succeeds (DEVICE_LOST excepted).
 *                                                                                              [ITP-ERR-09]
 * - With ASYNC, native_code is the status that the work failed with: ITP_E_OUT_OF_RANGE for an index, which
 *   the core raises as it does one that is seen at once. The vendor's own number then stands in the text.
 *                                                                                              [ITP-ERR-10]
 *
 * SDK: ITP_FAIL of infinitrain/error.h does all this.
 */
typedef struct itp_error {
  uint32_t struct_size;
  itp_status code;
  int64_t native_code;       /* the vendor's own number, 0 if none; for ASYNC: an ITP_E_* */
  uint64_t origin_tag;       /* for ASYNC: itp_launch.tag or itp_copy.tag of the work that failed; else 0 */
  char *message;             /* [owned by caller] UTF-8 */
  uint64_t message_capacity; /* bytes */
  uint64_t message_length;   /* bytes */
  const char *file;          /* [owned by provider] where it was found, or NULL */
  uint64_t line;
} itp_error;

/* ==== Tensors ========================================================================================= */

/* DLPack's DLDataType: code 0 int, 1 uint, 2 float, 4 bfloat, 6 bool; bits of one element; lanes 1. */
typedef struct itp_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} itp_dtype;

/* Bit positions in every dtype mask, and the value of a dtype attribute. */
#define ITP_DT_BOOL 0 /* one byte, 0 or 1 */
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

/**
 * A tensor in the memory of one device; the first 48 bytes are a DLTensor. [borrowed for the call]
 *
 * Element (i, j) is at (char *)data + byte_offset + itemsize * (i * strides[0] + j * strides[1]).
 *                                                                                               [ITP-KN-01]
 * The struct, shape and strides are borrowed; the memory lives until the stream has passed the launch.
 */
typedef struct itp_tensor {
  void *data;          /* aligned to min_alignment; may be NULL where a size is 0 */
  int32_t device_type; /* dlpack_device_type of the device */
  int32_t device_id;   /* index of the device */
  int32_t ndim;        /* 0: one element, and shape and strides are NULL */
  itp_dtype dtype;
  int64_t *shape;       /* elements, >= 0 */
  int64_t *strides;     /* elements; NULL: compact row-major */
  uint64_t byte_offset; /* bytes from data to the first element */
  uint64_t nbytes;      /* bytes from data that belong to the tensor's block */
  uint64_t flags;       /* 0 */
} itp_tensor;

/* ==== Handles ========================================================================================= */

/* The provider's own objects. [owned by caller; given back by the destroy call of the kind] */
typedef struct itp_stream_s *itp_stream;
typedef struct itp_event_s *itp_event;
typedef struct itp_comm_s *itp_comm;
typedef struct itp_graph_s *itp_graph;

/* ==== Kernels ========================================================================================= */

/* Kinds of an attribute. */
#define ITP_V_NONE 0
#define ITP_V_I64 1   /* u.i */
#define ITP_V_F64 2   /* u.d */
#define ITP_V_BOOL 3  /* u.i, 0 or 1 */
#define ITP_V_DTYPE 4 /* u.i, an ITP_DT_* bit position */
#define ITP_V_I64S 5  /* u.p points at count int64_t */
#define ITP_V_STR 6   /* u.p points at count bytes of UTF-8, no NUL */
typedef union itp_value_u {
  int64_t i;
  double d;
  const void *p; /* [borrowed for the call] */
} itp_value_u;
typedef struct itp_value {
  uint32_t kind;
  uint32_t count; /* of what u.p points at, else 0 */
  itp_value_u u;
} itp_value;

typedef struct itp_kernel itp_kernel;

/**
 * One run of one kernel. [borrowed for the call, with everything it points at]
 *
 * Operands, outputs and attributes stand in the order of the schema and are always as many as it has. An
 * optional tensor that is absent is a NULL in its place. Attributes are all present, defaults filled in.
 * Values that change from step to step (learning rate, step, seed) come as 0-d tensors, never as
 * attributes.
 */
typedef struct itp_launch {
  uint32_t struct_size;
  int32_t device;
  itp_stream stream;
  const itp_tensor *const *inputs;
  itp_tensor *const *outputs; /* allocated by the core; the kernel writes their elements only */
  const itp_value *attrs;
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t n_attrs;
  uint32_t flags;          /* 0 */
  void *workspace;         /* device memory, aligned to min_alignment; NULL where none is needed */
  uint64_t workspace_size; /* bytes, at least what the workspace slot said */
  uint64_t tag;            /* the core's name for this launch, given back in itp_error.origin_tag */
  const itp_kernel *kernel;
} itp_launch;

/* What a kernel can do. */
#define ITP_K_CAPTURABLE 0x1    /* may be launched during graph capture */
#define ITP_K_DETERMINISTIC 0x2 /* same operands, same bits */
#define ITP_K_STRIDED 0x4       /* takes the strides that the row's layout allows; else all is compact */
#define ITP_K_MAY_ALIAS 0x8     /* an output may be the identical view of an operand */
#define ITP_K_HOST_SYNC 0x10    /* waits for the device inside */

/**
 * One kernel of the table kernels.toml. [owned by provider]
 *
 * - Name, schema and op_version are those of one row, byte for byte; a kernel that differs is off, and
 *   `infinitrain providers --explain` says so.                                                  [ITP-KN-02]
 * - dtype_mask has only dtypes that the row allows for T, at least one, and is 0 for a row without T.
 *                                                                                               [ITP-KN-03]
 * - STRIDED and MAY_ALIAS are set only where the row allows them; Copy has STRIDED.             [ITP-KN-04]
 */
struct itp_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *name;
  const char *schema;
  uint64_t dtype_mask; /* 1 << ITP_DT_* of each dtype that T may take */
  uint64_t flags;      /* ITP_K_* */
  void *state;         /* the provider's; the core does not look at it */

  /**
   * Put the kernel on the launch's stream.
   *
   * - The values are those that the row's meaning defines, within the row's tolerance, for every dtype
   *   of dtype_mask.                                                                            [ITP-KN-05]
   * - Every element of an output that is not `inout` is written; what it held is not read.      [ITP-KN-06]
   * - Only outputs and workspace are written: what lies around and between outputs stays.       [ITP-KN-07]
   * - An empty output, or an empty operand, is no mistake.                                      [ITP-KN-08]
   * - A tensor may be 0-d with shape and strides NULL, and compact with strides NULL.           [ITP-KN-09]
   * - Optional tensors may be NULL, each alone.                                                 [ITP-KN-10]
   * - With STRIDED: any strides that the layout allows, 0 (broadcast) included, give the same values.
   *                                                                                             [ITP-KN-11]
   * - With MAY_ALIAS: an output that is the identical view of an operand gets the same values.  [ITP-KN-12]
   * - With DETERMINISTIC: a second run gives the same bits.                                     [ITP-KN-13]
   * - The launch and everything it points at (data excepted) may be overwritten as soon as the call is
   *   back; inside a captured graph it stays as long as the graph.                              [ITP-KN-14]
   * - Counts and kinds that are not the schema's are INVALID_ARGUMENT; nothing is written.      [ITP-KN-15]
   * - An index outside its bound is OUT_OF_RANGE, at once or later as ASYNC; the text names index, bound
   *   and position. Memory outside the tensor is not read.                                      [ITP-KN-16]
   * - Runs after earlier and before later work of its stream.                                   [ITP-KN-17]
   * - A launch of a later core, with a larger struct_size, runs the same.                       [ITP-KN-18]
   * Kernels neither allocate device memory nor read global state.
   *
   * @param l  [borrowed for the call]
   * @return OK (queued or done), INVALID_ARGUMENT, UNIMPLEMENTED, OUT_OF_RANGE, DEVICE_LOST, INTERNAL.
   * @threads Any thread.
   * @order   On l->stream.
   * @since   1.0, required; NULL turns the kernel off, not the library.
   * SDK: itp_unpack_NAME of infinitrain/kernels.h; itp_reference_kernel where memory is host-readable.
   */
  itp_status (*launch)(void *self, const itp_launch *l, itp_error *err);

  /**
   * Say how much workspace a launch needs.
   *
   * @param l           [borrowed for the call] Complete but for data, workspace and workspace_size.
   * @param[out] bytes  Written on OK; the same for the same shapes, dtypes and attributes.      [ITP-KN-19]
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED.
   * @threads Any thread; queues nothing.
   * @order   None.
   * @since   1.0, optional (default: 0 bytes)
   */
  itp_status (*workspace)(void *self, const itp_launch *l, uint64_t *bytes, itp_error *err);

  /**
   * Say whether this launch, its dtypes and shapes, can be done: for what dtype_mask cannot express.
   *
   * @param l  [borrowed for the call] Complete but for data and workspace.
   * @return OK: launch will not answer UNIMPLEMENTED. UNIMPLEMENTED otherwise.                  [ITP-KN-20]
   * @threads Any thread; queues nothing.
   * @order   None.
   * @since   1.0, optional (default: OK)
   */
  itp_status (*supports)(void *self, const itp_launch *l, itp_error *err);
};

/**
 * The kernels. [owned by provider] Every kernel of tier 0 is among them.                        [ITP-KN-21]
 * No item is NULL, no name is there twice.                                                      [ITP-KN-22]
 */
typedef struct itp_kernels {
  uint32_t struct_size;
  uint32_t count;
  const itp_kernel *const *items;

  /**
   * Do many launches in one call, of any kernels of this provider, in order.
   *
   * Gives what calling each kernel's `launch` in turn gives.                                    [ITP-KN-23]
   * Stops at the first launch that is seen to fail, and returns its status and error.
   *
   * @param list       [borrowed for the call] n launches.
   * @param n          May be 0.
   * @param[out] done  Launches handed over, on failure too: list[*done] is the one that failed. [ITP-KN-24]
   * @return What `launch` returns.
   * @threads Any thread.
   * @order   Each on its own stream.
   * @since   1.0, optional (default: `launch` of each in turn)
   * SDK: itp_sync_submit of infinitrain/sync.h is that default.
   */
  itp_status (*submit)(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);
} itp_kernels;

/* ==== Runtime: devices, memory, copies ================================================================ */

/* Kinds of memory. */
#define ITP_MEM_DEVICE 0
#define ITP_MEM_HOST_PINNED 1 /* host memory that the device copies from and to without waiting */
#define ITP_MEM_MANAGED 2     /* moves between host and device by itself */

/* What a device can do. */
#define ITP_CAP_HOST_READABLE 0x1        /* the host may read and write ITP_MEM_DEVICE after synchronising */
#define ITP_CAP_STREAM_ORDERED_ALLOC 0x2 /* alloc and dealloc take their place in the stream */
#define ITP_CAP_OWN_CACHE 0x4            /* dealloc keeps memory for the next alloc */
#define ITP_CAP_PINNED 0x8               /* has ITP_MEM_HOST_PINNED */
#define ITP_CAP_PEER 0x10                /* copies between devices of this provider do not pass the host */
#define ITP_CAP_TIMING_EVENTS 0x20       /* has event_elapsed_ns */
#define ITP_CAP_GRAPHS 0x40              /* has the graphs table for this device */
#define ITP_CAP_DETERMINISTIC 0x80       /* every kernel has ITP_K_DETERMINISTIC */

/**
 * What there is to know of a device. [owned by caller] The provider fills it.
 *
 * - struct_size is the core's; not a byte past it is written.                                   [ITP-RT-02]
 * - name and uuid end with NUL; name is not empty.                                              [ITP-RT-03]
 * - min_alignment is a power of two, 8 or more.                                                 [ITP-RT-04]
 * - storage_dtype_mask holds compute_dtype_mask, and float32.                                   [ITP-RT-05]
 * - autocast_dtype is a dtype of storage_dtype_mask, or all zero: the user then has to name one.
 *                                                                                               [ITP-RT-06]
 * - With HOST_READABLE the host reads and writes the device's memory at the address that alloc gave.
 *                                                                                               [ITP-RT-07]
 */
typedef struct itp_device_info {
  uint32_t struct_size;
  int32_t dlpack_device_type; /* DLDeviceType; 12 (extension device) for what DLPack has no number for */
  char name[64];
  char uuid[40];
  uint64_t total_memory;       /* bytes */
  uint64_t min_alignment;      /* bytes */
  uint64_t compute_dtype_mask; /* dtypes that it is fast in */
  uint64_t storage_dtype_mask; /* dtypes that tensors on it may have */
  itp_dtype autocast_dtype;
  uint32_t reserved0;
  uint64_t caps;                 /* ITP_CAP_* */
  uint64_t max_collective_bytes; /* the core splits larger collectives; 0: no limit */
} itp_device_info;

/* Flags of a copy. */
#define ITP_COPY_HOST_STABLE 0x1 /* the host side stays valid and unchanged until the stream has passed */
/* As dst_device or src_device of a copy: that side is host memory. */
#define ITP_DEVICE_HOST -1

/* One copy of bytes. [borrowed for the call] The ranges do not overlap. */
typedef struct itp_copy {
  uint32_t struct_size;
  uint32_t flags; /* ITP_COPY_* */
  void *dst;
  const void *src;
  uint64_t bytes;     /* > 0 */
  int32_t dst_device; /* a device of this provider, or ITP_DEVICE_HOST for one of the two */
  int32_t src_device;
  itp_stream stream; /* of the device side; of dst_device where both are devices */
  uint64_t tag;
} itp_copy;

typedef struct itp_runtime {
  uint32_t struct_size;
  uint32_t reserved0;

  /**
   * Count the devices.
   *
   * @param[out] n  >= 0, the same as long as the provider lives.                                [ITP-RT-08]
   * @return OK, UNAVAILABLE.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * Like: cudaGetDeviceCount
   */
  itp_status (*device_count)(void *self, int32_t *n, itp_error *err);

  /**
   * Describe a device.
   *
   * @param device    [0, device_count).
   * @param[out] out  [owned by caller] With struct_size set; see itp_device_info.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * Like: cudaGetDeviceProperties
   */
  itp_status (*device_info)(void *self, int32_t device, itp_device_info *out, itp_error *err);

  /**
   * Allocate memory for `device`: large blocks. The core caches, divides and counts; the provider need not.
   *
   * @param device    [0, device_count).
   * @param kind      ITP_MEM_*. An unknown kind is INVALID_ARGUMENT.                            [ITP-RT-09]
   * @param nbytes    Bytes. The core never asks for 0, which is INVALID_ARGUMENT.               [ITP-RT-10]
   * @param stream    Where the memory will be used first.
   * @param[out] out  [owned by caller; give back with dealloc] Aligned to min_alignment, apart from every
   *                  other live block. Host-readable for ITP_MEM_HOST_PINNED.                   [ITP-RT-11]
   * @return OK, OUT_OF_MEMORY, INVALID_ARGUMENT, UNIMPLEMENTED (a kind that it does not have). On
   *         failure *out is left unwritten, and smaller requests still succeed.                 [ITP-RT-12]
   * @threads Any thread; from several at once.                                                  [ITP-RT-13]
   * @order   Usable by work queued on `stream` after the call; by other streams and the host after
   *          synchronising.
   * @since   1.0, required
   * Like: cudaMallocAsync, cudaMallocHost
   */
  itp_status (*alloc)(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                      void **out, itp_error *err);

  /**
   * Give memory back.
   *
   * @param device  As in alloc.
   * @param kind    As in alloc.
   * @param ptr     What alloc gave.
   * @param nbytes  Bytes, as in alloc.
   * @param stream  Where the memory was used last.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST. The memory can then be had again by alloc.       [ITP-RT-14]
   * @threads Any thread, not only the one that allocated.
   * @order   Work queued before on `stream` still uses it safely: a provider without STREAM_ORDERED_ALLOC
   *          waits for it.                                                                      [ITP-RT-15]
   * @since   1.0, required
   * Like: cudaFreeAsync, cudaFreeHost
   */
  itp_status (*dealloc)(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                        itp_stream stream, itp_error *err);

  /**
   * Tell how much memory is free.
   *
   * @param device            [0, device_count).
   * @param[out] free_bytes   Bytes, at most *total_bytes.                                       [ITP-RT-16]
   * @param[out] total_bytes  Bytes.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, optional (default: UNIMPLEMENTED; errors then show total_memory only)
   * Like: cudaMemGetInfo
   */
  itp_status (*mem_info)(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes,
                         itp_error *err);

  /**
   * Copy bytes between the host and a device, within a device, or between two devices of this provider.
   *
   * - Exactly [dst, dst + bytes) is written, whatever the size and the alignment.               [ITP-RT-17]
   * - Where a side is host memory, the host's part is done when the call returns, unless
   *   ITP_COPY_HOST_STABLE is set and that memory is pinned.                                    [ITP-RT-18]
   * - With ITP_COPY_HOST_STABLE and pinned memory, the bytes are there after stream_sync.       [ITP-RT-19]
   * - Two devices of this provider copy to each other, with ITP_CAP_PEER or without.            [ITP-RT-20]
   *
   * @param copy  [borrowed for the call] An unknown flag is INVALID_ARGUMENT.                   [ITP-RT-21]
   * @return OK, INVALID_ARGUMENT, ASYNC (where it waits), DEVICE_LOST.
   * @threads Any thread; from several at once.                                                  [ITP-RT-22]
   * @order   After earlier and before later work of copy->stream.                               [ITP-RT-23]
   * @since   1.0, required
   * Like: cudaMemcpyAsync, cudaMemcpyPeerAsync
   */
  itp_status (*copy)(void *self, const itp_copy *copy, itp_error *err);

  /**
   * Set every byte of a range.
   *
   * @param device  [0, device_count).
   * @param ptr     Device memory.
   * @param byte    The low 8 bits; exactly [ptr, ptr + nbytes) gets them.                       [ITP-RT-24]
   * @param nbytes  Bytes, > 0.
   * @param stream  A stream of `device`.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, optional (default: UNIMPLEMENTED; the core launches Fill)
   * Like: cudaMemsetAsync
   */
  itp_status (*fill_bytes)(void *self, int32_t device, void *ptr, int32_t byte, uint64_t nbytes,
                           itp_stream stream, itp_error *err);
} itp_runtime;

/* ==== Guard: current device, streams, events, synchronising =========================================== */

/* Flags of a stream: none yet. */
#define ITP_STREAM_DEFAULT_FLAGS 0x0
/* Flags of an event. */
#define ITP_EVENT_TIMING 0x1        /* event_elapsed_ns may be asked */
#define ITP_EVENT_BLOCKING_SYNC 0x2 /* event_sync sleeps instead of spinning */

/* All of this table is ready-made, for a device whose calls return when their work is done: the value
 * ITP_SYNC_GUARD of infinitrain/sync.h, or single functions of it, itp_sync_NAME. */
typedef struct itp_guard {
  uint32_t struct_size;
  uint32_t reserved0;

  /**
   * Make `device` the calling thread's current device in the vendor's runtime, for foreign code that has
   * one.
   * The core itself never needs it.
   *
   * @param device      [0, device_count).
   * @param[out] token  What `leave` takes to restore the thread; pairs nest.                    [ITP-GD-03]
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; concerns that thread only.
   * @order   None.
   * @since   1.0, optional (default: does nothing; for a runtime without a current device)
   * SDK: itp_sync_enter.
   * Like: cudaSetDevice
   */
  itp_status (*enter)(void *self, int32_t device, int64_t *token, itp_error *err);

  /**
   * Restore what `enter` found.
   *
   * @param token  Of the last `enter` of this thread that was not left yet.
   * @return OK, INVALID_ARGUMENT.
   * @threads The thread of `enter`.
   * @order   None.
   * @since   1.0, optional (default: does nothing)
   * SDK: itp_sync_leave.
   */
  itp_status (*leave)(void *self, int64_t token, itp_error *err);

  /**
   * Wait until all work of all streams of a device, submitted before the call, is done.         [ITP-GD-04]
   *
   * @param device  [0, device_count).
   * @return OK, ASYNC, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; blocks it.
   * @order   After all work of the device.
   * @since   1.0, required
   * SDK: itp_sync_device_sync.
   * Like: cudaDeviceSynchronize
   */
  itp_status (*device_sync)(void *self, int32_t device, itp_error *err);

  /**
   * Make a stream.
   *
   * @param device    [0, device_count).
   * @param flags     ITP_STREAM_*; an unknown bit is INVALID_ARGUMENT.                          [ITP-GD-05]
   * @param priority  0 normal, negative sooner, positive later; a hint, every value is taken.   [ITP-GD-06]
   * @param[out] out  [owned by caller; give back with stream_destroy] Not NULL, not another live stream;
   *                  at least 32 can be had on a device.                                        [ITP-GD-07]
   * @return OK, OUT_OF_MEMORY, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; the stream may be used and destroyed by others.                        [ITP-GD-08]
   * @order   None.
   * @since   1.0, required
   * SDK: itp_sync_stream_create.
   * Like: cudaStreamCreateWithPriority
   */
  itp_status (*stream_create)(void *self, int32_t device, uint32_t flags, int32_t priority, itp_stream *out,
                              itp_error *err);

  /**
   * Give a stream back.
   *
   * @param device  The stream's.
   * @param stream  Not NULL.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   Work that was submitted before is still done: at return or later.                  [ITP-GD-09]
   * @since   1.0, required
   * SDK: itp_sync_stream_destroy.
   * Like: cudaStreamDestroy
   */
  itp_status (*stream_destroy)(void *self, int32_t device, itp_stream stream, itp_error *err);

  /**
   * Wait until all work submitted to a stream before the call is done.                          [ITP-GD-10]
   *
   * @param device  The stream's.
   * @param stream  NULL: the default stream.
   * @return OK, ASYNC, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; blocks it.
   * @order   After all work of the stream.
   * @since   1.0, required
   * SDK: itp_sync_stream_sync.
   * Like: cudaStreamSynchronize
   */
  itp_status (*stream_sync)(void *self, int32_t device, itp_stream stream, itp_error *err);

  /**
   * Ask whether a stream has done all its work, without waiting.
   *
   * @param device  The stream's.
   * @param stream  NULL: the default stream.
   * @return OK (it has: always so after stream_sync), NOT_READY, ASYNC, INVALID_ARGUMENT, DEVICE_LOST.
   *                                                                                             [ITP-GD-11]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * SDK: itp_sync_stream_query.
   * Like: cudaStreamQuery
   */
  itp_status (*stream_query)(void *self, int32_t device, itp_stream stream, itp_error *err);

  /**
   * Let the work that is submitted to a stream from now on wait for an event; the host does not wait.
   *
   * @param device  The stream's.
   * @param stream  NULL: the default stream.
   * @param event   Of any device of this provider. Its last record before this call counts; one that was
   *                never
   *                recorded holds nothing up.                                                   [ITP-GD-12]
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   Later work of `stream` runs after what the event's stream had before the record.   [ITP-GD-13]
   * @since   1.0, required
   * SDK: itp_sync_stream_wait_event.
   * Like: cudaStreamWaitEvent
   */
  itp_status (*stream_wait_event)(void *self, int32_t device, itp_stream stream, itp_event event,
                                  itp_error *err);

  /**
   * Give the vendor's own handle of a stream, for foreign libraries.
   *
   * @param device    The stream's.
   * @param stream    NULL: the default stream.
   * @param[out] out  [owned by provider until stream_destroy] The same at each call.            [ITP-GD-14]
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, optional (default: UNIMPLEMENTED)
   * SDK: itp_sync_stream_native.
   */
  itp_status (*stream_native)(void *self, int32_t device, itp_stream stream, void **out, itp_error *err);

  /**
   * Make an event, not yet recorded.
   *
   * @param device    [0, device_count).
   * @param flags     ITP_EVENT_*; an unknown bit is INVALID_ARGUMENT.                           [ITP-GD-15]
   * @param[out] out  [owned by caller; give back with event_destroy] Not NULL.
   * @return OK, OUT_OF_MEMORY, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; the event may be used and destroyed by others.
   * @order   None.
   * @since   1.0, required
   * SDK: itp_sync_event_create.
   * Like: cudaEventCreateWithFlags
   */
  itp_status (*event_create)(void *self, int32_t device, uint32_t flags, itp_event *out, itp_error *err);

  /**
   * Give an event back. Streams that wait for its record go on waiting for that.                [ITP-GD-16]
   *
   * @param device  The event's.
   * @param event   Not NULL.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * SDK: itp_sync_event_destroy.
   * Like: cudaEventDestroy
   */
  itp_status (*event_destroy)(void *self, int32_t device, itp_event event, itp_error *err);

  /**
   * Put the event behind what has been submitted to a stream. A second record replaces the first.
   *                                                                                             [ITP-GD-17]
   *
   * @param device  The event's and the stream's.
   * @param event   Not NULL.
   * @param stream  NULL: the default stream.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * SDK: itp_sync_event_record.
   * Like: cudaEventRecord
   */
  itp_status (*event_record)(void *self, int32_t device, itp_event event, itp_stream stream, itp_error *err);

  /**
   * Wait until the work before an event's last record is done; at once where there was no record.
   *                                                                                             [ITP-GD-18]
   *
   * @param device  The event's.
   * @param event   Not NULL.
   * @return OK, ASYNC, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; blocks it.
   * @order   After the work before the record.
   * @since   1.0, required
   * SDK: itp_sync_event_sync.
   * Like: cudaEventSynchronize
   */
  itp_status (*event_sync)(void *self, int32_t device, itp_event event, itp_error *err);

  /**
   * Ask whether the work before an event's last record is done, without waiting.
   *
   * @param device  The event's.
   * @param event   Not NULL.
   * @return OK (also where there was no record), NOT_READY, ASYNC, INVALID_ARGUMENT, DEVICE_LOST.
   *                                                                                             [ITP-GD-19]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * SDK: itp_sync_event_query.
   * Like: cudaEventQuery
   */
  itp_status (*event_query)(void *self, int32_t device, itp_event event, itp_error *err);

  /**
   * Give the time that the device needed between two records.
   *
   * @param device   Of both events.
   * @param begin    Recorded first, with ITP_EVENT_TIMING.
   * @param end      Recorded later, with ITP_EVENT_TIMING.
   * @param[out] ns  Nanoseconds.
   * @return OK, NOT_READY. INVALID_ARGUMENT for an event that was made without ITP_EVENT_TIMING or was
   *             never
   *         recorded.                                                                           [ITP-GD-20]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, optional (default: UNIMPLEMENTED; ITP_CAP_TIMING_EVENTS is then clear)
   * SDK: itp_sync_event_elapsed_ns.
   * Like: cudaEventElapsedTime
   */
  itp_status (*event_elapsed_ns)(void *self, int32_t device, itp_event begin, itp_event end, uint64_t *ns,
                                 itp_error *err);
} itp_guard;

/* ==== Collectives (optional table) ==================================================================== */

#define ITP_REDUCE_SUM 0
#define ITP_REDUCE_PROD 1
#define ITP_REDUCE_MAX 2
#define ITP_REDUCE_MIN 3
#define ITP_REDUCE_AVG 4 /* sum divided by the number of ranks; floats only */

/**
 * Communication between the devices of a job, one rank each. Without this table the core goes through host
 * memory.
 *
 * - reduce_op_mask has SUM. Without AVG the core sums and scales.                              [ITP-CCL-01]
 * - dtype_mask has F32.                                                                        [ITP-CCL-02]
 *
 * In every collective: buffers are compact device memory of the communicator's device, borrowed until the
 * stream has passed; counts are elements, > 0; all ranks make the same calls in the same order; work is
 * ordered on the stream that is given, like a launch. The core creates communicators in one global order,
 * and splits what exceeds max_collective_bytes.
 */
typedef struct itp_ccl {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t reduce_op_mask; /* 1 << ITP_REDUCE_* */
  uint64_t dtype_mask;     /* 1 << ITP_DT_* */

  /**
   * Make the name of a communicator to come, on one rank. The core carries it to the others.
   *
   * @param buffer        [owned by caller] Room for the id, plain bytes.
   * @param[in,out] size  Bytes of room; becomes the bytes written, at most 1024. Too little room is
   *                      INVALID_ARGUMENT, and *size becomes what is needed.                   [ITP-CCL-03]
   * @return OK, INVALID_ARGUMENT, UNAVAILABLE. Two calls give two ids.                         [ITP-CCL-04]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * Like: ncclGetUniqueId
   */
  itp_status (*unique_id)(void *self, void *buffer, uint64_t *size, itp_error *err);

  /**
   * Join a communicator; returns when all its ranks have.                                      [ITP-CCL-05]
   *
   * @param device    [0, device_count).
   * @param n_ranks   >= 1; 1 is a communicator too.                                            [ITP-CCL-06]
   * @param rank      [0, n_ranks), else INVALID_ARGUMENT.                                      [ITP-CCL-07]
   * @param id        [borrowed for the call] What unique_id wrote on one rank.
   * @param id_size   Bytes.
   * @param[out] out  [owned by caller; give back with comm_destroy or comm_abort]
   * @return OK, INVALID_ARGUMENT, UNAVAILABLE, TIMEOUT.
   * @threads Any thread; blocks it.
   * @order   None.
   * @since   1.0, required
   * Like: ncclCommInitRank
   */
  itp_status (*comm_init)(void *self, int32_t device, int32_t n_ranks, int32_t rank, const void *id,
                          uint64_t id_size, itp_comm *out, itp_error *err);

  /**
   * Give a communicator back when its work is done.                                            [ITP-CCL-08]
   *
   * @param comm  Not NULL.
   * @return OK, INVALID_ARGUMENT.
   * @threads Any thread; waits for the communicator's work.
   * @order   After the communicator's work.
   * @since   1.0, required
   * Like: ncclCommDestroy
   */
  itp_status (*comm_destroy)(void *self, itp_comm comm, itp_error *err);

  /**
   * Give a communicator back now. Its work ends with ABORTED on this rank, and does not hang.  [ITP-CCL-09]
   *
   * @param comm  Not NULL.
   * @return OK, INVALID_ARGUMENT.
   * @threads Any thread, also while another one is in a call on `comm`.
   * @order   None.
   * @since   1.0, optional (default: UNIMPLEMENTED; a hung job is then ended by its launcher)
   * Like: ncclCommAbort
   */
  itp_status (*comm_abort)(void *self, itp_comm comm, itp_error *err);

  /**
   * Ask whether the communicator is well, without waiting.
   *
   * @param comm  Not NULL.
   * @return OK while nothing has failed; ASYNC, ABORTED, DEVICE_LOST.                          [ITP-CCL-10]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, optional (default: OK)
   * Like: ncclCommGetAsyncError
   */
  itp_status (*comm_async_error)(void *self, itp_comm comm, itp_error *err);

  /**
   * Begin a group: the calls of this thread up to the matching group_end may depend on each other, as a
   * send and
   * a receive between the same two ranks do. Groups nest.                                      [ITP-CCL-11]
   *
   * @return OK.
   * @threads Any thread; concerns that thread only.
   * @order   None.
   * @since   1.0, optional (default: does nothing)
   * Like: ncclGroupStart
   */
  itp_status (*group_begin)(void *self, itp_error *err);

  /**
   * End a group and queue its calls.
   *
   * @return OK, INVALID_ARGUMENT (no group was begun).
   * @threads The thread of group_begin.
   * @order   Each call on its own stream.
   * @since   1.0, optional (default: does nothing)
   * Like: ncclGroupEnd
   */
  itp_status (*group_end)(void *self, itp_error *err);

  /**
   * Combine src of all ranks by `op`; every rank's dst gets all of it. dst may be src.         [ITP-CCL-12]
   *
   * @param src    [borrowed until the stream has passed] count elements.
   * @param dst    [borrowed until the stream has passed] count elements.
   * @param count  Elements, > 0.
   * @param dtype  One of dtype_mask, else UNIMPLEMENTED.                                       [ITP-CCL-13]
   * @param op     One of reduce_op_mask, else UNIMPLEMENTED. AVG gives the sum divided by the ranks.
   *                                                                                            [ITP-CCL-14]
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   After earlier and before later work of `stream`.                                  [ITP-CCL-15]
   * @since   1.0, required
   * Like: ncclAllReduce
   */
  itp_status (*all_reduce)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype,
                           uint32_t op, itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Give the root's src to every rank's dst. dst may be src.                                   [ITP-CCL-16]
   *
   * @param src    Read on the root only; may be NULL elsewhere.
   * @param dst    count elements.
   * @param count  Elements, > 0.
   * @param dtype  One of dtype_mask.
   * @param root   [0, n_ranks).
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * Like: ncclBroadcast
   */
  itp_status (*broadcast)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype,
                          int32_t root, itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Combine src of all ranks by `op`; the root's dst gets it, the others' stay.                [ITP-CCL-17]
   *
   * @param src    count elements.
   * @param dst    Written on the root only; may be NULL elsewhere.
   * @param count  Elements, > 0.
   * @param dtype  One of dtype_mask.
   * @param op     One of reduce_op_mask.
   * @param root   [0, n_ranks).
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, optional (default: all_reduce into memory of the core's)
   * Like: ncclReduce
   */
  itp_status (*reduce)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype, uint32_t op,
                       int32_t root, itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Join src of all ranks, in the order of ranks, in every rank's dst.                         [ITP-CCL-18]
   *
   * @param src    count elements; may be this rank's part of dst.
   * @param dst    count * n_ranks elements.
   * @param count  Elements of one rank, > 0.
   * @param dtype  One of dtype_mask.
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * Like: ncclAllGather
   */
  itp_status (*all_gather)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype,
                           itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Combine src of all ranks by `op`; rank r gets the r-th part of it.                         [ITP-CCL-19]
   *
   * @param src    count * n_ranks elements.
   * @param dst    count elements; may be this rank's part of src.
   * @param count  Elements of one part, > 0.
   * @param dtype  One of dtype_mask.
   * @param op     One of reduce_op_mask.
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * Like: ncclReduceScatter
   */
  itp_status (*reduce_scatter)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype,
                               uint32_t op, itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Give part r of src to rank r, and take part r of dst from rank r.                          [ITP-CCL-20]
   *
   * @param src    count * n_ranks elements.
   * @param dst    count * n_ranks elements, apart from src.
   * @param count  Elements of one part, > 0.
   * @param dtype  One of dtype_mask.
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, optional (default: sends and receives in a group)
   */
  itp_status (*all_to_all)(void *self, const void *src, void *dst, uint64_t count, itp_dtype dtype,
                           itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Send to one rank. Matches its recv, in order, between the two.                             [ITP-CCL-21]
   *
   * @param src    count elements.
   * @param count  Elements, > 0.
   * @param dtype  One of dtype_mask.
   * @param peer   [0, n_ranks).
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * Like: ncclSend
   */
  itp_status (*send)(void *self, const void *src, uint64_t count, itp_dtype dtype, int32_t peer,
                     itp_comm comm, itp_stream stream, itp_error *err);

  /**
   * Receive from one rank what its send sends.
   *
   * @param dst    count elements.
   * @param count  Elements, > 0, as many as are sent.
   * @param dtype  The sender's.
   * @param peer   [0, n_ranks).
   * @param comm   Not NULL.
   * @param stream A stream of the communicator's device.
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED, ABORTED.
   * @threads Any thread.
   * @order   On `stream`.
   * @since   1.0, required
   * Like: ncclRecv
   */
  itp_status (*recv)(void *self, void *dst, uint64_t count, itp_dtype dtype, int32_t peer, itp_comm comm,
                     itp_stream stream, itp_error *err);
} itp_ccl;

/* ==== Graphs (optional table) ========================================================================= */

/* Record what is submitted to a stream once, then submit it again as a whole. Without this table the core
 * submits lists of launches. */
typedef struct itp_graphs {
  uint32_t struct_size;
  uint32_t reserved0;

  /**
   * From now on record what is submitted to `stream`, and do not run it.                        [ITP-GR-01]
   *
   * A launch without ITP_K_CAPTURABLE, or a call that waits for the stream, gives UNIMPLEMENTED; the
   * recording goes on.                                                                          [ITP-GR-02]
   *
   * @param device  The stream's.
   * @param stream  Not NULL. A stream that is recording already is INVALID_ARGUMENT.            [ITP-GR-03]
   * @return OK, INVALID_ARGUMENT, UNIMPLEMENTED.
   * @threads Any thread; every thread's work on `stream` is recorded.
   * @order   Work submitted before runs as before.
   * @since   1.0, required
   * Like: cudaStreamBeginCapture
   */
  itp_status (*capture_begin)(void *self, int32_t device, itp_stream stream, itp_error *err);

  /**
   * Stop recording and give the graph.
   *
   * @param device    The stream's.
   * @param stream    As in capture_begin; INVALID_ARGUMENT where it does not record.            [ITP-GR-04]
   * @param[out] out  [owned by caller; give back with destroy]
   * @return OK, INVALID_ARGUMENT, OUT_OF_MEMORY.
   * @threads Any thread.
   * @order   The stream then runs work as before.
   * @since   1.0, required
   * Like: cudaStreamEndCapture
   */
  itp_status (*capture_end)(void *self, int32_t device, itp_stream stream, itp_graph *out, itp_error *err);

  /**
   * Run a graph: gives what its work, submitted again, gives on the memory's contents of now; any number
   * of times.                                                                                   [ITP-GR-05]
   *
   * @param device  Of the capture.
   * @param graph   Not NULL.
   * @param stream  Any stream of `device`.
   * @return OK, INVALID_ARGUMENT, DEVICE_LOST.
   * @threads Any thread; one graph not twice at once.
   * @order   On `stream`.                                                                       [ITP-GR-06]
   * @since   1.0, required
   * Like: cudaGraphLaunch
   */
  itp_status (*replay)(void *self, int32_t device, itp_graph graph, itp_stream stream, itp_error *err);

  /**
   * Give a graph back. A replay that is under way is still completed.                           [ITP-GR-07]
   *
   * @param device  Of the capture.
   * @param graph   Not NULL.
   * @return OK, INVALID_ARGUMENT.
   * @threads Any thread.
   * @order   None.
   * @since   1.0, required
   * Like: cudaGraphExecDestroy
   */
  itp_status (*destroy)(void *self, int32_t device, itp_graph graph, itp_error *err);
} itp_graphs;

/* ==== What the core gives the provider ================================================================ */

/**
 * The core's functions. [owned by the core until shutdown has returned]
 *
 * Any function may be NULL, and the struct shorter or longer than this one.                   [ITP-LIFE-02]
 */
typedef struct itp_host {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *core_version;
  void *ctx;

  /**
   * Write a line to the user's log.
   *
   * @param level    0 debug, 1 information, 2 warning, 3 error.
   * @param file     [borrowed for the call] Where, or NULL.
   * @param message  [borrowed for the call] UTF-8.
   * @param length   Bytes of message.
   * @threads Any thread.
   * @since   1.0, optional (default: nothing is logged)
   */
  void (*log)(void *ctx, int32_t level, const char *file, int32_t line, const char *message, uint64_t length);

  /**
   * Report when the device ran a launch or copy, once it is known.
   *
   * @param kind      0 launch, 1 copy.
   * @param tag       Of the launch or copy.
   * @param begin_ns  Nanoseconds of CLOCK_MONOTONIC.
   * @param end_ns    Nanoseconds of CLOCK_MONOTONIC.
   * @threads Any thread.
   * @since   1.0, optional (default: nobody asks)
   */
  void (*profile)(void *ctx, uint32_t kind, uint64_t tag, uint64_t begin_ns, uint64_t end_ns);

  /**
   * Ask for a table that is not part of this contract.
   *
   * @return [owned by the core] The table, or NULL.
   * @threads Any thread.
   * @since   1.0, optional (default: NULL)
   */
  const void *(*get_extension)(void *ctx, const char *name, uint32_t version);
} itp_host;

/* A setting that the user may give: infinitrain.configure(PROVIDER, name=value), or the environment variable
 * INFINITRAIN_PROVIDER_NAME. [owned by provider] */
typedef struct itp_option {
  uint32_t struct_size;
  uint32_t kind;            /* ITP_V_I64, ITP_V_F64, ITP_V_BOOL or ITP_V_STR */
  const char *name;         /* [a-z][a-z0-9_]* */
  const char *default_text; /* not NULL */
  const char *help;         /* one line, not NULL */
} itp_option;

/* The job, before anything is started. [borrowed for the call] Sizes are 1 and ranks 0 outside of a job. */
typedef struct itp_config {
  uint32_t struct_size;
  int32_t world_size;
  int32_t rank;
  int32_t local_rank;
  int32_t data_parallel;
  int32_t tensor_parallel;
  int32_t pipeline_parallel;
  int32_t context_parallel;
  const char *const *option_names; /* those that the user has set */
  const char *const *option_values;
  uint64_t n_options;
} itp_config;

/* ==== The provider ==================================================================================== */

#define ITP_P_SERIAL 0x1          /* to be entered by one thread at a time */
#define ITP_P_SANITIZED 0x2       /* built with a sanitizer: tests then expect its costs */
#define ITP_P_LAUNCH_BLOCKING 0x4 /* every launch waits for the device */

/**
 * The provider's table. [owned by provider, constant until the process ends]
 *
 * - struct_size of this and of every table, kernel and option is at least that of version 1.0, and a
 *   multiple of 8.                                                                             [ITP-NEG-01]
 * - name is [a-z][a-z0-9_]{0,31}, and no name that infinitrain keeps for itself; it is the device's.
 *                                                                                              [ITP-NEG-02]
 * - vendor, version and build_info are NUL-terminated UTF-8, never NULL.                       [ITP-NEG-03]
 * - runtime, guard and kernels are there, with all their required slots.                       [ITP-NEG-04]
 * - Options have distinct names of the form given, a default and a help text.                  [ITP-NEG-05]
 * - Reserved fields are 0.                                                                     [ITP-NEG-06]
 */
typedef struct itp_provider {
  uint32_t struct_size;
  uint32_t abi_minor; /* of the header that it was built with */
  const char *name;
  const char *vendor;
  const char *version;
  const char *build_info;
  uint64_t flags; /* ITP_P_* */
  const itp_option *const *options;
  uint64_t n_options;

  /**
   * Start: open the vendor's library, find the devices. Called once, under a lock, at the first use of a
   * device.
   *
   * - Options that the user did not set have their default. An unknown option, or a value that the option
   *   does not take, is INVALID_ARGUMENT and named in the message.                            [ITP-LIFE-03]
   * - On failure everything is released by the provider and *self stays NULL.                 [ITP-LIFE-04]
   * - The working directory, the environment and the process's signal handlers stay as they were.
   *                                                                                           [ITP-LIFE-05]
   *
   * @param host       [owned by the core until shutdown has returned]
   * @param config     [borrowed for the call]
   * @param[out] self  [owned by provider until shutdown] Handed to every slot; *self is NULL before.
   * @return OK, UNAVAILABLE, INVALID_ARGUMENT, OUT_OF_MEMORY, VERSION.
   * @threads One thread.
   * @order   Before every other slot.
   * @since   1.0, required
   */
  itp_status (*init)(const itp_host *host, const itp_config *config, void **self, itp_error *err);

  /**
   * End: the core has given back all handles and memory. Afterwards init may be called again, and works.
   *                                                                                           [ITP-LIFE-06]
   *
   * @param reason  0: the process ends in order. Other values may be added; treat them alike.
   * @return OK. TIMEOUT where work that hangs had to be dropped.
   * @threads One thread; waits for work that is still in flight.                              [ITP-LIFE-07]
   * @order   After every other slot.
   * @since   1.0, optional (default: does nothing)
   */
  itp_status (*shutdown)(void *self, uint32_t reason, itp_error *err);

  const itp_runtime *runtime; /* required */
  const itp_guard *guard;     /* required */
  const itp_kernels *kernels; /* required */
  const itp_ccl *ccl;         /* optional: NULL */
  const itp_graphs *graphs;   /* optional: NULL */

  /**
   * Give a table that is not part of this contract, for software that knows this provider.
   *
   * @param name     [borrowed for the call] "PROVIDER.WHAT".
   * @param version  Of that table.
   * @return [owned by provider] The table, or NULL: always so for a name that it does not know.
   *                                                                                            [ITP-NEG-07]
   * @threads Any thread.
   * @order   None.
   * @since   1.0, optional (default: NULL)
   */
  const void *(*get_extension)(void *self, const char *name, uint32_t version);
} itp_provider;

/**
 * The query, infinitrain_provider_v1: the one symbol that the library exports.                 [ITP-NEG-08]
 *
 * - Pure: it starts no thread, opens no file, asks no driver; it works before fork, in the child, and
 *   without a
 *   device.                                                                                    [ITP-NEG-09]
 * - It gives the same table at every call, and to every core of this major version whose minor is that of
 *   the
 *   provider's header or later; NULL says that the provider cannot serve so old a core.        [ITP-NEG-10]
 *
 * @param core_abi_minor  ITP_ABI_MINOR of the core.
 * @return [owned by provider]
 * @threads Any thread.
 * @since   1.0, required
 */
typedef const itp_provider *(*itp_entry_fn)(uint32_t core_abi_minor);

/* [cdef-end] */

#ifdef __cplusplus
}
#endif
#endif
