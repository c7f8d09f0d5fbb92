/* Generated from kernels.toml by `python -m infinitrain_capi.generate`; do not edit.
 *
 * For every kernel: the dtypes that T may take (a mask), the flags that the row allows (a provider sets
 * those that it honours), its schema as the table has it, its arguments by name, and a function that fills
 * them from a launch after checking counts and kinds. An optional operand that is absent is NULL.
 */
#ifndef INFINITRAIN_KERNELS_H_
#define INFINITRAIN_KERNELS_H_

#include "infinitrain/error.h"
#include "infinitrain/provider.h"

/* clang-format off */
#define ITP_KERNEL_COUNT 73

/* X(name, version) for every kernel of the table, in its order. */
#define ITP_KERNELS(X) \
  X(Cast, 1) \
  X(Fill, 1) \
  X(Copy, 1) \
  X(NoOpForward, 1) \
  X(NoOpBackward, 1) \
  X(NegForward, 1) \
  X(AbsForward, 1) \
  X(ReciprocalForward, 1) \
  X(SqrtForward, 1) \
  X(RsqrtForward, 1) \
  X(ExpForward, 1) \
  X(LogForward, 1) \
  X(SinForward, 1) \
  X(CosForward, 1) \
  X(TanhForward, 1) \
  X(TanhBackward, 1) \
  X(SigmoidForward, 1) \
  X(SigmoidBackward, 1) \
  X(ReluForward, 1) \
  X(ReluBackward, 1) \
  X(AddForward, 1) \
  X(SubForward, 1) \
  X(MulForward, 1) \
  X(DivForward, 1) \
  X(FloorDivideForward, 1) \
  X(RemainderForward, 1) \
  X(PowForward, 1) \
  X(MaximumForward, 1) \
  X(MinimumForward, 1) \
  X(AddScalar, 1) \
  X(MulScalar, 1) \
  X(EqualsForward, 1) \
  X(LtForward, 1) \
  X(LeForward, 1) \
  X(GtForward, 1) \
  X(GeForward, 1) \
  X(AndForward, 1) \
  X(OrForward, 1) \
  X(NotForward, 1) \
  X(WhereForward, 1) \
  X(SumForward, 1) \
  X(MeanForward, 1) \
  X(MaxForward, 1) \
  X(MinForward, 1) \
  X(SquaredNorm, 1) \
  X(MatmulForward, 1) \
  X(LinearForward, 1) \
  X(LinearBackwardInput, 1) \
  X(LinearBackwardWeight, 1) \
  X(LinearBackwardBias, 1) \
  X(CrossEntropyForward, 1) \
  X(CrossEntropyBackward, 1) \
  X(AccumulateGrad, 1) \
  X(AdamAccumulateGrad, 1) \
  X(UniformForward, 1) \
  X(NormalForward, 1) \
  X(DropoutForward, 1) \
  X(DropoutBackward, 1) \
  X(EmbeddingForward, 1) \
  X(EmbeddingBackward, 1) \
  X(GatherForward, 1) \
  X(GatherBackward, 1) \
  X(ScatterForward, 1) \
  X(TrilForward, 1) \
  X(TriuForward, 1) \
  X(SoftmaxForward, 1) \
  X(SoftmaxBackward, 1) \
  X(CausalSoftmaxForward, 1) \
  X(CausalSoftmaxBackward, 1) \
  X(GeluForward, 1) \
  X(GeluBackward, 1) \
  X(LayerNormForward, 1) \
  X(LayerNormBackward, 1) \

/* The same for the tiers 0 to `tier`, a number or a macro that is one: 0 live, 1 MLP, 2 GPT-2, 3 fused. */
#define ITP_KERNELS_UP_TO_TIER(tier, X) ITP_KERNELS_UP_TO_TIER_I(tier, X)
#define ITP_KERNELS_UP_TO_TIER_I(tier, X) ITP_KERNELS_UP_TO_TIER_##tier(X)
#define ITP_KERNELS_OF_TIER_0(X) \
  X(Cast, 1) \
  X(Fill, 1) \
  X(Copy, 1) \
  X(NoOpForward, 1) \
  X(NoOpBackward, 1) \

#define ITP_KERNELS_UP_TO_TIER_0(X) ITP_KERNELS_OF_TIER_0(X)
#define ITP_KERNELS_OF_TIER_1(X) \
  X(NegForward, 1) \
  X(AbsForward, 1) \
  X(ReciprocalForward, 1) \
  X(SqrtForward, 1) \
  X(RsqrtForward, 1) \
  X(ExpForward, 1) \
  X(LogForward, 1) \
  X(SinForward, 1) \
  X(CosForward, 1) \
  X(TanhForward, 1) \
  X(TanhBackward, 1) \
  X(SigmoidForward, 1) \
  X(SigmoidBackward, 1) \
  X(ReluForward, 1) \
  X(ReluBackward, 1) \
  X(AddForward, 1) \
  X(SubForward, 1) \
  X(MulForward, 1) \
  X(DivForward, 1) \
  X(FloorDivideForward, 1) \
  X(RemainderForward, 1) \
  X(PowForward, 1) \
  X(MaximumForward, 1) \
  X(MinimumForward, 1) \
  X(AddScalar, 1) \
  X(MulScalar, 1) \
  X(EqualsForward, 1) \
  X(LtForward, 1) \
  X(LeForward, 1) \
  X(GtForward, 1) \
  X(GeForward, 1) \
  X(AndForward, 1) \
  X(OrForward, 1) \
  X(NotForward, 1) \
  X(WhereForward, 1) \
  X(SumForward, 1) \
  X(MeanForward, 1) \
  X(MaxForward, 1) \
  X(MinForward, 1) \
  X(SquaredNorm, 1) \
  X(MatmulForward, 1) \
  X(LinearForward, 1) \
  X(LinearBackwardInput, 1) \
  X(LinearBackwardWeight, 1) \
  X(LinearBackwardBias, 1) \
  X(CrossEntropyForward, 1) \
  X(CrossEntropyBackward, 1) \
  X(AccumulateGrad, 1) \
  X(AdamAccumulateGrad, 1) \
  X(UniformForward, 1) \
  X(NormalForward, 1) \

#define ITP_KERNELS_UP_TO_TIER_1(X) ITP_KERNELS_UP_TO_TIER_0(X) ITP_KERNELS_OF_TIER_1(X)
#define ITP_KERNELS_OF_TIER_2(X) \
  X(DropoutForward, 1) \
  X(DropoutBackward, 1) \
  X(EmbeddingForward, 1) \
  X(EmbeddingBackward, 1) \
  X(GatherForward, 1) \
  X(GatherBackward, 1) \
  X(ScatterForward, 1) \
  X(TrilForward, 1) \
  X(TriuForward, 1) \
  X(SoftmaxForward, 1) \
  X(SoftmaxBackward, 1) \
  X(CausalSoftmaxForward, 1) \
  X(CausalSoftmaxBackward, 1) \
  X(GeluForward, 1) \
  X(GeluBackward, 1) \
  X(LayerNormForward, 1) \
  X(LayerNormBackward, 1) \

