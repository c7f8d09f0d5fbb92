/* The validating layer: streams and events, what is known to be done, and who uses which memory when. */
#include <stdlib.h>
#include <string.h>

#include "validate.h"

/* ---- streams, events and what is known to be done ---------------------------------------------------------
 */

void v_join(uint64_t *to, const uint64_t *from) {
  for (int i = 0; i < STREAMS; ++i)
    if (from[i] > to[i]) to[i] = from[i];
}

v_stream *v_add_stream(validator *v, int32_t device, itp_stream handle) {
  v_stream *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->handle = handle;
  s->device = device;
  s->live = 1;
  s->index = v->n_streams < STREAMS ? v->n_streams++ : -1;
  s->next = v->streams;
  v->streams = s;
  return s;
}

v_stream *v_find_stream(validator *v, int32_t device, itp_stream handle) {
  for (v_stream *s = v->streams; s != NULL; s = s->next)
    if (s->live && s->handle == handle && (handle != NULL || s->device == device)) return s;
  return handle == NULL ? v_add_stream(v, device, NULL) : NULL;
}

static v_event *find_event(validator *v, itp_event handle) {
  v_event *e = v->events;
  while (e != NULL && e->handle != handle) e = e->next;
  return e;
}

itp_status v_pair(validator *v, const char *where, int32_t device, itp_stream handle, v_stream **out,
                  itp_error *err) {
  *out = v_find_stream(v, device, handle);
  if (*out == NULL) return MISUSED(err, where, "ITP-GD-02", "%p is no live stream", (void *)handle);
  if ((*out)->device != device)
    return MISUSED(err, where, "ITP-RT-01", "a stream of device %d with device %d", (int)(*out)->device,
                   (int)device);
  return ITP_OK;
}

/* The host has seen that everything on the stream so far is done. */
void v_passed(validator *v, const v_stream *s) { v_join(v->host, s->clock); }

uint64_t v_tick(validator *v, v_stream *s) {
  v_join(s->clock, v->host);
  return s->index < 0 ? 0 : ++s->clock[s->index];
}

/* ---- blocks and the order in which they are used
 * ----------------------------------------------------------- */

v_block *v_find_block(validator *v, uint64_t begin, uint64_t end) {
  v_block *b = v->blocks;
  while (b != NULL && !(b->begin <= begin && end <= b->end)) b = b->next;
  return b;
}

itp_status v_use(validator *v, const char *where, v_stream *s, v_block *b, uint64_t begin, uint64_t end,
                 int32_t writes, itp_error *err) {
  int kept = 0;
  if (s->index < 0) return ITP_OK;
  for (int i = 0; i < b->n; ++i) {
    const v_access *a = &b->accesses[i];
    const int meets = a->begin < end && begin < a->end;
    if (meets && (writes || a->writes) && s->clock[a->stream] < a->time)
      return MISUSED(
          err, where, "ITP-GD-13",
          "%s memory at %p that another stream %s, and no event or synchronising call lies between",
          writes ? "writes" : "reads", (void *)(uintptr_t)begin, a->writes ? "writes" : "reads");
    if (!(writes && begin <= a->begin && a->end <= end)) b->accesses[kept++] = *a;
  }
  if (kept == ACCESSES) memmove(b->accesses, b->accesses + 1, (size_t)--kept * sizeof *b->accesses);
  const v_access now = {begin, end, s->clock[s->index], s->index, writes};
  b->accesses[kept++] = now;
  b->n = kept;
  return ITP_OK;
}

/* Where the host reads a device's memory, tensors may lie in memory of the host's: its order is not ours to
 * know. */
static int is_foreign(const validator *v, int32_t device, const v_block *b) {
  return b == NULL && device >= 0 && device < DEVICES && (v->caps[device] & ITP_CAP_HOST_READABLE) != 0;
}

