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
#define ITP_KERNEL_COUNT 142

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
  X(NeForward, 1) \
  X(LtForward, 1) \
  X(LeForward, 1) \
  X(GtForward, 1) \
  X(GeForward, 1) \
  X(EqualsScalar, 1) \
  X(NeScalar, 1) \
  X(LtScalar, 1) \
  X(LeScalar, 1) \
  X(GtScalar, 1) \
  X(GeScalar, 1) \
  X(AndForward, 1) \
  X(OrForward, 1) \
  X(NotForward, 1) \
  X(WhereForward, 1) \
  X(ClampForward, 1) \
  X(MaskForward, 1) \
  X(SortForward, 1) \
  X(ArgMaxForward, 1) \
  X(ArgMinForward, 1) \
  X(ProdForward, 1) \
  X(CumSumForward, 1) \
  X(CumProdForward, 1) \
  X(CumProdBackward, 1) \
  X(TanForward, 1) \
  X(AsinForward, 1) \
  X(AcosForward, 1) \
  X(AtanForward, 1) \
  X(SinhForward, 1) \
  X(CoshForward, 1) \
  X(AsinhForward, 1) \
  X(AcoshForward, 1) \
  X(AtanhForward, 1) \
  X(Expm1Forward, 1) \
  X(Log1pForward, 1) \
  X(Log2Forward, 1) \
  X(Log10Forward, 1) \
  X(ErfForward, 1) \
  X(SoftplusForward, 1) \
  X(LeakyReluForward, 1) \
  X(Atan2Forward, 1) \
  X(HypotForward, 1) \
  X(LogaddexpForward, 1) \
  X(SquareForward, 1) \
  X(SignForward, 1) \
  X(FloorForward, 1) \
  X(CeilForward, 1) \
  X(TruncForward, 1) \
  X(RoundForward, 1) \
  X(FmodForward, 1) \
  X(CopysignForward, 1) \
  X(NextafterForward, 1) \
  X(SignbitForward, 1) \
  X(IsNanForward, 1) \
  X(IsInfForward, 1) \
  X(IsFiniteForward, 1) \
  X(XorForward, 1) \
  X(BitwiseAndForward, 1) \
  X(BitwiseOrForward, 1) \
  X(BitwiseXorForward, 1) \
  X(BitwiseNotForward, 1) \
  X(LeftShiftForward, 1) \
  X(RightShiftForward, 1) \
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
  X(Conv2dForward, 1) \
  X(Conv2dBackwardInput, 1) \
  X(Conv2dBackwardWeight, 1) \
  X(MaxPool2dForward, 1) \
  X(MaxPool2dBackward, 1) \
  X(AvgPool2dForward, 1) \
  X(AvgPool2dBackward, 1) \
  X(Gemm, 1) \
  X(OuterForward, 1) \
  X(OuterBackward, 1) \
  X(VocabParallelCrossEntropyBackward, 1) \
  X(EmbeddingForward, 1) \
  X(EmbeddingBackward, 1) \
  X(GatherForward, 1) \
  X(GatherBackward, 1) \
  X(ScatterForward, 1) \
  X(TopKForward, 1) \
  X(TrilForward, 1) \
  X(TriuForward, 1) \
  X(SoftmaxForward, 1) \
  X(SoftmaxBackward, 1) \
  X(CausalSoftmaxForward, 1) \
  X(CausalSoftmaxBackward, 1) \
  X(GeluForward, 1) \
  X(GeluBackward, 1) \
  X(SiluForward, 1) \
  X(SiluBackward, 1) \
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
  X(NeForward, 1) \
  X(LtForward, 1) \
  X(LeForward, 1) \
  X(GtForward, 1) \
  X(GeForward, 1) \
  X(EqualsScalar, 1) \
  X(NeScalar, 1) \
  X(LtScalar, 1) \
  X(LeScalar, 1) \
  X(GtScalar, 1) \
  X(GeScalar, 1) \
  X(AndForward, 1) \
  X(OrForward, 1) \
  X(NotForward, 1) \
  X(WhereForward, 1) \
  X(ClampForward, 1) \
  X(MaskForward, 1) \
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
  X(Conv2dForward, 1) \
  X(Conv2dBackwardInput, 1) \
  X(Conv2dBackwardWeight, 1) \
  X(MaxPool2dForward, 1) \
  X(MaxPool2dBackward, 1) \
  X(AvgPool2dForward, 1) \
  X(AvgPool2dBackward, 1) \
  X(EmbeddingForward, 1) \
  X(EmbeddingBackward, 1) \
  X(GatherForward, 1) \
  X(GatherBackward, 1) \
  X(ScatterForward, 1) \
  X(TopKForward, 1) \
  X(TrilForward, 1) \
  X(TriuForward, 1) \
  X(SoftmaxForward, 1) \
  X(SoftmaxBackward, 1) \
  X(CausalSoftmaxForward, 1) \
  X(CausalSoftmaxBackward, 1) \
  X(GeluForward, 1) \
  X(GeluBackward, 1) \
  X(SiluForward, 1) \
  X(SiluBackward, 1) \
  X(LayerNormForward, 1) \
  X(LayerNormBackward, 1) \

#define ITP_KERNELS_UP_TO_TIER_2(X) ITP_KERNELS_UP_TO_TIER_1(X) ITP_KERNELS_OF_TIER_2(X)
#define ITP_KERNELS_OF_TIER_3(X) \
  X(SortForward, 1) \
  X(ArgMaxForward, 1) \
  X(ArgMinForward, 1) \
  X(ProdForward, 1) \
  X(CumSumForward, 1) \
  X(CumProdForward, 1) \
  X(CumProdBackward, 1) \
  X(TanForward, 1) \
  X(AsinForward, 1) \
  X(AcosForward, 1) \
  X(AtanForward, 1) \
  X(SinhForward, 1) \
  X(CoshForward, 1) \
  X(AsinhForward, 1) \
  X(AcoshForward, 1) \
  X(AtanhForward, 1) \
  X(Expm1Forward, 1) \
  X(Log1pForward, 1) \
  X(Log2Forward, 1) \
  X(Log10Forward, 1) \
  X(ErfForward, 1) \
  X(SoftplusForward, 1) \
  X(LeakyReluForward, 1) \
  X(Atan2Forward, 1) \
  X(HypotForward, 1) \
  X(LogaddexpForward, 1) \
  X(SquareForward, 1) \
  X(SignForward, 1) \
  X(FloorForward, 1) \
  X(CeilForward, 1) \
  X(TruncForward, 1) \
  X(RoundForward, 1) \
  X(FmodForward, 1) \
  X(CopysignForward, 1) \
  X(NextafterForward, 1) \
  X(SignbitForward, 1) \
  X(IsNanForward, 1) \
  X(IsInfForward, 1) \
  X(IsFiniteForward, 1) \
  X(XorForward, 1) \
  X(BitwiseAndForward, 1) \
  X(BitwiseOrForward, 1) \
  X(BitwiseXorForward, 1) \
  X(BitwiseNotForward, 1) \
  X(LeftShiftForward, 1) \
  X(RightShiftForward, 1) \
  X(Gemm, 1) \
  X(OuterForward, 1) \
  X(OuterBackward, 1) \
  X(VocabParallelCrossEntropyBackward, 1) \

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

