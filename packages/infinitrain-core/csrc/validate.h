/* What the files of the validating layer share (see validate.c). */
#ifndef INFINITRAIN_VALIDATE_H_
#define INFINITRAIN_VALIDATE_H_

#include <pthread.h>

#include "call.h"
#include "infinitrain/error.h"

#define STREAMS 64  /* with more, the order between streams is not looked at */
#define ACCESSES 16 /* remembered of a block: the latest */
#define DEVICES 256

typedef struct v_stream {
  struct v_stream *next;
  itp_stream handle;
  int32_t device;
  int32_t index; /* in every clock; -1: too many */
  int32_t live;
  int32_t padding;
  void *native;
  uint64_t clock[STREAMS];
} v_stream;

typedef struct v_event {
  struct v_event *next;
  itp_event handle;
  uint64_t clock[STREAMS];
} v_event;

typedef struct v_access {
  uint64_t begin, end, time;
  int32_t stream;
  int32_t writes;
} v_access;

typedef struct v_block {
  struct v_block *next;
  uint64_t begin, end;
  int32_t device;
  uint32_t kind;
  int32_t n;
  v_access accesses[ACCESSES];
} v_block;

typedef struct validator {
  it_provider real; /* the provider's slots and the core's defaults */
  void *self;
  int32_t has_enter, count, n_streams;
  pthread_mutex_t lock;
  v_stream *streams;
  v_event *events;
  v_block *blocks;
  uint64_t host[STREAMS]; /* what the host has waited for */
  uint64_t alignment[DEVICES];
  uint64_t caps[DEVICES];
} validator;

typedef struct v_kernel {
  itp_kernel shown;
  const itp_kernel *real;
} v_kernel;

#define BROKEN(err, where, id, ...)                                                                \
  (v_reset(err),                                                                                   \
   (void)itp_error_fill((err), ITP_E_INTERNAL, where, 0, __FILE__, __LINE__, id ": " __VA_ARGS__), \
   ITP_E_INTERNAL)
#define MISUSED(err, where, id, ...)                                                                       \
  (v_reset(err),                                                                                           \
   (void)itp_error_fill((err), ITP_E_INVALID_ARGUMENT, where, 0, __FILE__, __LINE__, id ": " __VA_ARGS__), \
   ITP_E_INVALID_ARGUMENT)

typedef struct v_before {
  itp_error record;
  int64_t token;
} v_before;

void v_reset(itp_error *err);
v_before v_check_before(validator *v, itp_error *err);
itp_status v_check_after(validator *v, const v_before *b, const char *where, itp_status status,
                         itp_error *err);
void v_join(uint64_t *to, const uint64_t *from);
v_stream *v_add_stream(validator *v, int32_t device, itp_stream handle);
v_stream *v_find_stream(validator *v, int32_t device, itp_stream handle);
itp_status v_pair(validator *v, const char *where, int32_t device, itp_stream handle, v_stream **out,
                  itp_error *err);
void v_passed(validator *v, const v_stream *s);
uint64_t v_tick(validator *v, v_stream *s);
itp_status v_use(validator *v, const char *where, v_stream *s, v_block *b, uint64_t begin, uint64_t end,
                 int32_t writes, itp_error *err);
itp_status v_touch(validator *v, const char *where, v_stream *s, int32_t device, uint64_t begin, uint64_t end,
                   int32_t writes, itp_error *err);
v_block *v_find_block(validator *v, uint64_t begin, uint64_t end);
itp_status v_submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);
extern const itp_guard v_guard;

/* `call` through the checks; gives `status`. */
#define CHECKED(where, call)                  \
  const v_before b_ = v_check_before(v, err); \
  itp_status status = (call);                 \
  status = v_check_after(v, &b_, where, status, err)

#endif
