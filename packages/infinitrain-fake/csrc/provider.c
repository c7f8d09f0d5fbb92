/* The table, and the only exported symbol; options, init, shutdown, and what every slot begins with. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "infinitrain/export.h"
#include "internal.h"

enum { SHUTDOWN_DEADLINE_S = 10 };

/* ---- options: X(name, default, lowest value, help) ------------------------------------------------ */

#define OPTIONS(X)                                                                                           \
  X(devices, 2, 1, "Number of devices")                                                                      \
  X(memory_mb, 8192, 1, "Memory of each device, in MiB; pages cost nothing until they are used")             \
  X(delay_us, 0, 0, "Before each operation a worker sleeps for a random time of up to so many microseconds") \
  X(copy_delay_us, 0, 0, "Before each copy a worker sleeps so many microseconds")                            \
  X(fail_alloc_at, 0, 0, "The k-th allocation fails with OUT_OF_MEMORY; 0: none")                            \
  X(fail_launch_at, 0, 0, "The k-th launch fails with INTERNAL; 0: none")                                    \
  X(fail_launch_async, 0, 0, "1: that failure shows at the next synchronising call, as ASYNC with its tag")  \
  X(lose_device_after, -1, -1, "The device that gets operation n + 1 is lost; -1: never")                    \
  X(null_outputs, 0, 0, "1: alloc, stream_create and event_create say OK and give NULL")                     \
  X(wrong_device, 0, 0, "1: every slot leaves another device current than it found")                         \
  X(fail_init, 0, 0, "1: init fails with UNAVAILABLE")

#define TEXT_(value) #value
#define TEXT(value) TEXT_(value)
#define DECLARE_OPTION(name, value, low, help) \
  static const itp_option option_##name = {sizeof(itp_option), ITP_V_I64, #name, TEXT(value), help};
OPTIONS(DECLARE_OPTION)
static const itp_option option_call_log = {sizeof(itp_option), ITP_V_STR, "call_log", "",
                                           "File to which one line is appended for every call: slot, device"};
#define LIST_OPTION(name, value, low, help) &option_##name,
static const itp_option *const options[] = {OPTIONS(LIST_OPTION) & option_call_log};

static itp_status set_option(fake_options *o, const char *name, const char *text, itp_error *err) {
  if (strcmp(name, "call_log") == 0) {
    if (strlen(text) >= sizeof o->call_log)
      return ITP_FAIL(err, INVALID_ARGUMENT, "init", "call_log: path too long");
    strcpy(o->call_log, text);
    return ITP_OK;
  }
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
#define SET_OPTION(option, fallback, low, help)                                              \
  if (strcmp(name, #option) == 0) {                                                          \
    if (errno != 0 || end == text || *end != '\0' || value < (low) || value > INT_MAX) {     \
      return ITP_FAIL(err, INVALID_ARGUMENT, "init",                                         \
                      #option ": a number of at least " #low " expected, found '%s'", text); \
    }                                                                                        \
    o->option = value;                                                                       \
    return ITP_OK;                                                                           \
  }
  OPTIONS(SET_OPTION)
  return ITP_FAIL(err, INVALID_ARGUMENT, "init", "no option '%s'", name);
}

/* get_extension("fake.faults", 1)->set: change an option of a running fake; what is counted begins anew. */
itp_status fake_set(void *opaque, const char *name, const char *text, itp_error *err) {
  fake *self = (fake *)opaque;
  if (strcmp(name, "devices") == 0 || strcmp(name, "memory_mb") == 0 || strcmp(name, "call_log") == 0)
    return ITP_FAIL(err, INVALID_ARGUMENT, "set", "'%s' is fixed at init", name);
  pthread_mutex_lock(&self->lock);
  const itp_status status = set_option(&self->options, name, text, err);
  self->n_allocs = self->n_launches = self->n_operations = 0;
  pthread_mutex_unlock(&self->lock);
  return status;
}

static itp_status read_options(fake_options *o, const itp_config *config, itp_error *err) {
#define SET_DEFAULT(option, value, low, help) o->option = (value);
  OPTIONS(SET_DEFAULT)
  o->call_log[0] = '\0';
  itp_status status = ITP_OK;
  const uint64_t n = ITP_HAS(config, itp_config, n_options) ? config->n_options : 0;
  for (uint64_t i = 0; i < n && status == ITP_OK; ++i) {
    status = set_option(o, config->option_names[i], config->option_values[i], err);
  }
  return status;
}

/* ---- what every slot begins and ends with ---------------------------------------------------------- */

/* Threads do not survive a fork: a child that waited for its parent's workers would wait for ever. */
static atomic_uint_fast64_t fork_generation;
static void count_fork(void) { atomic_fetch_add(&fork_generation, 1); }
static pthread_once_t forks_watched = PTHREAD_ONCE_INIT;
static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, count_fork); }
uint64_t fake_fork_generation(void) { return atomic_load(&fork_generation); }

