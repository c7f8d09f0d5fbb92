/* INFINITRAIN_VALIDATE=1: a layer between the core and a provider that holds both to the contract while a
 * program runs. It takes the place of the slots in the core's own copy of the tables, so that nothing is paid
 * without it. What it finds is the status and message of the call in which it is found, and names the
 * sentence of the header.
 *
 * Collectives and graphs are not offered under it.
 *
 *   validate.c  each call, runtime     validate_order.c   streams, events, who uses which memory when
 *   validate.h  what they share        validate_launch.c  kernels
 */
#include "validate.h"

#include <stdlib.h>
#include <string.h>

/* The record as the core made it, whatever a provider has done to it. */
void v_reset(itp_error *err) { (void)err, (void)it_fresh_error(); }

/* ---- every call: the record and the thread's current device ---------------------------------------------
 */

static int64_t current(validator *v) {
  int64_t token = 0;
  itp_error quiet = {.struct_size = sizeof quiet};
  if (!v->has_enter || v->real.guard.enter(v->self, 0, &token, &quiet) != ITP_OK) return 0;
  (void)v->real.guard.leave(v->self, token, &quiet);
  return token;
}

v_before v_check_before(validator *v, itp_error *err) {
  v_before b = {*err, current(v)};
  return b;
}

itp_status v_check_after(validator *v, const v_before *b, const char *where, itp_status status,
                         itp_error *err) {
  if (err->message != b->record.message || err->message_capacity != b->record.message_capacity ||
      err->struct_size != b->record.struct_size)
    return BROKEN(err, where, "ITP-ERR-08",
                  "struct_size, message or message_capacity of the record were changed");
  if (memchr(err->message, 0, (size_t)err->message_capacity) == NULL)
    return BROKEN(err, where, "ITP-ERR-06", "the message does not end within its room");
  if (status == ITP_OK) {
    if (err->code != b->record.code || err->native_code != 0 || err->origin_tag != 0 ||
        err->message[0] != 0 || err->message_length != 0)
      return BROKEN(err, where, "ITP-ERR-03", "the call was OK and wrote into the error record");
  } else if (err->code != status && status != ITP_E_NOT_READY) { /* which is an answer, not a failure */
    const int found = (int)err->code;
    return BROKEN(err, where, "ITP-ERR-04", "the status is %d and the record's code %d", (int)status, found);
  } else if (status == ITP_E_ASYNC && (err->native_code <= ITP_OK || err->native_code > ITP_E_OUT_OF_RANGE)) {
    const long long found = (long long)err->native_code;
    return BROKEN(err, where, "ITP-ERR-10", "native_code %lld of a late failure is no ITP_E_*", found);
  }
  const int64_t now = status == ITP_E_DEVICE_LOST ? b->token : current(v);
  if (now != b->token)
    return BROKEN(err, where, "ITP-GD-01", "the thread's native current device was %lld and is %lld",
                  (long long)b->token, (long long)now);
  return status;
}

/* ---- runtime
 * ------------------------------------------------------------------------------------------------ */

static itp_status v_device_count(void *self, int32_t *n, itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("device_count", v->real.runtime.device_count(v->self, n, err));
  if (status != ITP_OK) return status;
  if (*n < 0 || (v->count >= 0 && *n != v->count))
    return BROKEN(err, "device_count", "ITP-RT-08", "there were %d devices and are %d", (int)v->count,
                  (int)*n);
  v->count = *n;
  return ITP_OK;
}

