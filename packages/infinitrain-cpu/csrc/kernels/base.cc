// Tier 0: tensors can live on the device.
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

constexpr int64_t kTile = 16;            // elements of a square that is transposed at a time
constexpr int64_t kCopyGrain = 1 << 20;  // bytes for one thread

void copy_bytes(Pool &pool, char *to, const char *from, int64_t bytes) {
  pool.range(bytes, kCopyGrain, [=](int64_t begin, int64_t end) {
    memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

template <class T>
void transpose_tile(const char *from, int64_t from_column, char *to, int64_t to_row, int64_t rows,
                    int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      T x;
      memcpy(&x, from + i * static_cast<int64_t>(sizeof(T)) + j * from_column, sizeof x);
      memcpy(to + i * to_row + j * static_cast<int64_t>(sizeof(T)), &x, sizeof x);
    }
  }
}

// A walk whose output runs along one dimension and whose operand runs along another: copied by small squares,
// so that each line of memory is used whole while it is in the cache. Returns false where the walk is not of
// this kind.
bool transpose(Pool &pool, const itp_strided &walk, int64_t size) {
  int other = -1;
  for (int d = 0; d < walk.n_outer; ++d) {
    if (walk.stride[0][d] == size) other = d;
  }
  if (other < 0 || walk.step[1] != size || walk.step[0] == size || walk.count < 4 || walk.shape[other] < 4)
    return false;
  int64_t outer = 1;
  for (int d = 0; d < walk.n_outer; ++d) outer *= d == other ? 1 : walk.shape[d];
  const int64_t rows = walk.shape[other], tiles = (rows + kTile - 1) / kTile;
  const int64_t per_tile = walk.count * kTile * size;
  pool.range(outer * tiles, per_tile >= kCopyGrain ? 1 : kCopyGrain / 4 / per_tile + 1,
             [&](int64_t begin, int64_t end) {
               for (int64_t t = begin; t < end; ++t) {
                 int64_t index = t / tiles;
                 const int64_t i = t % tiles * kTile, height = rows - i < kTile ? rows - i : kTile;
                 const char *from = walk.data[0] + i * size;
                 char *to = walk.data[1] + i * walk.stride[1][other];
                 for (int d = walk.n_outer - 1; d >= 0; --d) {
                   if (d == other) continue;
                   from += index % walk.shape[d] * walk.stride[0][d];
                   to += index % walk.shape[d] * walk.stride[1][d];
                   index /= walk.shape[d];
                 }
                 for (int64_t j = 0; j < walk.count; j += kTile) {
                   const int64_t width = walk.count - j < kTile ? walk.count - j : kTile;
                   const char *tile = from + j * walk.step[0];
                   char *out = to + j * size;
                   const int64_t column = walk.step[0], row = walk.stride[1][other];
                   switch (size) {
                     case 1:
                       transpose_tile<uint8_t>(tile, column, out, row, height, width);
                       break;
                     case 2:
                       transpose_tile<uint16_t>(tile, column, out, row, height, width);
                       break;
                     case 4:
                       transpose_tile<uint32_t>(tile, column, out, row, height, width);
                       break;
                     default:
                       transpose_tile<uint64_t>(tile, column, out, row, height, width);
                       break;
                   }
                 }
               }
             });
  return true;
}

// Run after run: what views that keep their last dimension are made of.
void copy_runs(Pool &pool, const itp_strided &start, int64_t size) {
  int64_t runs = 1;
  for (int d = 0; d < start.n_outer; ++d) runs *= start.shape[d];
  pool.range(runs, kCopyGrain / 8 / (start.count * size) + 1, [&](int64_t begin, int64_t end) {
    itp_strided walk = start;
    int64_t rest = begin;
    for (int d = walk.n_outer - 1; d >= 0; rest /= walk.shape[d--]) {
      walk.index[d] = rest % walk.shape[d];
      for (int k = 0; k < 2; ++k) walk.data[k] += walk.index[d] * walk.stride[k][d];
    }
    for (int64_t run = begin; run < end; ++run, itp_strided_next(&walk)) {
      if (walk.step[0] == size) {
        scatter(size, walk.data[0], walk.data[1], walk.step[1], walk.count);
      } else if (walk.step[1] == size) {
        gather(size, walk.data[0], walk.step[0], walk.data[1], walk.count);
      } else {
        for (int64_t i = 0; i < walk.count; ++i) {
          memcpy(walk.data[1] + i * walk.step[1], walk.data[0] + i * walk.step[0], static_cast<size_t>(size));
        }
      }
    }
  });
}

itp_status copy_compact(Provider &cpu, const char *name, const itp_tensor *x, const itp_tensor *y,
                        itp_error *err) {
  ITP_REQUIRE(name, itp_numel(x) == itp_numel(y), "element counts differ");
  if (itp_data(x) != itp_data(y)) copy_bytes(cpu.pool, itp_data(y), itp_data(x), itp_numel(x) * item_size(x));
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL(Cast) {
  const Form forms[] = {operand_form(cpu.simd, a.x), output_form(cpu.simd, a.y, class_of(dtype_of(a.x)))};
  const itp_tensor *tensors[] = {a.x, a.y};
  Map map;
  ITP_REQUIRE("Cast", map.begin(tensors, forms, 2), "x and y have different shapes");
  const int64_t size = forms[0].computed;
  map.run(cpu.pool, 2, [size](const void *const *in, void *out, size_t n) {
    memcpy(out, in[0], n * static_cast<size_t>(size));
  });
  return ITP_OK;
}

ITP_CPU_KERNEL(Fill) {
  uint64_t element = 0;
  store_scalar(cpu.simd, *a.value, dtype_of(a.y), &element);
  const Form forms[] = {raw_form(a.y)};
  const itp_tensor *tensors[] = {a.y};
  Map map;
  ITP_REQUIRE("Fill", map.begin(tensors, forms, 1), "the rank is too large");
  // A block of the pattern at once: a compact output is written by whole blocks.
  const int64_t size = item_size(a.y);
  alignas(64) char pattern[kBlock * 8];
  gather(size, reinterpret_cast<const char *>(&element), 0, pattern, kBlock);
  const bool one_byte = memcmp(pattern, pattern + 1, sizeof element - 1) == 0;
  map.run(cpu.pool, 1, [&](const void *const *, void *out, size_t n) {
    const size_t bytes = n * static_cast<size_t>(size);
    one_byte ? memset(out, pattern[0], bytes) : memcpy(out, pattern, bytes);
  });
  return ITP_OK;
}

ITP_CPU_KERNEL(Copy) {
  const itp_tensor *tensors[] = {a.x, a.y};
  const int64_t size = item_size(a.y);
  itp_strided walk;
  ITP_REQUIRE("Copy", itp_strided_begin(&walk, tensors, 2), "x and y have different shapes");
  if (walk.count == 0) return ITP_OK;
  if (walk.n_outer == 0 && walk.step[0] == size && walk.step[1] == size) {
    copy_bytes(cpu.pool, walk.data[1], walk.data[0], walk.count * size);
    return ITP_OK;
  }
  if (!transpose(cpu.pool, walk, size)) copy_runs(cpu.pool, walk, size);
  return ITP_OK;
}

ITP_CPU_KERNEL(NoOpForward) { return copy_compact(cpu, "NoOpForward", a.x, a.y, err); }

ITP_CPU_KERNEL(NoOpBackward) { return copy_compact(cpu, "NoOpBackward", a.grad, a.dx, err); }

}  // namespace itp
