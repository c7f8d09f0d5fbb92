/* A portable implementation of every kernel of kernels.toml, for memory that the calling thread can read and
 * write.
 *
 * A vendor compiles capi/sdk/reference into the provider (infinitrain_add_provider(... REFERENCE_KERNELS))
 * and takes from here what has no device code yet: a whole table, one entry, or one function to call from an
 * entry of its own. The kernels neither allocate nor keep state; any thread may run them. */
#ifndef INFINITRAIN_REFERENCE_H_
#define INFINITRAIN_REFERENCE_H_

#include "infinitrain/kernels.h"
#include "infinitrain/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef itp_status (*itp_launch_fn)(void *self, const itp_launch *l, itp_error *err);

/* One function per kernel, itp_ref_AddForward and so on: it runs at once, on the calling thread. `self` is
 * ignored. */
#define ITP_DECLARE_REFERENCE(Name, version) \
  itp_status itp_ref_##Name(void *self, const itp_launch *l, itp_error *err);
ITP_KERNELS(ITP_DECLARE_REFERENCE)
#undef ITP_DECLARE_REFERENCE

/* All kernels in the order of kernels.toml, fit for itp_kernels.items. */
const itp_kernel *const *itp_reference_kernels(uint32_t *count);

/* One kernel, or NULL where there is none of that name. */
const itp_kernel *itp_reference_kernel(const char *name);

/* Its function, or NULL. */
itp_launch_fn itp_reference_launch(const char *name);

#ifdef __cplusplus
}
#endif
#endif
