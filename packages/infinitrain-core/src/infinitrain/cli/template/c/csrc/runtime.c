/* Devices, memory, copies. YOURS: host memory stands in for the device's until your runtime's calls are here.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define ALIGNMENT 64u
#define TOTAL_MEMORY (8ull << 30) /* bytes */
#define EVERY_DTYPE ((1ull << (ITP_DT_F64 + 1)) - 1)

itp_status check_device(void *self, const char *slot, int32_t device, itp_error *err) {
  const int32_t count = ((const provider_state *)self)->n_devices;
  if (device >= 0 && device < count) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d does not exist, there are %d", (int)device,
                  (int)count);
}

static itp_status device_count(void *self, int32_t *n, itp_error *err) {
  (void)err;
  *n = ((const provider_state *)self)->n_devices;
  return ITP_OK;
}

static itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  const itp_status status = check_device(self, "device_info", device, err);
  if (status != ITP_OK) return status;
  const itp_device_info info = {
      .struct_size = out->struct_size, /* the core's: not a byte past it is written */
      .dlpack_device_type = 12,        /* an extension device */
      .name = "Acme, on host memory",
      .total_memory = TOTAL_MEMORY,
      .min_alignment = ALIGNMENT,
      .compute_dtype_mask = 1ull << ITP_DT_F32,
      .storage_dtype_mask = EVERY_DTYPE,
      /* Memory of your own that the host cannot touch: delete HOST_READABLE. */
      .caps = ITP_CAP_HOST_READABLE | ITP_CAP_STREAM_ORDERED_ALLOC | ITP_CAP_TIMING_EVENTS,
  };
  memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
  return ITP_OK;
}

static itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream stream,
                        void **out, itp_error *err) {
  (void)stream;
  const itp_status status = check_device(self, "alloc", device, err);
  if (status != ITP_OK) return status;
  if (kind > ITP_MEM_MANAGED) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "kind %u is unknown", kind);
  if (nbytes == 0) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "size 0 has no memory");
  if (kind != ITP_MEM_DEVICE) return ITP_FAIL(err, UNIMPLEMENTED, "alloc", "there is device memory only");
  void *block = NULL;
  if (nbytes > TOTAL_MEMORY || posix_memalign(&block, ALIGNMENT, nbytes) != 0) {
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for", (unsigned long long)nbytes);
  }
  *out = block;
  return ITP_OK;
}

static itp_status dealloc(void *self, int32_t device, uint32_t kind, void *ptr, uint64_t nbytes,
                          itp_stream stream, itp_error *err) {
  (void)kind, (void)nbytes, (void)stream;
  const itp_status status = check_device(self, "dealloc", device, err);
  if (status == ITP_OK) free(ptr);
  return status;
}

static itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  const int32_t sides[] = {c->dst_device, c->src_device};
  for (int i = 0; i < 2; ++i) {
    if (sides[i] == ITP_DEVICE_HOST && sides[1 - i] != ITP_DEVICE_HOST)
      continue; /* one side may be the host */
    const itp_status status = check_device(self, "copy", sides[i], err);
    if (status != ITP_OK) return status;
  }
  if ((c->flags & ~(uint32_t)ITP_COPY_HOST_STABLE) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "unknown flags 0x%x", c->flags);
  }
  memmove(c->dst, c->src, c->bytes);
  return ITP_OK;
}

const itp_runtime runtime_table = {
    .struct_size = sizeof(itp_runtime),
    .device_count = device_count,
    .device_info = device_info,
    .alloc = alloc,
    .dealloc = dealloc,
    .copy = copy,
};
