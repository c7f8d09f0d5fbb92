/* Order and positions in rows. The order is total: by key, then by position, so that any way of sorting gives
 * the stable result. Heaps in the output's own memory need no other. */
#include <string.h>

#include "block.h"

/* One row and the direction of its order; with data NULL, positions alone are ordered. */
typedef struct order {
  const char *data;
  int64_t size; /* bytes of an element */
  int dtype;
  uint64_t flip; /* all ones where the largest comes first */
} order;

/* A number that grows with the element: -0 as +0, NaN above everything. */
static uint64_t key(const order *o, int64_t i) {
  const uint64_t top = UINT64_C(1) << 63;
  ref_buffer room;
  double v = 0.0;
  uint64_t bits;
  if (o->data == NULL) return 0;
  const void *x = ref_load(&room, o->dtype, o->data + i * o->size, o->size, 1);
  switch (ref_class_of(o->dtype)) {
    case REF_I64:
      memcpy(&bits, x, sizeof bits);
      return (bits ^ top) ^ o->flip;
    case REF_U64:
      memcpy(&bits, x, sizeof bits);
      return bits ^ o->flip;
    case REF_F32:
      v = *(const float *)x;
      break;
    default:
      v = *(const double *)x;
  }
  if (v != v) return UINT64_MAX ^ o->flip;
  if (v == 0.0) v = 0.0;
  memcpy(&bits, &v, sizeof bits);
  return (bits & top ? ~bits : bits | top) ^ o->flip;
}

static int before(const order *o, int64_t i, int64_t j) {
  const uint64_t a = key(o, i), b = key(o, j);
  return a != b ? a < b : i < j;
}

/* Let heap[at] sink to its place among n positions; the last in order is the root. */
static void sink(const order *o, int64_t *heap, int64_t n, int64_t at) {
  const int64_t moved = heap[at];
  for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && before(o, heap[child], heap[child + 1])) ++child;
    if (!before(o, moved, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static void make_heap(const order *o, int64_t *heap, int64_t n) {
  for (int64_t i = n / 2 - 1; i >= 0; --i) sink(o, heap, n, i);
}

static void sort_heap(const order *o, int64_t *heap, int64_t n) {
  for (int64_t last = n - 1; last > 0; --last) {
    const int64_t root = heap[0];
    heap[0] = heap[last];
    heap[last] = root;
    sink(o, heap, last, 0);
  }
}

/* The first k of each row of x in an order. */
static itp_status first_of_rows(const char *name, const itp_tensor *x, const itp_tensor *values,
                                const itp_tensor *indices, int64_t k, int descending, int sorted,
                                itp_error *err) {
  REF_REQUIRE(name, x->ndim > 0, "x (R, N) expected");
  const int64_t n = x->shape[x->ndim - 1], rows = itp_size_between(x, 0, x->ndim - 1);
  REF_REQUIRE(name, k >= 0 && k <= n, "k must be in [0, N]");
  REF_REQUIRE(name, itp_numel(values) == rows * k && itp_numel(indices) == rows * k,
              "values and indices of k elements a row expected");
  const int64_t size = itp_element_size(x);
  for (int64_t r = 0; r < rows && k > 0; ++r) {
    const order by_value = {ref_at(x, r * n), size, itp_dtype_bit(x->dtype), descending ? UINT64_MAX : 0};
    const order by_position = {NULL, 0, 0, 0};
    int64_t *at = (int64_t *)(void *)ref_at(indices, r * k);
    for (int64_t i = 0; i < k; ++i) at[i] = i;
    make_heap(&by_value, at, k);
    for (int64_t i = k; i < n; ++i) {
      if (!before(&by_value, i, at[0])) continue;
      at[0] = i;
      sink(&by_value, at, k, 0);
    }
    if (!sorted) make_heap(&by_position, at, k);
    sort_heap(sorted ? &by_value : &by_position, at, k);
    for (int64_t i = 0; i < k; ++i)
      memcpy(ref_at(values, r * k + i), by_value.data + at[i] * size, (size_t)size);
  }
  return ITP_OK;
}

REF_KERNEL(TopKForward) {
  REF_UNPACK(TopKForward)
  return first_of_rows("TopKForward", a.x, a.values, a.indices, a.k, a.largest, a.sorted, err);
}

REF_KERNEL(SortForward) {
  REF_UNPACK(SortForward)
  const int64_t n = a.x->ndim > 0 ? a.x->shape[a.x->ndim - 1] : 0;
  return first_of_rows("SortForward", a.x, a.values, a.indices, n, a.descending, 1, err);
}

/* NaN wins in both directions: in the smallest's order it goes below everything. */
static itp_status arg_extreme(const char *name, const itp_tensor *x, const itp_tensor *y, int largest,
                              itp_error *err) {
  REF_REQUIRE(name, x->ndim > 0, "x (R, N) expected");
  const int64_t n = x->shape[x->ndim - 1], rows = itp_size_between(x, 0, x->ndim - 1);
  REF_REQUIRE(name, itp_numel(y) == rows, "y of one element a row expected");
  REF_REQUIRE(name, n > 0 || rows == 0, "a row without elements has no extreme");
  const int64_t size = itp_element_size(x);
  for (int64_t r = 0; r < rows; ++r) {
    const order o = {ref_at(x, r * n), size, itp_dtype_bit(x->dtype), largest ? UINT64_MAX : 0};
    const ref_class kind = ref_class_of(o.dtype);
    const int floats = !largest && (kind == REF_F32 || kind == REF_F64);
    const uint64_t nan = UINT64_MAX;
    int64_t best = 0;
    uint64_t best_key = key(&o, 0);
    for (int64_t i = 1; i < n && !(floats && best_key == nan); ++i) {
      const uint64_t k = key(&o, i);
      if (k < best_key || (floats && k == nan)) {
        best = i;
        best_key = k;
      }
    }
    memcpy(ref_at(y, r), &best, sizeof best);
  }
  return ITP_OK;
}

REF_KERNEL(ArgMaxForward) {
  REF_UNPACK(ArgMaxForward)
  return arg_extreme("ArgMaxForward", a.x, a.y, 1, err);
}

REF_KERNEL(ArgMinForward) {
  REF_UNPACK(ArgMinForward)
  return arg_extreme("ArgMinForward", a.x, a.y, 0, err);
}
