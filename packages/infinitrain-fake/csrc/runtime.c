/* Devices, memory and copies. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ALL_DTYPES ((UINT64_C(1) << (ITP_DT_F64 + 1)) - 1)

static uint64_t total_memory(const fake *self) { return (uint64_t)self->options.memory_mb << 20; }

static itp_status device_count(void *self, int32_t *n, itp_error *err) {
  const itp_status status = fake_enter((fake *)self, "device_count", err);
  if (status != ITP_OK) return status;
  *n = ((fake *)self)->n_devices;
  return fake_leave((fake *)self, ITP_OK);
}

static itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  const itp_status status = fake_enter_device((fake *)self, "device_info", device, NULL, err);
  if (status != ITP_OK) return status;
  itp_device_info info = {
      .struct_size = out->struct_size,
      .dlpack_device_type = 12, /* kDLExtDev */
      .total_memory = total_memory((fake *)self),
      .min_alignment = FAKE_ALIGNMENT,
      .compute_dtype_mask = ALL_DTYPES,
      .storage_dtype_mask = ALL_DTYPES,
      .autocast_dtype = {4, 16, 1}, /* bfloat16 */
      .caps = ITP_CAP_STREAM_ORDERED_ALLOC | ITP_CAP_PINNED | ITP_CAP_PEER | ITP_CAP_TIMING_EVENTS |
              ITP_CAP_DETERMINISTIC,
  };
  (void)snprintf(info.name, sizeof info.name, "Fake accelerator %d", (int)device);
  (void)snprintf(info.uuid, sizeof info.uuid, "fa4e0000-0000-0000-0000-%012x", (unsigned)device);
  memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
  return fake_leave((fake *)self, ITP_OK);
}

static itp_status mem_info(void *self, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes,
                           itp_error *err) {
  fake_device *owner;
  const itp_status status = fake_enter_device((fake *)self, "mem_info", device, &owner, err);
  if (status != ITP_OK) return status;
  *total_bytes = total_memory((fake *)self);
  *free_bytes = *total_bytes - owner->used;
  return fake_leave((fake *)self, ITP_OK);
}

/* ---- allocation ---------------------------------------------------------------------------------- */

/* One operation on a stretch of memory, in worker addresses. */
typedef struct memory_op {
  fake_op op;
  char *dst;
  const char *src;
  uint64_t nbytes;
  int byte;
} memory_op;

static itp_status enqueue(itp_stream stream, memory_op values, const char *slot, itp_error *err) {
  memory_op *op = malloc(sizeof *op);
  if (op == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, slot, "no host memory for an operation");
  *op = values;
  return fake_enqueue(stream, &op->op, slot, err);
}

static itp_status run_begin(fake_op *op, itp_error *err) {
  (void)err;
  fake_block_begin(((memory_op *)op)->dst, ((memory_op *)op)->nbytes);
  return ITP_OK;
}

static itp_status run_end(fake_op *op, itp_error *err) {
  const memory_op *m = (const memory_op *)op;
  fake_arena *arena = &op->stream->device->arena;
  const uint64_t offset = (uint64_t)(m->dst - arena->alias);
  const int intact = fake_block_end(m->dst, m->nbytes);
  pthread_mutex_lock(&op->self->lock);
  fake_arena_give(arena, offset);
  pthread_mutex_unlock(&op->self->lock);
  if (intact) return ITP_OK;
  return ITP_FAIL(err, INTERNAL, "dealloc", "something wrote beyond block %p of %llu bytes on fake:%d",
                  (void *)(arena->base + offset), (unsigned long long)m->nbytes,
                  (int)op->stream->device->index);
}

