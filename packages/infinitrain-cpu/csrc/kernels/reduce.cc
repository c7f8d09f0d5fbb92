// Reductions over any dimensions of tensors of any strides.
//
// The order of additions depends on shapes alone, never on threads: rows are summed in 64 running totals
// (simd/vector.h), blocks of a row in double, columns in blocks of 64 rows.
#include <algorithm>
#include <cstring>

#include "kernels/kernel.h"
#include "kernels/reduce_plan.h"

namespace itp {
namespace {

constexpr int64_t kColumns = 1024;    // neighbouring outputs that one task keeps totals of
constexpr int64_t kRowParts = 8;      // shares of the rows, where there are few columns
constexpr int64_t kRowsInBlock = 64;  // rows added before their total goes to the next level
constexpr int64_t kSplit = 1 << 16;   // elements of one output for one task, where there are few outputs
constexpr int64_t kMaxParts = 256;    // partial results of one output

enum class Reduction { kSum, kMean, kMax, kMin, kProd };

// ---- what is reduced
// -------------------------------------------------------------------------------------------- An Op has:
// Total (what partial results are), start(), block(total, x, n), join(total, total), finish(total, terms).

template <class T>
struct FloatSum {
  using Total = double;
  const RowTable<T> &rows;

  Total start() const { return 0; }
  void block(Total *total, const T *x, int64_t n) const { *total += rows.sum(x, static_cast<size_t>(n)); }
  void join(Total *total, Total other) const { *total += other; }
};

template <class T>
struct IntegerSum {
  using Total = uint64_t;

  Total start() const { return 0; }
  void block(Total *total, const T *x, int64_t n) const {
    uint64_t sum = 0;
    for (const T *end = x + n; x != end; ++x) sum += static_cast<uint64_t>(*x);
    *total += sum;
  }
  void join(Total *total, Total other) const { *total += other; }
};

template <class T>
T value(T x) {
  return x;
}
float value(bf16 x) { return itp_bf16_to_f32(x.bits); }
float value(f16 x) { return itp_f16_to_f32(x.bits); }

// Floats in double, integers modulo 2^64. One after the other: products of every fourth would overflow where
// the running product does not.
template <class T>
struct Product {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

  Total start() const { return 1; }
  void block(Total *total, const T *x, int64_t n) const {
    for (const T *end = x + n; x != end; ++x) *total *= static_cast<Total>(value(*x));
  }
  void join(Total *total, Total other) const { *total *= other; }
};

template <class T, bool kLargest>
struct Extreme {
  struct Total {
    T best;
    bool any;
  };

