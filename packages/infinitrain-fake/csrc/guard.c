/* Current device, streams, events, synchronising. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What foreign code on this thread would take as its device. Nothing here reads it: every slot names its
 * device. */
static __thread int32_t current_device;

static int32_t get_current_device(void) { return current_device; }
void fake_disturb(const fake *self) { current_device = (current_device + 1) % self->n_devices; }

static itp_status enter(void *self, int32_t device, int64_t *token, itp_error *err) {
  const itp_status status = fake_enter_device((fake *)self, "enter", device, NULL, err);
  if (status != ITP_OK) return status;
  const int32_t found = current_device;
  (void)fake_leave((fake *)self, ITP_OK);
  *token = found;
  current_device = device;
  return ITP_OK;
}

static itp_status leave(void *self, int64_t token, itp_error *err) {
  const itp_status status = fake_enter((fake *)self, "leave", err);
  if (status != ITP_OK) return status;
  if (token < 0 || token >= ((fake *)self)->n_devices) {
    return fake_leave((fake *)self, ITP_FAIL(err, INVALID_ARGUMENT, "leave", "%lld is no token of enter",
                                             (long long)token));
  }
  (void)fake_leave((fake *)self, ITP_OK);
  current_device = (int32_t)token;
  return ITP_OK;
}

/* Enter a slot that has a stream. On failure nothing is held. */
static itp_status enter_stream(void *self, const char *slot, int32_t device, itp_stream handle,
                               itp_stream *out, itp_error *err) {
  fake_device *owner;
  const itp_status status = fake_enter_device((fake *)self, slot, device, &owner, err);
  if (status != ITP_OK) return status;
  *out = fake_stream(owner, handle);
  if (*out != NULL) return ITP_OK;
  return fake_leave((fake *)self, ITP_FAIL(err, INVALID_ARGUMENT, slot, "%p is no stream of fake:%d",
                                           (void *)handle, (int)device));
}

static itp_status device_sync(void *self, int32_t device, itp_error *err) {
  fake_device *owner;
  itp_status status = fake_enter_device((fake *)self, "device_sync", device, &owner, err);
  if (status != ITP_OK) return status;
  fake_wait_all(owner);
  for (itp_stream s = owner->streams; s != NULL && status == ITP_OK; s = s->next) {
    status = fake_take_failure(s, "device_sync", err);
  }
  return fake_leave((fake *)self, status);
}

/* ---- streams ------------------------------------------------------------------------------------- */

static itp_status stream_create(void *self, int32_t device, uint32_t flags, int32_t priority, itp_stream *out,
                                itp_error *err) {
  fake_device *owner;
  itp_status status = fake_enter_device((fake *)self, "stream_create", device, &owner, err);
  if (status != ITP_OK) return status;
  (void)priority; /* a hint, and all workers are equal */
  if (flags != ITP_STREAM_DEFAULT_FLAGS) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "stream_create", "unknown flags 0x%x", flags);
  } else if (((fake *)self)->options.null_outputs) {
    *out = NULL;
  } else {
    itp_stream stream = fake_stream_new(owner);
    if (stream != NULL) {
      *out = stream;
    } else {
      status = ITP_FAIL(err, OUT_OF_MEMORY, "stream_create", "no host memory for a stream");
    }
  }
  return fake_leave((fake *)self, status);
}

static itp_status stream_destroy(void *self, int32_t device, itp_stream handle, itp_error *err) {
  itp_stream stream;
  const itp_status status = enter_stream(self, "stream_destroy", device, handle, &stream, err);
  if (status != ITP_OK) return status;
  if (handle == NULL) {
    return fake_leave((fake *)self,
                      ITP_FAIL(err, INVALID_ARGUMENT, "stream_destroy", "the default stream stays"));
  }
  fake_stream_end(stream);
  return fake_leave((fake *)self, ITP_OK);
}

static itp_status stream_sync(void *self, int32_t device, itp_stream handle, itp_error *err) {
  itp_stream stream;
  const itp_status status = enter_stream(self, "stream_sync", device, handle, &stream, err);
  if (status != ITP_OK) return status;
  return fake_leave((fake *)self, fake_wait(stream, "stream_sync", err));
}

static itp_status stream_query(void *self, int32_t device, itp_stream handle, itp_error *err) {
  itp_stream stream;
  itp_status status = enter_stream(self, "stream_query", device, handle, &stream, err);
  if (status != ITP_OK) return status;
  if (stream->completed < stream->submitted) {
    status = ITP_FAIL(err, NOT_READY, "stream_query", "%llu operations are left",
                      (unsigned long long)(stream->submitted - stream->completed));
  } else {
    status = fake_take_failure(stream, "stream_query", err);
  }
  return fake_leave((fake *)self, status);
}

