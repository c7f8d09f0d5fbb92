/* Calls into a provider: refused in a forked child, serialised where the contract says so, errors kept by
 * thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call.h"
#include "infinitrain/error.h"

/* ---- the calling thread's error record ------------------------------------------------------------------
 */

static _Thread_local char thread_message[4096];
static _Thread_local itp_error thread_error;

itp_error *it_fresh_error(void) {
  thread_error.struct_size = (uint32_t)sizeof(thread_error);
  thread_error.code = ITP_OK;
  thread_error.native_code = 0;
  thread_error.origin_tag = 0;
  thread_error.message = thread_message;
  thread_error.message_capacity = sizeof(thread_message);
  thread_error.message_length = 0;
  thread_error.file = NULL;
  thread_error.line = 0;
  thread_message[0] = '\0';
  return &thread_error;
}

const itp_error *it_last_error(void) { return &thread_error; }

/* A provider that reports a failure without filling the record still has its status, and one that moves or
 * overruns the message harms nobody who reads it. */
int32_t it_finished(itp_status status) {
  if (status != ITP_OK) {
    thread_error.code = status;
    thread_error.message = thread_message;
    thread_message[sizeof(thread_message) - 1] = '\0';
  }
  return status;
}

int32_t it_gave_nothing(const char *slot) {
  return it_finished(ITP_FAIL(it_fresh_error(), INTERNAL, slot,
                              "the provider said OK and gave NULL: expected a handle or a reason"));
}

/* ---- libraries -------------------------------------------------------------------------------------------
 */

void *it_library_open(const char *path, char *error, uint64_t capacity) {
  dlerror();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *reason = dlerror();
    snprintf(error, (size_t)capacity, "%s", reason != NULL ? reason : "unknown reason");
  }
  return library;
}

void *it_library_symbol(void *library, const char *name) { return dlsym(library, name); }

const itp_provider *it_library_query(void *symbol, uint32_t core_abi_minor) {
  itp_entry_fn entry;
  memcpy(&entry, &symbol, sizeof(entry));
  return entry(core_abi_minor);
}

/* ---- who may enter: not a forked child, nobody after shutdown
 * ----------------------------------------------
 */

int64_t it_generation = 1;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void in_child(void) {
  ++it_generation;
  pthread_mutex_init(&log_lock, NULL); /* a thread that is not in the child may have held it */
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

int32_t it_forked(const it_provider *p) { return p->life > 0 && p->life != it_generation; }

int32_t it_refuse(const it_provider *p, const char *slot) {
  if (it_forked(p))
    return it_finished(
        ITP_FAIL(it_fresh_error(), FORKED, slot,
                 "this process was forked after the provider had started: expected a process that starts "
                 "it itself. Use the 'spawn' or 'forkserver' start method, or start the device only in "
                 "the children"));
  return it_finished(ITP_FAIL(it_fresh_error(), UNAVAILABLE, slot,
                              "the provider has been shut down: the process is ending"));
}

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(((it_stream *)0)->lock), "a mutex needs more room");

void it_stream_prepare(it_stream *s, it_device *d) {
  s->handle = NULL;
  s->device = d;
  pthread_mutex_init((pthread_mutex_t *)s->lock, NULL);
}

void it_event_prepare(it_event *e, it_device *d) {
  e->handle = NULL;
  e->device = d;
  pthread_mutex_init((pthread_mutex_t *)e->lock, NULL);
}

/* ---- life
 * ------------------------------------------------------------------------------------------------------ */

/* Providers log from any thread; Python collects the lines when it next has the interpreter. */
#define LOG_LINES 256
static struct {
  int32_t level;
  char text[512];
} log_ring[LOG_LINES];
static uint64_t log_written, log_read;

static void host_log(void *ctx, int32_t level, const char *file, int32_t line, const char *message,
                     uint64_t length) {
  pthread_mutex_lock(&log_lock);
  const uint64_t slot = log_written++ % LOG_LINES;
  log_ring[slot].level = level;
  snprintf(log_ring[slot].text, sizeof(log_ring[slot].text), "%s\t%.*s (%s:%d)", (const char *)ctx,
           (int)length, message, file != NULL ? file : "?", line);
  if (log_written - log_read > LOG_LINES) log_read = log_written - LOG_LINES;
  pthread_mutex_unlock(&log_lock);
}

