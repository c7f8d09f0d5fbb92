// Order and positions in rows. An element becomes a key that grows with it, beside its position, so that
// pairs are ordered in full and any sorting is stable.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

constexpr uint64_t kTop = uint64_t{1} << 63;

struct Bool {  // any bits but 0 are true
  uint8_t bits;
};

// -0 has the key of +0; every NaN has the same, above infinity's.
uint64_t key_of(double x) {
  if (x != x) return UINT64_MAX;
  x = x == 0 ? 0.0 : x;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits & kTop ? ~bits : bits | kTop;
}
uint64_t key_of(float x) { return key_of(static_cast<double>(x)); }
uint64_t key_of(bf16 x) { return key_of(itp_bf16_to_f32(x.bits)); }
uint64_t key_of(f16 x) { return key_of(itp_f16_to_f32(x.bits)); }
uint64_t key_of(Bool x) { return x.bits != 0; }
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
uint64_t key_of(T x) {
  return static_cast<uint64_t>(x) ^ (std::is_signed_v<T> ? kTop : 0);
}

// Call f(T()) with the type of `t`'s elements.
template <class F>
void with_ordered_type(const itp_tensor *t, const F &f) {
  switch (dtype_of(t)) {
    case ITP_DT_BOOL:
      return f(Bool());
    case ITP_DT_U8:
      return f(uint8_t());
    case ITP_DT_I8:
      return f(int8_t());
    case ITP_DT_U16:
      return f(uint16_t());
    case ITP_DT_I16:
      return f(int16_t());
    case ITP_DT_U32:
      return f(uint32_t());
    case ITP_DT_I32:
      return f(int32_t());
    case ITP_DT_U64:
      return f(uint64_t());
    case ITP_DT_I64:
      return f(int64_t());
    case ITP_DT_BF16:
      return f(bf16());
    case ITP_DT_F16:
      return f(f16());
    case ITP_DT_F32:
      return f(float());
    default:
      return f(double());
  }
}

struct Pair {
  uint64_t key;
  int64_t position;

  bool operator<(const Pair &other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};

bool by_position(const Pair &a, const Pair &b) { return a.position < b.position; }

// Rows are shared out; a lone long row is sorted in parts, which are then merged.
constexpr int64_t kPart = 1 << 16;

// Merge [first, middle) and [middle, end) into `to`.
void merge(const Pair *first, const Pair *middle, const Pair *end, Pair *to) {
  std::merge(first, middle, middle, end, to);
}

// Sort n pairs with the help of n more; gives where the result lies.
Pair *sort_long(Pool &pool, Pair *pairs, Pair *room, int64_t n) {
  pool.tasks((n + kPart - 1) / kPart,
             [&](int64_t part) { std::sort(pairs + part * kPart, pairs + std::min(n, (part + 1) * kPart)); });
  for (int64_t width = kPart; width < n; width *= 2) {
    pool.tasks((n + 2 * width - 1) / (2 * width), [&](int64_t part) {
      const int64_t begin = part * 2 * width, middle = std::min(n, begin + width);
      merge(pairs + begin, pairs + middle, pairs + std::min(n, begin + 2 * width), room + begin);
    });
    std::swap(pairs, room);
  }
  return pairs;
}

// The first k of each row in an order.
struct First {
  const itp_tensor *x, *values, *indices;
  int64_t k;
  bool descending, sorted;

  RowShape shape() const { return rows_of(x); }
  bool alone() const { return k == shape().columns && k > kPart; }
  uint64_t workspace() const {
    return static_cast<uint64_t>(itp_numel(x)) * sizeof(Pair) +
           (alone() ? static_cast<uint64_t>(k) * sizeof(Pair) : 0);
  }

  template <class T>
  void load(int64_t row, int64_t begin, int64_t end, Pair *pairs) const {
    const T *from = data<T>(x) + row * shape().columns;
    const uint64_t flip = descending ? UINT64_MAX : 0;
    for (int64_t i = begin; i < end; ++i) pairs[i] = {key_of(from[i]) ^ flip, i};
  }

  template <class T>
  void store(int64_t row, const Pair *pairs) const {
    const T *from = data<T>(x) + row * shape().columns;
    T *value = data<T>(values) + row * k;
    int64_t *index = data<int64_t>(indices) + row * k;
    for (int64_t i = 0; i < k; ++i) {
      index[i] = pairs[i].position;
      value[i] = from[pairs[i].position];
    }
  }