static itp_status alloc_device(fake_device *device, itp_stream stream, uint64_t nbytes, void **out,
                               itp_error *err) {
  const uint64_t total = total_memory(device->self);
  void *ptr = NULL;
  if (nbytes <= total - device->used) {
    ptr = fake_arena_take(&device->arena, nbytes);
    if (ptr == NULL) { /* what is given back returns to the arena when its stream gets there */
      fake_wait_all(device);
      ptr = fake_arena_take(&device->arena, nbytes);
    }
  }
  if (ptr == NULL) {
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for on fake:%d, %llu of %llu free",
                    (unsigned long long)nbytes, (int)device->index,
                    (unsigned long long)(total - device->used), (unsigned long long)total);
  }
  const memory_op op = {.op = {.run = run_begin}, .dst = fake_alias(&device->arena, ptr), .nbytes = nbytes};
  const itp_status status = enqueue(stream, op, "alloc", err);
  if (status != ITP_OK) {
    fake_arena_give(&device->arena, (uint64_t)((char *)ptr - device->arena.base));
    return status;
  }
  device->used += nbytes;
  *out = ptr;
  return ITP_OK;
}

static itp_status alloc_pinned(fake *self, uint64_t nbytes, void **out, itp_error *err) {
  fake_pinned *pinned = malloc(sizeof *pinned);
  void *data = NULL;
  if (pinned == NULL || posix_memalign(&data, 4096, nbytes) != 0) {
    free(pinned);
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes of pinned host memory asked for",
                    (unsigned long long)nbytes);
  }
  *pinned = (fake_pinned){.next = self->pinned, .data = (char *)data, .nbytes = nbytes};
  self->pinned = pinned;
  memset(data, 0xFF, nbytes); /* as new device memory */
  *out = data;
  return ITP_OK;
}

static itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream handle,
                        void **out, itp_error *err) {
  fake *f = (fake *)self;
  fake_device *owner;
  itp_status status = fake_enter_device(f, "alloc", device, &owner, err);
  if (status != ITP_OK) return status;
  itp_stream stream = fake_stream(owner, handle);
  if (kind == ITP_MEM_MANAGED) {
    status = ITP_FAIL(err, UNIMPLEMENTED, "alloc", "fake has no managed memory");
  } else if (nbytes == 0 || stream == NULL || (kind != ITP_MEM_DEVICE && kind != ITP_MEM_HOST_PINNED)) {
    status = ITP_FAIL(
        err, INVALID_ARGUMENT, "alloc",
        "bytes > 0, device or pinned memory and a stream of fake:%d expected, found %llu bytes, kind %u, "
        "stream %p",
        (int)device, (unsigned long long)nbytes, kind, (void *)handle);
  } else if ((status = fake_count(owner, "alloc", err)) == ITP_OK) {
    if ((int64_t)++f->n_allocs == f->options.fail_alloc_at) {
      status = ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "allocation %llu fails, as option fail_alloc_at wants",
                        (unsigned long long)f->n_allocs);
    } else if (f->options.null_outputs) {
      *out = NULL;
    } else if (kind == ITP_MEM_DEVICE) {
      status = alloc_device(owner, stream, nbytes, out, err);
    } else {
      status = alloc_pinned(f, nbytes, out, err);
    }
  }
  return fake_leave(f, status);
}

static itp_status dealloc_device(fake_device *device, itp_stream stream, void *ptr, uint64_t nbytes,
                                 itp_error *err) {
  fake_block *block = fake_arena_find(&device->arena, ptr, nbytes);
  char *alias = block != NULL ? fake_alias(&device->arena, ptr) : NULL;
  if (block == NULL || block->nbytes != nbytes ||
      alias != device->arena.alias + block->offset + FAKE_ALIGNMENT) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "dealloc", "%p is no live block of %llu bytes on fake:%d", ptr,
                    (unsigned long long)nbytes, (int)device->index);
  }
  const memory_op op = {.op = {.run = run_end}, .dst = alias, .nbytes = nbytes};
  const itp_status status = enqueue(stream, op, "dealloc", err);
  if (status != ITP_OK) return status;
  block->state = FAKE_DYING; /* whoever names it from now on is refused */
  device->used -= nbytes;
  return ITP_OK;
}