int64_t it_next_log(int32_t *level, char *text, uint64_t capacity) {
  int64_t found = 0;
  pthread_mutex_lock(&log_lock);
  if (log_read < log_written) {
    const uint64_t slot = log_read++ % LOG_LINES;
    *level = log_ring[slot].level;
    snprintf(text, (size_t)capacity, "%s", log_ring[slot].text);
    found = 1;
  }
  pthread_mutex_unlock(&log_lock);
  return found;
}

int32_t it_init(it_provider *p, const itp_config *config) {
  pthread_once(&watch_once, watch_forks);
  p->host.struct_size = (uint32_t)sizeof(p->host);
  p->host.abi_minor = ITP_ABI_MINOR;
  p->host.log = host_log;
  p->host.ctx = (void *)p->info.name;
  if (p->info.flags & ITP_P_SERIAL) {
    p->serial = malloc(sizeof(pthread_mutex_t));
    if (p->serial == NULL) return it_finished(ITP_FAIL(it_fresh_error(), OUT_OF_MEMORY, "init", "no lock"));
    pthread_mutex_init((pthread_mutex_t *)p->serial, NULL);
  }
  p->self = NULL;
  const itp_status status = p->info.init(&p->host, config, &p->self, it_fresh_error());
  if (status == ITP_OK && p->validator != NULL) it_validate_begin(p);
  if (status == ITP_OK) p->life = it_generation;
  return it_finished(status);
}

int32_t it_shutdown(it_provider *p, uint32_t reason) {
  if (!it_may_enter(p)) return it_refuse(p, "shutdown");
  const it_held held = it_hold(p, NULL, NULL);
  p->life = IT_ENDED;
  const itp_status status = p->info.shutdown(p->self, reason, it_fresh_error());
  it_let_go(held);
  return it_finished(status);
}

/* ---- runtime ----------------------------------------------------------------------------------------------
 */

int32_t it_device_count(it_provider *p, int32_t *n) {
  CALL(p, NULL, NULL, "device_count", p->runtime.device_count(p->self, n, err));
}

int32_t it_device_info(it_provider *p, int32_t device, itp_device_info *out) {
  out->struct_size = (uint32_t)sizeof(*out);
  CALL(p, NULL, NULL, "device_info", p->runtime.device_info(p->self, device, out, err));
}

int32_t it_mem_info(it_provider *p, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes) {
  CALL(p, NULL, NULL, "mem_info", p->runtime.mem_info(p->self, device, free_bytes, total_bytes, err));
}

int32_t it_alloc(it_stream *s, uint32_t kind, uint64_t nbytes, void **out) {
  const it_provider *p = s->device->provider;
  CALL_FOR(p, s, NULL, "alloc", out,
           p->runtime.alloc(p->self, s->device->index, kind, nbytes, s->handle, out, err));
}

int32_t it_dealloc(it_stream *s, uint32_t kind, uint64_t address, uint64_t nbytes) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "dealloc",
       p->runtime.dealloc(p->self, s->device->index, kind, it_pointer(address), nbytes, s->handle, err));
}

int32_t it_copy(it_stream *s, uint64_t dst, int32_t dst_device, uint64_t src, int32_t src_device,
                uint64_t bytes, uint32_t flags) {
  const it_provider *p = s->device->provider;
  itp_copy copy;
  memset(&copy, 0, sizeof(copy));
  copy.struct_size = (uint32_t)sizeof(copy);
  copy.flags = flags;
  copy.dst = it_pointer(dst);
  copy.src = it_pointer(src);
  copy.bytes = bytes;
  copy.dst_device = dst_device;
  copy.src_device = src_device;
  copy.stream = s->handle;
  CALL(p, s, NULL, "copy", p->runtime.copy(p->self, &copy, err));
}

