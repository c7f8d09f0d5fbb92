/* Mark the one function that a provider exports. Convenience, not part of the ABI. */
#ifndef INFINITRAIN_EXPORT_H_
#define INFINITRAIN_EXPORT_H_

#ifdef __cplusplus
#define ITP_EXTERN_C extern "C"
#else
#define ITP_EXTERN_C
#endif

#if defined(__GNUC__)
#define ITP_EXPORT ITP_EXTERN_C __attribute__((visibility("default")))
#else
#define ITP_EXPORT ITP_EXTERN_C
#endif

#endif
