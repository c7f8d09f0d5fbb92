/* How the shim enters a provider: one macro for every slot. Not part of what Python sees. */
#ifndef INFINITRAIN_CALL_H_
#define INFINITRAIN_CALL_H_

#include <pthread.h>

#include "shim.h"

itp_error *it_fresh_error(void);
int32_t it_finished(itp_status status);
int32_t it_refuse_forked(const char *slot);
pthread_mutex_t *it_new_mutex(void);

static inline void *it_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* One lock for all where the provider asked for it, else the stream's own. */
static inline pthread_mutex_t *it_lock_of(const it_provider *p, const it_stream *s) {
  if (p->locks != NULL) return (pthread_mutex_t *)p->locks;
  return s != NULL ? (pthread_mutex_t *)s->lock : NULL;
}

/* Evaluate `call`, in which `err` is the thread's record, and return its status from the enclosing function.
 */
#define CALL(p, s, slot, call)                        \
  do {                                                \
    if (it_forked(p)) return it_refuse_forked(slot);  \
    pthread_mutex_t *mutex_ = it_lock_of((p), (s));   \
    itp_error *err = it_fresh_error();                \
    if (mutex_ != NULL) pthread_mutex_lock(mutex_);   \
    const itp_status status_ = (call);                \
    if (mutex_ != NULL) pthread_mutex_unlock(mutex_); \
    return it_finished(status_);                      \
  } while (0)

#endif
