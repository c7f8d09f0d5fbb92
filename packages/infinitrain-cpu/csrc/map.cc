#include "map.h"

#include <cstring>

#include "infinitrain/dtype.h"

namespace itp {
namespace {

template <class T>
void move(const char *from, int64_t from_step, char *to, int64_t to_step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T x;
    memcpy(&x, from + i * from_step, sizeof x);
    memcpy(to + i * to_step, &x, sizeof x);
  }
}

template <bool kToContiguous>
void move_any(int64_t size, const char *from, char *to, int64_t step, int64_t n) {
  if (step == size) {
    memcpy(to, from, static_cast<size_t>(n * size));
    return;
  }
  const int64_t from_step = kToContiguous ? step : size, to_step = kToContiguous ? size : step;
  switch (size) {
    case 1:
      return move<uint8_t>(from, from_step, to, to_step, n);
    case 2:
      return move<uint16_t>(from, from_step, to, to_step, n);
    case 4:
      return move<uint32_t>(from, from_step, to, to_step, n);
    default:
      return move<uint64_t>(from, from_step, to, to_step, n);
  }
}

// A place in a walk over runs: `at` elements into the current run.
struct Cursor {
  itp_strided walk;
  int64_t at;

  void advance(int64_t n) {
    at += n;
    while (walk.count > 0 && at >= walk.count) {
      at -= walk.count;
      itp_strided_next(&walk);
    }
  }
};

Cursor cursor_at(const itp_strided &start, int64_t position) {
  Cursor cursor = {start, position % start.count};
  int64_t run = position / start.count;
  for (int d = start.n_outer - 1; d >= 0; --d) {
    const int64_t index = run % start.shape[d];
    run /= start.shape[d];
    cursor.walk.index[d] = index;
    for (int k = 0; k < start.n_operands; ++k) cursor.walk.data[k] += index * start.stride[k][d];
  }
  return cursor;
}

// Call f(place in operand k, step, elements done, elements here) for the runs that the next n elements lie
// in.
template <class F>
void each_run(Cursor cursor, int k, int64_t n, const F &f) {
  for (int64_t done = 0; done < n;) {
    const int64_t here = cursor.walk.count - cursor.at < n - done ? cursor.walk.count - cursor.at : n - done;
    f(cursor.walk.data[k] + cursor.at * cursor.walk.step[k], cursor.walk.step[k], done, here);
    done += here;
    cursor.advance(here);
  }
}

struct Room {
  alignas(64) char stored[kBlock * 8];
  alignas(64) char computed[kBlock * 8];
};

}  // namespace

void gather(int64_t size, const char *from, int64_t step, char *to, int64_t n) {
  move_any<true>(size, from, to, step, n);
}
void scatter(int64_t size, const char *from, char *to, int64_t step, int64_t n) {
  move_any<false>(size, from, to, step, n);
}

Form operand_form(const Simd &simd, const itp_tensor *t) {
  const int dtype = itp_dtype_bit(t->dtype);
  const Convert load = load_function(simd, dtype);
  return {item_size(t), class_of(dtype) == Class::kF32 ? 4 : 8, load};
}

Form output_form(const Simd &simd, const itp_tensor *t, Class from) {
  return {item_size(t), from == Class::kF32 ? 4 : 8, store_function(simd, from, itp_dtype_bit(t->dtype))};
}

Form raw_form(const itp_tensor *t) { return {item_size(t), item_size(t), nullptr}; }

bool Map::begin(const itp_tensor *const *tensors, const Form *forms, int n) {
  if (!itp_strided_begin(&walk_, tensors, n)) return false;
  n_ = n;
  for (int k = 0; k < n; ++k) forms_[k] = forms[k];
  numel_ = itp_numel(tensors[n - 1]);
  return true;
}

void Map::run(Pool &pool, int64_t cost, Function function, const void *context) const {
  // A thread is worth waking for about 20 microseconds of work.
  const int64_t grain = (32768 / cost + kBlock - 1) / kBlock * kBlock;
  pool.range(numel_, grain, [&](int64_t begin, int64_t end) { piece(begin, end, function, context); });
}

void Map::piece(int64_t begin, int64_t end, Function function, const void *context) const {
  Room rooms[ITP_MAX_OPERANDS];
  const void *in[ITP_MAX_OPERANDS];
  Cursor cursor = cursor_at(walk_, begin);
  const bool long_runs = walk_.count >= 256;
  while (begin < end) {
    int64_t n = end - begin < kBlock ? end - begin : kBlock;
    const int64_t left = cursor.walk.count - cursor.at;
    if (long_runs && n > left) n = left;
    const bool one_run = n <= left;
    for (int k = 0; k < n_ - 1; ++k) {
      const Form &form = forms_[k];
      const char *place = cursor.walk.data[k] + cursor.at * cursor.walk.step[k];
      if (!one_run || cursor.walk.step[k] != form.stored) {
        each_run(cursor, k, n, [&](const char *from, int64_t step, int64_t done, int64_t here) {
          gather(form.stored, from, step, rooms[k].stored + done * form.stored, here);
        });
        place = rooms[k].stored;
      }
      if (form.convert != nullptr) {
        form.convert(place, rooms[k].computed, static_cast<size_t>(n));
        place = rooms[k].computed;
      }
      in[k] = place;
    }
    const int last = n_ - 1;
    const Form &form = forms_[last];
    char *place = cursor.walk.data[last] + cursor.at * cursor.walk.step[last];
    const bool direct = one_run && cursor.walk.step[last] == form.stored;
    char *stored = direct ? place : rooms[last].stored;
    char *out = form.convert != nullptr ? rooms[last].computed : stored;
    function(context, in, out, static_cast<size_t>(n));
    if (form.convert != nullptr) form.convert(out, stored, static_cast<size_t>(n));
    if (!direct) {
      each_run(cursor, last, n, [&](char *to, int64_t step, int64_t done, int64_t here) {
        scatter(form.stored, stored + done * form.stored, to, step, here);
      });
    }
    begin += n;
    cursor.advance(n);
  }
}

}  // namespace itp
