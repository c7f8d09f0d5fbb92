// The device `cpu`: the provider's table, its options, its life.
#include <stdlib.h>
#include <string.h>

#include <new>

#include "infinitrain/export.h"
#include "internal.h"

#ifndef ITP_CPU_VERSION
#error "the build defines ITP_CPU_VERSION, the version of the package"
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ITP_CPU_FLAGS ITP_P_SANITIZED
#else
#define ITP_CPU_FLAGS 0
#endif

namespace itp {
namespace {

const itp_option threads_option = {
    sizeof(itp_option), ITP_V_I64, "threads", "0",
    "Threads of a kernel, the caller included; 0: every processor of the affinity mask."};
const itp_option isa_option = {sizeof(itp_option), ITP_V_STR, "isa", "auto",
                               "Instruction set of the kernels: auto, baseline, avx2 or avx512."};
const itp_option *const options[] = {&threads_option, &isa_option};

bool has_avx2() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

// A table's own code is compiled for its instruction set: it must not be asked for where that is absent.
itp_status choose_simd(const char *isa, const Simd **out, itp_error *err) {
  const bool automatic = strcmp(isa, "auto") == 0;
#if defined(__x86_64__)
  const bool avx512 = strcmp(isa, "avx512") == 0, avx2 = strcmp(isa, "avx2") == 0;
  if ((avx512 && !has_avx512()) || (avx2 && !has_avx2())) {
    return ITP_FAIL(err, UNAVAILABLE, "init", "option isa=%s: this processor does not have it. Use isa=auto",
                    isa);
  }
  // Not chosen by itself: the 512-bit tables have only been proven by emulation, and where they were measured
  // (two 256-bit pipes) the peak rate is that of AVX2.
  if (avx512) {
    *out = &simd_avx512();
    return ITP_OK;
  }
  if (avx2 || (automatic && has_avx2())) {
    *out = &simd_avx2();
    return ITP_OK;
  }
#endif
  *out = &simd_baseline();
  if (automatic || strcmp(isa, "baseline") == 0) return ITP_OK;
  return ITP_FAIL(err, INVALID_ARGUMENT, "init",
                  "option isa: expected auto, baseline, avx2 or avx512, found '%s'", isa);
}

itp_status parse_threads(const char *text, int *out, itp_error *err) {
  char *end = nullptr;
  const long n = strtol(text, &end, 10);
  if (end == text || *end != '\0' || n < 0 || n > 4096) {
    return ITP_FAIL(err, INVALID_ARGUMENT, "init",
                    "option threads: expected a number from 0 to 4096, found '%s'", text);
  }
  *out = n == 0 ? available_processors() : static_cast<int>(n);
  return ITP_OK;
}

itp_status init(const itp_host *, const itp_config *config, void **self, itp_error *err) {
  const char *threads = threads_option.default_text, *isa = isa_option.default_text;
  const uint64_t n = ITP_HAS(config, itp_config, n_options) ? config->n_options : 0;
  for (uint64_t i = 0; i < n; ++i) {
    const char *name = config->option_names[i], *value = config->option_values[i];
    if (strcmp(name, "threads") == 0) {
      threads = value;
    } else if (strcmp(name, "isa") == 0) {
      isa = value;
    } else {
      return ITP_FAIL(err, INVALID_ARGUMENT, "init", "option '%s' is unknown; there are threads and isa",
                      name);
    }
  }
  int size = 0;
  const Simd *simd = nullptr;
  Gemm gemm;
  if (const itp_status status = parse_threads(threads, &size, err)) return status;
  if (const itp_status status = choose_simd(isa, &simd, err)) return status;
  if (const itp_status status = Gemm::open(&gemm, err)) return status;
  Provider *provider = new (std::nothrow) Provider{Pool(size), *simd, gemm, memory_info().total};
  if (provider == nullptr) return ITP_FAIL(err, OUT_OF_MEMORY, "init", "no memory for the provider's state");
  *self = provider;
  return ITP_OK;
}

itp_status shutdown(void *self, uint32_t, itp_error *) {
  delete static_cast<Provider *>(self);
  return ITP_OK;
}

const itp_provider provider = {
    sizeof(itp_provider), ITP_ABI_MINOR, "cpu",   "infinitrain", ITP_CPU_VERSION, ITP_CPU_BUILD_INFO,
    ITP_CPU_FLAGS,        options,       2,       init,          shutdown,        &runtime_table,
    &guard_table,         &kernel_table, nullptr, nullptr,       nullptr};

}  // namespace
}  // namespace itp

ITP_EXPORT const itp_provider *infinitrain_provider_v1(uint32_t) { return &itp::provider; }
