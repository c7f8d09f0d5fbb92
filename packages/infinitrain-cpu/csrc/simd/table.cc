// The table of the instruction set that this file is compiled for: ITP_ISA names it.
#include "simd/parts.h"

#define ITP_JOIN_(a, b) a##b
#define ITP_JOIN(a, b) ITP_JOIN_(a, b)
#define ITP_TEXT_(a) #a
#define ITP_TEXT(a) ITP_TEXT_(a)

namespace itp {

const Simd &ITP_JOIN(simd_, ITP_ISA)() {
  static const Simd *table = [] {
    static Simd t = {};
    t.name = ITP_TEXT(ITP_ISA);
    ITP_ISA::add_elementwise(&t);
    ITP_ISA::add_rows(&t);
    ITP_ISA::add_random(&t);
    return &t;
  }();
  return *table;
}

}  // namespace itp
