/* The provider's table, the only thing that the library exports, and its life. */
#include <stdlib.h>

#include "infinitrain/export.h"
#include "internal.h"

/* At the first use of a device. YOURS: open your runtime's library by dlopen (never link it: this library
 * must load where your driver is not), count the devices, and say UNAVAILABLE with the reason where that
 * fails. */
static itp_status init(const itp_host *host, const itp_config *config, void **self, itp_error *err) {
  (void)host; /* host->log writes to the user's log */
  if (ITP_HAS(config, itp_config, n_options) && config->n_options > 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "init", "option '%s' is unknown, there are none",
                    config->option_names[0]);
  }
  provider_state *state = calloc(1, sizeof *state);
  if (state == NULL) return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no host memory");
  state->n_devices = 1;
  *self = state;
  return ITP_OK;
}

/* All handles and memory have been given back. YOURS: close what init opened. */
static itp_status shutdown(void *self, uint32_t reason, itp_error *err) {
  (void)reason, (void)err;
  free(self);
  return ITP_OK;
}

static const itp_provider provider = {
    .struct_size = sizeof(itp_provider),
    .abi_minor = ITP_ABI_MINOR,
    .name = "acme",
    .vendor = "Acme",
    .version = "0.1.0",
    .build_info = "",
    .init = init,
    .shutdown = shutdown,
    .runtime = &runtime_table,
    .guard = &guard_table,
    .kernels = &kernel_table,
};

/* Pure: it does nothing but give the table. */
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t core_abi_minor) {
  (void)core_abi_minor;
  return &provider;
}
