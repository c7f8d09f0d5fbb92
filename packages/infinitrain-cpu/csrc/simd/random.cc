// itp_normal of infinitrain/philox.h on vectors of double: the same operations in the same order, each
// exactly rounded, so the same bits (tests compare them). Compiled once per instruction set.
#include "simd/math.h"
#include "simd/parts.h"

namespace itp {
namespace ITP_ISA {
namespace {

typedef uint64_t u64v __attribute__((vector_size(kBytes)));
typedef uint32_t u32h __attribute__((vector_size(kBytes / 2)));

// Low halves of 64-bit lanes multiplied to 64 bits; upper halves do not matter.
ITP_INLINE u64v multiply_low(u64v a, uint64_t b) {
  const u64v factor = u64v{} + b;
#if defined(__AVX512F__)
  return (u64v)_mm512_mul_epu32((__m512i)a, (__m512i)factor);
#elif defined(__AVX2__)
  return (u64v)_mm256_mul_epu32((__m256i)a, (__m256i)factor);
#else
  return (a & 0xFFFFFFFF) * factor;
#endif
}

// Words of blocks [counter, counter + blocks), one block a lane. What a lane's upper half holds is of no
// account.
void philox(uint64_t seed, uint64_t counter, uint32_t *words, size_t blocks) {
  constexpr size_t w = kLanes<f64v>;
  u64v lane;
  for (size_t i = 0; i < w; ++i) lane[i] = i;
  for (size_t begin = 0; begin < blocks; begin += w) {
    const u64v count = lane + (counter + begin);
    u64v c0 = count, c1 = count >> 32, c2 = {}, c3 = {};
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const u64v p0 = multiply_low(c0, 0xD2511F53u), p1 = multiply_low(c2, 0xCD9E8D57u);
      c0 = (p1 >> 32) ^ c1 ^ uint64_t{k0};
      c2 = (p0 >> 32) ^ c3 ^ uint64_t{k1};
      c1 = p1;
      c3 = p0;
    }
    uint64_t out[4][w];
    raw_store(out[0], c0);
    raw_store(out[1], c1);
    raw_store(out[2], c2);
    raw_store(out[3], c3);
    const size_t here = blocks - begin < w ? blocks - begin : w;
    for (size_t i = 0; i < here; ++i) {
      for (int j = 0; j < 4; ++j) words[(begin + i) * 4 + j] = static_cast<uint32_t>(out[j][i]);
    }
  }
}

// Whole numbers below 2^52, exactly: they become the fraction of a number in [2^52, 2^53).
ITP_INLINE f64v to_double(i64v x) { return (f64v)(x | INT64_C(0x4330000000000000)) - 0x1p52; }

ITP_INLINE f64v polynomial7(const double (&c)[8], f64v x) {
  f64v sum = all<f64v>(c[0]);
  for (int k = 1; k < 8; ++k) sum = sum * x + c[k];
  return sum;
}

ITP_INLINE f64v exact_log(f64v x) {
  const i64v bits = (i64v)x;
  f64v exponent = to_double(bits >> 52) - 1023.0;
  f64v m = (f64v)((bits & INT64_C(0xFFFFFFFFFFFFF)) | INT64_C(0x3FF0000000000000));
  const auto large = m > 1.4142135623730951;
  m = large ? m * 0.5 : m;
  exponent = large ? exponent + 1.0 : exponent;
  const f64v s = (m - 1.0) / (m + 1.0);
  const f64v z = s * s;
  f64v tail = all<f64v>(1.0 / 23.0);
  for (int k = 21; k >= 3; k -= 2) tail = tail * z + 1.0 / static_cast<double>(k);
  return exponent * 0x1.62e42fee00000p-1 +
         (exponent * 0x1.a39ef35793c76p-33 + (2.0 * s + 2.0 * s * (z * tail)));
}

constexpr double kA[8] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                          45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                          133.14166789178437745, 3.387132872796366608};
constexpr double kB[8] = {
    5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
constexpr double kC[8] = {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
                          1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
                          4.6303378461565452959,    1.42343711074968357734};
constexpr double kD[8] = {
    1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
    0.68976733498510000455,    1.6763848301838038494,   2.05319162663775882187,   1.0};

ITP_INLINE i64v load_words(const uint32_t *words, size_t n) {
  u32h some = {};
  if (n == static_cast<size_t>(kLanes<f64v>)) {
    some = raw_load<u32h>(words);
  } else {
    for (size_t i = 0; i < n; ++i) some[i] = words[i];
  }
  return __builtin_convertvector(some, i64v);
}

ITP_INLINE f64v probability(i64v words) { return (to_double(words) + 0.5) * 0x1p-32; }

// |q| <= 0.425, five of six words.
ITP_INLINE f64v central_normal(i64v words) {
  const f64v q = probability(words) - 0.5;
  const f64v r = 0.180625 - q * q;
  return q * polynomial7(kA, r) / polynomial7(kB, r);
}
ITP_INLINE f64v outer_normal(i64v words) {
  const f64v p = probability(words), q = p - 0.5;
  const f64v r = sqrt(-exact_log(q < 0.0 ? p : 1.0 - p)) - 1.6;
  const f64v z = polynomial7(kC, r) / polynomial7(kD, r);
  return q < 0.0 ? -z : z;
}
// The words for which |q| <= 0.425, that is [first, last].
constexpr uint32_t kFirstCentral = 322122547u, kLastCentral = 3972844748u;

// The outer words are brought together, so that whole vectors of them are computed.
void normals(const uint32_t *words, double *z, size_t n) {
  constexpr size_t w = kLanes<f64v>, block = 1024;
  uint32_t place[block + w], outer[block + w];
  double found[block + w];
  for (; n > 0; words += block, z += block) {
    const size_t here = n < block ? n : block;
    n -= here;
    size_t m = 0, i = 0;
    for (; i + w <= here; i += w) store(z + i, central_normal(load_words(words + i, w)));
    if (i < here) store_part(z + i, central_normal(load_words(words + i, here - i)), here - i);
    for (i = 0; i < here; ++i) {
      place[m] = static_cast<uint32_t>(i);
      outer[m] = words[i];
      m += words[i] - kFirstCentral > kLastCentral - kFirstCentral;
    }
    for (i = m; i < m + w; ++i) outer[i] = 0;
    for (i = 0; i < m; i += w) {
      store(found + i, outer_normal(load_words(outer + i, w)));
    }
    for (i = 0; i < m; ++i) z[place[i]] = found[i];
  }
}

}  // namespace

void add_random(Simd *table) {
  table->philox = philox;
  table->normals = normals;
}

}  // namespace ITP_ISA
}  // namespace itp
