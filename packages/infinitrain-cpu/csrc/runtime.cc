// Devices, memory, copies. There is one device, its memory is the host's, and everything is done when a call
// returns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

namespace itp {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kHugePage = 2 << 20;

itp_status check_device(const char *slot, int32_t device, itp_error *err) {
  return device == 0 ? ITP_OK : no_device(slot, device, err);
}

itp_status device_count(void *, int32_t *n, itp_error *) {
  *n = 1;
  return ITP_OK;
}

// The value after the colon of the first line of `file` that begins with `key`.
bool read_field(const char *file, const char *key, char *out, size_t size) {
  FILE *f = fopen(file, "re");
  if (f == nullptr) return false;
  char line[256];
  bool found = false;
  while (!found && fgets(line, sizeof line, f) != nullptr) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) != 0 || colon == nullptr) continue;
    snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
    out[strcspn(out, "\n")] = '\0';
    found = true;
  }
  fclose(f);
  return found;
}

itp_status device_info(void *self, int32_t device, itp_device_info *out, itp_error *err) {
  if (const itp_status status = check_device("device_info", device, err)) return status;
  itp_device_info info = {};
  const Provider &cpu = Provider::of(self);
  char model[40];
  if (!read_field("/proc/cpuinfo", "model name", model, sizeof model)) snprintf(model, sizeof model, "CPU");
  snprintf(info.name, sizeof info.name, "%s, %s, %d threads", model, cpu.simd.name, cpu.pool.size());
  info.struct_size = out->struct_size;
  info.dlpack_device_type = 1;  // kDLCPU
  info.total_memory = cpu.total_memory;
  info.min_alignment = kAlignment;
  info.compute_dtype_mask = bit(ITP_DT_F32) | bit(ITP_DT_F64);
  info.storage_dtype_mask = kEveryDtype;
  info.autocast_dtype = {4, 16, 1};  // bfloat16
  info.caps = ITP_CAP_HOST_READABLE | ITP_CAP_STREAM_ORDERED_ALLOC | ITP_CAP_PINNED | ITP_CAP_DETERMINISTIC |
              ITP_CAP_TIMING_EVENTS;
  memcpy(out, &info, out->struct_size < sizeof info ? out->struct_size : sizeof info);
  return ITP_OK;
}

uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

