/* Tier 0: tensors can live on the device. */
#include <string.h>

#include "block.h"

/* Move n elements of `size` bytes, bit for bit. Constant sizes, so that each memcpy is one instruction. */
#define MOVE(size)                                                              \
  for (int64_t i = 0; i < n; ++i, y += y_step, x += x_step) memcpy(y, x, size); \
  break;
static void move(int64_t size, char *y, int64_t y_step, const char *x, int64_t x_step, int64_t n) {
  if (y_step == size && x_step == size) {
    memmove(y, x, (size_t)(n * size));
    return;
  }
  switch (size) {
    case 1:
      MOVE(1)
    case 2:
      MOVE(2)
    case 4:
      MOVE(4)
    default:
      MOVE(8)
  }
}

REF_KERNEL(Cast) {
  REF_UNPACK(Cast)
  const int from = itp_dtype_bit(a.x->dtype), to = itp_dtype_bit(a.y->dtype);
  itp_strided it;
  ref_buffer room;
  const itp_tensor *tensors[] = {a.x, a.y};
  REF_REQUIRE("Cast", itp_strided_begin(&it, tensors, 2), "x and y of one shape expected");
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; i += REF_BLOCK) {
      const int64_t n = ref_min(it.count - i, REF_BLOCK);
      const void *block = ref_load(&room, from, it.data[0] + i * it.step[0], it.step[0], n);
      ref_store(to, it.data[1] + i * it.step[1], it.step[1], ref_class_of(from), block, n);
    }
  }
  return ITP_OK;
}

REF_KERNEL(Fill) {
  REF_UNPACK(Fill)
  const int64_t size = itp_element_size(a.y);
  ref_buffer element, pattern; /* the value once, and a block of it, which contiguous memory takes at once */
  const itp_tensor *tensors[] = {a.y};
  itp_strided it;
  ref_store_scalar(itp_dtype_bit(a.y->dtype), (char *)&element, a.value);
  move(size, (char *)&pattern, size, (const char *)&element, 0, REF_BLOCK);
  REF_REQUIRE("Fill", itp_strided_begin(&it, tensors, 1), "at most 64 dimensions expected");
  for (; it.count > 0; itp_strided_next(&it)) {
    for (int64_t i = 0; i < it.count; i += REF_BLOCK) {
      const int64_t n = ref_min(it.count - i, REF_BLOCK);
      move(size, it.data[0] + i * it.step[0], it.step[0], (const char *)&pattern, size, n);
    }
  }
  return ITP_OK;
}

REF_KERNEL(Copy) {
  REF_UNPACK(Copy)
  const int64_t size = itp_element_size(a.y);
  itp_strided it;
  const itp_tensor *tensors[] = {a.x, a.y};
  REF_REQUIRE("Copy", itp_strided_begin(&it, tensors, 2), "x and y of one shape expected");
  for (; it.count > 0; itp_strided_next(&it))
    move(size, it.data[1], it.step[1], it.data[0], it.step[0], it.count);
  return ITP_OK;
}

static itp_status keep(const char *name, const itp_tensor *x, const itp_tensor *y, itp_error *err) {
  REF_REQUIRE(name, itp_numel(x) == itp_numel(y), "element counts differ");
  if (itp_data(x) != itp_data(y))
    memmove(itp_data(y), itp_data(x), (size_t)(itp_numel(x) * itp_element_size(x)));
  return ITP_OK;
}

REF_KERNEL(NoOpForward) {
  REF_UNPACK(NoOpForward)
  return keep("NoOpForward", a.x, a.y, err);
}

REF_KERNEL(NoOpBackward) {
  REF_UNPACK(NoOpBackward)
  return keep("NoOpBackward", a.grad, a.dx, err);
}
