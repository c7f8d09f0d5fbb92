/* What the files of this provider share: its state, and its tables. */
#ifndef ACME_INTERNAL_H_
#define ACME_INTERNAL_H_

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

/* All that the provider knows while it runs. The core hands it to every slot as `self`. */
typedef struct provider_state {
  int32_t n_devices;
} provider_state;

extern const itp_runtime runtime_table; /* runtime.c */
extern const itp_guard guard_table;     /* guard.c */
extern const itp_kernels kernel_table;  /* kernels/table.c */

/* INVALID_ARGUMENT for a device that does not exist: the first thing in every slot that takes one. */
itp_status check_device(void *self, const char *slot, int32_t device, itp_error *err);
itp_status submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);

#endif
