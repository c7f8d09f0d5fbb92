// How the table of one instruction set is put together from several files.
#pragma once

#include "simd/table.h"

namespace itp {
namespace ITP_ISA {

void add_elementwise(Simd *table);
void add_rows(Simd *table);
void add_random(Simd *table);

}  // namespace ITP_ISA
}  // namespace itp
