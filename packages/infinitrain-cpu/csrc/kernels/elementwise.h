// What the files of elementwise kernels share.
#pragma once

#include "kernels/kernel.h"

namespace itp {

template <class T>
const T *as(const void *p) {
  return static_cast<const T *>(p);
}
template <class T>
T *as(void *p) {
  return static_cast<T *>(p);
}

inline itp_status different_shapes(const char *name, itp_error *err) {
  return ITP_FAIL(err, INVALID_ARGUMENT, name, "operands of different shapes");
}

}  // namespace itp
