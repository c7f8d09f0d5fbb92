/* Triangles of the last two dimensions: bits are moved, whatever they mean. */
#include <string.h>

#include "block.h"

/* Columns [begin, end) of each row are kept, the others become 0. */
static itp_status triangle(const char *name, const itp_tensor *x, const itp_tensor *y, int64_t diagonal,
                           int upper, itp_error *err) {
  REF_REQUIRE(name, x->ndim >= 2 && itp_same_shape(x, y), "x and y of one shape of rank 2 or more expected");
  const int64_t height = x->shape[x->ndim - 2], width = x->shape[x->ndim - 1], size = itp_element_size(x);
  const int64_t rows = itp_size_between(x, 0, x->ndim - 1);
  for (int64_t r = 0; r < rows; ++r) {
    /* The first column beyond the diagonal (tril) or on it (triu), without overflow for a huge diagonal. */
    const int64_t row = r % height + (upper ? 0 : 1);
    const int64_t edge = diagonal > width - row ? width : diagonal < -row ? 0 : row + diagonal;
    const int64_t begin = upper ? edge : 0, end = upper ? width : edge;
    const char *from = ref_at(x, r * width);
    char *to = ref_at(y, r * width);
    memmove(to + begin * size, from + begin * size, (size_t)((end - begin) * size));
    memset(to, 0, (size_t)(begin * size));
    memset(to + end * size, 0, (size_t)((width - end) * size));
  }
  return ITP_OK;
}

REF_KERNEL(TrilForward) {
  REF_UNPACK(TrilForward)
  return triangle("TrilForward", a.x, a.y, a.diagonal, 0, err);
}

REF_KERNEL(TriuForward) {
  REF_UNPACK(TriuForward)
  return triangle("TriuForward", a.x, a.y, a.diagonal, 1, err);
}
