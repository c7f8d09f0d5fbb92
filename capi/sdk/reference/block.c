/* Loading and storing blocks: every conversion between dtypes stands here, once. */
#include "block.h"

#include <string.h>

/* ---- what conversion means -------------------------------------------------------------------- */

/* Towards zero; NaN gives 0, out of range the nearest bound. */
static int64_t saturate(double v, int64_t low, int64_t high) {
  if (v != v) return 0;
  if (v <= (double)low) return low;
  return v >= (double)high ? high : (int64_t)v;
}

static uint64_t saturate_u64(double v) {
  if (!(v > 0.0)) return 0;
  return v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}

/* A half type is reached through float32. To round once in all, the step to float32 rounds to odd: what is
 * cut off leaves a one in the last place, so that the second step sees on which side of a tie the value lay.
 */
static float odd_f32(float v) { return v; }

static float odd_f64(double v) {
  float f = (float)v;
  uint32_t bits;
  if ((double)f == v || v != v) return f;
  memcpy(&bits, &f, sizeof bits);
  if ((f < 0 ? -(double)f : (double)f) > (v < 0 ? -v : v)) --bits;
  bits |= 1;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static float odd_u64(uint64_t v) {
  if (v >> 53) v = (v & ~(uint64_t)0x7FF) | (uint64_t)((v & 0x7FF) != 0) << 11; /* fits a double, sticky */
  return odd_f64((double)v);
}

static float odd_i64(int64_t v) { return v < 0 ? -odd_u64(0 - (uint64_t)v) : odd_u64((uint64_t)v); }

/* ---- loads ------------------------------------------------------------------------------------- */

#define LOAD(name, from, to, expression)                                            \
  static void load_##name(void *block, const char *data, int64_t step, int64_t n) { \
    to *out = (to *)block;                                                          \
    for (int64_t i = 0; i < n; ++i, data += step) {                                 \
      from v;                                                                       \
      memcpy(&v, data, sizeof v);                                                   \
      out[i] = (expression);                                                        \
    }                                                                               \
  }
LOAD(BOOL, uint8_t, uint64_t, v != 0)
LOAD(U8, uint8_t, uint64_t, v)
LOAD(I8, int8_t, int64_t, v)
LOAD(U16, uint16_t, uint64_t, v)
LOAD(I16, int16_t, int64_t, v)
LOAD(U32, uint32_t, uint64_t, v)
LOAD(I32, int32_t, int64_t, v)
LOAD(U64, uint64_t, uint64_t, v)
LOAD(I64, int64_t, int64_t, v)
LOAD(BF16, uint16_t, float, itp_bf16_to_f32(v))
LOAD(F16, uint16_t, float, itp_f16_to_f32(v))
LOAD(F32, float, float, v)
LOAD(F64, double, double, v)

static void (*const loads[])(void *, const char *, int64_t, int64_t) = {
    load_BOOL, load_U8,  load_I8,   load_U16, load_I16, load_U32, load_I32,
    load_U64,  load_I64, load_BF16, load_F16, load_F32, load_F64};

/* Does memory of this dtype and step already read as an array of its class? */
static int is_native(int dtype, int64_t step) {
  switch (dtype) {
    case ITP_DT_F32:
      return step == 4;
    case ITP_DT_F64:
    case ITP_DT_I64:
    case ITP_DT_U64:
      return step == 8;
    default:
      return 0;
  }
}

const void *ref_load(ref_buffer *room, int dtype, const char *data, int64_t step, int64_t n) {
  if (is_native(dtype, step)) return data;
  loads[dtype](room, data, step, n);
  return room;
}

void *ref_target(ref_buffer *room, int dtype, char *data, int64_t step) {
  return is_native(dtype, step) ? (void *)data : (void *)room;
}

/* ---- stores ------------------------------------------------------------------------------------ */

#define STORE(class, from, dtype, to, expression)                                                \
  static void store_##class##_##dtype(char *data, int64_t step, const void *values, int64_t n) { \
    const from *in = (const from *)values;                                                       \
    for (int64_t i = 0; i < n; ++i, data += step) {                                              \
      const from v = in[i];                                                                      \
      const to y = (expression);                                                                 \
      memcpy(data, &y, sizeof y);                                                                \
    }                                                                                            \
  }
