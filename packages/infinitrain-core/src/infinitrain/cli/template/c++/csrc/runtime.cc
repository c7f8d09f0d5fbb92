// Devices, memory, copies. YOURS: host memory stands in for the device's until your runtime's calls are here.
#include <cstdlib>
#include <cstring>

#include "internal.h"

itp_status check_device(void *self, const char *slot, int32_t device, itp_error *err) {
  const int32_t count = State::of(self).n_devices;
  if (device >= 0 && device < count) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, slot, "device %d does not exist, there are %d", device, count);
}

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kTotalMemory = uint64_t{8} << 30;  // bytes
constexpr uint64_t kEveryDtype = (uint64_t{1} << (ITP_DT_F64 + 1)) - 1;

itp_status device_count(void *self, int32_t *n, itp_error *) {
  *n = State::of(self).n_devices;
  return ITP_OK;
}

itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  if (const itp_status status = check_device(self, "device_info", device, err)) return status;
  itp_device_info info = {};
  info.struct_size = out->struct_size;  // the core's: not a byte past it is written
  info.dlpack_device_type = 12;         // an extension device
  std::strncpy(info.name, "Acme, on host memory", sizeof info.name - 1);
  info.total_memory = kTotalMemory;
  info.min_alignment = kAlignment;
  info.compute_dtype_mask = uint64_t{1} << ITP_DT_F32;
  info.storage_dtype_mask = kEveryDtype;
  // Memory of your own that the host cannot touch: delete HOST_READABLE.
  info.caps = ITP_CAP_HOST_READABLE | ITP_CAP_STREAM_ORDERED_ALLOC | ITP_CAP_TIMING_EVENTS;
  std::memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
  return ITP_OK;
}

itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream, void **out,
                 itp_error *err) {
  if (const itp_status status = check_device(self, "alloc", device, err)) return status;
  if (kind > ITP_MEM_MANAGED) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "kind %u is unknown", kind);
  if (nbytes == 0) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "size 0 has no memory");
  if (kind != ITP_MEM_DEVICE) return ITP_FAIL(err, UNIMPLEMENTED, "alloc", "there is device memory only");
  void *block = nullptr;
  if (nbytes > kTotalMemory || posix_memalign(&block, kAlignment, nbytes) != 0) {
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for",
                    static_cast<unsigned long long>(nbytes));
  }
  *out = block;
  return ITP_OK;
}

itp_status dealloc(void *self, int32_t device, uint32_t, void *ptr, uint64_t, itp_stream, itp_error *err) {
  if (const itp_status status = check_device(self, "dealloc", device, err)) return status;
  std::free(ptr);
  return ITP_OK;
}

itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  const int32_t sides[] = {c->dst_device, c->src_device};
  for (int i = 0; i < 2; ++i) {
    if (sides[i] == ITP_DEVICE_HOST && sides[1 - i] != ITP_DEVICE_HOST) continue;  // one side may be the host
    if (const itp_status status = check_device(self, "copy", sides[i], err)) return status;
  }
  if ((c->flags & ~uint32_t{ITP_COPY_HOST_STABLE}) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "unknown flags 0x%x", c->flags);
  }
  std::memmove(c->dst, c->src, c->bytes);
  return ITP_OK;
}

}  // namespace

const itp_runtime runtime_table = {
    .struct_size = sizeof(itp_runtime),
    .reserved0 = 0,
    .device_count = device_count,
    .device_info = device_info,
    .alloc = alloc,
    .dealloc = dealloc,
    .mem_info = nullptr,
    .copy = copy,
    .fill_bytes = nullptr,
};