uint64_t mapped_size(uint64_t nbytes) {
  return round_up(nbytes, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

// Large blocks stand on huge pages where the system gives them: the first touch of a small page costs more
// than writing it fifteen times. What is left behind the last whole huge page stays on small ones: nothing is
// rounded up.
void *map_large(uint64_t nbytes) {
  const uint64_t size = mapped_size(nbytes);
  void *raw = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char *begin = static_cast<char *>(raw);
  char *block =
      begin + (round_up(reinterpret_cast<uintptr_t>(begin), kHugePage) - reinterpret_cast<uintptr_t>(begin));
  const uint64_t before = static_cast<uint64_t>(block - begin), after = kHugePage - before;
  if (before > 0) munmap(begin, before);
  if (after > 0) munmap(block + size, after);
  madvise(block, nbytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

itp_status alloc(void *self, int32_t device, uint32_t kind, uint64_t nbytes, itp_stream, void **out,
                 itp_error *err) {
  if (const itp_status status = check_device("alloc", device, err)) return status;
  if (kind > ITP_MEM_MANAGED) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "kind %u is unknown", kind);
  if (nbytes == 0) return ITP_FAIL(err, INVALID_ARGUMENT, "alloc", "size 0 has no memory");
  // The system promises more than there is and ends the process that uses it: refuse what cannot be.
  void *block = nullptr;
  if (nbytes <= Provider::of(self).total_memory) {
    if (nbytes >= kHugePage) {
      block = map_large(nbytes);
    } else if (posix_memalign(&block, kAlignment, nbytes) != 0) {
      block = nullptr;
    }
  }
  if (block == nullptr) {
    const Memory memory = memory_info();
    return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for, %llu of %llu available",
                    static_cast<unsigned long long>(nbytes),
                    static_cast<unsigned long long>(memory.available),
                    static_cast<unsigned long long>(memory.total));
  }
  *out = block;
  return ITP_OK;
}

itp_status dealloc(void *, int32_t device, uint32_t, void *ptr, uint64_t nbytes, itp_stream, itp_error *err) {
  if (const itp_status status = check_device("dealloc", device, err)) return status;
  if (nbytes >= kHugePage) {
    munmap(ptr, mapped_size(nbytes));
  } else {
    free(ptr);
  }
  return ITP_OK;
}

itp_status mem_info(void *, int32_t device, uint64_t *free_bytes, uint64_t *total_bytes, itp_error *err) {
  if (const itp_status status = check_device("mem_info", device, err)) return status;
  const Memory memory = memory_info();
  *free_bytes = memory.available;
  *total_bytes = memory.total;
  return ITP_OK;
}

constexpr int64_t kCopyGrain = 1 << 20;  // bytes for one thread

itp_status copy(void *self, const itp_copy *c, itp_error *err) {
  // One of the two sides may be host memory, which is the same memory here.
  const int32_t device = c->dst_device != ITP_DEVICE_HOST ? c->dst_device : c->src_device;
  if (const itp_status status = check_device("copy", device, err)) return status;
  if (c->src_device != ITP_DEVICE_HOST) {
    if (const itp_status status = check_device("copy", c->src_device, err)) return status;
  }
  if ((c->flags & ~uint32_t{ITP_COPY_HOST_STABLE}) != 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "copy", "unknown flags 0x%x", c->flags);
  }
  char *dst = static_cast<char *>(c->dst);
  const char *src = static_cast<const char *>(c->src);
  if (dst < src + c->bytes && src < dst + c->bytes) {
    memmove(dst, src, c->bytes);
    return ITP_OK;
  }
  Provider::of(self).pool.range(static_cast<int64_t>(c->bytes), kCopyGrain, [=](int64_t begin, int64_t end) {
    memcpy(dst + begin, src + begin, static_cast<size_t>(end - begin));
  });
  return ITP_OK;
}

itp_status fill_bytes(void *self, int32_t device, void *ptr, int32_t byte, uint64_t nbytes, itp_stream,
                      itp_error *err) {
  if (const itp_status status = check_device("fill_bytes", device, err)) return status;
  Provider::of(self).pool.range(static_cast<int64_t>(nbytes), kCopyGrain, [=](int64_t begin, int64_t end) {
    memset(static_cast<char *>(ptr) + begin, byte, static_cast<size_t>(end - begin));
  });
  return ITP_OK;
}

// ---- how much memory there is
// ------------------------------------------------------------------------------

uint64_t read_number(const char *file, uint64_t otherwise) {
  FILE *f = fopen(file, "re");
  if (f == nullptr) return otherwise;
  unsigned long long value;
  const bool read = fscanf(f, "%llu", &value) == 1;  // fails on "max"
  fclose(f);
  return read ? value : otherwise;
}

// Bytes of the page cache that the system would drop first (memory.stat counts them as used).
uint64_t read_stat(const char *file, const char *key) {
  FILE *f = fopen(file, "re");
  if (f == nullptr) return 0;
  char name[64];
  unsigned long long value, found = 0;
  while (fscanf(f, "%63s %llu", name, &value) == 2) {
    if (strcmp(name, key) == 0) found = value;
  }
  fclose(f);
  return found;
}

void cut(Memory *memory, uint64_t limit, uint64_t used, uint64_t droppable) {
  if (limit >= memory->total) return;
  memory->total = limit;
  used = used > droppable ? used - droppable : 0;
  const uint64_t left = limit > used ? limit - used : 0;
  if (left < memory->available) memory->available = left;
}

}  // namespace

Memory memory_info() {
  Memory memory;
  char text[64];
  memory.total =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  memory.available = read_field("/proc/meminfo", "MemAvailable", text, sizeof text)
                         ? strtoull(text, nullptr, 10) * 1024
                         : memory.total;
  if (memory.available > memory.total) memory.available = memory.total;
  // The control group as a container sees it: its own root.
  cut(&memory, read_number("/sys/fs/cgroup/memory.max", UINT64_MAX),
      read_number("/sys/fs/cgroup/memory.current", 0),
      read_stat("/sys/fs/cgroup/memory.stat", "inactive_file"));
  cut(&memory, read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", UINT64_MAX),
      read_number("/sys/fs/cgroup/memory/memory.usage_in_bytes", 0),
      read_stat("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"));
  return memory;
}

const itp_runtime runtime_table = {
    sizeof(itp_runtime), 0, device_count, device_info, alloc, dealloc, mem_info, copy, fill_bytes};

}  // namespace itp