int32_t it_fill_bytes(it_stream *s, uint64_t address, int32_t byte, uint64_t nbytes) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "fill_bytes",
       p->runtime.fill_bytes(p->self, s->device->index, it_pointer(address), byte, nbytes, s->handle, err));
}

/* ---- guard ------------------------------------------------------------------------------------------------
 */

int32_t it_device_sync(it_device *d) {
  const it_provider *p = d->provider;
  CALL(p, NULL, NULL, "device_sync", p->guard.device_sync(p->self, d->index, err));
}

static void *sync_and_end(void *device) {
  it_device_sync((it_device *)device);
  return NULL;
}

/* For the end of the process: wait, but not for ever. What went wrong is nobody's to know any more. */
int32_t it_device_sync_within(it_device *d, uint32_t milliseconds) {
  pthread_t waiter;
  struct timespec until;
  if (!it_may_enter(d->provider)) return it_refuse(d->provider, "device_sync");
  if (pthread_create(&waiter, NULL, sync_and_end, d) != 0) return it_device_sync(d);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += milliseconds / 1000u;
  until.tv_nsec += (long)(milliseconds % 1000u) * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000L;
  until.tv_nsec %= 1000000000L;
  if (pthread_timedjoin_np(waiter, NULL, &until) == 0) return ITP_OK;
  pthread_detach(waiter);
  return it_finished(
      ITP_FAIL(it_fresh_error(), TIMEOUT, "device_sync", "still busy after %u ms", milliseconds));
}

int32_t it_stream_create(it_stream *s, uint32_t flags, int32_t priority) {
  const it_provider *p = s->device->provider;
  CALL_FOR(p, NULL, NULL, "stream_create", &s->handle,
           p->guard.stream_create(p->self, s->device->index, flags, priority, &s->handle, err));
}

int32_t it_stream_destroy(it_stream *s) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "stream_destroy", p->guard.stream_destroy(p->self, s->device->index, s->handle, err));
}

int32_t it_stream_sync(it_stream *s) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "stream_sync", p->guard.stream_sync(p->self, s->device->index, s->handle, err));
}

int32_t it_stream_query(it_stream *s) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "stream_query", p->guard.stream_query(p->self, s->device->index, s->handle, err));
}

int32_t it_stream_wait_event(it_stream *s, it_event *e) {
  const it_provider *p = s->device->provider;
  CALL(p, s, e, "stream_wait_event",
       p->guard.stream_wait_event(p->self, s->device->index, s->handle, e->handle, err));
}

int32_t it_stream_native(it_stream *s, void **out) {
  const it_provider *p = s->device->provider;
  CALL(p, s, NULL, "stream_native", p->guard.stream_native(p->self, s->device->index, s->handle, out, err));
}

int32_t it_event_create(it_event *e, uint32_t flags) {
  const it_provider *p = e->device->provider;
  CALL_FOR(p, NULL, NULL, "event_create", &e->handle,
           p->guard.event_create(p->self, e->device->index, flags, &e->handle, err));
}

int32_t it_event_destroy(it_event *e) {
  const it_provider *p = e->device->provider;
  CALL(p, NULL, e, "event_destroy", p->guard.event_destroy(p->self, e->device->index, e->handle, err));
}

int32_t it_event_record(it_event *e, it_stream *s) {
  const it_provider *p = s->device->provider;
  CALL(p, s, e, "event_record", p->guard.event_record(p->self, s->device->index, e->handle, s->handle, err));
}

int32_t it_event_sync(it_event *e) {
  const it_provider *p = e->device->provider;
  CALL(p, NULL, e, "event_sync", p->guard.event_sync(p->self, e->device->index, e->handle, err));
}

int32_t it_event_query(it_event *e) {
  const it_provider *p = e->device->provider;
  CALL(p, NULL, e, "event_query", p->guard.event_query(p->self, e->device->index, e->handle, err));
}

int32_t it_event_elapsed_ns(it_event *begin, it_event *end, uint64_t *ns) {
  const it_provider *p = begin->device->provider;
  CALL(p, NULL, begin, "event_elapsed_ns",
       p->guard.event_elapsed_ns(p->self, begin->device->index, begin->handle, end->handle, ns, err));
}