static itp_status dealloc_pinned(fake *self, itp_stream stream, void *ptr, uint64_t nbytes, itp_error *err) {
  for (fake_pinned **link = &self->pinned; *link != NULL; link = &(*link)->next) {
    fake_pinned *pinned = *link;
    if (pinned->data != (char *)ptr || pinned->nbytes != nbytes) continue;
    *link = pinned->next;
    fake_wait_all(stream->device); /* a copy may still read it */
    memset(pinned->data, 0xDE, pinned->nbytes);
    free(pinned->data);
    free(pinned);
    return ITP_OK;
  }
  return ITP_FAIL(err, INVALID_ARGUMENT, "dealloc", "%p is no pinned block of %llu bytes", ptr,
                  (unsigned long long)nbytes);
}

static itp_status dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                          itp_stream handle, itp_error *err) {
  fake *f = (fake *)self;
  fake_device *owner;
  itp_status status = fake_enter_device(f, "dealloc", device, &owner, err);
  if (status != ITP_OK) return status;
  itp_stream stream = fake_stream(owner, handle);
  if (stream == NULL) {
    status =
        ITP_FAIL(err, INVALID_ARGUMENT, "dealloc", "%p is no stream of fake:%d", (void *)handle, (int)device);
  } else if (kind == ITP_MEM_DEVICE) {
    status = dealloc_device(owner, stream, ptr, nbytes, err);
  } else if (kind == ITP_MEM_HOST_PINNED) {
    status = dealloc_pinned(f, stream, ptr, nbytes, err);
  } else {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "dealloc", "no memory of kind %u", kind);
  }
  return fake_leave(f, status);
}

/* ---- copies -------------------------------------------------------------------------------------- */

static itp_status run_copy(fake_op *op, itp_error *err) {
  const memory_op *m = (const memory_op *)op;
  (void)err;
  memmove(m->dst, m->src, m->nbytes);
  return ITP_OK;
}

static itp_status run_fill(fake_op *op, itp_error *err) {
  const memory_op *m = (const memory_op *)op;
  (void)err;
  memset(m->dst, m->byte, m->nbytes);
  return ITP_OK;
}

/* The worker's address of one side of a copy; NULL, with the error filled, where that memory is not what it
 * should be. */
static char *translate(fake *self, const char *slot, int32_t device, const void *ptr, uint64_t nbytes,
                       itp_error *err) {
  if (device != ITP_DEVICE_HOST) {
    fake_arena *arena = &self->devices[device].arena;
    if (fake_arena_find(arena, ptr, nbytes) != NULL) return fake_alias(arena, ptr);
    (void)ITP_FAIL(err, INVALID_ARGUMENT, slot, "%llu bytes at %p are not inside a live block of fake:%d",
                   (unsigned long long)nbytes, ptr, (int)device);
    return NULL;
  }
  for (int32_t d = 0; d < self->n_devices; ++d) {
    const uintptr_t base = (uintptr_t)self->devices[d].arena.base;
    if ((uintptr_t)ptr - base < self->devices[d].arena.size) {
      (void)ITP_FAIL(err, INVALID_ARGUMENT, slot, "%p is memory of fake:%d, not of the host", ptr, (int)d);
      return NULL;
    }
  }
  if (ptr == NULL) (void)ITP_FAIL(err, INVALID_ARGUMENT, slot, "host memory at NULL");
  return (char *)(uintptr_t)ptr;
}

static int is_pinned(const fake *self, const void *ptr, uint64_t nbytes) {
  for (const fake_pinned *p = self->pinned; p != NULL; p = p->next) {
    const uintptr_t at = (uintptr_t)ptr - (uintptr_t)p->data;
    if (at <= p->nbytes && nbytes <= p->nbytes - at) return 1;
  }
  return 0;
}

/* May the call return before the copy is done? Only where the host's side is pinned and the core promises to
 * leave it alone; memory of any other kind may be gone or changed when the worker comes to it. */
