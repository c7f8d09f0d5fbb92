/* A host of under 100 lines: load a provider, run Fill on its device, copy the result back.
 *
 *     cc -I$(python -c "import infinitrain_capi; print(infinitrain_capi.include_dir())") host.c -ldl -o host
 *     ./host ./libitp_acme.so
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "infinitrain/provider.h"

enum { ROWS = 3, COLUMNS = 5, N = ROWS * COLUMNS };

/* Every slot ends the same way: a status, and a record that the caller owns. */
static char text[512];
static itp_error error = {.struct_size = sizeof(itp_error), .message = text, .message_capacity = sizeof text};
#define CHECK(call)                                         \
  do {                                                      \
    if ((call) != ITP_OK) {                                 \
      fprintf(stderr, "status %d: %s\n", error.code, text); \
      return 1;                                             \
    }                                                       \
  } while (0)

static const itp_kernel *find(const itp_kernels *kernels, const char *name) {
  for (uint32_t i = 0; i < kernels->count; ++i) {
    if (strcmp(kernels->items[i]->name, name) == 0) return kernels->items[i];
  }
  return NULL;
}

int main(int argc, char **argv) {
  /* 1. Open the library, for ever, and ask for its table. */
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  itp_entry_fn entry = NULL;
  if (library != NULL) *(void **)&entry = dlsym(library, ITP_ENTRY_SYMBOL);
  if (entry == NULL) {
    fprintf(stderr, "usage: host LIBRARY, a provider. %s\n", argc == 2 ? dlerror() : "");
    return 2;
  }
  const itp_provider *p = entry(ITP_ABI_MINOR);
  if (p == NULL) return 2; /* it cannot serve a host of this minor version */

  /* 2. Start it, and look at its devices. */
  const itp_config config = {.struct_size = sizeof config,
                             .world_size = 1,
                             .data_parallel = 1,
                             .tensor_parallel = 1,
                             .pipeline_parallel = 1,
                             .context_parallel = 1};
  void *self = NULL;
  int32_t count = 0;
  itp_device_info info = {.struct_size = sizeof info};
  CHECK(p->init(NULL, &config, &self, &error));
  CHECK(p->runtime->device_count(self, &count, &error));
  if (count == 0) return 3;
  CHECK(p->runtime->device_info(self, 0, &info, &error));
  printf("%s:0 of %d, %s, by %s %s\n", p->name, (int)count, info.name, p->vendor, p->version);

  /* 3. Memory on its default stream (NULL), and a tensor over it. */
  void *memory = NULL;
  CHECK(p->runtime->alloc(self, 0, ITP_MEM_DEVICE, N * sizeof(float), NULL, &memory, &error));
  int64_t shape[] = {ROWS, COLUMNS};
  itp_tensor y = {.data = memory,
                  .device_type = info.dlpack_device_type,
                  .ndim = 2,
                  .dtype = {2, 32, 1}, /* float32 */
                  .shape = shape,
                  .nbytes = N * sizeof(float)};
  itp_tensor *const outputs[] = {&y};

  /* 4. Launch Fill(*, scalar value) -> (T y). */
  const itp_value value = {.kind = ITP_V_F64, .u.d = 2.5};
  itp_launch launch = {.struct_size = sizeof launch, .outputs = outputs, .attrs = &value};
  launch.n_outputs = launch.n_attrs = 1;
  launch.kernel = find(p->kernels, "Fill");
  CHECK(launch.kernel->launch(self, &launch, &error));

  /* 5. Copy back: pageable host memory is there when the call returns. */
  float host[N];
  const itp_copy copy = {.struct_size = sizeof copy,
                         .dst = host,
                         .src = memory,
                         .bytes = sizeof host,
                         .dst_device = ITP_DEVICE_HOST};
  CHECK(p->runtime->copy(self, &copy, &error));
  for (int i = 0; i < N; ++i) printf("%g%c", host[i], i % COLUMNS == COLUMNS - 1 ? '\n' : ' ');

  /* 6. Give everything back. */
  CHECK(p->runtime->dealloc(self, 0, ITP_MEM_DEVICE, memory, N * sizeof(float), NULL, &error));
  CHECK(p->guard->device_sync(self, 0, &error));
  if (p->shutdown != NULL) CHECK(p->shutdown(self, 0, &error));
  return 0;
}
