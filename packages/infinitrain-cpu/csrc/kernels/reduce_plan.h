// Which elements of x make one element of y, and how to walk over them.
#pragma once

#include <algorithm>

#include "infinitrain/strided.h"
#include "map.h"

namespace itp {

constexpr int64_t kRowBlock = 4096;  // elements of a row that are summed before they go to the next level

// Dimensions of x: those kept come with y's strides, those reduced with none. Strides in bytes.
struct Plan {
  itp_strided kept;     // operands: x, y
  itp_strided reduced;  // operand: x, from 0
  int64_t outputs = 0, terms = 0;
};

inline bool make_plan(const itp_tensor *x, const itp_tensor *y, Plan *plan) {
  if (x->ndim != y->ndim || x->ndim > ITP_MAX_RANK) return false;
  const int64_t x_size = item_size(x), y_size = item_size(y);
  itp_strided_clear(&plan->kept, 2);
  itp_strided_clear(&plan->reduced, 1);
  plan->outputs = plan->terms = 1;
  for (int32_t d = 0; d < x->ndim; ++d) {
    const int64_t strides[] = {itp_stride(x, d) * x_size, itp_stride(y, d) * y_size};
    if (y->shape[d] == x->shape[d]) {
      itp_strided_add(&plan->kept, x->shape[d], strides);
      plan->outputs *= x->shape[d];
    } else if (y->shape[d] == 1) {
      itp_strided_add(&plan->reduced, x->shape[d], strides);
      plan->terms *= x->shape[d];
    } else {
      return false;
    }
  }
  plan->kept.data[0] = itp_data(x);
  plan->kept.data[1] = itp_data(y);
  plan->reduced.data[0] = nullptr;
  itp_strided_ready(&plan->kept);
  itp_strided_ready(&plan->reduced);
  return true;
}

// A walk moved to the run and place of element `index`; gives the byte offsets of that element.
inline void seek(const itp_strided &walk, int64_t index, int64_t *offsets) {
  for (int k = 0; k < walk.n_operands; ++k) offsets[k] = index % walk.count * walk.step[k];
  index /= walk.count;
  for (int d = walk.n_outer - 1; d >= 0; --d, index /= walk.shape[d + 1]) {
    for (int k = 0; k < walk.n_operands; ++k) offsets[k] += index % walk.shape[d] * walk.stride[k][d];
  }
}

// Terms [begin, end) of one output in blocks of contiguous elements as T is stored: f(block, n).
template <class T, class F>
void each_block(const Plan &plan, const char *x, int64_t begin, int64_t end, const F &f) {
  alignas(64) T room[kBlock];
  const itp_strided &walk = plan.reduced;
  int64_t filled = 0;
  while (begin < end) {
    int64_t offset = 0;
    seek(walk, begin, &offset);
    int64_t n = std::min(end - begin, walk.count - begin % walk.count);
    const char *place = x + offset;
    if (walk.step[0] == sizeof(T) && filled == 0 && n >= 64) {
      n = std::min(n, kRowBlock);
      f(reinterpret_cast<const T *>(place), n);
    } else {
      n = std::min(n, kBlock - filled);
      gather(sizeof(T), place, walk.step[0], reinterpret_cast<char *>(room + filled), n);
      filled += n;
      if (filled == kBlock) {
        f(room, filled);
        filled = 0;
      }
    }
    begin += n;
  }
  if (filled > 0) f(room, filled);
}

}  // namespace itp
