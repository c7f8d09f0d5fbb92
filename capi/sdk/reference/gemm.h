/* A blocked matrix product for one computing type; matmul.c includes this once per type, with REAL (float or
 * double), KIND (f32 or f64) and CLASS (REF_F32 or REF_F64) defined. No include guard: it is a template.
 *
 * C (m, n) = A (m, k) B (k, n). Blocks of A and B are packed on the stack and converted on the way, so that
 * one loop serves every dtype and both orders of storage. A block of C collects the sums in REAL and is
 * rounded once. */
#define GEMM_NAME_(name, kind) name##_##kind
#define GEMM_NAME(name, kind) GEMM_NAME_(name, kind)

/* Copy rows x columns elements to the top left of a block, row-major, and clear the rest. */
static void GEMM_NAME(pack, KIND)(REAL *block, matrix a, int64_t rows, int64_t columns) {
  ref_buffer room;
  if (rows < GEMM_BLOCK || columns < GEMM_BLOCK) memset(block, 0, sizeof(REAL) * GEMM_BLOCK * GEMM_BLOCK);
  if (a.row_step == a.size) {
    for (int64_t c = 0; c < columns; ++c) {
      const REAL *v = (const REAL *)ref_load(&room, a.dtype, a.data + c * a.column_step, a.row_step, rows);
      for (int64_t r = 0; r < rows; ++r) block[r * GEMM_BLOCK + c] = v[r];
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      const REAL *v = (const REAL *)ref_load(&room, a.dtype, a.data + r * a.row_step, a.column_step, columns);
      memcpy(block + r * GEMM_BLOCK, v, sizeof(REAL) * (size_t)columns);
    }
  }
}

/* Blocks c += a b, `rows` of c and `depth` of the sum. Four rows of c and four of b at a time: the inner loop
 * then does 32 operations for 12 loads and stores, and is simple enough for every compiler to vectorise. */
REF_CLONES static void GEMM_NAME(multiply, KIND)(REAL *restrict c, const REAL *a, const REAL *b, int64_t rows,
                                                 int64_t depth) {
  for (int64_t i = 0; i < rows; i += 4) {
    REAL *restrict c0 = c + i * GEMM_BLOCK, *restrict c1 = c0 + GEMM_BLOCK, *restrict c2 = c1 + GEMM_BLOCK,
                   *restrict c3 = c2 + GEMM_BLOCK;
    for (int64_t p = 0; p < depth; p += 4) {
      const REAL *a0 = a + i * GEMM_BLOCK + p, *a1 = a0 + GEMM_BLOCK, *a2 = a1 + GEMM_BLOCK,
                 *a3 = a2 + GEMM_BLOCK;
      const REAL *b0 = b + p * GEMM_BLOCK, *b1 = b0 + GEMM_BLOCK, *b2 = b1 + GEMM_BLOCK,
                 *b3 = b2 + GEMM_BLOCK;
      for (int j = 0; j < GEMM_BLOCK; ++j) {
        c0[j] = c0[j] + a0[0] * b0[j] + a0[1] * b1[j] + a0[2] * b2[j] + a0[3] * b3[j];
        c1[j] = c1[j] + a1[0] * b0[j] + a1[1] * b1[j] + a1[2] * b2[j] + a1[3] * b3[j];
        c2[j] = c2[j] + a2[0] * b0[j] + a2[1] * b1[j] + a2[2] * b2[j] + a2[3] * b3[j];
        c3[j] = c3[j] + a3[0] * b0[j] + a3[1] * b1[j] + a3[2] * b2[j] + a3[3] * b3[j];
      }
    }
  }
}

/* C = alpha A B + bias + beta C. The bias, if not NULL, holds n elements of C's dtype and is added to every
 * row; C is not read where beta is 0. */
static void GEMM_NAME(gemm, KIND)(int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c,
                                  const char *bias, double alpha, double beta) {
  REAL left[GEMM_BLOCK * GEMM_BLOCK], right[GEMM_BLOCK * GEMM_BLOCK], block[GEMM_BLOCK * GEMM_BLOCK];
  ref_buffer room;
  for (int64_t j = 0; j < n; j += GEMM_BLOCK) {
    const int64_t columns = ref_min(n - j, GEMM_BLOCK);
    for (int64_t i = 0; i < m; i += GEMM_BLOCK) {
      const int64_t rows = ref_min(m - i, GEMM_BLOCK);
      memset(block, 0, sizeof block);
      for (int64_t p = 0; p < k; p += GEMM_BLOCK) {
        const int64_t depth = ref_min(k - p, GEMM_BLOCK);
        GEMM_NAME(pack, KIND)(left, part(a, i, p), rows, depth);
        GEMM_NAME(pack, KIND)(right, part(b, p, j), depth, columns);
        GEMM_NAME(multiply, KIND)(block, left, right, rows, depth);
      }
      for (int64_t r = 0; r < rows; ++r) {
        const matrix row = part(c, i + r, j);
        REAL *sums = block + r * GEMM_BLOCK;
        if (alpha != 1.0) {
          for (int64_t x = 0; x < columns; ++x) sums[x] *= (REAL)alpha;
        }
        if (bias != NULL) {
          const REAL *v = (const REAL *)ref_load(&room, c.dtype, bias + j * c.size, c.size, columns);
          for (int64_t x = 0; x < columns; ++x) sums[x] += v[x];
        }
        if (beta != 0.0) {
          const REAL *v = (const REAL *)ref_load(&room, c.dtype, row.data, c.size, columns);
          for (int64_t x = 0; x < columns; ++x) sums[x] += (REAL)beta * v[x];
        }
        ref_store(c.dtype, row.data, c.size, CLASS, sums, columns);
      }
    }
  }
}

#undef GEMM_NAME
#undef GEMM_NAME_
#undef REAL
#undef KIND
#undef CLASS
