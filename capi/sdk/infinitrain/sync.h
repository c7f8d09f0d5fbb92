/* Ready-made streams, events and submit for a device whose calls return when their work is done. Convenience,
 * not part of the ABI.
 *
 *     #include "infinitrain/sync.h"
 *     static const itp_guard guard = ITP_SYNC_GUARD;
 *     static const itp_kernels kernels = {sizeof(itp_kernels), count, items, itp_sync_submit};
 *
 * A provider that has the one device 0 needs nothing else. With more devices it defines, before the include,
 *
 *     #define ITP_SYNC_DEVICE_COUNT(self) (((my_provider *)(self))->n_devices)
 *
 * Single functions can be replaced: copy the list of ITP_SYNC_GUARD and put one's own function in its place,
 * as long as all that see a stream or event are replaced together. Include this header in one source file.
 *
 * They are right only for such a device: streams are names and there is nothing to wait for. One that works
 * on after the call has returned needs streams and events of its own.
 */
#ifndef INFINITRAIN_SYNC_H_
#define INFINITRAIN_SYNC_H_

#include <stdlib.h>
#include <time.h>

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

#ifndef ITP_SYNC_DEVICE_COUNT
#define ITP_SYNC_DEVICE_COUNT(self) 1
#endif

struct itp_stream_s {
  int64_t device;
};

struct itp_event_s {
  uint64_t recorded_ns; /* 0: not recorded */
  int32_t device;
  uint32_t flags;
};

ITP_MAYBE_UNUSED static inline itp_status itp_sync_check_device(void *self, const char *slot, int32_t device,
                                                                itp_error *err) {
  const int32_t count = (int32_t)(ITP_SYNC_DEVICE_COUNT(self));
  (void)self;
  if (device >= 0 && device < count) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d does not exist: there are %d, counted from 0",
                  (int)device, (int)count);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_check_stream(void *self, const char *slot, int32_t device,
                                                                itp_stream stream, itp_error *err) {
  const itp_status status = itp_sync_check_device(self, slot, device, err);
  if (status != ITP_OK || stream == NULL || stream->device == device) return status;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "the stream is of device %d, the call names device %d",
                  (int)stream->device, (int)device);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_check_event(void *self, const char *slot, int32_t device,
                                                               itp_event event, itp_error *err) {
  const itp_status status = itp_sync_check_device(self, slot, device, err);
  if (status != ITP_OK || (event != NULL && event->device == device)) return status;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "an event of device %d expected, found %s", (int)device,
                  event == NULL ? "NULL" : "another device's");
}

/* ---- current device: there is none to change ------------------------------------------------------------
 */

