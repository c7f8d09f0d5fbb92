// Cross-entropy of logits against class numbers.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "kernels/kernel.h"

namespace itp {
namespace {

itp_status check_targets(const char *name, const itp_tensor *target, int64_t classes, int64_t ignore,
                         itp_error *err) {
  const int64_t *t = data<int64_t>(target);
  for (int64_t row = 0; row < itp_numel(target); ++row) {
    if (t[row] != ignore && (t[row] < 0 || t[row] >= classes)) {
      return ITP_FAIL(err, OUT_OF_RANGE, name,
                      "target %" PRId64 " at row %" PRId64 " is outside [0, %" PRId64
                      ") and is not ignore_index",
                      t[row], row, classes);
    }
  }
  return ITP_OK;
}

// One element, from and to what is stored.
template <class T>
acc<T> read(const RowTable<T> &rows, const T *p) {
  return static_cast<acc<T>>(rows.sum(p, 1));
}

}  // namespace

ITP_CPU_KERNEL(CrossEntropyForward) {
  const RowShape shape = rows_of(a.logits);
  if (const itp_status s = check_targets("CrossEntropyForward", a.target, shape.columns, a.ignore_index, err))
    return s;
  return with_float("CrossEntropyForward", a.logits, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const RowTable<T> &rows = cpu.simd.rows<T>();
    for_rows(cpu.pool, shape, 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *x = data<T>(a.logits) + row * shape.columns;
        const int64_t target = data<int64_t>(a.target)[row];
        const A lse = rows.log_sum_exp(x, static_cast<size_t>(shape.columns));
        data<A>(a.lse)[row] = lse;
        data<A>(a.loss)[row] = target == a.ignore_index ? 0 : lse - read(rows, x + target);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(CrossEntropyBackward) {
  const RowShape shape = rows_of(a.logits);
  if (const itp_status s =
          check_targets("CrossEntropyBackward", a.target, shape.columns, a.ignore_index, err))
    return s;
  return with_float("CrossEntropyBackward", a.logits, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const RowTable<T> &rows = cpu.simd.rows<T>();
    for_rows(cpu.pool, shape, 3, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *x = data<T>(a.logits) + row * shape.columns;
        T *dx = data<T>(a.dlogits) + row * shape.columns;
        const int64_t target = data<int64_t>(a.target)[row];
        const A lse = data<A>(a.lse)[row], grad = data<A>(a.grad)[row];
        if (target == a.ignore_index) {
          memset(static_cast<void *>(dx), 0, static_cast<size_t>(shape.columns) * sizeof(T));
          continue;
        }
        const A at_target = (std::exp(read(rows, x + target) - lse) - 1) * grad;  // before dx overwrites x
        rows.cross_entropy_backward(x, dx, static_cast<size_t>(shape.columns), lse, grad);
        rows.add_bias(&at_target, nullptr, dx + target, 1);
      }
    });
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(VocabParallelCrossEntropyBackward) {
  const RowShape shape = rows_of(a.softmax);
  ITP_REQUIRE("VocabParallelCrossEntropyBackward", a.vocab_start >= 0 && a.vocab_size > 0,
              "expected a vocab_start of at least 0 and a vocab_size");
  if (const itp_status s =
          check_targets("VocabParallelCrossEntropyBackward", a.target, a.vocab_size, a.ignore_index, err))
    return s;
  return with_float("VocabParallelCrossEntropyBackward", a.softmax, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const A even = static_cast<A>(a.label_smoothing / static_cast<double>(a.vocab_size));
    const A hit = static_cast<A>(1 - a.label_smoothing);
    const int64_t valid = std::clamp<int64_t>(a.vocab_size - a.vocab_start, 0, shape.columns);
    for_rows(cpu.pool, shape, 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T *y = data<T>(a.softmax) + row * shape.columns;
        T *dx = data<T>(a.dlogits) + row * shape.columns;
        const int64_t target = data<int64_t>(a.target)[row];
        const int64_t used = target == a.ignore_index ? 0 : valid, chosen = target - a.vocab_start;
        const A grad = data<A>(a.grad)[row];
        const bool here = chosen >= 0 && chosen < used;
        const A at_target = here ? (load_one(y[chosen]) - even - hit) * grad : 0;  // before dx overwrites y
        for (int64_t i = 0; i < used; ++i) store_one((load_one(y[i]) - even) * grad, dx + i);
        if (here) store_one(at_target, dx + chosen);
        memset(static_cast<void *>(dx + used), 0, static_cast<size_t>(shape.columns - used) * sizeof(T));
      }
    });
    return ITP_OK;
  });
}

}  // namespace itp
