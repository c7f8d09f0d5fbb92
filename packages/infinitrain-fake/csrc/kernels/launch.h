/* Between the kernel table (base.c) and the way of a launch to its stream (launch.c). */
#ifndef INFINITRAIN_FAKE_LAUNCH_H_
#define INFINITRAIN_FAKE_LAUNCH_H_

#include "infinitrain/provider.h"
#include "infinitrain/reference.h"

/* An entry of the table, what the caller's thread checks, and what the worker calls. */
typedef struct fake_kernel {
  itp_kernel entry;
  itp_status (*check)(const itp_launch *l, itp_error *err); /* counts and kinds against the schema */
  itp_launch_fn run;
} fake_kernel;

/* What every entry does when it is launched: check, copy, queue. */
itp_status fake_launch(void *self, const itp_launch *l, itp_error *err);
itp_status fake_submit(void *self, const itp_launch *const *list, uint64_t n, uint64_t *done, itp_error *err);

#endif
