// The provider's table, the only thing that the library exports, and its life.
#include <new>

#include "infinitrain/export.h"
#include "internal.h"

namespace {

// At the first use of a device. YOURS: open your runtime's library by dlopen (never link it: this library
// must load where your driver is not), count the devices, and say UNAVAILABLE with the reason where that
// fails. No exception may leave a slot.
itp_status init(const itp_host *, const itp_config *config, void **self, itp_error *err) {
  if (ITP_HAS(config, itp_config, n_options) && config->n_options > 0) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "init", "option '%s' is unknown, there are none",
                    config->option_names[0]);
  }
  State *state = new (std::nothrow) State;
  if (state == nullptr) return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no host memory");
  *self = state;
  return ITP_OK;
}

// All handles and memory have been given back. YOURS: close what init opened.
itp_status shutdown(void *self, uint32_t, itp_error *) {
  delete static_cast<State *>(self);
  return ITP_OK;
}

const itp_provider provider = {
    .struct_size = sizeof(itp_provider),
    .abi_minor = ITP_ABI_MINOR,
    .name = "acme",
    .vendor = "Acme",
    .version = "0.1.0",
    .build_info = "",
    .flags = 0,
    .options = nullptr,
    .n_options = 0,
    .init = init,
    .shutdown = shutdown,
    .runtime = &runtime_table,
    .guard = &guard_table,
    .kernels = &kernel_table,
    .ccl = nullptr,
    .graphs = nullptr,
    .get_extension = nullptr,
};

}  // namespace

// Pure: it does nothing but give the table.
ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t) { return &provider; }