static itp_status v_device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  validator *v = (validator *)self;
  struct {
    itp_device_info info;
    unsigned char beyond[64];
  } room;
  memset(&room, 0, sizeof room.info);
  memset(room.beyond, 0xA5, sizeof room.beyond);
  room.info.struct_size = out->struct_size;
  CHECKED("device_info", v->real.runtime.device_info(v->self, device, &room.info, err));
  for (size_t i = 0; i < sizeof room.beyond; ++i)
    if (room.beyond[i] != 0xA5)
      return BROKEN(err, "device_info", "ITP-RT-02", "byte %zu past struct_size was written", i);
  if (status != ITP_OK) return status;
  const uint64_t alignment = room.info.min_alignment;
  if (alignment < 8 || (alignment & (alignment - 1)) != 0)
    return BROKEN(err, "device_info", "ITP-RT-04", "min_alignment %llu: expected a power of two, 8 or more",
                  (unsigned long long)alignment);
  if (device >= 0 && device < DEVICES) {
    v->alignment[device] = alignment;
    v->caps[device] = room.info.caps;
  }
  room.info.struct_size = out->struct_size;
  *out = room.info;
  return ITP_OK;
}

static itp_status v_mem_info(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total,
                             itp_error *err) {
  validator *v = (validator *)self;
  CHECKED("mem_info", v->real.runtime.mem_info(v->self, device, free_bytes, total, err));
  if (status == ITP_OK && *free_bytes > *total)
    return BROKEN(err, "mem_info", "ITP-RT-16", "%llu bytes free of %llu", (unsigned long long)*free_bytes,
                  (unsigned long long)*total);
  return status;
}

static itp_status keep_block(validator *v, int32_t device, uint32_t kind, uint64_t begin, uint64_t nbytes,
                             v_stream *s, itp_error *err) {
  const uint64_t alignment =
      device >= 0 && device < DEVICES && v->alignment[device] ? v->alignment[device] : 8;
  if (kind == ITP_MEM_DEVICE && begin % alignment != 0)
    return BROKEN(err, "alloc", "ITP-RT-11", "gave %p, which is not aligned to %llu bytes", it_pointer(begin),
                  (unsigned long long)alignment);
  for (const v_block *b = v->blocks; b != NULL; b = b->next)
    if (b->begin < begin + nbytes && begin < b->end)
      return BROKEN(err, "alloc", "ITP-RT-11", "gave %p, which lies in a live block", it_pointer(begin));
  v_block *b = calloc(1, sizeof *b);
  if (b == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "no host memory to validate with");
  b->begin = begin;
  b->end = begin + nbytes;
  b->device = device;
  b->kind = kind;
  b->next = v->blocks;
  v->blocks = b;
  (void)v_tick(v, s);
  return v_use(v, "alloc", s, b, b->begin, b->end, 1, err);
}

static itp_status v_alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                          void **out, itp_error *err) {
  validator *v = (validator *)self;
  v_stream *s;
  pthread_mutex_lock(&v->lock);
  const itp_status paired = v_pair(v, "alloc", device, stream, &s, err);
  pthread_mutex_unlock(&v->lock);
  if (paired != ITP_OK) return paired;
  CHECKED("alloc", v->real.runtime.alloc(v->self, device, kind, nbytes, stream, out, err));
  if (status != ITP_OK || *out == NULL) return status;
  pthread_mutex_lock(&v->lock);
  status = keep_block(v, device, kind, (uint64_t)(uintptr_t)*out, nbytes, s, err);
  pthread_mutex_unlock(&v->lock);
  return status;
}

static itp_status v_dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                            itp_stream stream, itp_error *err) {
  validator *v = (validator *)self;
  const uint64_t begin = (uint64_t)(uintptr_t)ptr;
  v_stream *s;
  v_block *b = NULL;
  pthread_mutex_lock(&v->lock);
  itp_status found = v_pair(v, "dealloc", device, stream, &s, err);
  if (found == ITP_OK) {
    b = v_find_block(v, begin, begin + nbytes);
    if (b == NULL || b->begin != begin || b->end != begin + nbytes || b->device != device ||
        b->kind != kind) {
      found = MISUSED(err, "dealloc", "ITP-RT-14", "%p is no live block of %llu bytes of device %d", ptr,
                      (unsigned long long)nbytes, (int)device);
    } else {
      (void)v_tick(v, s);
      found = v_use(v, "dealloc", s, b, b->begin, b->end, 1, err);
    }
  }
  for (v_block **link = &v->blocks; found == ITP_OK && *link != NULL; link = &(*link)->next) {
    if (*link != b) continue;
    *link = b->next;
    free(b);
    break;
  }
  pthread_mutex_unlock(&v->lock);
  if (found != ITP_OK) return found;
  CHECKED("dealloc", v->real.runtime.dealloc(v->self, device, kind, ptr, nbytes, stream, err));
  return status;
}

