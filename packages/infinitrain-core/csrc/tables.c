/* The core's own full copy of a provider's tables: the provider's slot, a default, or a stub that says
 * UNIMPLEMENTED. After it_provider_complete no code tests a slot for NULL. */
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "infinitrain/error.h"

uint32_t it_struct_size(const void *table) {
  uint32_t size;
  memcpy(&size, table, sizeof(size));
  return size;
}

void it_copy_prefix(void *to, uint32_t to_size, const void *from) {
  const uint32_t size = it_struct_size(from);
  memset(to, 0, to_size);
  memcpy(to, from, size < to_size ? size : to_size);
  memcpy(to, &to_size, sizeof(to_size));
}

/* ---- stubs: each says which slot was asked for ---- */
#define STUB(name, arguments)                                                                             \
  static itp_status stub_##name arguments {                                                               \
    return ITP_FAIL(err, UNIMPLEMENTED, #name, "the provider does not implement this optional function"); \
  }

STUB(mem_info, (void *self __attribute__((unused)), int32_t d __attribute__((unused)),
                uint64_t *a __attribute__((unused)), uint64_t *b __attribute__((unused)), itp_error *err))
STUB(fill_bytes, (void *self __attribute__((unused)), int32_t d __attribute__((unused)),
                  void *p __attribute__((unused)), int32_t b __attribute__((unused)),
                  uint64_t n __attribute__((unused)), itp_stream s __attribute__((unused)), itp_error *err))
STUB(stream_native, (void *self __attribute__((unused)), int32_t d __attribute__((unused)),
                     itp_stream s __attribute__((unused)), void **o __attribute__((unused)), itp_error *err))
STUB(event_elapsed_ns, (void *self __attribute__((unused)), int32_t d __attribute__((unused)),
                        itp_event a __attribute__((unused)), itp_event b __attribute__((unused)),
                        uint64_t *n __attribute__((unused)), itp_error *err))

static itp_status default_enter(void *self, int32_t device, int64_t *token, itp_error *err) {
  (void)self;
  (void)err;
  *token = device;
  return ITP_OK;
}

static itp_status default_leave(void *self, int64_t token, itp_error *err) {
  (void)self;
  (void)token;
  (void)err;
  return ITP_OK;
}

static itp_status default_shutdown(void *self, uint32_t reason, itp_error *err) {
  (void)self;
  (void)reason;
  (void)err;
  return ITP_OK;
}

STUB(comm_abort, (void *self __attribute__((unused)), itp_comm c __attribute__((unused)), itp_error *err))
STUB(reduce, (void *self __attribute__((unused)), const void *src __attribute__((unused)),
              void *dst __attribute__((unused)), uint64_t n __attribute__((unused)),
              itp_dtype t __attribute__((unused)), uint32_t op __attribute__((unused)),
              int32_t root __attribute__((unused)), itp_comm c __attribute__((unused)),
              itp_stream s __attribute__((unused)), itp_error *err))
STUB(all_to_all, (void *self __attribute__((unused)), const void *src __attribute__((unused)),
                  void *dst __attribute__((unused)), uint64_t n __attribute__((unused)),
                  itp_dtype t __attribute__((unused)), itp_comm c __attribute__((unused)),
                  itp_stream s __attribute__((unused)), itp_error *err))

static itp_status default_async_error(void *self, itp_comm comm, itp_error *err) {
  (void)self;
  (void)comm;
  (void)err;
  return ITP_OK;
}

static itp_status default_group(void *self, itp_error *err) {
  (void)self;
  (void)err;
  return ITP_OK;
}

/* Optional kernels->submit: one launch after the other, stopping at the first that fails. */
static itp_status default_submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done,
                                 itp_error *err) {
  for (*done = 0; *done < n; ++*done) {
    const itp_launch *launch = list[*done];
    const itp_status status = launch->kernel->launch(self, launch, err);
    if (status != ITP_OK) return status;
  }
  return ITP_OK;
}

static void complete_ccl(itp_ccl *ccl) {
  if (ccl->comm_abort == NULL) ccl->comm_abort = stub_comm_abort;
  if (ccl->comm_async_error == NULL) ccl->comm_async_error = default_async_error;
  if (ccl->group_begin == NULL) ccl->group_begin = default_group;
  if (ccl->group_end == NULL) ccl->group_end = default_group;
  if (ccl->reduce == NULL) ccl->reduce = stub_reduce;
  if (ccl->all_to_all == NULL) ccl->all_to_all = stub_all_to_all;
}

void it_provider_complete(it_provider *p) {
  const int32_t has_enter = p->guard.enter != NULL;
  if (p->info.shutdown == NULL) p->info.shutdown = default_shutdown;
  if (p->runtime.mem_info == NULL) p->runtime.mem_info = stub_mem_info;
  if (p->runtime.fill_bytes == NULL) p->runtime.fill_bytes = stub_fill_bytes;
  if (p->guard.enter == NULL) p->guard.enter = default_enter;
  if (p->guard.leave == NULL) p->guard.leave = default_leave;
  if (p->guard.stream_native == NULL) p->guard.stream_native = stub_stream_native;
  if (p->guard.event_elapsed_ns == NULL) p->guard.event_elapsed_ns = stub_event_elapsed_ns;
  if (p->kernels.submit == NULL) p->kernels.submit = default_submit;
  if (p->info.ccl != NULL) complete_ccl(&p->ccl);
  if (p->validates) it_validate(p, has_enter);
}

/* Name the index-th required slot that is absent, "" for one that is there, NULL after the last. */
const char *it_missing_slot(const it_provider *p, uint32_t index) {
#define SLOT(table, slot) \
  if (index-- == 0) return p->table.slot == NULL ? #table "." #slot : "";
  SLOT(info, init)
  SLOT(runtime, device_count)
  SLOT(runtime, device_info)
  SLOT(runtime, alloc)
  SLOT(runtime, dealloc)
  SLOT(runtime, copy)
  SLOT(guard, device_sync)
  SLOT(guard, stream_create)
  SLOT(guard, stream_destroy)
  SLOT(guard, stream_sync)
  SLOT(guard, stream_query)
  SLOT(guard, stream_wait_event)
  SLOT(guard, event_create)
  SLOT(guard, event_destroy)
  SLOT(guard, event_record)
  SLOT(guard, event_sync)
  SLOT(guard, event_query)
  if (p->info.ccl != NULL) {
    SLOT(ccl, unique_id)
    SLOT(ccl, comm_init)
    SLOT(ccl, comm_destroy)
    SLOT(ccl, all_reduce)
    SLOT(ccl, broadcast)
    SLOT(ccl, all_gather)
    SLOT(ccl, reduce_scatter)
    SLOT(ccl, send)
    SLOT(ccl, recv)
  }
  if (p->info.graphs != NULL) {
    SLOT(graphs, capture_begin)
    SLOT(graphs, capture_end)
    SLOT(graphs, replay)
    SLOT(graphs, destroy)
  }
#undef SLOT
  return NULL;
}
