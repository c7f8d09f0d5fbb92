/* Calls into a provider: refused in a forked child, serialised where the contract says so, errors kept by
 * thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A provider that reports a failure without filling the record still has its status. */
int32_t it_finished(itp_status status) {
  if (status != ITP_OK) thread_error.code = status;
  return status;
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

/* ---- fork
 * -------------------------------------------------------------------------------------------------- */

/* Bumped in every child: cheaper than asking for the process id at each call. */
static int64_t generation = 1;
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

static void in_child(void) { ++generation; }
static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }

int32_t it_forked(const it_provider *p) { return p->pid != 0 && p->pid != generation; }

int32_t it_refuse_forked(const char *slot) {
  return it_finished(
      ITP_FAIL(it_fresh_error(), FORKED, slot,
               "this process was forked after the provider had started: expected a process that starts "
               "it itself. Use the 'spawn' or 'forkserver' start method, or start the device only in "
               "the children"));
}

pthread_mutex_t *it_new_mutex(void) {
  pthread_mutex_t *mutex = malloc(sizeof(*mutex));
  if (mutex != NULL) pthread_mutex_init(mutex, NULL);
  return mutex;
}

void it_stream_prepare(it_stream *s, int32_t device) {
  s->handle = NULL;
  s->device = device;
  s->lock = it_new_mutex();
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
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

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
  if (p->info.flags & ITP_P_SERIAL) p->locks = it_new_mutex();
  p->self = NULL;
  const itp_status status = p->info.init(&p->host, config, &p->self, it_fresh_error());
  if (status == ITP_OK) p->pid = generation;
  return it_finished(status);
}

int32_t it_shutdown(it_provider *p, uint32_t reason) {
  CALL(p, NULL, "shutdown", p->info.shutdown(p->self, reason, err));
}

/* ---- runtime
 * ----------------------------------------------------------------------------------------------------- */

int32_t it_device_count(it_provider *p, int32_t *n) {
  CALL(p, NULL, "device_count", p->runtime.device_count(p->self, n, err));
}

int32_t it_device_info(it_provider *p, int32_t device, itp_device_info *out) {
  out->struct_size = (uint32_t)sizeof(*out);
  CALL(p, NULL, "device_info", p->runtime.device_info(p->self, device, out, err));
}

int32_t it_alloc(it_provider *p, uint32_t kind, uint64_t nbytes, it_stream *s, void **out) {
  CALL(p, s, "alloc", p->runtime.alloc(p->self, s->device, kind, nbytes, s->handle, out, err));
}

int32_t it_dealloc(it_provider *p, uint32_t kind, uint64_t address, uint64_t nbytes, it_stream *s) {
  CALL(p, s, "dealloc",
       p->runtime.dealloc(p->self, s->device, kind, it_pointer(address), nbytes, s->handle, err));
}

int32_t it_mem_info(it_provider *p, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes) {
  CALL(p, NULL, "mem_info", p->runtime.mem_info(p->self, device, free_bytes, total_bytes, err));
}

int32_t it_copy(it_provider *p, uint64_t dst, int32_t dst_device, uint64_t src, int32_t src_device,
                uint64_t bytes, uint32_t flags, it_stream *s) {
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
  CALL(p, s, "copy", p->runtime.copy(p->self, &copy, err));
}

int32_t it_fill_bytes(it_provider *p, uint64_t address, int32_t byte, uint64_t nbytes, it_stream *s) {
  CALL(p, s, "fill_bytes",
       p->runtime.fill_bytes(p->self, s->device, it_pointer(address), byte, nbytes, s->handle, err));
}

/* ---- guard
 * ---------------------------------------------------------------------------------------------------------
 */

int32_t it_device_sync(it_provider *p, int32_t device) {
  CALL(p, NULL, "device_sync", p->guard.device_sync(p->self, device, err));
}

int32_t it_stream_create(it_provider *p, int32_t device, uint32_t flags, int32_t priority, it_stream *out) {
  it_stream_prepare(out, device);
  CALL(p, NULL, "stream_create", p->guard.stream_create(p->self, device, flags, priority, &out->handle, err));
}

int32_t it_stream_destroy(it_provider *p, it_stream *s) {
  CALL(p, s, "stream_destroy", p->guard.stream_destroy(p->self, s->device, s->handle, err));
}

/* Waiting holds no lock: another thread may queue on the stream meanwhile (a serial provider waits alone). */
int32_t it_stream_sync(it_provider *p, it_stream *s) {
  CALL(p, NULL, "stream_sync", p->guard.stream_sync(p->self, s->device, s->handle, err));
}

int32_t it_stream_query(it_provider *p, it_stream *s) {
  CALL(p, s, "stream_query", p->guard.stream_query(p->self, s->device, s->handle, err));
}

int32_t it_stream_wait_event(it_provider *p, it_stream *s, itp_event event) {
  CALL(p, s, "stream_wait_event", p->guard.stream_wait_event(p->self, s->device, s->handle, event, err));
}

int32_t it_stream_native(it_provider *p, it_stream *s, void **out) {
  CALL(p, s, "stream_native", p->guard.stream_native(p->self, s->device, s->handle, out, err));
}

int32_t it_event_create(it_provider *p, int32_t device, uint32_t flags, itp_event *out) {
  CALL(p, NULL, "event_create", p->guard.event_create(p->self, device, flags, out, err));
}

int32_t it_event_destroy(it_provider *p, int32_t device, itp_event event) {
  CALL(p, NULL, "event_destroy", p->guard.event_destroy(p->self, device, event, err));
}

int32_t it_event_record(it_provider *p, itp_event event, it_stream *s) {
  CALL(p, s, "event_record", p->guard.event_record(p->self, s->device, event, s->handle, err));
}

int32_t it_event_sync(it_provider *p, int32_t device, itp_event event) {
  CALL(p, NULL, "event_sync", p->guard.event_sync(p->self, device, event, err));
}

int32_t it_event_query(it_provider *p, int32_t device, itp_event event) {
  CALL(p, NULL, "event_query", p->guard.event_query(p->self, device, event, err));
}

int32_t it_event_elapsed_ns(it_provider *p, int32_t device, itp_event begin, itp_event end, uint64_t *ns) {
  CALL(p, NULL, "event_elapsed_ns", p->guard.event_elapsed_ns(p->self, device, begin, end, ns, err));
}
