/* What the fake's files share: handles, the lock, the queue of a stream. Read after provider.h of the
 * contract.
 *
 * The device in one paragraph. Each device is an arena of memory that is mapped twice: once without any
 * access, whose addresses the core gets, and once readable and writable, the alias, which only the workers
 * use. Each stream has a queue and a worker thread; a slot copies what it was given into an operation,
 * appends it and returns. One lock guards everything but the work itself, which runs outside of it.
 *
 *   provider.c  the table, options, init and shutdown      memory.c    the arena: blocks, canaries, poison
 *   guard.c     current device, streams, events, syncs     runtime.c   devices, allocation, copies
 *   queue.c     operations, workers, failures              kernels/    launches
 */
#ifndef INFINITRAIN_FAKE_INTERNAL_H_
#define INFINITRAIN_FAKE_INTERNAL_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

typedef struct fake fake;
typedef struct fake_device fake_device;

/* ---- operations: what a stream has to do, in order ---------------------------------------------- */

typedef struct fake_op fake_op;
struct fake_op {
  fake_op *next;
  uint64_t ticket; /* order of submission on the device */
  /* Runs on the worker, without the lock. A failure becomes the stream's pending error. */
  itp_status (*run)(fake_op *op, itp_error *err);
  fake *self;
  itp_stream stream;
  uint64_t tag;
  uint32_t profiled; /* 0: no; else 1 + the kind of itp_host.profile */
};

/* A failure that shows after the call that caused it. */
typedef struct fake_failure {
  itp_status status; /* ITP_OK: none */
  uint64_t tag;
  char message[256];
} fake_failure;

struct itp_stream_s {
  fake_device *device;
  itp_stream next; /* in the device's list */
  pthread_t worker;
  int has_worker; /* made by the first operation */
  int stopping;
  pthread_cond_t wake;
  fake_op *head, **tail, *running;
  uint64_t submitted, completed; /* operations; equal: idle */
  uint64_t random;               /* state of the delays */
  fake_failure failure;
};

struct itp_event_s {
  fake_device *device;
  uint32_t flags;
  uint32_t users; /* operations in queues that will touch it */
  int destroyed;
  itp_stream stream;            /* of the last record */
  uint64_t recorded, completed; /* number of the last record asked for, and done */
  uint64_t time_ns;             /* when it was done */
};

/* ---- devices and memory -------------------------------------------------------------------------- */

#define FAKE_ALIGNMENT 256u

typedef enum fake_state { FAKE_FREE, FAKE_LIVE, FAKE_DYING } fake_state;

/* A stretch of the arena; stretches lie one behind the other. A block in use is canary, user bytes, canary.
 */
typedef struct fake_block {
  uint64_t offset, size; /* of the whole stretch */
  uint64_t nbytes;       /* as asked for; the user's part begins FAKE_ALIGNMENT after offset */
  fake_state state;
} fake_block;

typedef struct fake_arena {
  char *base;  /* no access: the addresses that the core sees */
  char *alias; /* the same memory, for workers */
  uint64_t size;
  fake_block *blocks;
  size_t n_blocks, capacity;
} fake_arena;

struct fake_device {
  fake *self;
  int32_t index;
  int lost;
  uint64_t used;    /* bytes asked for and not given back */
  uint64_t tickets; /* operations submitted to any stream */
  fake_arena arena;
  itp_stream streams; /* the default stream first */
};

/* Page-locked host memory: plain memory that is remembered. */
typedef struct fake_pinned {
  struct fake_pinned *next;
  char *data;
  uint64_t nbytes;
} fake_pinned;

typedef struct fake_options {
  int64_t devices, memory_mb, delay_us, copy_delay_us, fail_alloc_at, fail_launch_at, fail_launch_async,
      lose_device_after, null_outputs, wrong_device, fail_init;
  char call_log[4096];
} fake_options;

struct fake {
  pthread_mutex_t lock;
  pthread_cond_t progress; /* some operation has completed */
  uint64_t fork_generation;
  const itp_host *host; /* NULL, or until shutdown */
  fake_options options;
  int log_fd; /* -1: no call log */
  uint64_t n_allocs, n_launches, n_operations;
  int abandon; /* shutdown's deadline has passed: drop what is queued */
  fake_pinned *pinned;
  int32_t n_devices;
  fake_device *devices;
};

/* ---- every slot begins with this ------------------------------------------------------------------ */

/* Refuse a forked child; write a line of the call log; take the lock. Of a device also: refuse one that does
 * not exist or is lost, and give it (out may be NULL). On failure nothing is held; else end the slot with
 * fake_leave. */
itp_status fake_enter(fake *self, const char *slot, itp_error *err);
itp_status fake_enter_device(fake *self, const char *slot, int32_t device, fake_device **out, itp_error *err);
itp_status fake_leave(fake *self, itp_status status);
void fake_log(fake *self, const char *format, ...) ITP_PRINTF_LIKE(2, 3);
/* Count an operation on a device: after `lose_device_after` of them it is lost. With the lock. */
itp_status fake_count(fake_device *device, const char *slot, itp_error *err);
/* Leave the calling thread on another device, as option wrong_device wants. */
void fake_disturb(const fake *self);
itp_status fake_set(void *self, const char *name, const char *text, itp_error *err);
uint64_t fake_fork_generation(void);
uint64_t fake_now_ns(void);

/* ---- queue.c -------------------------------------------------------------------------------------- */

/* With the lock: the stream behind a handle (NULL: the default one), or NULL if it is not one of the
 * device's. */
itp_stream fake_stream(fake_device *device, itp_stream handle);
itp_stream fake_stream_new(fake_device *device);
/* Append an operation, which the queue frees after its run. Starts the worker if need be. On failure frees
 * it. */
itp_status fake_enqueue(itp_stream stream, fake_op *op, const char *slot, itp_error *err);
/* Wait until all that is queued now is done, then give the pending failure, once. */
itp_status fake_wait(itp_stream stream, const char *slot, itp_error *err);
void fake_wait_all(fake_device *device);
itp_status fake_take_failure(itp_stream stream, const char *slot, itp_error *err);
/* Drain, end the worker, unlink and free. With the lock, which is given up while the worker ends. */
void fake_stream_end(itp_stream stream);

/* ---- memory.c ------------------------------------------------------------------------------------- */

int fake_arena_open(fake_arena *arena, uint64_t size);
void fake_arena_close(fake_arena *arena);
/* With the lock: take a block, find the live one that holds [ptr, ptr + nbytes), give its stretch back. */
void *fake_arena_take(fake_arena *arena, uint64_t nbytes);
fake_block *fake_arena_find(fake_arena *arena, const void *ptr, uint64_t nbytes);
void fake_arena_give(fake_arena *arena, uint64_t offset);
/* The worker's address of memory of the arena. */
char *fake_alias(const fake_arena *arena, const void *ptr);
/* On the worker: canaries and poison of a block that begins at an alias address. */
void fake_block_begin(char *alias, uint64_t nbytes);
int fake_block_end(char *alias, uint64_t nbytes); /* false where a canary has been overwritten */

extern const itp_runtime fake_runtime;
extern const itp_guard fake_guard;
extern const itp_kernels fake_kernels;
const void *fake_get_extension(void *self, const char *name, uint32_t version);

#endif