#define ITP_DTYPES_NeForward 0x1fff
#define ITP_ALLOWS_NeForward (ITP_K_STRIDED)
static const char itp_schema_NeForward[] =
    "NeForward(T a, T b) -> (bool y)";
typedef struct itp_args_NeForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_NeForward;
static inline itp_status itp_unpack_NeForward(const itp_launch *l, itp_args_NeForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "NeForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NeForward", "%s: %s", "a required tensor is missing", itp_schema_NeForward);
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

#define ITP_DTYPES_EqualsScalar 0x1fff
#define ITP_ALLOWS_EqualsScalar (ITP_K_STRIDED)
static const char itp_schema_EqualsScalar[] =
    "EqualsScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_EqualsScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_EqualsScalar;
static inline itp_status itp_unpack_EqualsScalar(const itp_launch *l, itp_args_EqualsScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "EqualsScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EqualsScalar", "%s: %s", "a required tensor is missing", itp_schema_EqualsScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "EqualsScalar", "%s: %s", "an attribute is of another kind", itp_schema_EqualsScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NeScalar 0x1fff
#define ITP_ALLOWS_NeScalar (ITP_K_STRIDED)
static const char itp_schema_NeScalar[] =
    "NeScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_NeScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_NeScalar;
static inline itp_status itp_unpack_NeScalar(const itp_launch *l, itp_args_NeScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "NeScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NeScalar", "%s: %s", "a required tensor is missing", itp_schema_NeScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NeScalar", "%s: %s", "an attribute is of another kind", itp_schema_NeScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LtScalar 0x1fff
#define ITP_ALLOWS_LtScalar (ITP_K_STRIDED)
static const char itp_schema_LtScalar[] =
    "LtScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_LtScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_LtScalar;
static inline itp_status itp_unpack_LtScalar(const itp_launch *l, itp_args_LtScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "LtScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LtScalar", "%s: %s", "a required tensor is missing", itp_schema_LtScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LtScalar", "%s: %s", "an attribute is of another kind", itp_schema_LtScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LeScalar 0x1fff
#define ITP_ALLOWS_LeScalar (ITP_K_STRIDED)
static const char itp_schema_LeScalar[] =
    "LeScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_LeScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_LeScalar;
static inline itp_status itp_unpack_LeScalar(const itp_launch *l, itp_args_LeScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "LeScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeScalar", "%s: %s", "a required tensor is missing", itp_schema_LeScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeScalar", "%s: %s", "an attribute is of another kind", itp_schema_LeScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_GtScalar 0x1fff
#define ITP_ALLOWS_GtScalar (ITP_K_STRIDED)
static const char itp_schema_GtScalar[] =
    "GtScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_GtScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_GtScalar;
static inline itp_status itp_unpack_GtScalar(const itp_launch *l, itp_args_GtScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "GtScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GtScalar", "%s: %s", "a required tensor is missing", itp_schema_GtScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GtScalar", "%s: %s", "an attribute is of another kind", itp_schema_GtScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_GeScalar 0x1fff
#define ITP_ALLOWS_GeScalar (ITP_K_STRIDED)
static const char itp_schema_GeScalar[] =
    "GeScalar(T x, *, scalar value) -> (bool y)";
typedef struct itp_args_GeScalar {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *value;
} itp_args_GeScalar;
static inline itp_status itp_unpack_GeScalar(const itp_launch *l, itp_args_GeScalar *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "GeScalar", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeScalar", "%s: %s", "a required tensor is missing", itp_schema_GeScalar);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "GeScalar", "%s: %s", "an attribute is of another kind", itp_schema_GeScalar);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
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

#define ITP_DTYPES_ClampForward 0x1ffe
#define ITP_ALLOWS_ClampForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ClampForward[] =
    "ClampForward(T x, *, scalar min, scalar max) -> (T y)";
typedef struct itp_args_ClampForward {
  const itp_tensor *x;
  itp_tensor *y;
  const itp_value *min;
  const itp_value *max;
} itp_args_ClampForward;
static inline itp_status itp_unpack_ClampForward(const itp_launch *l, itp_args_ClampForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 2)) return itp_bad_counts(l, "ClampForward", 1, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ClampForward", "%s: %s", "a required tensor is missing", itp_schema_ClampForward);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL) &&
        (l->attrs[1].kind == ITP_V_I64 || l->attrs[1].kind == ITP_V_F64 || l->attrs[1].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ClampForward", "%s: %s", "an attribute is of another kind", itp_schema_ClampForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->min = &l->attrs[0];
  a->max = &l->attrs[1];
  return ITP_OK;
}

#define ITP_DTYPES_MaskForward 0x1fff
#define ITP_ALLOWS_MaskForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_MaskForward[] =
    "MaskForward(T x, bool mask, *, scalar value) -> (T y)";
typedef struct itp_args_MaskForward {
  const itp_tensor *x;
  const itp_tensor *mask;
  itp_tensor *y;
  const itp_value *value;
} itp_args_MaskForward;
static inline itp_status itp_unpack_MaskForward(const itp_launch *l, itp_args_MaskForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "MaskForward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaskForward", "%s: %s", "a required tensor is missing", itp_schema_MaskForward);
  if (!((l->attrs[0].kind == ITP_V_I64 || l->attrs[0].kind == ITP_V_F64 || l->attrs[0].kind == ITP_V_BOOL)))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaskForward", "%s: %s", "an attribute is of another kind", itp_schema_MaskForward);
  a->x = l->inputs[0];
  a->mask = l->inputs[1];
  a->y = l->outputs[0];
  a->value = &l->attrs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SortForward 0x1fff
#define ITP_ALLOWS_SortForward (0)
static const char itp_schema_SortForward[] =
    "SortForward(T x, *, bool descending=false) -> (T values, i64 indices)";
typedef struct itp_args_SortForward {
  const itp_tensor *x;
  itp_tensor *values;
  itp_tensor *indices;
  int descending;
} itp_args_SortForward;
static inline itp_status itp_unpack_SortForward(const itp_launch *l, itp_args_SortForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 2, 1)) return itp_bad_counts(l, "SortForward", 1, 2, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SortForward", "%s: %s", "a required tensor is missing", itp_schema_SortForward);
  if (!(l->attrs[0].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SortForward", "%s: %s", "an attribute is of another kind", itp_schema_SortForward);
  a->x = l->inputs[0];
  a->values = l->outputs[0];
  a->indices = l->outputs[1];
  a->descending = l->attrs[0].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_ArgMaxForward 0x1fff
#define ITP_ALLOWS_ArgMaxForward (0)
static const char itp_schema_ArgMaxForward[] =
    "ArgMaxForward(T x) -> (i64 y)";
typedef struct itp_args_ArgMaxForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ArgMaxForward;
static inline itp_status itp_unpack_ArgMaxForward(const itp_launch *l, itp_args_ArgMaxForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ArgMaxForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ArgMaxForward", "%s: %s", "a required tensor is missing", itp_schema_ArgMaxForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ArgMinForward 0x1fff
#define ITP_ALLOWS_ArgMinForward (0)
static const char itp_schema_ArgMinForward[] =
    "ArgMinForward(T x) -> (i64 y)";
typedef struct itp_args_ArgMinForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ArgMinForward;
static inline itp_status itp_unpack_ArgMinForward(const itp_launch *l, itp_args_ArgMinForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ArgMinForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ArgMinForward", "%s: %s", "a required tensor is missing", itp_schema_ArgMinForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ProdForward 0x1ffe
#define ITP_ALLOWS_ProdForward (ITP_K_STRIDED)
static const char itp_schema_ProdForward[] =
    "ProdForward(T x) -> (T y)";
typedef struct itp_args_ProdForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ProdForward;
static inline itp_status itp_unpack_ProdForward(const itp_launch *l, itp_args_ProdForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ProdForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ProdForward", "%s: %s", "a required tensor is missing", itp_schema_ProdForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CumSumForward 0x1ffe
#define ITP_ALLOWS_CumSumForward (0)
static const char itp_schema_CumSumForward[] =
    "CumSumForward(T x, *, i64 dim, bool reverse=false) -> (T y)";
typedef struct itp_args_CumSumForward {
  const itp_tensor *x;
  itp_tensor *y;
  int64_t dim;
  int reverse;
} itp_args_CumSumForward;
static inline itp_status itp_unpack_CumSumForward(const itp_launch *l, itp_args_CumSumForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 2)) return itp_bad_counts(l, "CumSumForward", 1, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumSumForward", "%s: %s", "a required tensor is missing", itp_schema_CumSumForward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumSumForward", "%s: %s", "an attribute is of another kind", itp_schema_CumSumForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  a->reverse = l->attrs[1].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_CumProdForward 0x1ffe
#define ITP_ALLOWS_CumProdForward (0)
static const char itp_schema_CumProdForward[] =
    "CumProdForward(T x, *, i64 dim) -> (T y)";
typedef struct itp_args_CumProdForward {
  const itp_tensor *x;
  itp_tensor *y;
  int64_t dim;
} itp_args_CumProdForward;
static inline itp_status itp_unpack_CumProdForward(const itp_launch *l, itp_args_CumProdForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "CumProdForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumProdForward", "%s: %s", "a required tensor is missing", itp_schema_CumProdForward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumProdForward", "%s: %s", "an attribute is of another kind", itp_schema_CumProdForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_CumProdBackward 0x1e00
#define ITP_ALLOWS_CumProdBackward (0)
static const char itp_schema_CumProdBackward[] =
    "CumProdBackward(T x, T grad, *, i64 dim) -> (T dx)";
typedef struct itp_args_CumProdBackward {
  const itp_tensor *x;
  const itp_tensor *grad;
  itp_tensor *dx;
  int64_t dim;
} itp_args_CumProdBackward;
static inline itp_status itp_unpack_CumProdBackward(const itp_launch *l, itp_args_CumProdBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 1)) return itp_bad_counts(l, "CumProdBackward", 2, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumProdBackward", "%s: %s", "a required tensor is missing", itp_schema_CumProdBackward);
  if (!(l->attrs[0].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CumProdBackward", "%s: %s", "an attribute is of another kind", itp_schema_CumProdBackward);
  a->x = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
  a->dim = l->attrs[0].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_TanForward 0x1e00
#define ITP_ALLOWS_TanForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_TanForward[] =
    "TanForward(T x) -> (T y)";
typedef struct itp_args_TanForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_TanForward;
static inline itp_status itp_unpack_TanForward(const itp_launch *l, itp_args_TanForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "TanForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TanForward", "%s: %s", "a required tensor is missing", itp_schema_TanForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AsinForward 0x1e00
#define ITP_ALLOWS_AsinForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AsinForward[] =
    "AsinForward(T x) -> (T y)";
typedef struct itp_args_AsinForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AsinForward;
static inline itp_status itp_unpack_AsinForward(const itp_launch *l, itp_args_AsinForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AsinForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AsinForward", "%s: %s", "a required tensor is missing", itp_schema_AsinForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AcosForward 0x1e00
#define ITP_ALLOWS_AcosForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AcosForward[] =
    "AcosForward(T x) -> (T y)";
typedef struct itp_args_AcosForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AcosForward;
static inline itp_status itp_unpack_AcosForward(const itp_launch *l, itp_args_AcosForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AcosForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AcosForward", "%s: %s", "a required tensor is missing", itp_schema_AcosForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AtanForward 0x1e00
#define ITP_ALLOWS_AtanForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AtanForward[] =
    "AtanForward(T x) -> (T y)";
typedef struct itp_args_AtanForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AtanForward;
static inline itp_status itp_unpack_AtanForward(const itp_launch *l, itp_args_AtanForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AtanForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AtanForward", "%s: %s", "a required tensor is missing", itp_schema_AtanForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SinhForward 0x1e00
#define ITP_ALLOWS_SinhForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SinhForward[] =
    "SinhForward(T x) -> (T y)";
typedef struct itp_args_SinhForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SinhForward;
static inline itp_status itp_unpack_SinhForward(const itp_launch *l, itp_args_SinhForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SinhForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SinhForward", "%s: %s", "a required tensor is missing", itp_schema_SinhForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CoshForward 0x1e00
#define ITP_ALLOWS_CoshForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_CoshForward[] =
    "CoshForward(T x) -> (T y)";
typedef struct itp_args_CoshForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_CoshForward;
static inline itp_status itp_unpack_CoshForward(const itp_launch *l, itp_args_CoshForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "CoshForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CoshForward", "%s: %s", "a required tensor is missing", itp_schema_CoshForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AsinhForward 0x1e00
#define ITP_ALLOWS_AsinhForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AsinhForward[] =
    "AsinhForward(T x) -> (T y)";
typedef struct itp_args_AsinhForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AsinhForward;
static inline itp_status itp_unpack_AsinhForward(const itp_launch *l, itp_args_AsinhForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AsinhForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AsinhForward", "%s: %s", "a required tensor is missing", itp_schema_AsinhForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AcoshForward 0x1e00
#define ITP_ALLOWS_AcoshForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AcoshForward[] =
    "AcoshForward(T x) -> (T y)";
typedef struct itp_args_AcoshForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AcoshForward;
static inline itp_status itp_unpack_AcoshForward(const itp_launch *l, itp_args_AcoshForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AcoshForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AcoshForward", "%s: %s", "a required tensor is missing", itp_schema_AcoshForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_AtanhForward 0x1e00
#define ITP_ALLOWS_AtanhForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_AtanhForward[] =
    "AtanhForward(T x) -> (T y)";
typedef struct itp_args_AtanhForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_AtanhForward;
static inline itp_status itp_unpack_AtanhForward(const itp_launch *l, itp_args_AtanhForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "AtanhForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AtanhForward", "%s: %s", "a required tensor is missing", itp_schema_AtanhForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Expm1Forward 0x1e00
#define ITP_ALLOWS_Expm1Forward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_Expm1Forward[] =
    "Expm1Forward(T x) -> (T y)";
typedef struct itp_args_Expm1Forward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Expm1Forward;
static inline itp_status itp_unpack_Expm1Forward(const itp_launch *l, itp_args_Expm1Forward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Expm1Forward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Expm1Forward", "%s: %s", "a required tensor is missing", itp_schema_Expm1Forward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Log1pForward 0x1e00
#define ITP_ALLOWS_Log1pForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_Log1pForward[] =
    "Log1pForward(T x) -> (T y)";
typedef struct itp_args_Log1pForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Log1pForward;
static inline itp_status itp_unpack_Log1pForward(const itp_launch *l, itp_args_Log1pForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Log1pForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Log1pForward", "%s: %s", "a required tensor is missing", itp_schema_Log1pForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Log2Forward 0x1e00
#define ITP_ALLOWS_Log2Forward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_Log2Forward[] =
    "Log2Forward(T x) -> (T y)";
typedef struct itp_args_Log2Forward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Log2Forward;
static inline itp_status itp_unpack_Log2Forward(const itp_launch *l, itp_args_Log2Forward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Log2Forward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Log2Forward", "%s: %s", "a required tensor is missing", itp_schema_Log2Forward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_Log10Forward 0x1e00
#define ITP_ALLOWS_Log10Forward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_Log10Forward[] =
    "Log10Forward(T x) -> (T y)";
typedef struct itp_args_Log10Forward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_Log10Forward;
static inline itp_status itp_unpack_Log10Forward(const itp_launch *l, itp_args_Log10Forward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "Log10Forward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Log10Forward", "%s: %s", "a required tensor is missing", itp_schema_Log10Forward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_ErfForward 0x1e00
#define ITP_ALLOWS_ErfForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_ErfForward[] =
    "ErfForward(T x) -> (T y)";
typedef struct itp_args_ErfForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_ErfForward;
static inline itp_status itp_unpack_ErfForward(const itp_launch *l, itp_args_ErfForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "ErfForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "ErfForward", "%s: %s", "a required tensor is missing", itp_schema_ErfForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SoftplusForward 0x1e00
#define ITP_ALLOWS_SoftplusForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SoftplusForward[] =
    "SoftplusForward(T x, *, f64 beta=1.0, f64 threshold=20.0) -> (T y)";
typedef struct itp_args_SoftplusForward {
  const itp_tensor *x;
  itp_tensor *y;
  double beta;
  double threshold;
} itp_args_SoftplusForward;
static inline itp_status itp_unpack_SoftplusForward(const itp_launch *l, itp_args_SoftplusForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 2)) return itp_bad_counts(l, "SoftplusForward", 1, 1, 2, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SoftplusForward", "%s: %s", "a required tensor is missing", itp_schema_SoftplusForward);
  if (!(l->attrs[0].kind == ITP_V_F64 &&
        l->attrs[1].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SoftplusForward", "%s: %s", "an attribute is of another kind", itp_schema_SoftplusForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->beta = l->attrs[0].u.d;
  a->threshold = l->attrs[1].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_LeakyReluForward 0x1e00
#define ITP_ALLOWS_LeakyReluForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_LeakyReluForward[] =
    "LeakyReluForward(T x, *, f64 slope=0.01) -> (T y)";
typedef struct itp_args_LeakyReluForward {
  const itp_tensor *x;
  itp_tensor *y;
  double slope;
} itp_args_LeakyReluForward;
static inline itp_status itp_unpack_LeakyReluForward(const itp_launch *l, itp_args_LeakyReluForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 1)) return itp_bad_counts(l, "LeakyReluForward", 1, 1, 1, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeakyReluForward", "%s: %s", "a required tensor is missing", itp_schema_LeakyReluForward);
  if (!(l->attrs[0].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeakyReluForward", "%s: %s", "an attribute is of another kind", itp_schema_LeakyReluForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->slope = l->attrs[0].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_Atan2Forward 0x1e00
#define ITP_ALLOWS_Atan2Forward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_Atan2Forward[] =
    "Atan2Forward(T a, T b) -> (T y)";
typedef struct itp_args_Atan2Forward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_Atan2Forward;
static inline itp_status itp_unpack_Atan2Forward(const itp_launch *l, itp_args_Atan2Forward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "Atan2Forward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Atan2Forward", "%s: %s", "a required tensor is missing", itp_schema_Atan2Forward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_HypotForward 0x1e00
#define ITP_ALLOWS_HypotForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_HypotForward[] =
    "HypotForward(T a, T b) -> (T y)";
typedef struct itp_args_HypotForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_HypotForward;
static inline itp_status itp_unpack_HypotForward(const itp_launch *l, itp_args_HypotForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "HypotForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "HypotForward", "%s: %s", "a required tensor is missing", itp_schema_HypotForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LogaddexpForward 0x1e00
#define ITP_ALLOWS_LogaddexpForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_LogaddexpForward[] =
    "LogaddexpForward(T a, T b) -> (T y)";
typedef struct itp_args_LogaddexpForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_LogaddexpForward;
static inline itp_status itp_unpack_LogaddexpForward(const itp_launch *l, itp_args_LogaddexpForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "LogaddexpForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LogaddexpForward", "%s: %s", "a required tensor is missing", itp_schema_LogaddexpForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SquareForward 0x1ffe
#define ITP_ALLOWS_SquareForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SquareForward[] =
    "SquareForward(T x) -> (T y)";
typedef struct itp_args_SquareForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SquareForward;
static inline itp_status itp_unpack_SquareForward(const itp_launch *l, itp_args_SquareForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SquareForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SquareForward", "%s: %s", "a required tensor is missing", itp_schema_SquareForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SignForward 0x1ffe
#define ITP_ALLOWS_SignForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SignForward[] =
    "SignForward(T x) -> (T y)";
typedef struct itp_args_SignForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SignForward;
static inline itp_status itp_unpack_SignForward(const itp_launch *l, itp_args_SignForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SignForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SignForward", "%s: %s", "a required tensor is missing", itp_schema_SignForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_FloorForward 0x1e00
#define ITP_ALLOWS_FloorForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_FloorForward[] =
    "FloorForward(T x) -> (T y)";
typedef struct itp_args_FloorForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_FloorForward;
static inline itp_status itp_unpack_FloorForward(const itp_launch *l, itp_args_FloorForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "FloorForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "FloorForward", "%s: %s", "a required tensor is missing", itp_schema_FloorForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CeilForward 0x1e00
#define ITP_ALLOWS_CeilForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_CeilForward[] =
    "CeilForward(T x) -> (T y)";
typedef struct itp_args_CeilForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_CeilForward;
static inline itp_status itp_unpack_CeilForward(const itp_launch *l, itp_args_CeilForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "CeilForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CeilForward", "%s: %s", "a required tensor is missing", itp_schema_CeilForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_TruncForward 0x1e00
#define ITP_ALLOWS_TruncForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_TruncForward[] =
    "TruncForward(T x) -> (T y)";
typedef struct itp_args_TruncForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_TruncForward;
static inline itp_status itp_unpack_TruncForward(const itp_launch *l, itp_args_TruncForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "TruncForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TruncForward", "%s: %s", "a required tensor is missing", itp_schema_TruncForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_RoundForward 0x1e00
#define ITP_ALLOWS_RoundForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_RoundForward[] =
    "RoundForward(T x) -> (T y)";
typedef struct itp_args_RoundForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_RoundForward;
static inline itp_status itp_unpack_RoundForward(const itp_launch *l, itp_args_RoundForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "RoundForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "RoundForward", "%s: %s", "a required tensor is missing", itp_schema_RoundForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_FmodForward 0x1ffe
#define ITP_ALLOWS_FmodForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_FmodForward[] =
    "FmodForward(T a, T b) -> (T y)";
typedef struct itp_args_FmodForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_FmodForward;
static inline itp_status itp_unpack_FmodForward(const itp_launch *l, itp_args_FmodForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "FmodForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "FmodForward", "%s: %s", "a required tensor is missing", itp_schema_FmodForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_CopysignForward 0x1e00
#define ITP_ALLOWS_CopysignForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_CopysignForward[] =
    "CopysignForward(T a, T b) -> (T y)";
typedef struct itp_args_CopysignForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_CopysignForward;
static inline itp_status itp_unpack_CopysignForward(const itp_launch *l, itp_args_CopysignForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "CopysignForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "CopysignForward", "%s: %s", "a required tensor is missing", itp_schema_CopysignForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_NextafterForward 0x1e00
#define ITP_ALLOWS_NextafterForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_NextafterForward[] =
    "NextafterForward(T a, T b) -> (T y)";
typedef struct itp_args_NextafterForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_NextafterForward;
static inline itp_status itp_unpack_NextafterForward(const itp_launch *l, itp_args_NextafterForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "NextafterForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "NextafterForward", "%s: %s", "a required tensor is missing", itp_schema_NextafterForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SignbitForward 0x1e00
#define ITP_ALLOWS_SignbitForward (ITP_K_STRIDED)
static const char itp_schema_SignbitForward[] =
    "SignbitForward(T x) -> (bool y)";
typedef struct itp_args_SignbitForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SignbitForward;
static inline itp_status itp_unpack_SignbitForward(const itp_launch *l, itp_args_SignbitForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SignbitForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SignbitForward", "%s: %s", "a required tensor is missing", itp_schema_SignbitForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_IsNanForward 0x1e00
#define ITP_ALLOWS_IsNanForward (ITP_K_STRIDED)
static const char itp_schema_IsNanForward[] =
    "IsNanForward(T x) -> (bool y)";
typedef struct itp_args_IsNanForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_IsNanForward;
static inline itp_status itp_unpack_IsNanForward(const itp_launch *l, itp_args_IsNanForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "IsNanForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "IsNanForward", "%s: %s", "a required tensor is missing", itp_schema_IsNanForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_IsInfForward 0x1e00
#define ITP_ALLOWS_IsInfForward (ITP_K_STRIDED)
static const char itp_schema_IsInfForward[] =
    "IsInfForward(T x) -> (bool y)";
typedef struct itp_args_IsInfForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_IsInfForward;
static inline itp_status itp_unpack_IsInfForward(const itp_launch *l, itp_args_IsInfForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "IsInfForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "IsInfForward", "%s: %s", "a required tensor is missing", itp_schema_IsInfForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_IsFiniteForward 0x1e00
#define ITP_ALLOWS_IsFiniteForward (ITP_K_STRIDED)
static const char itp_schema_IsFiniteForward[] =
    "IsFiniteForward(T x) -> (bool y)";
typedef struct itp_args_IsFiniteForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_IsFiniteForward;
static inline itp_status itp_unpack_IsFiniteForward(const itp_launch *l, itp_args_IsFiniteForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "IsFiniteForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "IsFiniteForward", "%s: %s", "a required tensor is missing", itp_schema_IsFiniteForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_XorForward 0x0
#define ITP_ALLOWS_XorForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_XorForward[] =
    "XorForward(bool a, bool b) -> (bool y)";
typedef struct itp_args_XorForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_XorForward;
static inline itp_status itp_unpack_XorForward(const itp_launch *l, itp_args_XorForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "XorForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "XorForward", "%s: %s", "a required tensor is missing", itp_schema_XorForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_BitwiseAndForward 0x1fe
#define ITP_ALLOWS_BitwiseAndForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_BitwiseAndForward[] =
    "BitwiseAndForward(T a, T b) -> (T y)";
typedef struct itp_args_BitwiseAndForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_BitwiseAndForward;
static inline itp_status itp_unpack_BitwiseAndForward(const itp_launch *l, itp_args_BitwiseAndForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "BitwiseAndForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "BitwiseAndForward", "%s: %s", "a required tensor is missing", itp_schema_BitwiseAndForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_BitwiseOrForward 0x1fe
#define ITP_ALLOWS_BitwiseOrForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_BitwiseOrForward[] =
    "BitwiseOrForward(T a, T b) -> (T y)";
typedef struct itp_args_BitwiseOrForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_BitwiseOrForward;
static inline itp_status itp_unpack_BitwiseOrForward(const itp_launch *l, itp_args_BitwiseOrForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "BitwiseOrForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "BitwiseOrForward", "%s: %s", "a required tensor is missing", itp_schema_BitwiseOrForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_BitwiseXorForward 0x1fe
#define ITP_ALLOWS_BitwiseXorForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_BitwiseXorForward[] =
    "BitwiseXorForward(T a, T b) -> (T y)";
typedef struct itp_args_BitwiseXorForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_BitwiseXorForward;
static inline itp_status itp_unpack_BitwiseXorForward(const itp_launch *l, itp_args_BitwiseXorForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "BitwiseXorForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "BitwiseXorForward", "%s: %s", "a required tensor is missing", itp_schema_BitwiseXorForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_BitwiseNotForward 0x1fe
#define ITP_ALLOWS_BitwiseNotForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_BitwiseNotForward[] =
    "BitwiseNotForward(T x) -> (T y)";
typedef struct itp_args_BitwiseNotForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_BitwiseNotForward;
static inline itp_status itp_unpack_BitwiseNotForward(const itp_launch *l, itp_args_BitwiseNotForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "BitwiseNotForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "BitwiseNotForward", "%s: %s", "a required tensor is missing", itp_schema_BitwiseNotForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_LeftShiftForward 0x1fe
#define ITP_ALLOWS_LeftShiftForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_LeftShiftForward[] =
    "LeftShiftForward(T a, T b) -> (T y)";
typedef struct itp_args_LeftShiftForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_LeftShiftForward;
static inline itp_status itp_unpack_LeftShiftForward(const itp_launch *l, itp_args_LeftShiftForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "LeftShiftForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "LeftShiftForward", "%s: %s", "a required tensor is missing", itp_schema_LeftShiftForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_RightShiftForward 0x1fe
#define ITP_ALLOWS_RightShiftForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_RightShiftForward[] =
    "RightShiftForward(T a, T b) -> (T y)";
typedef struct itp_args_RightShiftForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_RightShiftForward;
static inline itp_status itp_unpack_RightShiftForward(const itp_launch *l, itp_args_RightShiftForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "RightShiftForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "RightShiftForward", "%s: %s", "a required tensor is missing", itp_schema_RightShiftForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
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

#define ITP_DTYPES_Conv2dForward 0x1e00
#define ITP_ALLOWS_Conv2dForward (0)
static const char itp_schema_Conv2dForward[] =
    "Conv2dForward(T x, T weight, T? bias, *, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, i64 dilation_h=1, i64 dilation_w=1, i64 groups=1) -> (T y)";
typedef struct itp_args_Conv2dForward {
  const itp_tensor *x;
  const itp_tensor *weight;
  const itp_tensor *bias;
  itp_tensor *y;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int64_t dilation_h;
  int64_t dilation_w;
  int64_t groups;
} itp_args_Conv2dForward;
static inline itp_status itp_unpack_Conv2dForward(const itp_launch *l, itp_args_Conv2dForward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 1, 7)) return itp_bad_counts(l, "Conv2dForward", 3, 1, 7, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dForward", "%s: %s", "a required tensor is missing", itp_schema_Conv2dForward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dForward", "%s: %s", "an attribute is of another kind", itp_schema_Conv2dForward);
  a->x = l->inputs[0];
  a->weight = l->inputs[1];
  a->bias = l->inputs[2];
  a->y = l->outputs[0];
  a->stride_h = l->attrs[0].u.i;
  a->stride_w = l->attrs[1].u.i;
  a->pad_h = l->attrs[2].u.i;
  a->pad_w = l->attrs[3].u.i;
  a->dilation_h = l->attrs[4].u.i;
  a->dilation_w = l->attrs[5].u.i;
  a->groups = l->attrs[6].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_Conv2dBackwardInput 0x1e00
#define ITP_ALLOWS_Conv2dBackwardInput (0)
static const char itp_schema_Conv2dBackwardInput[] =
    "Conv2dBackwardInput(T grad, T weight, *, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, i64 dilation_h=1, i64 dilation_w=1, i64 groups=1, bool accumulate=false) -> (inout T dx)";
typedef struct itp_args_Conv2dBackwardInput {
  const itp_tensor *grad;
  const itp_tensor *weight;
  itp_tensor *dx;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int64_t dilation_h;
  int64_t dilation_w;
  int64_t groups;
  int accumulate;
} itp_args_Conv2dBackwardInput;
static inline itp_status itp_unpack_Conv2dBackwardInput(const itp_launch *l, itp_args_Conv2dBackwardInput *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 8)) return itp_bad_counts(l, "Conv2dBackwardInput", 2, 1, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dBackwardInput", "%s: %s", "a required tensor is missing", itp_schema_Conv2dBackwardInput);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_I64 &&
        l->attrs[7].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dBackwardInput", "%s: %s", "an attribute is of another kind", itp_schema_Conv2dBackwardInput);
  a->grad = l->inputs[0];
  a->weight = l->inputs[1];
  a->dx = l->outputs[0];
  a->stride_h = l->attrs[0].u.i;
  a->stride_w = l->attrs[1].u.i;
  a->pad_h = l->attrs[2].u.i;
  a->pad_w = l->attrs[3].u.i;
  a->dilation_h = l->attrs[4].u.i;
  a->dilation_w = l->attrs[5].u.i;
  a->groups = l->attrs[6].u.i;
  a->accumulate = l->attrs[7].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_Conv2dBackwardWeight 0x1e00
#define ITP_ALLOWS_Conv2dBackwardWeight (0)
static const char itp_schema_Conv2dBackwardWeight[] =
    "Conv2dBackwardWeight(T x, T grad, *, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, i64 dilation_h=1, i64 dilation_w=1, i64 groups=1, bool accumulate=false) -> (inout T dweight)";
typedef struct itp_args_Conv2dBackwardWeight {
  const itp_tensor *x;
  const itp_tensor *grad;
  itp_tensor *dweight;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int64_t dilation_h;
  int64_t dilation_w;
  int64_t groups;
  int accumulate;
} itp_args_Conv2dBackwardWeight;
static inline itp_status itp_unpack_Conv2dBackwardWeight(const itp_launch *l, itp_args_Conv2dBackwardWeight *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 8)) return itp_bad_counts(l, "Conv2dBackwardWeight", 2, 1, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dBackwardWeight", "%s: %s", "a required tensor is missing", itp_schema_Conv2dBackwardWeight);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_I64 &&
        l->attrs[7].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Conv2dBackwardWeight", "%s: %s", "an attribute is of another kind", itp_schema_Conv2dBackwardWeight);
  a->x = l->inputs[0];
  a->grad = l->inputs[1];
  a->dweight = l->outputs[0];
  a->stride_h = l->attrs[0].u.i;
  a->stride_w = l->attrs[1].u.i;
  a->pad_h = l->attrs[2].u.i;
  a->pad_w = l->attrs[3].u.i;
  a->dilation_h = l->attrs[4].u.i;
  a->dilation_w = l->attrs[5].u.i;
  a->groups = l->attrs[6].u.i;
  a->accumulate = l->attrs[7].u.i != 0;
  return ITP_OK;
}

#define ITP_DTYPES_MaxPool2dForward 0x1e00
#define ITP_ALLOWS_MaxPool2dForward (0)
static const char itp_schema_MaxPool2dForward[] =
    "MaxPool2dForward(T x, *, i64 kernel_h, i64 kernel_w, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, i64 dilation_h=1, i64 dilation_w=1) -> (T y, i64 index)";
typedef struct itp_args_MaxPool2dForward {
  const itp_tensor *x;
  itp_tensor *y;
  itp_tensor *index;
  int64_t kernel_h;
  int64_t kernel_w;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int64_t dilation_h;
  int64_t dilation_w;
} itp_args_MaxPool2dForward;
static inline itp_status itp_unpack_MaxPool2dForward(const itp_launch *l, itp_args_MaxPool2dForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 2, 8)) return itp_bad_counts(l, "MaxPool2dForward", 1, 2, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaxPool2dForward", "%s: %s", "a required tensor is missing", itp_schema_MaxPool2dForward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_I64 &&
        l->attrs[7].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaxPool2dForward", "%s: %s", "an attribute is of another kind", itp_schema_MaxPool2dForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->index = l->outputs[1];
  a->kernel_h = l->attrs[0].u.i;
  a->kernel_w = l->attrs[1].u.i;
  a->stride_h = l->attrs[2].u.i;
  a->stride_w = l->attrs[3].u.i;
  a->pad_h = l->attrs[4].u.i;
  a->pad_w = l->attrs[5].u.i;
  a->dilation_h = l->attrs[6].u.i;
  a->dilation_w = l->attrs[7].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_MaxPool2dBackward 0x1e00
#define ITP_ALLOWS_MaxPool2dBackward (0)
static const char itp_schema_MaxPool2dBackward[] =
    "MaxPool2dBackward(T grad, i64 index, *, i64 kernel_h, i64 kernel_w, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, i64 dilation_h=1, i64 dilation_w=1) -> (T dx)";
typedef struct itp_args_MaxPool2dBackward {
  const itp_tensor *grad;
  const itp_tensor *index;
  itp_tensor *dx;
  int64_t kernel_h;
  int64_t kernel_w;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int64_t dilation_h;
  int64_t dilation_w;
} itp_args_MaxPool2dBackward;
static inline itp_status itp_unpack_MaxPool2dBackward(const itp_launch *l, itp_args_MaxPool2dBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 8)) return itp_bad_counts(l, "MaxPool2dBackward", 2, 1, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaxPool2dBackward", "%s: %s", "a required tensor is missing", itp_schema_MaxPool2dBackward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_I64 &&
        l->attrs[7].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "MaxPool2dBackward", "%s: %s", "an attribute is of another kind", itp_schema_MaxPool2dBackward);
  a->grad = l->inputs[0];
  a->index = l->inputs[1];
  a->dx = l->outputs[0];
  a->kernel_h = l->attrs[0].u.i;
  a->kernel_w = l->attrs[1].u.i;
  a->stride_h = l->attrs[2].u.i;
  a->stride_w = l->attrs[3].u.i;
  a->pad_h = l->attrs[4].u.i;
  a->pad_w = l->attrs[5].u.i;
  a->dilation_h = l->attrs[6].u.i;
  a->dilation_w = l->attrs[7].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_AvgPool2dForward 0x1e00
#define ITP_ALLOWS_AvgPool2dForward (0)
static const char itp_schema_AvgPool2dForward[] =
    "AvgPool2dForward(T x, *, i64 kernel_h, i64 kernel_w, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, bool count_include_pad=true, i64 divisor=0) -> (T y)";
typedef struct itp_args_AvgPool2dForward {
  const itp_tensor *x;
  itp_tensor *y;
  int64_t kernel_h;
  int64_t kernel_w;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int count_include_pad;
  int64_t divisor;
} itp_args_AvgPool2dForward;
static inline itp_status itp_unpack_AvgPool2dForward(const itp_launch *l, itp_args_AvgPool2dForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 8)) return itp_bad_counts(l, "AvgPool2dForward", 1, 1, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AvgPool2dForward", "%s: %s", "a required tensor is missing", itp_schema_AvgPool2dForward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_BOOL &&
        l->attrs[7].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AvgPool2dForward", "%s: %s", "an attribute is of another kind", itp_schema_AvgPool2dForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  a->kernel_h = l->attrs[0].u.i;
  a->kernel_w = l->attrs[1].u.i;
  a->stride_h = l->attrs[2].u.i;
  a->stride_w = l->attrs[3].u.i;
  a->pad_h = l->attrs[4].u.i;
  a->pad_w = l->attrs[5].u.i;
  a->count_include_pad = l->attrs[6].u.i != 0;
  a->divisor = l->attrs[7].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_AvgPool2dBackward 0x1e00
#define ITP_ALLOWS_AvgPool2dBackward (0)
static const char itp_schema_AvgPool2dBackward[] =
    "AvgPool2dBackward(T grad, *, i64 kernel_h, i64 kernel_w, i64 stride_h=1, i64 stride_w=1, i64 pad_h=0, i64 pad_w=0, bool count_include_pad=true, i64 divisor=0) -> (T dx)";
typedef struct itp_args_AvgPool2dBackward {
  const itp_tensor *grad;
  itp_tensor *dx;
  int64_t kernel_h;
  int64_t kernel_w;
  int64_t stride_h;
  int64_t stride_w;
  int64_t pad_h;
  int64_t pad_w;
  int count_include_pad;
  int64_t divisor;
} itp_args_AvgPool2dBackward;
static inline itp_status itp_unpack_AvgPool2dBackward(const itp_launch *l, itp_args_AvgPool2dBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 8)) return itp_bad_counts(l, "AvgPool2dBackward", 1, 1, 8, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AvgPool2dBackward", "%s: %s", "a required tensor is missing", itp_schema_AvgPool2dBackward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_I64 &&
        l->attrs[3].kind == ITP_V_I64 &&
        l->attrs[4].kind == ITP_V_I64 &&
        l->attrs[5].kind == ITP_V_I64 &&
        l->attrs[6].kind == ITP_V_BOOL &&
        l->attrs[7].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "AvgPool2dBackward", "%s: %s", "an attribute is of another kind", itp_schema_AvgPool2dBackward);
  a->grad = l->inputs[0];
  a->dx = l->outputs[0];
  a->kernel_h = l->attrs[0].u.i;
  a->kernel_w = l->attrs[1].u.i;
  a->stride_h = l->attrs[2].u.i;
  a->stride_w = l->attrs[3].u.i;
  a->pad_h = l->attrs[4].u.i;
  a->pad_w = l->attrs[5].u.i;
  a->count_include_pad = l->attrs[6].u.i != 0;
  a->divisor = l->attrs[7].u.i;
  return ITP_OK;
}

#define ITP_DTYPES_Gemm 0x1e00
#define ITP_ALLOWS_Gemm (0)
static const char itp_schema_Gemm[] =
    "Gemm(T a, T b, *, bool transpose_a=false, bool transpose_b=false, f64 alpha=1.0, f64 beta=0.0) -> (inout T y)";
typedef struct itp_args_Gemm {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
  int transpose_a;
  int transpose_b;
  double alpha;
  double beta;
} itp_args_Gemm;
static inline itp_status itp_unpack_Gemm(const itp_launch *l, itp_args_Gemm *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 4)) return itp_bad_counts(l, "Gemm", 2, 1, 4, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Gemm", "%s: %s", "a required tensor is missing", itp_schema_Gemm);
  if (!(l->attrs[0].kind == ITP_V_BOOL &&
        l->attrs[1].kind == ITP_V_BOOL &&
        l->attrs[2].kind == ITP_V_F64 &&
        l->attrs[3].kind == ITP_V_F64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "Gemm", "%s: %s", "an attribute is of another kind", itp_schema_Gemm);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  a->transpose_a = l->attrs[0].u.i != 0;
  a->transpose_b = l->attrs[1].u.i != 0;
  a->alpha = l->attrs[2].u.d;
  a->beta = l->attrs[3].u.d;
  return ITP_OK;
}

#define ITP_DTYPES_OuterForward 0x1e00
#define ITP_ALLOWS_OuterForward (0)
static const char itp_schema_OuterForward[] =
    "OuterForward(T a, T b) -> (T y)";
typedef struct itp_args_OuterForward {
  const itp_tensor *a;
  const itp_tensor *b;
  itp_tensor *y;
} itp_args_OuterForward;
static inline itp_status itp_unpack_OuterForward(const itp_launch *l, itp_args_OuterForward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "OuterForward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "OuterForward", "%s: %s", "a required tensor is missing", itp_schema_OuterForward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_OuterBackward 0x1e00
#define ITP_ALLOWS_OuterBackward (0)
static const char itp_schema_OuterBackward[] =
    "OuterBackward(T a, T b, T grad) -> (T da, T db)";
typedef struct itp_args_OuterBackward {
  const itp_tensor *a;
  const itp_tensor *b;
  const itp_tensor *grad;
  itp_tensor *da;
  itp_tensor *db;
} itp_args_OuterBackward;
static inline itp_status itp_unpack_OuterBackward(const itp_launch *l, itp_args_OuterBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 2, 0)) return itp_bad_counts(l, "OuterBackward", 3, 2, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->inputs[2] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "OuterBackward", "%s: %s", "a required tensor is missing", itp_schema_OuterBackward);
  a->a = l->inputs[0];
  a->b = l->inputs[1];
  a->grad = l->inputs[2];
  a->da = l->outputs[0];
  a->db = l->outputs[1];
  return ITP_OK;
}

#define ITP_DTYPES_VocabParallelCrossEntropyBackward 0x1e00
#define ITP_ALLOWS_VocabParallelCrossEntropyBackward (0 | ITP_K_MAY_ALIAS)
static const char itp_schema_VocabParallelCrossEntropyBackward[] =
    "VocabParallelCrossEntropyBackward(T softmax, i64 target, A grad, *, i64 vocab_start=0, i64 vocab_size, f64 label_smoothing=0.0, i64 ignore_index=-100) -> (T dlogits)";
typedef struct itp_args_VocabParallelCrossEntropyBackward {
  const itp_tensor *softmax;
  const itp_tensor *target;
  const itp_tensor *grad;
  itp_tensor *dlogits;
  int64_t vocab_start;
  int64_t vocab_size;
  double label_smoothing;
  int64_t ignore_index;
} itp_args_VocabParallelCrossEntropyBackward;
static inline itp_status itp_unpack_VocabParallelCrossEntropyBackward(const itp_launch *l, itp_args_VocabParallelCrossEntropyBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 3, 1, 4)) return itp_bad_counts(l, "VocabParallelCrossEntropyBackward", 3, 1, 4, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->inputs[2] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "VocabParallelCrossEntropyBackward", "%s: %s", "a required tensor is missing", itp_schema_VocabParallelCrossEntropyBackward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_I64 &&
        l->attrs[2].kind == ITP_V_F64 &&
        l->attrs[3].kind == ITP_V_I64))
    return ITP_FAIL(err, INVALID_ARGUMENT, "VocabParallelCrossEntropyBackward", "%s: %s", "an attribute is of another kind", itp_schema_VocabParallelCrossEntropyBackward);
  a->softmax = l->inputs[0];
  a->target = l->inputs[1];
  a->grad = l->inputs[2];
  a->dlogits = l->outputs[0];
  a->vocab_start = l->attrs[0].u.i;
  a->vocab_size = l->attrs[1].u.i;
  a->label_smoothing = l->attrs[2].u.d;
  a->ignore_index = l->attrs[3].u.i;
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

#define ITP_DTYPES_TopKForward 0x1fff
#define ITP_ALLOWS_TopKForward (0)
static const char itp_schema_TopKForward[] =
    "TopKForward(T x, *, i64 k, bool largest=true, bool sorted=true) -> (T values, i64 indices)";
typedef struct itp_args_TopKForward {
  const itp_tensor *x;
  itp_tensor *values;
  itp_tensor *indices;
  int64_t k;
  int largest;
  int sorted;
} itp_args_TopKForward;
static inline itp_status itp_unpack_TopKForward(const itp_launch *l, itp_args_TopKForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 2, 3)) return itp_bad_counts(l, "TopKForward", 1, 2, 3, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL &&
        l->outputs[1] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TopKForward", "%s: %s", "a required tensor is missing", itp_schema_TopKForward);
  if (!(l->attrs[0].kind == ITP_V_I64 &&
        l->attrs[1].kind == ITP_V_BOOL &&
        l->attrs[2].kind == ITP_V_BOOL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "TopKForward", "%s: %s", "an attribute is of another kind", itp_schema_TopKForward);
  a->x = l->inputs[0];
  a->values = l->outputs[0];
  a->indices = l->outputs[1];
  a->k = l->attrs[0].u.i;
  a->largest = l->attrs[1].u.i != 0;
  a->sorted = l->attrs[2].u.i != 0;
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

#define ITP_DTYPES_SiluForward 0x1e00
#define ITP_ALLOWS_SiluForward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SiluForward[] =
    "SiluForward(T x) -> (T y)";
typedef struct itp_args_SiluForward {
  const itp_tensor *x;
  itp_tensor *y;
} itp_args_SiluForward;
static inline itp_status itp_unpack_SiluForward(const itp_launch *l, itp_args_SiluForward *a, itp_error *err) {
  if (!itp_counts_are(l, 1, 1, 0)) return itp_bad_counts(l, "SiluForward", 1, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SiluForward", "%s: %s", "a required tensor is missing", itp_schema_SiluForward);
  a->x = l->inputs[0];
  a->y = l->outputs[0];
  return ITP_OK;
}

#define ITP_DTYPES_SiluBackward 0x1e00
#define ITP_ALLOWS_SiluBackward (ITP_K_STRIDED | ITP_K_MAY_ALIAS)
static const char itp_schema_SiluBackward[] =
    "SiluBackward(T x, T grad) -> (T dx)";
typedef struct itp_args_SiluBackward {
  const itp_tensor *x;
  const itp_tensor *grad;
  itp_tensor *dx;
} itp_args_SiluBackward;
static inline itp_status itp_unpack_SiluBackward(const itp_launch *l, itp_args_SiluBackward *a, itp_error *err) {
  if (!itp_counts_are(l, 2, 1, 0)) return itp_bad_counts(l, "SiluBackward", 2, 1, 0, err);
  if (!(l->inputs[0] != NULL &&
        l->inputs[1] != NULL &&
        l->outputs[0] != NULL))
    return ITP_FAIL(err, INVALID_ARGUMENT, "SiluBackward", "%s: %s", "a required tensor is missing", itp_schema_SiluBackward);
  a->x = l->inputs[0];
  a->grad = l->inputs[1];
  a->dx = l->outputs[0];
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