void fake_log(fake *self, const char *format, ...) {
  char line[256];
  va_list arguments;
  if (self->log_fd < 0) return;
  va_start(arguments, format);
  const int n = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  /* A line that cannot be written is no reason to fail what it tells about. */
  if (n > 0 && write(self->log_fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0) return;
}

static itp_status enter(fake *self, const char *slot, int32_t device, itp_error *err) {
  if (self == NULL) return ITP_FAIL(err, INVALID_ARGUMENT, slot, "not initialised");
  if (self->fork_generation != fake_fork_generation()) {
    return ITP_FAIL(err, FORKED, slot,
                    "fake was initialised before this process was forked; initialise it after");
  }
  pthread_mutex_lock(&self->lock);
  fake_log(self, "%s %d\n", slot, (int)device);
  return ITP_OK;
}

itp_status fake_enter(fake *self, const char *slot, itp_error *err) { return enter(self, slot, -1, err); }

itp_status fake_enter_device(fake *self, const char *slot, int32_t device, fake_device **out,
                             itp_error *err) {
  const itp_status status = enter(self, slot, device, err);
  if (status != ITP_OK) return status;
  if (device < 0 || device >= self->n_devices) {
    return fake_leave(self, ITP_FAIL(err, INVALID_ARGUMENT, slot, "no device fake:%d, there are %d",
                                     (int)device, (int)self->n_devices));
  }
  if (self->devices[device].lost) {
    return fake_leave(self, ITP_FAIL(err, DEVICE_LOST, slot, "fake:%d is lost", (int)device));
  }
  if (out != NULL) *out = &self->devices[device];
  return ITP_OK;
}

itp_status fake_leave(fake *self, itp_status status) {
  if (self->options.wrong_device) fake_disturb(self);
  pthread_mutex_unlock(&self->lock);
  return status;
}

itp_status fake_count(fake_device *device, const char *slot, itp_error *err) {
  fake *self = device->self;
  const int64_t limit = self->options.lose_device_after;
  if (limit < 0 || (int64_t)++self->n_operations <= limit) return ITP_OK;
  device->lost = 1;
  return ITP_FAIL(err, DEVICE_LOST, slot,
                  "fake:%d is lost after %lld operations, as option lose_device_after wants",
                  (int)device->index, (long long)limit);
}

/* ---- init and shutdown ------------------------------------------------------------------------------ */

/* Give back everything; also what a failed init has got so far. No worker is left. */
static void destroy(fake *self) {
  for (int32_t d = 0; d < self->n_devices; ++d) {
    fake_device *device = &self->devices[d];
    pthread_mutex_lock(&self->lock);
    while (device->streams != NULL) fake_stream_end(device->streams);
    pthread_mutex_unlock(&self->lock);
    fake_arena_close(&device->arena);
  }
  while (self->pinned != NULL) {
    fake_pinned *next = self->pinned->next;
    free(self->pinned->data);
    free(self->pinned);
    self->pinned = next;
  }
  if (self->log_fd >= 0) close(self->log_fd);
  pthread_cond_destroy(&self->progress);
  pthread_mutex_destroy(&self->lock);
  free(self->devices);
  free(self);
}

static itp_status open_devices(fake *self, itp_error *err) {
  self->devices = calloc((size_t)self->options.devices, sizeof *self->devices);
  if (self->devices == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no host memory");
  /* Twice the memory in addresses, so that holes between blocks do not make it smaller. */
  const uint64_t size = ((uint64_t)self->options.memory_mb << 21) + (1 << 20);
  for (; self->n_devices < self->options.devices; ++self->n_devices) {
    fake_device *device = &self->devices[self->n_devices];
    device->self = self;
    device->index = self->n_devices;
    if (!fake_arena_open(&device->arena, size)) {
      return ITP_FAIL_WITH(err, UNAVAILABLE, "init", errno, "no address space for fake:%d (%lld MiB): %s",
                           (int)device->index, (long long)self->options.memory_mb, strerror(errno));
    }
    if (fake_stream_new(device) == NULL) {
      fake_arena_close(&device->arena);
      return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no host memory");
    }
  }
  return ITP_OK;
}

static itp_status init(const itp_host *host, const itp_config *config, void **out, itp_error *err) {
  fake *self = calloc(1, sizeof *self);
  if (self == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no host memory");
  itp_status status = read_options(&self->options, config, err);
  if (status == ITP_OK && self->options.fail_init) {
    status = ITP_FAIL(err, UNAVAILABLE, "init", "init fails, as option fail_init wants");
  }
  if (status != ITP_OK) {
    free(self);
    return status;
  }
  pthread_once(&forks_watched, watch_forks);
  self->fork_generation = fake_fork_generation();
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&self->progress, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&self->lock, NULL);
  self->host = host;
  self->log_fd = -1;
  if (self->options.call_log[0] != '\0') {
    self->log_fd = open(self->options.call_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (self->log_fd < 0) {
      status = ITP_FAIL_WITH(err, UNAVAILABLE, "init", errno, "call_log '%s': %s", self->options.call_log,
                             strerror(errno));
    }
  }
  if (status == ITP_OK) status = open_devices(self, err);
  if (status != ITP_OK) {
    destroy(self);
    return status;
  }
  *out = self;
  return ITP_OK;
}

static int is_idle(const fake *self) {
  for (int32_t d = 0; d < self->n_devices; ++d) {
    for (itp_stream s = self->devices[d].streams; s != NULL; s = s->next) {
      if (s->completed < s->submitted) return 0;
    }
  }
  return 1;
}

static itp_status shutdown(void *opaque, uint32_t reason, itp_error *err) {
  fake *self = (fake *)opaque;
  (void)reason;
  itp_status status = fake_enter(self, "shutdown", err);
  if (status != ITP_OK) return status;
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += SHUTDOWN_DEADLINE_S;
  while (!is_idle(self) && pthread_cond_timedwait(&self->progress, &self->lock, &deadline) != ETIMEDOUT)
    continue;
  if (!is_idle(self)) { /* what is running ends, what is queued is dropped */
    self->abandon = 1;
    pthread_cond_broadcast(&self->progress);
    status = ITP_FAIL(err, TIMEOUT, "shutdown", "work was left after %d s and has been dropped",
                      (int)SHUTDOWN_DEADLINE_S);
  }
  pthread_mutex_unlock(&self->lock);
  destroy(self);
  return status;
}

static const itp_provider provider = {
    .struct_size = sizeof(itp_provider),
    .abi_minor = ITP_ABI_MINOR,
    .name = "fake",
    .vendor = "infinitrain",
    .version = "0.1.0",
    .build_info = "C11, reference kernels, " __VERSION__,
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    .flags = ITP_P_SANITIZED,
#endif
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .init = init,
    .shutdown = shutdown,
    .runtime = &fake_runtime,
    .guard = &fake_guard,
    .kernels = &fake_kernels,
    .get_extension = fake_get_extension,
};

/* Every minor of this major is served: what a core does not know it does not read. */
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor);
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor) {
  (void)core_abi_minor;
  return &provider;
}