#define SATURATE(type, low, high) (type) saturate((double)v, low, high)
#define CUT(type, low, high) (type) v
#define STORES(class, from, INTEGER, u64)                                  \
  STORE(class, from, BOOL, uint8_t, v != 0)                                \
  STORE(class, from, U8, uint8_t, INTEGER(uint8_t, 0, UINT8_MAX))          \
  STORE(class, from, I8, int8_t, INTEGER(int8_t, INT8_MIN, INT8_MAX))      \
  STORE(class, from, U16, uint16_t, INTEGER(uint16_t, 0, UINT16_MAX))      \
  STORE(class, from, I16, int16_t, INTEGER(int16_t, INT16_MIN, INT16_MAX)) \
  STORE(class, from, U32, uint32_t, INTEGER(uint32_t, 0, UINT32_MAX))      \
  STORE(class, from, I32, int32_t, INTEGER(int32_t, INT32_MIN, INT32_MAX)) \
  STORE(class, from, U64, uint64_t, u64)                                   \
  STORE(class, from, I64, int64_t, INTEGER(int64_t, INT64_MIN, INT64_MAX)) \
  STORE(class, from, BF16, uint16_t, itp_f32_to_bf16(odd_##class(v)))      \
  STORE(class, from, F16, uint16_t, itp_f32_to_f16(odd_##class(v)))        \
  STORE(class, from, F32, float, (float)v)                                 \
  STORE(class, from, F64, double, (double)v)
STORES(f32, float, SATURATE, saturate_u64((double)v))
STORES(f64, double, SATURATE, saturate_u64(v))
STORES(i64, int64_t, CUT, (uint64_t)v)
STORES(u64, uint64_t, CUT, v)

#define STORE_ROW(c)                                                                      \
  {store_##c##_BOOL, store_##c##_U8,  store_##c##_I8,  store_##c##_U16, store_##c##_I16,  \
   store_##c##_U32,  store_##c##_I32, store_##c##_U64, store_##c##_I64, store_##c##_BF16, \
   store_##c##_F16,  store_##c##_F32, store_##c##_F64}
static void (*const stores[4][13])(char *, int64_t, const void *, int64_t) = {STORE_ROW(f32), STORE_ROW(f64),
                                                                              STORE_ROW(i64), STORE_ROW(u64)};

void ref_store(int dtype, char *data, int64_t step, ref_class from, const void *values, int64_t n) {
  if (values != (const void *)data) stores[from][dtype](data, step, values, n);
}

/* ---- rows in double ---------------------------------------------------------------------------- */

const double *ref_load_f64(ref_buffer *room, int dtype, const char *data, int64_t n) {
  if (dtype == ITP_DT_F64) return (const double *)(const void *)data;
  ref_buffer singles;
  const float *v = (const float *)ref_load(&singles, dtype, data, dtype == ITP_DT_F32 ? 4 : 2, n);
  for (int64_t i = 0; i < n; ++i) room->f64[i] = (double)v[i];
  return room->f64;
}

void ref_store_f64(int dtype, char *data, const double *values, int64_t n) {
  ref_store(dtype, data, dtype == ITP_DT_F64 ? 8 : dtype == ITP_DT_F32 ? 4 : 2, REF_F64, values, n);
}

double ref_get_f64(const itp_tensor *t, int64_t index) {
  ref_buffer room;
  return *ref_load_f64(&room, itp_dtype_bit(t->dtype), ref_at(t, index), 1);
}

void ref_set_f64(const itp_tensor *t, int64_t index, double value) {
  ref_store_f64(itp_dtype_bit(t->dtype), ref_at(t, index), &value, 1);
}

/* ---- scalars and errors ------------------------------------------------------------------------- */

void ref_store_scalar(int dtype, char *data, const itp_value *value) {
  if (value->kind == ITP_V_F64) {
    ref_store(dtype, data, 0, REF_F64, &value->u.d, 1);
  } else {
    ref_store(dtype, data, 0, REF_I64, &value->u.i, 1);
  }
}

void ref_broadcast_scalar(ref_buffer *room, int dtype, const itp_value *value) {
  ref_buffer element;
  const int as = dtype == ITP_DT_BF16 || dtype == ITP_DT_F16 ? ITP_DT_F32 : dtype;
  ref_store_scalar(as, (char *)&element, value);
  loads[as](room, (const char *)&element, 0, REF_BLOCK);
}

itp_status ref_out_of_range(const char *kernel, const char *what, int64_t value, const char *where,
                            int64_t position, int64_t bound, itp_error *err) {
  return ITP_FAIL(err, OUT_OF_RANGE, kernel, "%s %lld at %s %lld is outside [0, %lld)", what,
                  (long long)value, where, (long long)position, (long long)bound);
}