static int may_defer(const fake *self, const itp_copy *c) {
  if (c->dst_device != ITP_DEVICE_HOST && c->src_device != ITP_DEVICE_HOST) return 1;
  if (!(c->flags & ITP_COPY_HOST_STABLE)) return 0;
  return is_pinned(self, c->dst_device == ITP_DEVICE_HOST ? c->dst : c->src, c->bytes);
}

static itp_status copy_locked(fake *self, const itp_copy *c, fake_device *owner, itp_error *err) {
  const int32_t other = owner->index == c->dst_device ? c->src_device : c->dst_device;
  fake_device *peer = other >= 0 && other < self->n_devices ? &self->devices[other] : NULL;
  if ((other != ITP_DEVICE_HOST && peer == NULL) || (c->flags & ~(uint32_t)ITP_COPY_HOST_STABLE) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "no device fake:%d, or unknown flags 0x%x", (int)other,
                    c->flags);
  }
  if (peer != NULL && peer->lost) return ITP_FAIL(err, DEVICE_LOST, "copy", "fake:%d is lost", (int)other);
  itp_stream stream = fake_stream(owner, c->stream);
  if (stream == NULL && peer != NULL) stream = fake_stream(peer, c->stream);
  if (stream == NULL) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "%p is no stream of either device", (void *)c->stream);
  }
  if (c->bytes == 0) return ITP_OK;
  memory_op op = {.op = {.run = run_copy, .tag = c->tag, .profiled = 2}, .nbytes = c->bytes};
  op.dst = translate(self, "copy", c->dst_device, c->dst, c->bytes, err);
  op.src = op.dst != NULL ? translate(self, "copy", c->src_device, c->src, c->bytes, err) : NULL;
  if (op.src == NULL) return ITP_E_INVALID_ARGUMENT;
  itp_status status = fake_count(owner, "copy", err);
  if (status == ITP_OK) status = enqueue(stream, op, "copy", err);
  if (status == ITP_OK && !may_defer(self, c)) status = fake_wait(stream, "copy", err);
  return status;
}

static itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  fake_device *owner;
  const int32_t device = c->dst_device != ITP_DEVICE_HOST ? c->dst_device : c->src_device;
  if (device == ITP_DEVICE_HOST)
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "one side must be a device's");
  itp_status status = fake_enter_device((fake *)self, "copy", device, &owner, err);
  if (status != ITP_OK) return status;
  fake_log((fake *)self, "copy_bytes %d %d %llu\n", (int)c->dst_device, (int)c->src_device,
           (unsigned long long)c->bytes);
  return fake_leave((fake *)self, copy_locked((fake *)self, c, owner, err));
}

static itp_status fill_bytes(void *self, int32_t device, void *ptr, int32_t byte, uint64_t nbytes,
                             itp_stream handle, itp_error *err) {
  fake_device *owner;
  itp_status status = fake_enter_device((fake *)self, "fill_bytes", device, &owner, err);
  if (status != ITP_OK) return status;
  itp_stream stream = fake_stream(owner, handle);
  memory_op op = {.op = {.run = run_fill}, .byte = byte, .nbytes = nbytes};
  if (stream == NULL) {
    status = ITP_FAIL(err, INVALID_ARGUMENT, "fill_bytes", "%p is no stream of fake:%d", (void *)handle,
                      (int)device);
  } else if ((op.dst = translate((fake *)self, "fill_bytes", device, ptr, nbytes, err)) == NULL) {
    status = ITP_E_INVALID_ARGUMENT;
  } else if ((status = fake_count(owner, "fill_bytes", err)) == ITP_OK) {
    status = enqueue(stream, op, "fill_bytes", err);
  }
  return fake_leave((fake *)self, status);
}

const itp_runtime fake_runtime = {
    .struct_size = sizeof(itp_runtime),
    .device_count = device_count,
    .device_info = device_info,
    .alloc = alloc,
    .dealloc = dealloc,
    .mem_info = mem_info,
    .copy = copy,
    .fill_bytes = fill_bytes,
};
