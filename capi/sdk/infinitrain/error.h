/* Fill an error record and give the status back, in one expression. Convenience, not part of the ABI.
 *
 *     return ITP_FAIL(err, OUT_OF_MEMORY, "alloc", "%llu bytes asked for, %llu free", a, b);
 *
 * writes "[alloc][OUT_OF_MEMORY] 4096 bytes asked for, 0 free" with file and line, and is
 * ITP_E_OUT_OF_MEMORY. `ITP_FAIL_WITH` also takes the vendor's own error number. Nothing here allocates or
 * keeps state.
 */
#ifndef INFINITRAIN_ERROR_H_
#define INFINITRAIN_ERROR_H_

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "infinitrain/provider.h"

#if defined(__GNUC__)
#define ITP_PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define ITP_MAYBE_UNUSED __attribute__((unused))
#else
#define ITP_PRINTF_LIKE(text, first)
#define ITP_MAYBE_UNUSED
#endif

/* The name of a status without its prefix, "UNKNOWN" for a number that this header does not have. */
ITP_MAYBE_UNUSED static inline const char *itp_status_name(itp_status status) {
  static const char *const names[] = {"OK",        "INVALID_ARGUMENT", "UNIMPLEMENTED", "OUT_OF_MEMORY",
                                      "NOT_READY", "UNAVAILABLE",      "DEVICE_LOST",   "ASYNC",
                                      "TIMEOUT",   "ABORTED",          "FORKED",        "VERSION",
                                      "INTERNAL",  "OUT_OF_RANGE"};
  const size_t count = sizeof(names) / sizeof(names[0]);
  return status >= 0 && (size_t)status < count ? names[status] : "UNKNOWN";
}

/* Write "[where][NAME] text" into the record as far as it has room, and return `status`. `err` may be NULL.
 */
ITP_PRINTF_LIKE(7, 8)
ITP_MAYBE_UNUSED static inline itp_status itp_error_fill(itp_error *err, itp_status status, const char *where,
                                                         int64_t native_code, const char *file, int line,
                                                         const char *format, ...) {
  if (err == NULL) return status;
  err->code = status;
  err->native_code = native_code;
  err->origin_tag = 0;
  err->file = file;
  err->line = (uint64_t)line;
  err->message_length = 0;
  if (err->message == NULL || err->message_capacity == 0) return status;
  const size_t room = (size_t)err->message_capacity;
  const int head = snprintf(err->message, room, "[%s][%s] ", where, itp_status_name(status));
  size_t length = head > 0 ? (size_t)head : 0;
  if (length < room) {
    va_list arguments;
    va_start(arguments, format);
    const int text = vsnprintf(err->message + length, room - length, format, arguments);
    va_end(arguments);
    if (text > 0) length += (size_t)text;
  }
  err->message_length = length < room ? length : room - 1;
  return status;
}

/* The status stands beside the call, so that a compiler sees that it is not OK. */
#define ITP_FAIL_WITH(err, name, where, native, ...)                                              \
  ((void)itp_error_fill((err), ITP_E_##name, (where), (native), __FILE__, __LINE__, __VA_ARGS__), \
   ITP_E_##name)
#define ITP_FAIL(err, name, where, ...) ITP_FAIL_WITH(err, name, where, 0, __VA_ARGS__)

/* The first check of every kernel: does the launch have as many tensors and attributes as its schema? */
ITP_MAYBE_UNUSED static inline int itp_counts_are(const itp_launch *l, uint32_t inputs, uint32_t outputs,
                                                  uint32_t attributes) {
  return l->n_inputs == inputs && l->n_outputs == outputs && l->n_attrs == attributes;
}

ITP_MAYBE_UNUSED static inline itp_status itp_bad_counts(const itp_launch *l, const char *kernel,
                                                         uint32_t inputs, uint32_t outputs,
                                                         uint32_t attributes, itp_error *err) {
  return ITP_FAIL(err, INVALID_ARGUMENT, kernel,
                  "expected %u inputs, %u outputs, %u attributes, found %u, %u, %u: "
                  "core and provider disagree about the kernel table",
                  inputs, outputs, attributes, l->n_inputs, l->n_outputs, l->n_attrs);
}

#endif