  // Eight candidates, so that the comparisons do not wait for each other; NaN wins.
  static bool better(T a, T b) {
    const auto x = value(a), y = value(b);
    return (kLargest ? x > y : x < y) || (x != x && y == y);
  }
  Total start() const { return {T{}, false}; }
  void block(Total *total, const T *x, int64_t n) const {
    T best[8];
    for (T &b : best) b = x[0];
    const T *const end = x + n;
    for (; end - x >= 8; x += 8) {
      for (int k = 0; k < 8; ++k) best[k] = better(x[k], best[k]) ? x[k] : best[k];
    }
    for (; x != end; ++x) best[0] = better(*x, best[0]) ? *x : best[0];
    for (const T &b : best) join(total, {b, true});
  }
  void join(Total *total, Total other) const {
    if (other.any && (!total->any || better(other.best, total->best))) *total = other;
  }
};

// ---- how it is walked
// -------------------------------------------------------------------------------------------

template <class T, class Op>
typename Op::Total reduce_terms(const Plan &plan, const Op &op, const char *x, int64_t begin, int64_t end) {
  typename Op::Total total = op.start();
  each_block<T>(plan, x, begin, end, [&](const T *block, int64_t n) { op.block(&total, block, n); });
  return total;
}

// finish(place of the output, total) for every output.
template <class T, class Op, class Finish>
void reduce(Pool &pool, const Plan &plan, const Op &op, const Finish &finish) {
  using Total = typename Op::Total;
  const itp_strided &kept = plan.kept;
  const auto place = [&](int64_t output, const char **x, char **y) {
    int64_t offsets[2] = {};
    seek(kept, output, offsets);
    *x = kept.data[0] + offsets[0];
    *y = kept.data[1] + offsets[1];
  };
  const int64_t parts = std::min(kMaxParts, (plan.terms + kSplit - 1) / kSplit);
  if (plan.outputs < 16 && parts > 1) {  // few outputs: their terms are shared out
    for (int64_t output = 0; output < plan.outputs; ++output) {
      Total totals[kMaxParts];
      const char *x;
      char *y;
      place(output, &x, &y);
      pool.tasks(parts, [&](int64_t part) {
        totals[part] =
            reduce_terms<T>(plan, op, x, plan.terms * part / parts, plan.terms * (part + 1) / parts);
      });
      for (int64_t part = 1; part < parts; ++part) op.join(&totals[0], totals[part]);
      finish(y, totals[0]);
    }
    return;
  }
  pool.range(plan.outputs, 32768 / std::max<int64_t>(plan.terms, 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t output = begin; output < end; ++output) {
      const char *x;
      char *y;
      place(output, &x, &y);
      finish(y, reduce_terms<T>(plan, op, x, 0, plan.terms));
    }
  });
}

// Terms [begin, end) of n neighbouring outputs that are neighbours in x too: rows are added whole.
template <class T>
void add_rows(const Plan &plan, const RowTable<T> &rows, const char *x, int64_t begin, int64_t end, size_t n,
              double *total) {
  alignas(64) acc<T> block[kColumns];
  std::fill(total, total + n, 0.0);
  while (begin < end) {
    std::fill(block, block + n, acc<T>(0));
    const auto row = [&](int64_t index) {
      int64_t offset = 0;
      seek(plan.reduced, index, &offset);
      return reinterpret_cast<const T *>(x + offset);
    };
    const int64_t stop = std::min(begin + kRowsInBlock, end);
    for (; begin + 4 <= stop; begin += 4) {
      const T *four[] = {row(begin), row(begin + 1), row(begin + 2), row(begin + 3)};
      rows.add_four_to(four, block, n);
    }
    for (; begin < stop; ++begin) rows.add_to(row(begin), block, n);
    for (size_t j = 0; j < n; ++j) total[j] += static_cast<double>(block[j]);
  }
}

template <class T, class Finish>
void sum_columns(Pool &pool, const Plan &plan, const RowTable<T> &rows, const Finish &finish) {
  const itp_strided &kept = plan.kept;
  const int64_t per_run = (kept.count + kColumns - 1) / kColumns,
                chunks = plan.outputs / kept.count * per_run;
  const int64_t parts = chunks < 2 * kRowParts ? std::clamp<int64_t>(plan.terms / 32, 1, kRowParts) : 1;
  // f(x, y, n) with a chunk's places and outputs.
  const auto with_chunk = [&](int64_t chunk, const auto &f) {
    const int64_t column = chunk % per_run * kColumns;
    int64_t offsets[2] = {};
    seek(kept, chunk / per_run * kept.count + column, offsets);
    f(kept.data[0] + offsets[0], kept.data[1] + offsets[1], std::min(kColumns, kept.count - column));
  };
  if (parts == 1) {
    pool.range(chunks, 32768 / (plan.terms * std::min(kColumns, kept.count)) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t chunk = begin; chunk < end; ++chunk) {
                   with_chunk(chunk, [&](const char *x, char *y, int64_t n) {
                     double total[kColumns];
                     add_rows<T>(plan, rows, x, 0, plan.terms, static_cast<size_t>(n), total);
                     finish(y, total, n);
                   });
                 }
               });
    return;
  }
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {  // few columns: their rows are shared out
    with_chunk(chunk, [&](const char *x, char *y, int64_t n) {
      double totals[kRowParts][kColumns];
      pool.range(parts, 32768 / (plan.terms * n / parts + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          add_rows<T>(plan, rows, x, plan.terms * part / parts, plan.terms * (part + 1) / parts,
                      static_cast<size_t>(n), totals[part]);
        }
      });
      for (int64_t part = 1; part < parts; ++part) {
        for (int64_t j = 0; j < n; ++j) totals[0][j] += totals[part][j];
      }
      finish(y, totals[0], n);
    });
  }
}

template <class T>
void put(char *place, T x) {
  memcpy(place, &x, sizeof x);
}

template <class T>
void sum_floats(Provider &cpu, const Plan &plan, Reduction kind, bool accumulate) {
  const RowTable<T> &rows = cpu.simd.rows<T>();
  const double terms = static_cast<double>(plan.terms);
  const auto result = [=](double total) {
    return static_cast<acc<T>>(kind == Reduction::kMean ? total / terms : total);
  };
  const itp_strided &kept = plan.kept;
  const bool columns = plan.terms > 1 && kept.count >= 8 && kept.step[0] == sizeof(T) &&
                       kept.step[1] == sizeof(T) && plan.reduced.step[0] != sizeof(T);
  if (columns) {
    sum_columns<T>(cpu.pool, plan, rows, [&](char *place, const double *totals, int64_t n) {
      acc<T> results[kColumns];
      for (int64_t j = 0; j < n; ++j) results[j] = result(totals[j]);
      T *y = reinterpret_cast<T *>(place);
      rows.add_bias(results, accumulate ? y : nullptr, y, static_cast<size_t>(n));
    });
  } else {
    reduce<T>(cpu.pool, plan, FloatSum<T>{rows}, [&](char *place, double total) {
      const acc<T> one = result(total);
      T *y = reinterpret_cast<T *>(place);
      rows.add_bias(&one, accumulate ? y : nullptr, y, 1);
    });
  }
}

