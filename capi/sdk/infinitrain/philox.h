/* Counter-based random numbers: the one mapping from (seed, offset, element) to bits and values.
 *
 * Every provider draws the same bits because everything here is exactly rounded: integer arithmetic, and
 * + - * / sqrt on doubles, which IEEE 754 determines. Two things would break that, and both are the build's
 * to prevent: contraction of a * b + c into a fused operation (compile with -ffp-contract=off) and
 * value-changing optimisation (no -ffast-math). C99 and C++11; also usable in device code that has IEEE
 * doubles.
 *
 * Element i (row-major) of a launch with state (seed, offset) takes word i % 4 of block offset + i / 4:
 *
 *     uint32_t words[4];
 *     itp_philox4x32_10(seed, offset + i / 4, words);
 *     double u = itp_uniform(words[i % 4]);
 */
#ifndef INFINITRAIN_PHILOX_H_
#define INFINITRAIN_PHILOX_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__)
#error "infinitrain/philox.h needs IEEE arithmetic: compile without -ffast-math"
#endif

/* One function qualifier for all, so that a device compiler can put its own in front. */
#ifndef ITP_PHILOX_FN
#define ITP_PHILOX_FN static inline
#endif

/* Philox-4x32 with ten rounds: 128 random bits for one counter value. The key is the seed (low word first);
 * the 128-bit counter is `counter` in its low half and 0 in its high half. Salmon, Moraes, Dror and Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
ITP_PHILOX_FN void itp_philox4x32_10(uint64_t seed, uint64_t counter, uint32_t words[4]) {
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
    const uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c0 = n0;
    c1 = (uint32_t)p1;
    c2 = n2;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u; /* the golden ratio and sqrt(3) - 1: Weyl sequences for the key */
    k1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/* A multiple of 2^-24 in [0, 1): exact in float32, so that no rounding can reach 1. */
ITP_PHILOX_FN double itp_uniform(uint32_t word) { return (double)(word >> 8) * (1.0 / 16777216.0); }

/* ln x for normal x > 0, to about one unit in the last place: x = m 2^e with m in [sqrt(1/2), sqrt(2)), then
 * ln m = 2 atanh((m - 1) / (m + 1)) by its series; |s| <= 0.1716, so the first term left out is below 2^-59
 * of s. */
ITP_PHILOX_FN double itp_exact_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent += 1;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double tail = 1.0 / 23.0;
  for (int k = 21; k >= 3; k -= 2) tail = tail * z + 1.0 / (double)k;
  /* ln 2 in two parts: the first has trailing zeros, so that exponent * high is exact. */
  const double high = 6.93147180369123816490e-01, low = 1.90821492927058770002e-10;
  return (double)exponent * high + ((double)exponent * low + (2.0 * s + 2.0 * s * (z * tail)));
}

/* c[0] x^7 + ... + c[7]. */
ITP_PHILOX_FN double itp_polynomial7(const double c[8], double x) {
  double sum = c[0];
  for (int k = 1; k < 8; ++k) sum = sum * x + c[k];
  return sum;
}

/* A standard normal deviate: the inverse of the normal distribution at (word + 1/2) 2^-32.
 * Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37
 * (1988), routine PPND16. Its third range, beyond r = 5, needs a probability under 1.4e-11: a word cannot
 * give one. */
ITP_PHILOX_FN double itp_normal(uint32_t word) {
  static const double a[8] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                              45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                              133.14166789178437745, 3.387132872796366608};
  static const double b[8] = {
      5226.495278852854561,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
      5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1.0};
  static const double c[8] = {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
                              1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
                              4.6303378461565452959,    1.42343711074968357734};
  static const double d[8] = {
      1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
      0.68976733498510000455,    1.6763848301838038494,   2.05319162663775882187,   1.0};
  const double p = ((double)word + 0.5) * (1.0 / 4294967296.0);
  const double q = p - 0.5;
  if (q <= 0.425 && q >= -0.425) {
    const double r = 0.180625 - q * q;
    return q * itp_polynomial7(a, r) / itp_polynomial7(b, r);
  }
  const double r = sqrt(-itp_exact_log(q < 0.0 ? p : 1.0 - p)) - 1.6;
  const double z = itp_polynomial7(c, r) / itp_polynomial7(d, r);
  return q < 0.0 ? -z : z;
}

#endif
