// The geometry that convolutions and pools share, one dimension at a time: output o sees the input positions
// o * stride - pad + tap * dilation for tap in [0, kernel).
#pragma once

#include <algorithm>
#include <cstdint>

namespace itp {

struct Axis {
  int64_t in, out, kernel, stride, pad, dilation;

  bool sane() const { return in >= 0 && out >= 0 && kernel > 0 && stride > 0 && pad >= 0 && dilation > 0; }
  // Output positions that a convolution has.
  int64_t outputs() const {
    const int64_t room = in + 2 * pad - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  // Every window begins in the input or its padding.
  bool begins_inside() const { return sane() && (out == 0 || (out - 1) * stride < in + pad); }

  // Every window has a tap in the input.
  bool always_sees() const {
    for (int64_t o = 0; o < out; ++o) {
      int64_t tap = 0;
      while (tap < kernel && !holds(input(o, tap))) ++tap;
      if (tap == kernel) return false;
    }
    return true;
  }

  int64_t input(int64_t output, int64_t tap) const { return output * stride - pad + tap * dilation; }
  bool holds(int64_t position) const { return position >= 0 && position < in; }
  // The output that sees an input position through a tap, or -1.
  int64_t output(int64_t position, int64_t tap) const {
    const int64_t from = position + pad - tap * dilation;
    return from >= 0 && from % stride == 0 && from / stride < out ? from / stride : -1;
  }
  // The outputs [first, last) of [begin, end) whose tap lies inside the input.
  void inside(int64_t tap, int64_t begin, int64_t end, int64_t *first, int64_t *last) const {
    const int64_t shift = tap * dilation - pad;  // position of output 0
    const int64_t low = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t high = shift >= in ? 0 : (in - shift + stride - 1) / stride;
    *first = std::clamp(low, begin, end);
    *last = std::clamp(high, *first, end);
  }
};

}  // namespace itp
