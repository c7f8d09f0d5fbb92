// From dtypes to the types that arithmetic is done in, and back.
#pragma once

#include <cstddef>

#include "infinitrain/provider.h"
#include "simd/table.h"

namespace itp {

// What a dtype computes in: half types in float, integers at full width (cut when stored, which is what
// wrapping means), bool as 0 or 1.
enum class Class { kF32, kF64, kI64, kU64 };

Class class_of(int dtype);

using Convert = void (*)(const void *from, void *to, size_t n);

// Elements of `dtype` to its class. NULL where they are the same.
Convert load_function(const Simd &simd, int dtype);
// Elements of a class to any dtype, by the rules of Cast. NULL where they are the same.
Convert store_function(const Simd &simd, Class from, int dtype);

// A scalar attribute as one element of `dtype` (at most 8 bytes at `out`).
void store_scalar(const Simd &simd, const itp_value &value, int dtype, void *out);
// A scalar attribute in a class.
void load_scalar(const itp_value &value, Class to, void *out);
// The same by way of `dtype`: rounded, saturated or cut to it, then in its class.
void load_converted(const Simd &simd, const itp_value &value, int dtype, void *out);

}  // namespace itp