itp_status v_touch(validator *v, const char *where, v_stream *s, int32_t device, uint64_t begin, uint64_t end,
                   int32_t writes, itp_error *err) {
  v_block *b = v_find_block(v, begin, end);
  if (is_foreign(v, device, b)) return ITP_OK;
  if (b == NULL || (b->device != device && b->kind == ITP_MEM_DEVICE))
    return MISUSED(err, where, "ITP-RT-14",
                   "[%p, %p) is in no live block of device %d: given back, or never had", it_pointer(begin),
                   it_pointer(end), (int)device);
  return v_use(v, where, s, b, begin, end, writes, err);
}

/* ---- guard
 * -------------------------------------------------------------------------------------------------- */

static itp_status v_enter(void *self, int32_t device, int64_t *token, itp_error *err) {
  return ((validator *)self)->real.guard.enter(((validator *)self)->self, device, token, err);
}
static itp_status v_leave(void *self, int64_t token, itp_error *err) {
  return ((validator *)self)->real.guard.leave(((validator *)self)->self, token, err);
}

static itp_status v_device_sync(void *self, int32_t device, itp_error *err) {
  validator *v = (validator *)self;
  uint64_t done[STREAMS] = {0};
  pthread_mutex_lock(&v->lock);
  for (const v_stream *s = v->streams; s != NULL; s = s->next)
    if (s->device == device) v_join(done, s->clock);
  pthread_mutex_unlock(&v->lock);
  CHECKED("device_sync", v->real.guard.device_sync(v->self, device, err));
  pthread_mutex_lock(&v->lock);
  if (status == ITP_OK || status == ITP_E_ASYNC) v_join(v->host, done);
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status v_stream_create(void *self, int32_t device, uint32_t flags, int32_t priority,
                                  itp_stream *out, itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("stream_create", v->real.guard.stream_create(v->self, device, flags, priority, out, err));
  if (status != ITP_OK || *out == NULL) return status;
  pthread_mutex_lock(&v->lock);
  if (v_find_stream(v, device, *out) != NULL)
    status =
        BROKEN(err, "stream_create", "ITP-GD-07", "gave %p, which is a live stream already", (void *)*out);
  else
    (void)v_add_stream(v, device, *out);
  pthread_mutex_unlock(&v->lock);
  return status;
}

typedef itp_status (*on_stream)(void *, int32_t, itp_stream, itp_error *);

static itp_status through(validator *v, const char *where, on_stream slot, int32_t device, itp_stream stream,
                          itp_error *err) {
  v_stream *s;
  uint64_t done[STREAMS] = {0};
  pthread_mutex_lock(&v->lock);
  const itp_status paired = v_pair(v, where, device, stream, &s, err);
  if (paired == ITP_OK) v_join(done, s->clock);
  pthread_mutex_unlock(&v->lock);
  if (paired != ITP_OK) return paired;
  CHECKED(where, slot(v->self, device, stream, err));
  if (status == ITP_OK || status == ITP_E_ASYNC) {
    pthread_mutex_lock(&v->lock);
    if (slot == v->real.guard.stream_destroy)
      s->live = 0;
    else
      v_join(v->host, done);
    pthread_mutex_unlock(&v->lock);
  }
  return status;
}

static itp_status v_stream_destroy(void *self, int32_t device, itp_stream stream, itp_error *err) {
  validator *v = (validator *)self;
  return through(v, "stream_destroy", v->real.guard.stream_destroy, device, stream, err);
}
static itp_status v_stream_sync(void *self, int32_t device, itp_stream stream, itp_error *err) {
  validator *v = (validator *)self;
  return through(v, "stream_sync", v->real.guard.stream_sync, device, stream, err);
}
static itp_status v_stream_query(void *self, int32_t device, itp_stream stream, itp_error *err) {
  validator *v = (validator *)self;
  return through(v, "stream_query", v->real.guard.stream_query, device, stream, err);
}

static itp_status v_stream_wait_event(void *self, int32_t device, itp_stream stream, itp_event event,
                                      itp_error *err) {
  validator *v = (validator *)self;
  v_stream *s;
  CHECKED("stream_wait_event", v->real.guard.stream_wait_event(v->self, device, stream, event, err));
  if (status != ITP_OK) return status;
  pthread_mutex_lock(&v->lock);
  const v_event *e = find_event(v, event);
  status = v_pair(v, "stream_wait_event", device, stream, &s, err);
  if (status == ITP_OK && e != NULL) v_join(s->clock, e->clock);
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status v_stream_native(void *self, int32_t device, itp_stream stream, void **out, itp_error *err) {
  validator *v = (validator *)self;
  v_stream *s;
  CHECKED("stream_native", v->real.guard.stream_native(v->self, device, stream, out, err));
  if (status != ITP_OK) return status;
  pthread_mutex_lock(&v->lock);
  status = v_pair(v, "stream_native", device, stream, &s, err);
  if (status == ITP_OK && s->native != NULL && s->native != *out)
    status = BROKEN(err, "stream_native", "ITP-GD-14", "another handle than at the last call");
  if (status == ITP_OK) s->native = *out;
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status v_event_create(void *self, int32_t device, uint32_t flags, itp_event *out, itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("event_create", v->real.guard.event_create(v->self, device, flags, out, err));
  if (status != ITP_OK || *out == NULL) return status;
  v_event *e = calloc(1, sizeof *e);
  if (e == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "event_create", "no host memory to validate with");
  pthread_mutex_lock(&v->lock);
  e->handle = *out;
  e->next = v->events;
  v->events = e;
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status v_event_destroy(void *self, int32_t device, itp_event event, itp_error *err) {
  validator *v = (validator *)self;
  pthread_mutex_lock(&v->lock);
  for (v_event **link = &v->events; *link != NULL; link = &(*link)->next) {
    if ((*link)->handle != event) continue;
    v_event *gone = *link;
    *link = gone->next;
    free(gone);
    break;
  }
  pthread_mutex_unlock(&v->lock);
  CHECKED("event_destroy", v->real.guard.event_destroy(v->self, device, event, err));
  return status;
}

static itp_status v_event_record(void *self, int32_t device, itp_event event, itp_stream stream,
                                 itp_error *err) {
  validator *v = (validator *)self;
  v_stream *s;
  CHECKED("event_record", v->real.guard.event_record(v->self, device, event, stream, err));
  if (status != ITP_OK) return status;
  pthread_mutex_lock(&v->lock);
  v_event *e = find_event(v, event);
  status = v_pair(v, "event_record", device, stream, &s, err);
  if (status == ITP_OK && e != NULL) memcpy(e->clock, s->clock, sizeof e->clock);
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status event_passed(validator *v, itp_event event, itp_status status) {
  pthread_mutex_lock(&v->lock);
  const v_event *e = find_event(v, event);
  if (e != NULL && (status == ITP_OK || status == ITP_E_ASYNC)) v_join(v->host, e->clock);
  pthread_mutex_unlock(&v->lock);
  return status;
}
static itp_status v_event_sync(void *self, int32_t device, itp_event event, itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("event_sync", v->real.guard.event_sync(v->self, device, event, err));
  return event_passed(v, event, status);
}
static itp_status v_event_query(void *self, int32_t device, itp_event event, itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("event_query", v->real.guard.event_query(v->self, device, event, err));
  return event_passed(v, event, status);
}
static itp_status v_event_elapsed_ns(void *self, int32_t device, itp_event begin, itp_event end, uint64_t *ns,
                                     itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("event_elapsed_ns", v->real.guard.event_elapsed_ns(v->self, device, begin, end, ns, err));
  return status;
}

const itp_guard v_guard = {sizeof(itp_guard), 0,
                           v_enter,           v_leave,
                           v_device_sync,     v_stream_create,
                           v_stream_destroy,  v_stream_sync,
                           v_stream_query,    v_stream_wait_event,
                           v_stream_native,   v_event_create,
                           v_event_destroy,   v_event_record,
                           v_event_sync,      v_event_query,
                           v_event_elapsed_ns};
