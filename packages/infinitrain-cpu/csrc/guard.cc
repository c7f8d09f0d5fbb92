// Current device, streams, events. Work is done when a call returns, so a stream is a name, and an event is
// the time at which it was recorded.
#include <time.h>

#include <atomic>
#include <new>

#include "internal.h"

struct itp_stream_s {};
struct itp_event_s {
  std::atomic<uint64_t> recorded_ns{0};  // 0: not recorded
  uint32_t flags = 0;
};

namespace itp {
namespace {

itp_status check_device(const char *slot, int32_t device, itp_error *err) {
  if (device == 0) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d does not exist: cpu has the one device 0", device);
}

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

itp_status enter(void *, int32_t device, int64_t *token, itp_error *err) {
  *token = 0;
  return check_device("enter", device, err);
}
itp_status leave(void *, int64_t, itp_error *) { return ITP_OK; }
itp_status device_sync(void *, int32_t device, itp_error *err) {
  return check_device("device_sync", device, err);
}

itp_status stream_create(void *, int32_t device, uint32_t flags, int32_t, itp_stream *out, itp_error *err) {
  if (const itp_status status = check_device("stream_create", device, err)) return status;
  if (flags != ITP_STREAM_DEFAULT_FLAGS) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "stream_create", "unknown flags 0x%x", flags);
  }
  itp_stream stream = new (std::nothrow) itp_stream_s;
  if (stream == nullptr) return ITP_FAIL(err, OUT_OF_MEMORY, "stream_create", "no memory for a stream");
  *out = stream;
  return ITP_OK;
}
itp_status stream_destroy(void *, int32_t device, itp_stream stream, itp_error *err) {
  if (const itp_status status = check_device("stream_destroy", device, err)) return status;
  delete stream;
  return ITP_OK;
}
itp_status stream_sync(void *, int32_t device, itp_stream, itp_error *err) {
  return check_device("stream_sync", device, err);
}
itp_status stream_query(void *, int32_t device, itp_stream, itp_error *err) {
  return check_device("stream_query", device, err);
}
itp_status stream_wait_event(void *, int32_t device, itp_stream, itp_event, itp_error *err) {
  return check_device("stream_wait_event", device, err);
}
itp_status stream_native(void *, int32_t device, itp_stream stream, void **out, itp_error *err) {
  *out = stream;
  return check_device("stream_native", device, err);
}

itp_status event_create(void *, int32_t device, uint32_t flags, itp_event *out, itp_error *err) {
  if (const itp_status status = check_device("event_create", device, err)) return status;
  if ((flags & ~uint32_t{ITP_EVENT_TIMING | ITP_EVENT_BLOCKING_SYNC}) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_create", "unknown flags 0x%x", flags);
  }
  itp_event event = new (std::nothrow) itp_event_s;
  if (event == nullptr) return ITP_FAIL(err, OUT_OF_MEMORY, "event_create", "no memory for an event");
  event->flags = flags;
  *out = event;
  return ITP_OK;
}
itp_status event_destroy(void *, int32_t device, itp_event event, itp_error *err) {
  if (const itp_status status = check_device("event_destroy", device, err)) return status;
  delete event;
  return ITP_OK;
}
itp_status event_record(void *, int32_t device, itp_event event, itp_stream, itp_error *err) {
  if (const itp_status status = check_device("event_record", device, err)) return status;
  event->recorded_ns.store(now_ns());
  return ITP_OK;
}
itp_status event_sync(void *, int32_t device, itp_event, itp_error *err) {
  return check_device("event_sync", device, err);
}
itp_status event_query(void *, int32_t device, itp_event, itp_error *err) {
  return check_device("event_query", device, err);
}
itp_status event_elapsed_ns(void *, int32_t device, itp_event begin, itp_event end, uint64_t *ns,
                            itp_error *err) {
  if (const itp_status status = check_device("event_elapsed_ns", device, err)) return status;
  if ((begin->flags & end->flags & ITP_EVENT_TIMING) == 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns", "both events need ITP_EVENT_TIMING");
  }
  const uint64_t first = begin->recorded_ns.load(), last = end->recorded_ns.load();
  if (first == 0 || last == 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "event_elapsed_ns", "an event was not recorded");
  }
  *ns = last > first ? last - first : 0;
  return ITP_OK;
}

}  // namespace

const itp_guard guard_table = {sizeof(itp_guard),
                               0,
                               enter,
                               leave,
                               device_sync,
                               stream_create,
                               stream_destroy,
                               stream_sync,
                               stream_query,
                               stream_wait_event,
                               stream_native,
                               event_create,
                               event_destroy,
                               event_record,
                               event_sync,
                               event_query,
                               event_elapsed_ns};

}  // namespace itp
