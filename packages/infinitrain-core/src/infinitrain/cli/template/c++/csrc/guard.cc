// Streams, events, synchronising: ready-made for a device whose calls return when their work is done.
// YOURS: a device that works on after the call has returned needs streams and events of its own here.
#include "internal.h"
#define ITP_SYNC_DEVICE_COUNT(self) (State::of(self).n_devices)
#include "infinitrain/sync.h"

const itp_guard guard_table = ITP_SYNC_GUARD;

itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err) {
  return itp_sync_submit(self, list, n, done, err);
}