static itp_status stream_native(void *self, int32_t device, itp_stream handle, void **out, itp_error *err) {
  itp_stream stream;
  const itp_status status = enter_stream(self, "stream_native", device, handle, &stream, err);
  if (status != ITP_OK) return status;
  *out = stream;
  return fake_leave((fake *)self, ITP_OK);
}

/* ---- events -------------------------------------------------------------------------------------- */

/* An event that waits in a queue outlives its destruction. With the lock. */
static void release(itp_event event) {
  if (--event->users == 0 && event->destroyed) free(event);
}

typedef struct event_op {
  fake_op op;
  itp_event event;
  uint64_t number; /* of the record */
} event_op;

static itp_status run_record(fake_op *op, itp_error *err) {
  event_op *e = (event_op *)op;
  (void)err;
  pthread_mutex_lock(&op->self->lock);
  if (e->number > e->event->completed) { /* an older record, on a slower stream, no longer counts */
    e->event->completed = e->number;
    e->event->time_ns = fake_now_ns();
  }
  release(e->event);
  pthread_mutex_unlock(&op->self->lock); /* the queue wakes who waits */
  return ITP_OK;
}

static itp_status run_wait(fake_op *op, itp_error *err) {
  event_op *e = (event_op *)op;
  (void)err;
  pthread_mutex_lock(&op->self->lock);
  while (e->event->completed < e->number && !op->self->abandon) {
    pthread_cond_wait(&op->self->progress, &op->self->lock);
  }
  release(e->event);
  pthread_mutex_unlock(&op->self->lock);
  return ITP_OK;
}

static itp_status enqueue_event(itp_stream stream, itp_event event, uint64_t number,
                                itp_status (*run)(fake_op *, itp_error *), const char *slot, itp_error *err) {
  event_op *e = malloc(sizeof *e);
  if (e == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, slot, "no host memory for an operation");
  *e = (event_op){.op = {.run = run}, .event = event, .number = number};
  const itp_status status = fake_enqueue(stream, &e->op, slot, err);
  if (status == ITP_OK) ++event->users;
  return status;
}

/* Enter a slot of one event. */
static itp_status enter_event(void *self, const char *slot, int32_t device, itp_event event, itp_error *err) {
  const itp_status status = fake_enter_device((fake *)self, slot, device, NULL, err);
  if (status != ITP_OK) return status;
  if (event != NULL && event->device->index == device) return ITP_OK;
  return fake_leave((fake *)self, ITP_FAIL(err, INVALID_ARGUMENT, slot, "%p is no event of fake:%d",
                                           (void *)event, (int)device));
}

static itp_status event_create(void *self, int32_t device, uint32_t flags, itp_event *out, itp_error *err) {
  fake_device *owner;
  itp_status status = fake_enter_device((fake *)self, "event_create", device, &owner, err);
  if (status != ITP_OK) return status;
  itp_event event = NULL;
  if ((flags & ~(uint32_t)(ITP_EVENT_TIMING | ITP_EVENT_BLOCKING_SYNC)) != 0) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "event_create", "unknown flags 0x%x", flags);
  } else if (((fake *)self)->options.null_outputs) {
    *out = NULL;
  } else if ((event = calloc(1, sizeof *event)) == NULL) {
    status = ITP_FAIL(err, OUT_OF_MEMORY, "event_create", "no host memory for an event");
  } else {
    event->device = owner;
    event->flags = flags;
    *out = event;
  }
  return fake_leave((fake *)self, status);
}

static itp_status event_destroy(void *self, int32_t device, itp_event event, itp_error *err) {
  const itp_status status = enter_event(self, "event_destroy", device, event, err);
  if (status != ITP_OK) return status;
  ++event->users;
  event->destroyed = 1;
  release(event);
  return fake_leave((fake *)self, ITP_OK);
}

static itp_status event_record(void *self, int32_t device, itp_event event, itp_stream handle,
                               itp_error *err) {
  itp_status status = enter_event(self, "event_record", device, event, err);
  if (status != ITP_OK) return status;
  itp_stream stream = fake_stream(event->device, handle);
  if (stream == NULL) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "event_record", "%p is no stream of fake:%d", (void *)handle,
                      (int)device);
  } else {
    status = enqueue_event(stream, event, event->recorded + 1, run_record, "event_record", err);
    if (status == ITP_OK) {
      ++event->recorded;
      event->stream = stream;
    }
  }
  return fake_leave((fake *)self, status);
}