// Call f(T()) with the type that elements of `t` have in memory.
template <class F>
void with_stored_type(const itp_tensor *t, const F &f) {
  switch (dtype_of(t)) {
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
    case ITP_DT_F64:
      return f(double());
    default:
      return f(uint8_t());
  }
}

itp_status reduction(Provider &cpu, const char *name, Reduction kind, const itp_tensor *x,
                     const itp_tensor *y, itp_error *err) {
  Plan plan;
  ITP_REQUIRE(name, make_plan(x, y, &plan), "y's sizes must be x's or 1");
  if (plan.outputs == 0) return ITP_OK;
  const bool extreme = kind == Reduction::kMax || kind == Reduction::kMin;
  ITP_REQUIRE(name, !extreme || plan.terms > 0, "the largest and smallest of nothing do not exist");
  with_stored_type(x, [&](auto element) {
    using T = decltype(element);
    const auto store = [](char *place, auto total) { put<T>(place, total.best); };
    if (kind == Reduction::kMax) {
      reduce<T>(cpu.pool, plan, Extreme<T, true>(), store);
    } else if (kind == Reduction::kMin) {
      reduce<T>(cpu.pool, plan, Extreme<T, false>(), store);
    } else if (kind == Reduction::kProd) {
      reduce<T>(cpu.pool, plan, Product<T>(), [&](char *place, auto total) {
        if constexpr (std::is_integral_v<T>) {
          put<T>(place, static_cast<T>(total));
        } else {
          const acc<T> one = static_cast<acc<T>>(total);
          cpu.simd.rows<T>().add_bias(&one, nullptr, reinterpret_cast<T *>(place), 1);
        }
      });
    } else if constexpr (std::is_integral_v<T>) {
      reduce<T>(cpu.pool, plan, IntegerSum<T>(),
                [](char *place, uint64_t total) { put<T>(place, static_cast<T>(total)); });
    } else {
      sum_floats<T>(cpu, plan, kind, false);
    }
  });
  return ITP_OK;
}

}  // namespace

ITP_CPU_KERNEL(SumForward) { return reduction(cpu, "SumForward", Reduction::kSum, a.x, a.y, err); }
ITP_CPU_KERNEL(ProdForward) { return reduction(cpu, "ProdForward", Reduction::kProd, a.x, a.y, err); }
ITP_CPU_KERNEL(MeanForward) { return reduction(cpu, "MeanForward", Reduction::kMean, a.x, a.y, err); }
ITP_CPU_KERNEL(MaxForward) { return reduction(cpu, "MaxForward", Reduction::kMax, a.x, a.y, err); }
ITP_CPU_KERNEL(MinForward) { return reduction(cpu, "MinForward", Reduction::kMin, a.x, a.y, err); }

// A sum of columns like the others, so it stands here and not with the products.
ITP_CPU_KERNEL(LinearBackwardBias) {
  ITP_REQUIRE("LinearBackwardBias",
              a.grad->ndim == 2 && a.dbias->ndim == 1 && a.grad->shape[1] == a.dbias->shape[0],
              "expected (R, O) and (O)");
  int64_t shape[] = {1, a.dbias->shape[0]};
  itp_tensor row = *a.dbias;
  row.ndim = 2;
  row.shape = shape;
  row.strides = nullptr;
  Plan plan;
  make_plan(a.grad, &row, &plan);
  return with_float("LinearBackwardBias", a.grad, err, [&](auto element) {
    using T = decltype(element);
    if (a.dbias->shape[0] > 0) sum_floats<T>(cpu, plan, Reduction::kSum, a.accumulate != 0);
    return ITP_OK;
  });
}

ITP_CPU_KERNEL(SquaredNorm) {
  const int64_t n = itp_numel(a.x);
  const int64_t parts = std::min(kMaxParts, (n + kSplit - 1) / kSplit);
  return with_float("SquaredNorm", a.x, err, [&](auto element) {
    using T = decltype(element);
    using A = acc<T>;
    const T *x = data<T>(a.x);
    double totals[kMaxParts] = {};
    cpu.pool.tasks(parts, [&](int64_t part) {
      const int64_t end = n * (part + 1) / parts;
      for (int64_t i = n * part / parts; i < end; i += kRowBlock) {
        totals[part] +=
            cpu.simd.rows<T>().sum_squares(x + i, static_cast<size_t>(std::min(end - i, kRowBlock)));
      }
    });
    double total = 0;
    for (int64_t part = 0; part < parts; ++part) total += totals[part];
    A *y = data<A>(a.y);
    *y = static_cast<A>(a.accumulate ? static_cast<double>(*y) + total : total);
    return ITP_OK;
  });
}

}  // namespace itp