  template <class T>
  void run(Pool &pool, Pair *room) const {
    const RowShape rows = shape();
    const int64_t n = rows.columns;
    if (alone()) {
      for (int64_t r = 0; r < rows.rows; ++r) {
        pool.range(n, kPart, [&](int64_t begin, int64_t end) { load<T>(r, begin, end, room); });
        store<T>(r, sort_long(pool, room, room + n, n));
      }
      return;
    }
    for_rows(pool, rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        Pair *pairs = room + r * n;
        load<T>(r, 0, n, pairs);
        if (k < n) std::nth_element(pairs, pairs + k, pairs + n);
        if (sorted) {
          std::sort(pairs, pairs + k);
        } else {
          std::sort(pairs, pairs + k, by_position);
        }
        store<T>(r, pairs);
      }
    });
  }

  itp_status launch(Pool &pool, const char *name, const itp_launch *l, itp_error *err) const {
    ITP_REQUIRE(name, x->ndim > 0, "x is not (R, N)");
    const RowShape rows = shape();
    ITP_REQUIRE(name, k >= 0 && k <= rows.columns, "k is outside [0, N]");
    ITP_REQUIRE(name, itp_numel(values) == rows.rows * k && itp_numel(indices) == rows.rows * k,
                "values and indices do not have k elements a row");
    if (rows.rows == 0 || k == 0) return ITP_OK;
    if (const itp_status s = check_workspace(name, l, workspace(), err)) return s;
    with_ordered_type(x,
                      [&](auto element) { run<decltype(element)>(pool, static_cast<Pair *>(l->workspace)); });
    return ITP_OK;
  }
};

First first_of(const itp_args_TopKForward &a) {
  return {a.x, a.values, a.indices, a.k, a.largest != 0, a.sorted != 0};
}

First first_of(const itp_args_SortForward &a) {
  return {a.x, a.values, a.indices, rows_of(a.x).columns, a.descending != 0, true};
}

itp_status topk_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_TopKForward a;
  if (const itp_status status = itp_unpack_TopKForward(l, &a, err)) return status;
  *bytes = first_of(a).workspace();
  return ITP_OK;
}

itp_status sort_workspace(void *, const itp_launch *l, uint64_t *bytes, itp_error *err) {
  itp_args_SortForward a;
  if (const itp_status status = itp_unpack_SortForward(l, &a, err)) return status;
  *bytes = first_of(a).workspace();
  return ITP_OK;
}

// The first position of the smallest of keys as `flip` turns them; with kNan, of the first NaN if there is
// one.
template <class T, bool kNan>
int64_t first_extreme(const T *x, int64_t n, uint64_t flip) {
  uint64_t best = key_of(x[0]);
  if (kNan && best == UINT64_MAX) return 0;
  best ^= flip;
  int64_t at = 0;
  for (int64_t i = 1; i < n; ++i) {
    const uint64_t plain = key_of(x[i]);
    if (kNan && plain == UINT64_MAX) return i;
    if ((plain ^ flip) < best) {
      best = plain ^ flip;
      at = i;
    }
  }
  return at;
}

itp_status arg_extreme(Pool &pool, const char *name, const itp_tensor *x, const itp_tensor *y, bool largest,
                       itp_error *err) {
  ITP_REQUIRE(name, x->ndim > 0, "x is not (R, N)");
  const RowShape rows = rows_of(x);
  ITP_REQUIRE(name, itp_numel(y) == rows.rows, "y does not have one element a row");
  ITP_REQUIRE(name, rows.rows == 0 || rows.columns > 0, "the largest and smallest of nothing do not exist");
  with_ordered_type(x, [&](auto element) {
    using T = decltype(element);
    constexpr bool floats = !std::is_integral_v<T> && !std::is_same_v<T, Bool>;
    for_rows(pool, rows, 2, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        data<int64_t>(y)[r] =
            first_extreme<T, floats>(data<T>(x) + r * rows.columns, rows.columns, largest ? UINT64_MAX : 0);
      }
    });
  });
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL_WITH(TopKForward, topk_workspace) {
  return first_of(a).launch(cpu.pool, "TopKForward", l, err);
}

ITP_CPU_KERNEL_WITH(SortForward, sort_workspace) {
  return first_of(a).launch(cpu.pool, "SortForward", l, err);
}

ITP_CPU_KERNEL(ArgMaxForward) { return arg_extreme(cpu.pool, "ArgMaxForward", a.x, a.y, true, err); }

ITP_CPU_KERNEL(ArgMinForward) { return arg_extreme(cpu.pool, "ArgMinForward", a.x, a.y, false, err); }

}  // namespace itp