ITP_MAYBE_UNUSED static inline itp_status itp_sync_enter(void *self, int32_t device, int64_t *token,
                                                         itp_error *err) {
  const itp_status status = itp_sync_check_device(self, "enter", device, err);
  if (status == ITP_OK) *token = device;
  return status;
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_leave(void *self, int64_t token, itp_error *err) {
  return itp_sync_check_device(self, "leave", token >= 0 && token <= INT32_MAX ? (int32_t)token : -1, err);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_device_sync(void *self, int32_t device, itp_error *err) {
  return itp_sync_check_device(self, "device_sync", device, err);
}

/* ---- streams: names -------------------------------------------------------------------------------------
 */

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_create(void *self, int32_t device, uint32_t flags,
                                                                 int32_t priority, itp_stream *out,
                                                                 itp_error *err) {
  const itp_status status = itp_sync_check_device(self, "stream_create", device, err);
  (void)priority; /* a hint */
  if (status != ITP_OK) return status;
  if (flags != ITP_STREAM_DEFAULT_FLAGS) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "stream_create", "unknown flags 0x%x", (unsigned)flags);
  }
  const itp_stream stream = (itp_stream)malloc(sizeof(struct itp_stream_s));
  if (stream == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "stream_create", "no host memory for a stream");
  stream->device = device;
  *out = stream;
  return ITP_OK;
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_destroy(void *self, int32_t device,
                                                                  itp_stream stream, itp_error *err) {
  const itp_status status = itp_sync_check_stream(self, "stream_destroy", device, stream, err);
  if (status == ITP_OK) free(stream);
  return status;
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_sync(void *self, int32_t device, itp_stream stream,
                                                               itp_error *err) {
  return itp_sync_check_stream(self, "stream_sync", device, stream, err);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_query(void *self, int32_t device, itp_stream stream,
                                                                itp_error *err) {
  return itp_sync_check_stream(self, "stream_query", device, stream, err);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_wait_event(void *self, int32_t device,
                                                                     itp_stream stream, itp_event event,
                                                                     itp_error *err) {
  const itp_status status = itp_sync_check_stream(self, "stream_wait_event", device, stream, err);
  if (status != ITP_OK || event != NULL) return status;
  return ITP_FAIL(err, INVALID_ARGUMENT, "stream_wait_event", "an event expected, found NULL");
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_stream_native(void *self, int32_t device,
                                                                 itp_stream stream, void **out,
                                                                 itp_error *err) {
  const itp_status status = itp_sync_check_stream(self, "stream_native", device, stream, err);
  if (status == ITP_OK) *out = stream;
  return status;
}

/* ---- events: the time of the record ---------------------------------------------------------------------
 */

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_create(void *self, int32_t device, uint32_t flags,
                                                                itp_event *out, itp_error *err) {
  const itp_status status = itp_sync_check_device(self, "event_create", device, err);
  if (status != ITP_OK) return status;
  if ((flags & ~(uint32_t)(ITP_EVENT_TIMING | ITP_EVENT_BLOCKING_SYNC)) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_create", "unknown flags 0x%x", (unsigned)flags);
  }
  const itp_event event = (itp_event)malloc(sizeof(struct itp_event_s));
  if (event == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "event_create", "no host memory for an event");
  event->recorded_ns = 0;
  event->device = device;
  event->flags = flags;
  *out = event;
  return ITP_OK;
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_destroy(void *self, int32_t device, itp_event event,
                                                                 itp_error *err) {
  const itp_status status = itp_sync_check_event(self, "event_destroy", device, event, err);
  if (status == ITP_OK) free(event);
  return status;
}

/* Nanoseconds of a clock, never 0. The monotonic clock where the system shows it (POSIX); clock() otherwise.
 */
ITP_MAYBE_UNUSED static inline uint64_t itp_sync_now_ns(void) {
#if defined(CLOCK_MONOTONIC)
  struct timespec t = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + 1u;
#else
  return (uint64_t)clock() * (1000000000u / (uint64_t)CLOCKS_PER_SEC) + 1u;
#endif
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_record(void *self, int32_t device, itp_event event,
                                                                itp_stream stream, itp_error *err) {
  itp_status status = itp_sync_check_event(self, "event_record", device, event, err);
  if (status == ITP_OK) status = itp_sync_check_stream(self, "event_record", device, stream, err);
  if (status == ITP_OK) event->recorded_ns = itp_sync_now_ns();
  return status;
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_sync(void *self, int32_t device, itp_event event,
                                                              itp_error *err) {
  return itp_sync_check_event(self, "event_sync", device, event, err);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_query(void *self, int32_t device, itp_event event,
                                                               itp_error *err) {
  return itp_sync_check_event(self, "event_query", device, event, err);
}

ITP_MAYBE_UNUSED static inline itp_status itp_sync_event_elapsed_ns(void *self, int32_t device,
                                                                    itp_event begin, itp_event end,
                                                                    uint64_t *ns, itp_error *err) {
  itp_status status = itp_sync_check_event(self, "event_elapsed_ns", device, begin, err);
  if (status == ITP_OK) status = itp_sync_check_event(self, "event_elapsed_ns", device, end, err);
  if (status != ITP_OK) return status;
  if ((begin->flags & end->flags & ITP_EVENT_TIMING) == 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns", "both events need ITP_EVENT_TIMING");
  }
  if (begin->recorded_ns == 0 || end->recorded_ns == 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns", "an event was never recorded");
  }
  *ns = end->recorded_ns > begin->recorded_ns ? end->recorded_ns - begin->recorded_ns : 0;
  return ITP_OK;
}

#define ITP_SYNC_GUARD          \
  {(uint32_t)sizeof(itp_guard), \
   0,                           \
   itp_sync_enter,              \
   itp_sync_leave,              \
   itp_sync_device_sync,        \
   itp_sync_stream_create,      \
   itp_sync_stream_destroy,     \
   itp_sync_stream_sync,        \
   itp_sync_stream_query,       \
   itp_sync_stream_wait_event,  \
   itp_sync_stream_native,      \
   itp_sync_event_create,       \
   itp_sync_event_destroy,      \
   itp_sync_event_record,       \
   itp_sync_event_sync,         \
   itp_sync_event_query,        \
   itp_sync_event_elapsed_ns}

/* ---- submit: one launch after the other -----------------------------------------------------------------
 */

ITP_MAYBE_UNUSED static inline itp_status itp_sync_submit(void *self, const itp_launch *const *list,
                                                          uint64_t n, uint64_t *done, itp_error *err) {
  for (*done = 0; *done < n; ++*done) {
    const itp_launch *const launch = list[*done];
    const itp_status status = launch->kernel->launch(self, launch, err);
    if (status != ITP_OK) return status;
  }
  return ITP_OK;
}

#endif
