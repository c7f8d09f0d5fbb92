// Current device, streams, events. Work is done when a call returns, so the SDK's ready-made ones are right:
// a stream is a name, an event the time at which it was recorded.
#include "infinitrain/sync.h"
#include "internal.h"

namespace itp {

const itp_guard guard_table = ITP_SYNC_GUARD;

itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err) {
  return itp_sync_submit(self, list, n, done, err);
}

}  // namespace itp