/* The event may be another device's: that is how streams of two devices are ordered. */
static itp_status stream_wait_event(void *self, int32_t device, itp_stream handle, itp_event event,
                                    itp_error *err) {
  itp_stream stream;
  itp_status status = enter_stream(self, "stream_wait_event", device, handle, &stream, err);
  if (status != ITP_OK) return status;
  if (event == NULL) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "stream_wait_event", "no event given");
  } else if (event->recorded > event->completed) { /* never recorded, or past: nothing to wait for */
    status = enqueue_event(stream, event, event->recorded, run_wait, "stream_wait_event", err);
  }
  return fake_leave((fake *)self, status);
}

/* A failure of the stream shows here as well: whoever waits for the event wants to read its results. */
static itp_status failure_of(itp_event event, const char *slot, itp_error *err) {
  itp_stream stream = event->stream != NULL ? fake_stream(event->device, event->stream) : NULL;
  return stream != NULL ? fake_take_failure(stream, slot, err) : ITP_OK;
}

static itp_status event_sync(void *self, int32_t device, itp_event event, itp_error *err) {
  const itp_status status = enter_event(self, "event_sync", device, event, err);
  if (status != ITP_OK) return status;
  const uint64_t number = event->recorded;
  while (event->completed < number) pthread_cond_wait(&((fake *)self)->progress, &((fake *)self)->lock);
  return fake_leave((fake *)self, failure_of(event, "event_sync", err));
}

static itp_status event_query(void *self, int32_t device, itp_event event, itp_error *err) {
  itp_status status = enter_event(self, "event_query", device, event, err);
  if (status != ITP_OK) return status;
  if (event->completed < event->recorded) {
    status = ITP_FAIL(err, NOT_READY, "event_query", "the stream has not reached the event");
  } else {
    status = failure_of(event, "event_query", err);
  }
  return fake_leave((fake *)self, status);
}

static itp_status event_elapsed_ns(void *self, int32_t device, itp_event begin, itp_event end, uint64_t *ns,
                                   itp_error *err) {
  itp_status status = enter_event(self, "event_elapsed_ns", device, begin, err);
  if (status != ITP_OK) return status;
  if (end == NULL || end->device != begin->device || !(begin->flags & end->flags & ITP_EVENT_TIMING)) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns",
                      "two events of fake:%d made for timing expected", (int)device);
  } else if (begin->recorded == 0 || end->recorded == 0) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns", "an event has not been recorded");
  } else if (begin->completed < begin->recorded || end->completed < end->recorded) {
    status = ITP_FAIL(err, NOT_READY, "event_elapsed_ns", "a stream has not reached its event");
  } else {
    *ns = end->time_ns > begin->time_ns ? end->time_ns - begin->time_ns : 0;
  }
  return fake_leave((fake *)self, status);
}

/* ---- for tests: what only the fake can show ------------------------------------------------------- */

/* get_extension("fake.probe", 1). `touch` writes to device memory behind the provider's back, where nothing
 * checks bounds: the way to break a canary. `peek` reads it so. Both need an idle device. */
typedef struct fake_probe {
  uint32_t struct_size;
  uint32_t reserved0;
  int32_t (*current_device)(void);
  void (*touch)(void *self, int32_t device, void *ptr, int32_t byte);
  int32_t (*peek)(void *self, int32_t device, const void *ptr);
} fake_probe;

#if defined(__GNUC__)
__attribute__((no_sanitize_address)) /* writing where one must not is its purpose */
#endif
static void touch(void *self, int32_t device, void *ptr, int32_t byte) {
  *fake_alias(&((fake *)self)->devices[device].arena, ptr) = (char)byte;
}

static int32_t peek(void *self, int32_t device, const void *ptr) {
  return (unsigned char)*fake_alias(&((fake *)self)->devices[device].arena, ptr);
}

/* "fake.faults", 1: options of a fake that is running. */
typedef struct fake_faults {
  uint32_t struct_size;
  uint32_t reserved0;
  itp_status (*set)(void *self, const char *name, const char *text, itp_error *err);
} fake_faults;

const void *fake_get_extension(void *self, const char *name, uint32_t version) {
  static const fake_probe probe = {sizeof(fake_probe), 0, get_current_device, touch, peek};
  static const fake_faults faults = {sizeof(fake_faults), 0, fake_set};
  (void)self;
  if (strcmp(name, "fake.faults") == 0 && version == 1) return &faults;
  return strcmp(name, "fake.probe") == 0 && version == 1 ? &probe : NULL;
}

const itp_guard fake_guard = {
    .struct_size = sizeof(itp_guard),
    .enter = enter,
    .leave = leave,
    .device_sync = device_sync,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_sync = stream_sync,
    .stream_query = stream_query,
    .stream_wait_event = stream_wait_event,
    .stream_native = stream_native,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_sync = event_sync,
    .event_query = event_query,
    .event_elapsed_ns = event_elapsed_ns,
};