#define ITP_KERNELS_UP_TO_TIER_2(X) ITP_KERNELS_UP_TO_TIER_1(X) ITP_KERNELS_OF_TIER_2(X)
#define ITP_KERNELS_OF_TIER_3(X) \

#define ITP_KERNELS_UP_TO_TIER_3(X) ITP_KERNELS_UP_TO_TIER_2(X) ITP_KERNELS_OF_TIER_3(X)

#define ITP_DTYPES_Cast 0x1fff
#define ITP_ALLOWS_Cast (ITP_K_STRIDED)
static const char itp_schema_Cast[] =
    "Cast(T x) -> (U y)";
typedef struct itp_args_Cast {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Cast;
static inline itp_status itp_unpack_Cast(const itp_launch *l, itp_args_Cast *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Cast", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Cast", "%s: %s", "a required tensor is missing", itp_schema_Cast);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Fill 0x1fff
#define ITP_ALLOWS_Fill (ITP_K_STRIDED)
static const char itp_schema_Fill[] =
    "Fill(*, scalar value) -> (T y)";
typedef struct itp_args_Fill {
  itp_tensor *y;
  const itp_value *value;
} itp_args_Fill;
static inline itp_status itp_unpack_Fill(const itp_launch *l, itp_args_Fill *a, itp_error *err) {
  if (!itp_counts_are(l, 0, 1, 1)) return itp_bad_counts(l, "Fill", 0, 1, 1, err);
  if (!(l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Fill", "%s: %s", "a required tensor is missing", itp_schema_Fill);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Fill", "%s: %s", "an attribute is of another kind", itp_schema_Fill);
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Copy 0x1fff
#define ITP_ALLOWS_Copy (ITP_K_STRIDED)
static const char itp_schema_Copy[] =
    "Copy(T x) -> (T y)";
typedef struct itp_args_Copy {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Copy;
static inline itp_status itp_unpack_Copy(const itp_launch *l, itp_args_Copy *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Copy", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Copy", "%s: %s", "a required tensor is missing", itp_schema_Copy);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NoOpForward 0x1fff
#define ITP_ALLOWS_NoOpForward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_NoOpForward[] =
    "NoOpForward(T x) -> (T y)";
typedef struct itp_args_NoOpForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_NoOpForward;
static inline itp_status itp_unpack_NoOpForward(const itp_launch *l, itp_args_NoOpForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "NoOpForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NoOpForward", "%s: %s", "a required tensor is missing", itp_schema_NoOpForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NoOpBackward 0x1fff
#define ITP_ALLOWS_NoOpBackward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_NoOpBackward[] =
    "NoOpBackward(T grad) -> (T dx)";
typedef struct itp_args_NoOpBackward {
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_NoOpBackward;
static inline itp_status itp_unpack_NoOpBackward(const itp_launch *l, itp_args_NoOpBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "NoOpBackward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NoOpBackward", "%s: %s", "a required tensor is missing", itp_schema_NoOpBackward);
  a->grad = l->inputs[0];
  a->dx = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NegForward 0x1ffe
#define ITP_ALLOWS_NegForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_NegForward[] =
    "NegForward(T x) -> (T y)";
typedef struct itp_args_NegForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_NegForward;
static inline itp_status itp_unpack_NegForward(const itp_launch *l, itp_args_NegForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "NegForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NegForward", "%s: %s", "a required tensor is missing", itp_schema_NegForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AbsForward 0x1ffe
#define ITP_ALLOWS_AbsForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AbsForward[] =
    "AbsForward(T x) -> (T y)";
typedef struct itp_args_AbsForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AbsForward;
static inline itp_status itp_unpack_AbsForward(const itp_launch *l, itp_args_AbsForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AbsForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AbsForward", "%s: %s", "a required tensor is missing", itp_schema_AbsForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ReciprocalForward 0x1e00
#define ITP_ALLOWS_ReciprocalForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ReciprocalForward[] =
    "ReciprocalForward(T x) -> (T y)";
typedef struct itp_args_ReciprocalForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ReciprocalForward;
static inline itp_status itp_unpack_ReciprocalForward(const itp_launch *l, itp_args_ReciprocalForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ReciprocalForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ReciprocalForward", "%s: %s", "a required tensor is missing", itp_schema_ReciprocalForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SqrtForward 0x1e00
#define ITP_ALLOWS_SqrtForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SqrtForward[] =
    "SqrtForward(T x) -> (T y)";
typedef struct itp_args_SqrtForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SqrtForward;
static inline itp_status itp_unpack_SqrtForward(const itp_launch *l, itp_args_SqrtForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SqrtForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SqrtForward", "%s: %s", "a required tensor is missing", itp_schema_SqrtForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_RsqrtForward 0x1e00
#define ITP_ALLOWS_RsqrtForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_RsqrtForward[] =
    "RsqrtForward(T x) -> (T y)";
typedef struct itp_args_RsqrtForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_RsqrtForward;
static inline itp_status itp_unpack_RsqrtForward(const itp_launch *l, itp_args_RsqrtForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "RsqrtForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "RsqrtForward", "%s: %s", "a required tensor is missing", itp_schema_RsqrtForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ExpForward 0x1e00
#define ITP_ALLOWS_ExpForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ExpForward[] =
    "ExpForward(T x) -> (T y)";
typedef struct itp_args_ExpForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ExpForward;
static inline itp_status itp_unpack_ExpForward(const itp_launch *l, itp_args_ExpForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ExpForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ExpForward", "%s: %s", "a required tensor is missing", itp_schema_ExpForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LogForward 0x1e00
#define ITP_ALLOWS_LogForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_LogForward[] =
    "LogForward(T x) -> (T y)";
typedef struct itp_args_LogForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_LogForward;
static inline itp_status itp_unpack_LogForward(const itp_launch *l, itp_args_LogForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "LogForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LogForward", "%s: %s", "a required tensor is missing", itp_schema_LogForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SinForward 0x1e00
#define ITP_ALLOWS_SinForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SinForward[] =
    "SinForward(T x) -> (T y)";
typedef struct itp_args_SinForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SinForward;
static inline itp_status itp_unpack_SinForward(const itp_launch *l, itp_args_SinForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SinForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SinForward", "%s: %s", "a required tensor is missing", itp_schema_SinForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CosForward 0x1e00
#define ITP_ALLOWS_CosForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_CosForward[] =
    "CosForward(T x) -> (T y)";
typedef struct itp_args_CosForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_CosForward;
static inline itp_status itp_unpack_CosForward(const itp_launch *l, itp_args_CosForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "CosForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CosForward", "%s: %s", "a required tensor is missing", itp_schema_CosForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_TanhForward 0x1e00
#define ITP_ALLOWS_TanhForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_TanhForward[] =
    "TanhForward(T x) -> (T y)";
typedef struct itp_args_TanhForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_TanhForward;
static inline itp_status itp_unpack_TanhForward(const itp_launch *l, itp_args_TanhForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "TanhForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TanhForward", "%s: %s", "a required tensor is missing", itp_schema_TanhForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_TanhBackward 0x1e00
#define ITP_ALLOWS_TanhBackward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_TanhBackward[] =
    "TanhBackward(T y, T grad) -> (T dx)";
typedef struct itp_args_TanhBackward {
  const itp_tensor *y;
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_TanhBackward;
static inline itp_status itp_unpack_TanhBackward(const itp_launch *l, itp_args_TanhBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "TanhBackward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TanhBackward", "%s: %s", "a required tensor is missing", itp_schema_TanhBackward);
  a->y = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SigmoidForward 0x1e00
#define ITP_ALLOWS_SigmoidForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SigmoidForward[] =
    "SigmoidForward(T x) -> (T y)";
typedef struct itp_args_SigmoidForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SigmoidForward;
static inline itp_status itp_unpack_SigmoidForward(const itp_launch *l, itp_args_SigmoidForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SigmoidForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SigmoidForward", "%s: %s", "a required tensor is missing", itp_schema_SigmoidForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SigmoidBackward 0x1e00
#define ITP_ALLOWS_SigmoidBackward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SigmoidBackward[] =
    "SigmoidBackward(T y, T grad) -> (T dx)";
typedef struct itp_args_SigmoidBackward {
  const itp_tensor *y;
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_SigmoidBackward;
static inline itp_status itp_unpack_SigmoidBackward(const itp_launch *l, itp_args_SigmoidBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "SigmoidBackward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SigmoidBackward", "%s: %s", "a required tensor is missing", itp_schema_SigmoidBackward);
  a->y = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ReluForward 0x1ffe
#define ITP_ALLOWS_ReluForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ReluForward[] =
    "ReluForward(T x) -> (T y)";
typedef struct itp_args_ReluForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ReluForward;
static inline itp_status itp_unpack_ReluForward(const itp_launch *l, itp_args_ReluForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ReluForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ReluForward", "%s: %s", "a required tensor is missing", itp_schema_ReluForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ReluBackward 0x1e00
#define ITP_ALLOWS_ReluBackward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ReluBackward[] =
    "ReluBackward(T y, T grad) -> (T dx)";
typedef struct itp_args_ReluBackward {
  const itp_tensor *y;
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_ReluBackward;
static inline itp_status itp_unpack_ReluBackward(const itp_launch *l, itp_args_ReluBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "ReluBackward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ReluBackward", "%s: %s", "a required tensor is missing", itp_schema_ReluBackward);
  a->y = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AddForward 0x1ffe
#define ITP_ALLOWS_AddForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AddForward[] =
    "AddForward(T a, T b) -> (T y)";
typedef struct itp_args_AddForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_AddForward;
static inline itp_status itp_unpack_AddForward(const itp_launch *l, itp_args_AddForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "AddForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AddForward", "%s: %s", "a required tensor is missing", itp_schema_AddForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SubForward 0x1ffe
#define ITP_ALLOWS_SubForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SubForward[] =
    "SubForward(T a, T b) -> (T y)";
typedef struct itp_args_SubForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_SubForward;
static inline itp_status itp_unpack_SubForward(const itp_launch *l, itp_args_SubForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "SubForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SubForward", "%s: %s", "a required tensor is missing", itp_schema_SubForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MulForward 0x1ffe
#define ITP_ALLOWS_MulForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_MulForward[] =
    "MulForward(T a, T b) -> (T y)";
typedef struct itp_args_MulForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_MulForward;
static inline itp_status itp_unpack_MulForward(const itp_launch *l, itp_args_MulForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "MulForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MulForward", "%s: %s", "a required tensor is missing", itp_schema_MulForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_DivForward 0x1e00
#define ITP_ALLOWS_DivForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_DivForward[] =
    "DivForward(T a, T b) -> (T y)";
typedef struct itp_args_DivForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_DivForward;
static inline itp_status itp_unpack_DivForward(const itp_launch *l, itp_args_DivForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "DivForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "DivForward", "%s: %s", "a required tensor is missing", itp_schema_DivForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_FloorDivideForward 0x1ffe
#define ITP_ALLOWS_FloorDivideForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_FloorDivideForward[] =
    "FloorDivideForward(T a, T b) -> (T y)";
typedef struct itp_args_FloorDivideForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_FloorDivideForward;
static inline itp_status itp_unpack_FloorDivideForward(const itp_launch *l, itp_args_FloorDivideForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "FloorDivideForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "FloorDivideForward", "%s: %s", "a required tensor is missing", itp_schema_FloorDivideForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_RemainderForward 0x1ffe
#define ITP_ALLOWS_RemainderForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_RemainderForward[] =
    "RemainderForward(T a, T b) -> (T y)";
typedef struct itp_args_RemainderForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_RemainderForward;
static inline itp_status itp_unpack_RemainderForward(const itp_launch *l, itp_args_RemainderForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "RemainderForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "RemainderForward", "%s: %s", "a required tensor is missing", itp_schema_RemainderForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_PowForward 0x1ffe
#define ITP_ALLOWS_PowForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_PowForward[] =
    "PowForward(T a, T b) -> (T y)";
typedef struct itp_args_PowForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_PowForward;
static inline itp_status itp_unpack_PowForward(const itp_launch *l, itp_args_PowForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "PowForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "PowForward", "%s: %s", "a required tensor is missing", itp_schema_PowForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MaximumForward 0x1ffe
#define ITP_ALLOWS_MaximumForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_MaximumForward[] =
    "MaximumForward(T a, T b) -> (T y)";
typedef struct itp_args_MaximumForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_MaximumForward;
static inline itp_status itp_unpack_MaximumForward(const itp_launch *l, itp_args_MaximumForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "MaximumForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaximumForward", "%s: %s", "a required tensor is missing", itp_schema_MaximumForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MinimumForward 0x1ffe
#define ITP_ALLOWS_MinimumForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_MinimumForward[] =
    "MinimumForward(T a, T b) -> (T y)";
typedef struct itp_args_MinimumForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_MinimumForward;
static inline itp_status itp_unpack_MinimumForward(const itp_launch *l, itp_args_MinimumForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "MinimumForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MinimumForward", "%s: %s", "a required tensor is missing", itp_schema_MinimumForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AddScalar 0x1ffe
#define ITP_ALLOWS_AddScalar (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AddScalar[] =
    "AddScalar(T x, *, scalar value) -> (T y)";
typedef struct itp_args_AddScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_AddScalar;
static inline itp_status itp_unpack_AddScalar(const itp_launch *l, itp_args_AddScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "AddScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AddScalar", "%s: %s", "a required tensor is missing", itp_schema_AddScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AddScalar", "%s: %s", "an attribute is of another kind", itp_schema_AddScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MulScalar 0x1ffe
#define ITP_ALLOWS_MulScalar (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_MulScalar[] =
    "MulScalar(T x, *, scalar value) -> (T y)";
typedef struct itp_args_MulScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_MulScalar;
static inline itp_status itp_unpack_MulScalar(const itp_launch *l, itp_args_MulScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "MulScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MulScalar", "%s: %s", "a required tensor is missing", itp_schema_MulScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MulScalar", "%s: %s", "an attribute is of another kind", itp_schema_MulScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_EqualsForward 0x1fff
#define ITP_ALLOWS_EqualsForward (ITP_K_STRIDED)
static const char itp_schema_EqualsForward[] =
    "EqualsForward(T a, T b) -> (bool y)";
typedef struct itp_args_EqualsForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_EqualsForward;
static inline itp_status itp_unpack_EqualsForward(const itp_launch *l, itp_args_EqualsForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "EqualsForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EqualsForward", "%s: %s", "a required tensor is missing", itp_schema_EqualsForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LtForward 0x1fff
#define ITP_ALLOWS_LtForward (ITP_K_STRIDED)
static const char itp_schema_LtForward[] =
    "LtForward(T a, T b) -> (bool y)";
typedef struct itp_args_LtForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_LtForward;
static inline itp_status itp_unpack_LtForward(const itp_launch *l, itp_args_LtForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "LtForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LtForward", "%s: %s", "a required tensor is missing", itp_schema_LtForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LeForward 0x1fff
#define ITP_ALLOWS_LeForward (ITP_K_STRIDED)
static const char itp_schema_LeForward[] =
    "LeForward(T a, T b) -> (bool y)";
typedef struct itp_args_LeForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_LeForward;
static inline itp_status itp_unpack_LeForward(const itp_launch *l, itp_args_LeForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "LeForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeForward", "%s: %s", "a required tensor is missing", itp_schema_LeForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_GtForward 0x1fff
#define ITP_ALLOWS_GtForward (ITP_K_STRIDED)
static const char itp_schema_GtForward[] =
    "GtForward(T a, T b) -> (bool y)";
typedef struct itp_args_GtForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_GtForward;
static inline itp_status itp_unpack_GtForward(const itp_launch *l, itp_args_GtForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "GtForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GtForward", "%s: %s", "a required tensor is missing", itp_schema_GtForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_GeForward 0x1fff
#define ITP_ALLOWS_GeForward (ITP_K_STRIDED)
static const char itp_schema_GeForward[] =
    "GeForward(T a, T b) -> (bool y)";
typedef struct itp_args_GeForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_GeForward;
static inline itp_status itp_unpack_GeForward(const itp_launch *l, itp_args_GeForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "GeForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeForward", "%s: %s", "a required tensor is missing", itp_schema_GeForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AndForward 0x0
#define ITP_ALLOWS_AndForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AndForward[] =
    "AndForward(bool a, bool b) -> (bool y)";
typedef struct itp_args_AndForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_AndForward;
static inline itp_status itp_unpack_AndForward(const itp_launch *l, itp_args_AndForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "AndForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AndForward", "%s: %s", "a required tensor is missing", itp_schema_AndForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_OrForward 0x0
#define ITP_ALLOWS_OrForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_OrForward[] =
    "OrForward(bool a, bool b) -> (bool y)";
typedef struct itp_args_OrForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_OrForward;
static inline itp_status itp_unpack_OrForward(const itp_launch *l, itp_args_OrForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "OrForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "OrForward", "%s: %s", "a required tensor is missing", itp_schema_OrForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NotForward 0x0
#define ITP_ALLOWS_NotForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_NotForward[] =
    "NotForward(bool x) -> (bool y)";
typedef struct itp_args_NotForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_NotForward;
static inline itp_status itp_unpack_NotForward(const itp_launch *l, itp_args_NotForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "NotForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NotForward", "%s: %s", "a required tensor is missing", itp_schema_NotForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_WhereForward 0x1fff
#define ITP_ALLOWS_WhereForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_WhereForward[] =
    "WhereForward(bool condition, T a, T b) -> (T y)";
typedef struct itp_args_WhereForward {
  const itp_tensor *condition;
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_WhereForward;
static inline itp_status itp_unpack_WhereForward(const itp_launch *l, itp_args_WhereForward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 1, 0)) return itp_bad_counts(l, "WhereForward", 3, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->inputs[2] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "WhereForward", "%s: %s", "a required tensor is missing", itp_schema_WhereForward);
  a->condition = l->inputs[0];
  a->a = l->inputs[1];
  a->b = l->inputs[2];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SumForward 0x1ffe
#define ITP_ALLOWS_SumForward (ITP_K_STRIDED)
static const char itp_schema_SumForward[] =
    "SumForward(T x) -> (T y)";
typedef struct itp_args_SumForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SumForward;
static inline itp_status itp_unpack_SumForward(const itp_launch *l, itp_args_SumForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SumForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SumForward", "%s: %s", "a required tensor is missing", itp_schema_SumForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MeanForward 0x1e00
#define ITP_ALLOWS_MeanForward (ITP_K_STRIDED)
static const char itp_schema_MeanForward[] =
    "MeanForward(T x) -> (T y)";
typedef struct itp_args_MeanForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_MeanForward;
static inline itp_status itp_unpack_MeanForward(const itp_launch *l, itp_args_MeanForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "MeanForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MeanForward", "%s: %s", "a required tensor is missing", itp_schema_MeanForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MaxForward 0x1fff
#define ITP_ALLOWS_MaxForward (ITP_K_STRIDED)
static const char itp_schema_MaxForward[] =
    "MaxForward(T x) -> (T y)";
typedef struct itp_args_MaxForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_MaxForward;
static inline itp_status itp_unpack_MaxForward(const itp_launch *l, itp_args_MaxForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "MaxForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaxForward", "%s: %s", "a required tensor is missing", itp_schema_MaxForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_MinForward 0x1fff
#define ITP_ALLOWS_MinForward (ITP_K_STRIDED)
static const char itp_schema_MinForward[] =
    "MinForward(T x) -> (T y)";
typedef struct itp_args_MinForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_MinForward;
static inline itp_status itp_unpack_MinForward(const itp_launch *l, itp_args_MinForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "MinForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MinForward", "%s: %s", "a required tensor is missing", itp_schema_MinForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SquaredNorm 0x1e00
#define ITP_ALLOWS_SquaredNorm (0)
static const char itp_schema_SquaredNorm[] =
    "SquaredNorm(T x, *, bool accumulate=false) -> (inout A y)";
typedef struct itp_args_SquaredNorm {
  const itp_tensor *x;
  itp_tensor *y;
  int accumulate;
} itp_args_SquaredNorm;
static inline itp_status itp_unpack_SquaredNorm(const itp_launch *l, itp_args_SquaredNorm *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "SquaredNorm", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SquaredNorm", "%s: %s", "a required tensor is missing", itp_schema_SquaredNorm);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SquaredNorm", "%s: %s", "an attribute is of another kind", itp_schema_SquaredNorm);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_MatmulForward 0x1e00
#define ITP_ALLOWS_MatmulForward (ITP_K_STRIDED)
static const char itp_schema_MatmulForward[] =
    "MatmulForward(T a, T b, *, bool accumulate=false) -> (inout T y)";
typedef struct itp_args_MatmulForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
  int accumulate;
} itp_args_MatmulForward;
static inline itp_status itp_unpack_MatmulForward(const itp_launch *l, itp_args_MatmulForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "MatmulForward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MatmulForward", "%s: %s", "a required tensor is missing", itp_schema_MatmulForward);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MatmulForward", "%s: %s", "an attribute is of another kind", itp_schema_MatmulForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_LinearForward 0x1e00
#define ITP_ALLOWS_LinearForward (0)
static const char itp_schema_LinearForward[] =
    "LinearForward(T x, T weight, T? bias) -> (T y)";
typedef struct itp_args_LinearForward {
  const itp_tensor *x;
  const itp_tensor *weight;
  const itp_tensor *bias;
  itp_tensor *y;
} itp_args_LinearForward;
static inline itp_status itp_unpack_LinearForward(const itp_launch *l, itp_args_LinearForward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 1, 0)) return itp_bad_counts(l, "LinearForward", 3, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearForward", "%s: %s", "a required tensor is missing", itp_schema_LinearForward);
  a->x = l->inputs[0];
  a->weight = l->inputs[1];
  a->bias = l->inputs[2];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LinearBackwardInput 0x1e00
#define ITP_ALLOWS_LinearBackwardInput (0)
static const char itp_schema_LinearBackwardInput[] =
    "LinearBackwardInput(T grad, T weight, *, bool accumulate=false) -> (inout T dx)";
typedef struct itp_args_LinearBackwardInput {
  const itp_tensor *grad;
  const itp_tensor *weight;
  itp_tensor *dx;
  int accumulate;
} itp_args_LinearBackwardInput;
static inline itp_status itp_unpack_LinearBackwardInput(const itp_launch *l, itp_args_LinearBackwardInput *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "LinearBackwardInput", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardInput", "%s: %s", "a required tensor is missing", itp_schema_LinearBackwardInput);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardInput", "%s: %s", "an attribute is of another kind", itp_schema_LinearBackwardInput);
  a->grad = l->inputs[0];
  a->weight = l->inputs[1];
  a->dx = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_LinearBackwardWeight 0x1e00
#define ITP_ALLOWS_LinearBackwardWeight (0)
static const char itp_schema_LinearBackwardWeight[] =
    "LinearBackwardWeight(T x, T grad, *, bool accumulate=false) -> (inout T dweight)";
typedef struct itp_args_LinearBackwardWeight {
  const itp_tensor *x;
  const itp_tensor *grad;
  itp_tensor *dweight;
  int accumulate;
} itp_args_LinearBackwardWeight;
static inline itp_status itp_unpack_LinearBackwardWeight(const itp_launch *l, itp_args_LinearBackwardWeight *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "LinearBackwardWeight", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardWeight", "%s: %s", "a required tensor is missing", itp_schema_LinearBackwardWeight);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardWeight", "%s: %s", "an attribute is of another kind", itp_schema_LinearBackwardWeight);
  a->x = l->inputs[0];
  a->grad = l->inputs[1];
  a->dweight = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_LinearBackwardBias 0x1e00
#define ITP_ALLOWS_LinearBackwardBias (0)
static const char itp_schema_LinearBackwardBias[] =
    "LinearBackwardBias(T grad, *, bool accumulate=false) -> (inout T dbias)";
typedef struct itp_args_LinearBackwardBias {
  const itp_tensor *grad;
  itp_tensor *dbias;
  int accumulate;
} itp_args_LinearBackwardBias;
static inline itp_status itp_unpack_LinearBackwardBias(const itp_launch *l, itp_args_LinearBackwardBias *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "LinearBackwardBias", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardBias", "%s: %s", "a required tensor is missing", itp_schema_LinearBackwardBias);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LinearBackwardBias", "%s: %s", "an attribute is of another kind", itp_schema_LinearBackwardBias);
  a->grad = l->inputs[0];
  a->dbias = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_CrossEntropyForward 0x1e00
#define ITP_ALLOWS_CrossEntropyForward (0)
static const char itp_schema_CrossEntropyForward[] =
    "CrossEntropyForward(T logits, i64 target, *, i64 ignore_index=-100) -> (A loss, A lse)";
typedef struct itp_args_CrossEntropyForward {
  const itp_tensor *logits;
  const itp_tensor *target;
  itp_tensor *loss;
  itp_tensor *lse;
  int64_t ignore_index;
} itp_args_CrossEntropyForward;
static inline itp_status itp_unpack_CrossEntropyForward(const itp_launch *l, itp_args_CrossEntropyForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 2, 1)) return itp_bad_counts(l, "CrossEntropyForward", 2, 2, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CrossEntropyForward", "%s: %s", "a required tensor is missing", itp_schema_CrossEntropyForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CrossEntropyForward", "%s: %s", "an attribute is of another kind", itp_schema_CrossEntropyForward);
  a->logits = l->inputs[0];
  a->target = l->inputs[1];
  a->loss = l->outputs[0];
  a->lse = l->outputs[1];
  a->ignore_index = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_CrossEntropyBackward 0x1e00
#define ITP_ALLOWS_CrossEntropyBackward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_CrossEntropyBackward[] =
    "CrossEntropyBackward(T logits, i64 target, A lse, A grad, *, i64 ignore_index=-100) -> (T dlogits)";
typedef struct itp_args_CrossEntropyBackward {
  const itp_tensor *logits;
  const itp_tensor *target;
  const itp_tensor *lse;
  const itp_tensor *grad;
  itp_tensor *dlogits;
  int64_t ignore_index;
} itp_args_CrossEntropyBackward;
static inline itp_status itp_unpack_CrossEntropyBackward(const itp_launch *l, itp_args_CrossEntropyBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 4, 1, 1)) return itp_bad_counts(l, "CrossEntropyBackward", 4, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->inputs[2] != NULL &&
        l->inputs[3] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CrossEntropyBackward", "%s: %s", "a required tensor is missing", itp_schema_CrossEntropyBackward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CrossEntropyBackward", "%s: %s", "an attribute is of another kind", itp_schema_CrossEntropyBackward);
  a->logits = l->inputs[0];
  a->target = l->inputs[1];
  a->lse = l->inputs[2];
  a->grad = l->inputs[3];
  a->dlogits = l->outputs[0];
  a->ignore_index = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_AccumulateGrad 0x1e00
#define ITP_ALLOWS_AccumulateGrad (0)
static const char itp_schema_AccumulateGrad[] =
    "AccumulateGrad(T grad, f32? rate) -> (inout T y)";
typedef struct itp_args_AccumulateGrad {
  const itp_tensor *grad;
  const itp_tensor *rate;
  itp_tensor *y;
} itp_args_AccumulateGrad;
static inline itp_status itp_unpack_AccumulateGrad(const itp_launch *l, itp_args_AccumulateGrad *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "AccumulateGrad", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AccumulateGrad", "%s: %s", "a required tensor is missing", itp_schema_AccumulateGrad);
  a->grad = l->inputs[0];
  a->rate = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AdamAccumulateGrad 0x1e00
#define ITP_ALLOWS_AdamAccumulateGrad (0)
static const char itp_schema_AdamAccumulateGrad[] =
    "AdamAccumulateGrad(T grad, f32 lr, i64 step, f32? grad_scale, *, f64 beta1=0.9, f64 beta2=0.999, f64 eps=1e-8, f64 weight_decay=0.0) -> (inout T param, inout A m, inout A v)";
typedef struct itp_args_AdamAccumulateGrad {
  const itp_tensor *grad;
  const itp_tensor *lr;
  const itp_tensor *step;
  const itp_tensor *grad_scale;
  itp_tensor *param;
  itp_tensor *m;
  itp_tensor *v;
  double beta1;
  double beta2;
  double eps;
  double weight_decay;
} itp_args_AdamAccumulateGrad;
static inline itp_status itp_unpack_AdamAccumulateGrad(const itp_launch *l, itp_args_AdamAccumulateGrad *a, itp_error *err) {
  if (!itp_counts_are(l, 4, 3, 4)) return itp_bad_counts(l, "AdamAccumulateGrad", 4, 3, 4, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->inputs[2] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL &&
        l->outputs[2] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AdamAccumulateGrad", "%s: %s", "a required tensor is missing", itp_schema_AdamAccumulateGrad);
  if (!(l->attrs[0].kind == ITP_V_F64 &&
        l->attrs[1].kind == ITP_V_F64 &&
        l->attrs[2].kind == ITP_V_F64 &&
        l->attrs[3].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AdamAccumulateGrad", "%s: %s", "an attribute is of another kind", itp_schema_AdamAccumulateGrad);
  a->grad = l->inputs[0];
  a->lr = l->inputs[1];
  a->step = l->inputs[2];
  a->grad_scale = l->inputs[3];
  a->param = l->outputs[0];
  a->m = l->outputs[1];
  a->v = l->outputs[2];
  a->beta1 = l->attrs[0].u.d;
  a->beta2 = l->attrs[1].u.d;
  a->eps = l->attrs[2].u.d;
  a->weight_decay = l->attrs[3].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_UniformForward 0x1e00
#define ITP_ALLOWS_UniformForward (0)
static const char itp_schema_UniformForward[] =
    "UniformForward(i64 state, *, f64 low=0.0, f64 high=1.0) -> (T y)";
typedef struct itp_args_UniformForward {
  const itp_tensor *state;
  itp_tensor *y;
  double low;
  double high;
} itp_args_UniformForward;
static inline itp_status itp_unpack_UniformForward(const itp_launch *l, itp_args_UniformForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 2)) return itp_bad_counts(l, "UniformForward", 1, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "UniformForward", "%s: %s", "a required tensor is missing", itp_schema_UniformForward);
  if (!(l->attrs[0].kind == ITP_V_F64 &&
        l->attrs[1].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "UniformForward", "%s: %s", "an attribute is of another kind", itp_schema_UniformForward);
  a->state = l->inputs[0];
  a->y = l->outputs[0];
  a->low = l->attrs[0].u.d;
  a->high = l->attrs[1].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_NormalForward 0x1e00
#define ITP_ALLOWS_NormalForward (0)
static const char itp_schema_NormalForward[] =
    "NormalForward(i64 state, *, f64 mean=0.0, f64 std=1.0) -> (T y)";
typedef struct itp_args_NormalForward {
  const itp_tensor *state;
  itp_tensor *y;
  double mean;
  double std;
} itp_args_NormalForward;
static inline itp_status itp_unpack_NormalForward(const itp_launch *l, itp_args_NormalForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 2)) return itp_bad_counts(l, "NormalForward", 1, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NormalForward", "%s: %s", "a required tensor is missing", itp_schema_NormalForward);
  if (!(l->attrs[0].kind == ITP_V_F64 &&
        l->attrs[1].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NormalForward", "%s: %s", "an attribute is of another kind", itp_schema_NormalForward);
  a->state = l->inputs[0];
  a->y = l->outputs[0];
  a->mean = l->attrs[0].u.d;
  a->std = l->attrs[1].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_DropoutForward 0x1e00
#define ITP_ALLOWS_DropoutForward (0)
static const char itp_schema_DropoutForward[] =
    "DropoutForward(T x, i64 state, *, f64 p) -> (T y, bool mask)";
typedef struct itp_args_DropoutForward {
  const itp_tensor *x;
  const itp_tensor *state;
  itp_tensor *y;
  itp_tensor *mask;
  double p;
} itp_args_DropoutForward;
static inline itp_status itp_unpack_DropoutForward(const itp_launch *l, itp_args_DropoutForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 2, 1)) return itp_bad_counts(l, "DropoutForward", 2, 2, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "DropoutForward", "%s: %s", "a required tensor is missing", itp_schema_DropoutForward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "DropoutForward", "%s: %s", "an attribute is of another kind", itp_schema_DropoutForward);
  a->x = l->inputs[0];
  a->state = l->inputs[1];
  a->y = l->outputs[0];
  a->mask = l->outputs[1];
  a->p = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_DropoutBackward 0x1e00
#define ITP_ALLOWS_DropoutBackward (0)
static const char itp_schema_DropoutBackward[] =
    "DropoutBackward(T grad, bool mask, *, f64 p) -> (T dx)";
typedef struct itp_args_DropoutBackward {
  const itp_tensor *grad;
  const itp_tensor *mask;
  itp_tensor *dx;
  double p;
} itp_args_DropoutBackward;
static inline itp_status itp_unpack_DropoutBackward(const itp_launch *l, itp_args_DropoutBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "DropoutBackward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "DropoutBackward", "%s: %s", "a required tensor is missing", itp_schema_DropoutBackward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "DropoutBackward", "%s: %s", "an attribute is of another kind", itp_schema_DropoutBackward);
  a->grad = l->inputs[0];
  a->mask = l->inputs[1];
  a->dx = l->outputs[0];
  a->p = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_EmbeddingForward 0x1fff
#define ITP_ALLOWS_EmbeddingForward (0)
static const char itp_schema_EmbeddingForward[] =
    "EmbeddingForward(i64 index, T weight) -> (T y)";
typedef struct itp_args_EmbeddingForward {
  const itp_tensor *index;
  const itp_tensor *weight;
  itp_tensor *y;
} itp_args_EmbeddingForward;
static inline itp_status itp_unpack_EmbeddingForward(const itp_launch *l, itp_args_EmbeddingForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "EmbeddingForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EmbeddingForward", "%s: %s", "a required tensor is missing", itp_schema_EmbeddingForward);
  a->index = l->inputs[0];
  a->weight = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_EmbeddingBackward 0x1e00
#define ITP_ALLOWS_EmbeddingBackward (0)
static const char itp_schema_EmbeddingBackward[] =
    "EmbeddingBackward(i64 index, T grad, *, bool accumulate=false) -> (inout T dweight)";
typedef struct itp_args_EmbeddingBackward {
  const itp_tensor *index;
  const itp_tensor *grad;
  itp_tensor *dweight;
  int accumulate;
} itp_args_EmbeddingBackward;
static inline itp_status itp_unpack_EmbeddingBackward(const itp_launch *l, itp_args_EmbeddingBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "EmbeddingBackward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EmbeddingBackward", "%s: %s", "a required tensor is missing", itp_schema_EmbeddingBackward);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EmbeddingBackward", "%s: %s", "an attribute is of another kind", itp_schema_EmbeddingBackward);
  a->index = l->inputs[0];
  a->grad = l->inputs[1];
  a->dweight = l->outputs[0];
  a->accumulate = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_GatherForward 0x1fff
#define ITP_ALLOWS_GatherForward (0)
static const char itp_schema_GatherForward[] =
    "GatherForward(T x, i64 index, *, i64 dim) -> (T y)";
typedef struct itp_args_GatherForward {
  const itp_tensor *x;
  const itp_tensor *index;
  itp_tensor *y;
  int64_t dim;
} itp_args_GatherForward;
static inline itp_status itp_unpack_GatherForward(const itp_launch *l, itp_args_GatherForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "GatherForward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GatherForward", "%s: %s", "a required tensor is missing", itp_schema_GatherForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GatherForward", "%s: %s", "an attribute is of another kind", itp_schema_GatherForward);
  a->x = l->inputs[0];
  a->index = l->inputs[1];
  a->y = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_GatherBackward 0x1e00
#define ITP_ALLOWS_GatherBackward (0)
static const char itp_schema_GatherBackward[] =
    "GatherBackward(T grad, i64 index, *, i64 dim, bool accumulate=false) -> (inout T dx)";
typedef struct itp_args_GatherBackward {
  const itp_tensor *grad;
  const itp_tensor *index;
  itp_tensor *dx;
  int64_t dim;
  int accumulate;
} itp_args_GatherBackward;
static inline itp_status itp_unpack_GatherBackward(const itp_launch *l, itp_args_GatherBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 2)) return itp_bad_counts(l, "GatherBackward", 2, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GatherBackward", "%s: %s", "a required tensor is missing", itp_schema_GatherBackward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GatherBackward", "%s: %s", "an attribute is of another kind", itp_schema_GatherBackward);
  a->grad = l->inputs[0];
  a->index = l->inputs[1];
  a->dx = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  a->accumulate = l->attrs[1].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_ScatterForward 0x1fff
#define ITP_ALLOWS_ScatterForward (0)
static const char itp_schema_ScatterForward[] =
    "ScatterForward(i64 index, T values, *, i64 dim) -> (inout T y)";
typedef struct itp_args_ScatterForward {
  const itp_tensor *index;
  const itp_tensor *values;
  itp_tensor *y;
  int64_t dim;
} itp_args_ScatterForward;
static inline itp_status itp_unpack_ScatterForward(const itp_launch *l, itp_args_ScatterForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "ScatterForward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ScatterForward", "%s: %s", "a required tensor is missing", itp_schema_ScatterForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ScatterForward", "%s: %s", "an attribute is of another kind", itp_schema_ScatterForward);
  a->index = l->inputs[0];
  a->values = l->inputs[1];
  a->y = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_TrilForward 0x1fff
#define ITP_ALLOWS_TrilForward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_TrilForward[] =
    "TrilForward(T x, *, i64 diagonal=0) -> (T y)";
typedef struct itp_args_TrilForward {
  const itp_tensor *x;
  itp_tensor *y;
  int64_t diagonal;
} itp_args_TrilForward;
static inline itp_status itp_unpack_TrilForward(const itp_launch *l, itp_args_TrilForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "TrilForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TrilForward", "%s: %s", "a required tensor is missing", itp_schema_TrilForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TrilForward", "%s: %s", "an attribute is of another kind", itp_schema_TrilForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->diagonal = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_TriuForward 0x1fff
#define ITP_ALLOWS_TriuForward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_TriuForward[] =
    "TriuForward(T x, *, i64 diagonal=0) -> (T y)";
typedef struct itp_args_TriuForward {
  const itp_tensor *x;
  itp_tensor *y;
  int64_t diagonal;
} itp_args_TriuForward;
static inline itp_status itp_unpack_TriuForward(const itp_launch *l, itp_args_TriuForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "TriuForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TriuForward", "%s: %s", "a required tensor is missing", itp_schema_TriuForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TriuForward", "%s: %s", "an attribute is of another kind", itp_schema_TriuForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->diagonal = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_SoftmaxForward 0x1e00
#define ITP_ALLOWS_SoftmaxForward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_SoftmaxForward[] =
    "SoftmaxForward(T x) -> (T y)";
typedef struct itp_args_SoftmaxForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SoftmaxForward;
static inline itp_status itp_unpack_SoftmaxForward(const itp_launch *l, itp_args_SoftmaxForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SoftmaxForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SoftmaxForward", "%s: %s", "a required tensor is missing", itp_schema_SoftmaxForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SoftmaxBackward 0x1e00
#define ITP_ALLOWS_SoftmaxBackward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_SoftmaxBackward[] =
    "SoftmaxBackward(T y, T grad) -> (T dx)";
typedef struct itp_args_SoftmaxBackward {
  const itp_tensor *y;
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_SoftmaxBackward;
static inline itp_status itp_unpack_SoftmaxBackward(const itp_launch *l, itp_args_SoftmaxBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "SoftmaxBackward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SoftmaxBackward", "%s: %s", "a required tensor is missing", itp_schema_SoftmaxBackward);
  a->y = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CausalSoftmaxForward 0x1e00
#define ITP_ALLOWS_CausalSoftmaxForward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_CausalSoftmaxForward[] =
    "CausalSoftmaxForward(T x, *, f64 scale=1.0) -> (T y)";
typedef struct itp_args_CausalSoftmaxForward {
  const itp_tensor *x;
  itp_tensor *y;
  double scale;
} itp_args_CausalSoftmaxForward;
static inline itp_status itp_unpack_CausalSoftmaxForward(const itp_launch *l, itp_args_CausalSoftmaxForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "CausalSoftmaxForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CausalSoftmaxForward", "%s: %s", "a required tensor is missing", itp_schema_CausalSoftmaxForward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CausalSoftmaxForward", "%s: %s", "an attribute is of another kind", itp_schema_CausalSoftmaxForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->scale = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_CausalSoftmaxBackward 0x1e00
#define ITP_ALLOWS_CausalSoftmaxBackward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_CausalSoftmaxBackward[] =
    "CausalSoftmaxBackward(T y, T grad, *, f64 scale=1.0) -> (T dx)";
typedef struct itp_args_CausalSoftmaxBackward {
  const itp_tensor *y;
  const itp_tensor *grad;
  itp_tensor *dx;
  double scale;
} itp_args_CausalSoftmaxBackward;
static inline itp_status itp_unpack_CausalSoftmaxBackward(const itp_launch *l, itp_args_CausalSoftmaxBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "CausalSoftmaxBackward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CausalSoftmaxBackward", "%s: %s", "a required tensor is missing", itp_schema_CausalSoftmaxBackward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CausalSoftmaxBackward", "%s: %s", "an attribute is of another kind", itp_schema_CausalSoftmaxBackward);
  a->y = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  a->scale = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_GeluForward 0x1e00
#define ITP_ALLOWS_GeluForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_GeluForward[] =
    "GeluForward(T x, *, bool tanh=true) -> (T y)";
typedef struct itp_args_GeluForward {
  const itp_tensor *x;
  itp_tensor *y;
  int tanh;
} itp_args_GeluForward;
static inline itp_status itp_unpack_GeluForward(const itp_launch *l, itp_args_GeluForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "GeluForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeluForward", "%s: %s", "a required tensor is missing", itp_schema_GeluForward);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeluForward", "%s: %s", "an attribute is of another kind", itp_schema_GeluForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->tanh = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_GeluBackward 0x1e00
#define ITP_ALLOWS_GeluBackward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_GeluBackward[] =
    "GeluBackward(T x, T grad, *, bool tanh=true) -> (T dx)";
typedef struct itp_args_GeluBackward {
  const itp_tensor *x;
  const itp_tensor *grad;
  itp_tensor *dx;
  int tanh;
} itp_args_GeluBackward;
static inline itp_status itp_unpack_GeluBackward(const itp_launch *l, itp_args_GeluBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "GeluBackward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeluBackward", "%s: %s", "a required tensor is missing", itp_schema_GeluBackward);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeluBackward", "%s: %s", "an attribute is of another kind", itp_schema_GeluBackward);
  a->x = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  a->tanh = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_LayerNormForward 0x1e00
#define ITP_ALLOWS_LayerNormForward (0)
static const char itp_schema_LayerNormForward[] =
    "LayerNormForward(T x, T? weight, T? bias, *, f64 eps=1e-5) -> (T y, A mean, A rstd)";
typedef struct itp_args_LayerNormForward {
  const itp_tensor *x;
  const itp_tensor *weight;
  const itp_tensor *bias;
  itp_tensor *y;
  itp_tensor *mean;
  itp_tensor *rstd;
  double eps;
} itp_args_LayerNormForward;
static inline itp_status itp_unpack_LayerNormForward(const itp_launch *l, itp_args_LayerNormForward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 3, 1)) return itp_bad_counts(l, "LayerNormForward", 3, 3, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL &&
        l->outputs[2] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LayerNormForward", "%s: %s", "a required tensor is missing", itp_schema_LayerNormForward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LayerNormForward", "%s: %s", "an attribute is of another kind", itp_schema_LayerNormForward);
  a->x = l->inputs[0];
  a->weight = l->inputs[1];
  a->bias = l->inputs[2];
  a->y = l->outputs[0];
  a->mean = l->outputs[1];
  a->rstd = l->outputs[2];
  a->eps = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_LayerNormBackward 0x1e00
#define ITP_ALLOWS_LayerNormBackward (0)
static const char itp_schema_LayerNormBackward[] =
    "LayerNormBackward(T x, T? weight, A mean, A rstd, T grad, *, f64 eps=1e-5, bool accumulate=false) -> (T dx, inout T? dweight, inout T? dbias)";
typedef struct itp_args_LayerNormBackward {
  const itp_tensor *x;
  const itp_tensor *weight;
  const itp_tensor *mean;
  const itp_tensor *rstd;
  const itp_tensor *grad;
  itp_tensor *dx;
  itp_tensor *dweight;
  itp_tensor *dbias;
  double eps;
  int accumulate;
} itp_args_LayerNormBackward;
static inline itp_status itp_unpack_LayerNormBackward(const itp_launch *l, itp_args_LayerNormBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 5, 3, 2)) return itp_bad_counts(l, "LayerNormBackward", 5, 3, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[2] != NULL &&
        l->inputs[3] != NULL &&
        l->inputs[4] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LayerNormBackward", "%s: %s", "a required tensor is missing", itp_schema_LayerNormBackward);
  if (!(l->attrs[0].kind == ITP_V_F64 &&
        l->attrs[1].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LayerNormBackward", "%s: %s", "an attribute is of another kind", itp_schema_LayerNormBackward);
  a->x = l->inputs[0];
  a->weight = l->inputs[1];
  a->mean = l->inputs[2];
  a->rstd = l->inputs[3];
  a->grad = l->inputs[4];
  a->dx = l->outputs[0];
  a->dweight = l->outputs[1];
  a->dbias = l->outputs[2];
  a->eps = l->attrs[0].u.d;
  a->accumulate = l->attrs[1].u.i != 0;
  return ITP_OK;
}

/* clang-format on */
#endif