static itp_status v_copy(void *self, const itp_copy *c, itp_error *err) {
  validator *v = (validator *)self;
  const int32_t device = c->dst_device != ITP_DEVICE_HOST ? c->dst_device : c->src_device;
  const uint64_t dst = (uint64_t)(uintptr_t)c->dst, src = (uint64_t)(uintptr_t)c->src;
  v_stream *s;
  pthread_mutex_lock(&v->lock);
  itp_status found = v_pair(v, "copy", device, c->stream, &s, err);
  if (found == ITP_OK) {
    (void)v_tick(v, s);
    if (c->src_device != ITP_DEVICE_HOST)
      found = v_touch(v, "copy", s, c->src_device, src, src + c->bytes, 0, err);
    if (found == ITP_OK && c->dst_device != ITP_DEVICE_HOST)
      found = v_touch(v, "copy", s, c->dst_device, dst, dst + c->bytes, 1, err);
  }
  pthread_mutex_unlock(&v->lock);
  if (found != ITP_OK) return found;
  CHECKED("copy", v->real.runtime.copy(v->self, c, err));
  if (status == ITP_OK && c->dst_device == ITP_DEVICE_HOST && !(c->flags & ITP_COPY_HOST_STABLE)) {
    pthread_mutex_lock(&v->lock);
    v_passed(v, s);
    pthread_mutex_unlock(&v->lock);
  }
  return status;
}

static itp_status v_fill_bytes(void *self, int32_t device, void *ptr, int32_t byte, uint64_t nbytes,
                               itp_stream stream, itp_error *err) {
  validator *v = (validator *)self;
  const uint64_t begin = (uint64_t)(uintptr_t)ptr;
  v_stream *s;
  pthread_mutex_lock(&v->lock);
  itp_status found = v_pair(v, "fill_bytes", device, stream, &s, err);
  if (found == ITP_OK) {
    (void)v_tick(v, s);
    found = v_touch(v, "fill_bytes", s, device, begin, begin + nbytes, 1, err);
  }
  pthread_mutex_unlock(&v->lock);
  if (found != ITP_OK) return found;
  CHECKED("fill_bytes", v->real.runtime.fill_bytes(v->self, device, ptr, byte, nbytes, stream, err));
  return status;
}

static const itp_runtime v_runtime = {sizeof(itp_runtime), 0,          v_device_count, v_device_info, v_alloc,
                                      v_dealloc,           v_mem_info, v_copy,         v_fill_bytes};

/* ---- beginning and end
 * ---------------------------------------------------------------------------------------- */

static const void *v_get_extension(void *self, const char *name, uint32_t version) {
  validator *v = (validator *)self;
  return v->real.info.get_extension(v->self, name, version);
}

static itp_status v_shutdown(void *self, uint32_t reason, itp_error *err) {
  validator *v = (validator *)self;
  return v->real.info.shutdown(v->self, reason, err); /* v stays: who comes late finds it */
}

void it_validate(it_provider *p, int32_t has_enter) {
  validator *v = calloc(1, sizeof *v);
  if (v == NULL) return;
  p->info.ccl = NULL;
  p->info.graphs = NULL;
  v->real = *p;
  v->has_enter = has_enter;
  v->count = -1;
  pthread_mutex_init(&v->lock, NULL);
  p->validator = v;
  p->info.shutdown = v_shutdown;
  if (p->info.get_extension != NULL) p->info.get_extension = v_get_extension;
  p->runtime = v_runtime;
  p->guard = v_guard;
  p->kernels.submit = v_submit;
}

void it_validate_begin(it_provider *p) {
  validator *v = (validator *)p->validator;
  v->self = p->self;
  p->self = v;
}
