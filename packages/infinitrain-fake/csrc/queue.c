/* Streams at work: queues, worker threads, and failures that show late. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

uint64_t fake_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleep for up to delay_us, so that streams overtake each other wherever nothing orders them. */
static void delay(itp_stream stream, const fake_op *op) {
  const int64_t most = __atomic_load_n(&stream->device->self->options.delay_us, __ATOMIC_RELAXED);
  const int64_t copies = __atomic_load_n(&stream->device->self->options.copy_delay_us, __ATOMIC_RELAXED);
  if (op->profiled == 2 && copies > 0) {
    const struct timespec t = {(time_t)(copies / 1000000), (long)(copies % 1000000) * 1000};
    nanosleep(&t, NULL);
  }
  if (most <= 0) return;
  stream->random = stream->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
  const uint64_t ns = (stream->random >> 33) % ((uint64_t)most * 1000u + 1u);
  const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  nanosleep(&t, NULL);
}

/* Keep the first failure until a synchronising call takes it. */
static void remember(itp_stream stream, const fake_op *op, itp_status status, const itp_error *error) {
  fake_failure *failure = &stream->failure;
  if (failure->status != ITP_OK) return;
  failure->status = status;
  failure->tag = op->tag;
  memcpy(failure->message, error->message, sizeof failure->message);
}

static void report(const itp_host *host, const fake_op *op, uint64_t begin) {
  if (op->profiled == 0 || !ITP_HAS(host, itp_host, profile) || host->profile == NULL) return;
  host->profile(host->ctx, op->profiled - 1, op->tag, begin, fake_now_ns());
}

static void *work(void *argument) {
  itp_stream stream = (itp_stream)argument;
  fake *self = stream->device->self;
  pthread_mutex_lock(&self->lock);
  for (;;) {
    while (stream->head == NULL && !stream->stopping) pthread_cond_wait(&stream->wake, &self->lock);
    fake_op *op = stream->head;
    if (op == NULL) break;
    stream->head = op->next;
    if (stream->head == NULL) stream->tail = &stream->head;
    stream->running = op;
    const int dropped = self->abandon;
    pthread_mutex_unlock(&self->lock);

    char message[sizeof stream->failure.message] = "";
    itp_error error = {.struct_size = sizeof error, .message = message, .message_capacity = sizeof message};
    itp_status status = ITP_OK;
    if (!dropped) {
      delay(stream, op);
      const uint64_t begin = fake_now_ns();
      status = op->run(op, &error);
      report(self->host, op, begin);
    }

    pthread_mutex_lock(&self->lock);
    if (status != ITP_OK) remember(stream, op, status, &error);
    stream->running = NULL;
    ++stream->completed;
    free(op);
    pthread_cond_broadcast(&self->progress);
  }
  pthread_mutex_unlock(&self->lock);
  return NULL;
}

itp_stream fake_stream_new(fake_device *device) {
  itp_stream stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  stream->device = device;
  stream->tail = &stream->head;
  stream->random = (uint64_t)(uintptr_t)stream;
  pthread_cond_init(&stream->wake, NULL);
  itp_stream *end = &device->streams; /* at the end: the default stream stays the first */
  while (*end != NULL) end = &(*end)->next;
  *end = stream;
  return stream;
}

itp_stream fake_stream(fake_device *device, itp_stream handle) {
  itp_stream stream = device->streams;
  if (handle == NULL) return stream;
  while (stream != NULL && stream != handle) stream = stream->next;
  return stream;
}

itp_status fake_enqueue(itp_stream stream, fake_op *op, const char *slot, itp_error *err) {
  if (!stream->has_worker) {
    const int failed = pthread_create(&stream->worker, NULL, work, stream);
    if (failed) {
      free(op);
      return ITP_FAIL_WITH(err, UNAVAILABLE, slot, failed, "no thread for the stream: %s", strerror(failed));
    }
    stream->has_worker = 1;
  }
  op->next = NULL;
  op->stream = stream;
  op->self = stream->device->self;
  op->ticket = ++stream->device->tickets;
  *stream->tail = op;
  stream->tail = &op->next;
  ++stream->submitted;
  pthread_cond_signal(&stream->wake);
  return ITP_OK;
}

itp_status fake_take_failure(itp_stream stream, const char *slot, itp_error *err) {
  fake_failure *failure = &stream->failure;
  const itp_status status = failure->status;
  if (status == ITP_OK) return ITP_OK;
  failure->status = ITP_OK;
  (void)ITP_FAIL_WITH(err, ASYNC, slot, status, "%s", failure->message);
  if (err != NULL) err->origin_tag = failure->tag;
  return ITP_E_ASYNC;
}

itp_status fake_wait(itp_stream stream, const char *slot, itp_error *err) {
  fake *self = stream->device->self;
  const uint64_t last = stream->submitted;
  while (stream->completed < last) pthread_cond_wait(&self->progress, &self->lock);
  return fake_take_failure(stream, slot, err);
}

/* Is anything left that was submitted before this ticket was given out? */
static int is_busy(const fake_device *device, uint64_t ticket) {
  for (itp_stream stream = device->streams; stream != NULL; stream = stream->next) {
    const fake_op *oldest = stream->running != NULL ? stream->running : stream->head;
    if (oldest != NULL && oldest->ticket <= ticket) return 1;
  }
  return 0;
}

void fake_wait_all(fake_device *device) {
  const uint64_t ticket = device->tickets;
  while (is_busy(device, ticket)) pthread_cond_wait(&device->self->progress, &device->self->lock);
}

void fake_stream_end(itp_stream stream) {
  fake_device *device = stream->device;
  fake *self = device->self;
  if (stream->has_worker) {
    stream->stopping = 1; /* the worker ends when its queue is empty */
    pthread_cond_signal(&stream->wake);
    pthread_mutex_unlock(&self->lock);
    pthread_join(stream->worker, NULL);
    pthread_mutex_lock(&self->lock);
  }
  itp_stream *link = &device->streams;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  pthread_cond_destroy(&stream->wake);
  free(stream);
}
