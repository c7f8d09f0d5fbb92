// Elementwise work over tensors of any strides: pieces of the element range go to threads, blocks of a piece
// are brought into contiguous memory of the computing type (where they are not there already), a function
// works on them, and the result is put back.
#pragma once

#include "convert.h"
#include "infinitrain/strided.h"
#include "threads.h"

namespace itp {

// Bytes of one element.
inline int64_t item_size(const itp_tensor *t) { return t->dtype.bits / 8; }

constexpr int64_t kBlock = 1024;  // elements; four operands of a block stay in the first-level cache

// How an operand is stored and what the function sees of it.
struct Form {
  int64_t stored = 0;    // bytes of an element in memory
  int64_t computed = 0;  // bytes of an element for the function, at most 8
  Convert convert =
      nullptr;  // from stored to computed for operands, the other way for the output; may be NULL
};

Form operand_form(const Simd &simd, const itp_tensor *t);             // as its class
Form output_form(const Simd &simd, const itp_tensor *t, Class from);  // from a class
Form raw_form(const itp_tensor *t);                                   // bit for bit

class Map {
 public:
  // Operands first, the output last. Returns false where shapes differ or the rank is too large.
  bool begin(const itp_tensor *const *tensors, const Form *forms, int n);

  // f(in, out, n) on each block. `cost` is about 1 for an addition: it decides how much a thread is worth.
  template <class F>
  void run(Pool &pool, int64_t cost, const F &f) const {
    run(
        pool, cost,
        [](const void *context, const void *const *in, void *out, size_t n) {
          (*static_cast<const F *>(context))(in, out, n);
        },
        &f);
  }

  int64_t numel() const { return numel_; }

 private:
  using Function = void (*)(const void *context, const void *const *in, void *out, size_t n);

  void run(Pool &pool, int64_t cost, Function function, const void *context) const;
  void piece(int64_t begin, int64_t end, Function function, const void *context) const;

  itp_strided walk_;
  Form forms_[ITP_MAX_OPERANDS];
  int n_ = 0;
  int64_t numel_ = 0;
};

// Move n elements of `size` bytes that stand `step` bytes apart to or from contiguous memory.
void gather(int64_t size, const char *from, int64_t step, char *to, int64_t n);
void scatter(int64_t size, const char *from, char *to, int64_t step, int64_t n);

}  // namespace itp
