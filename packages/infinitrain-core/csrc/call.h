/* How the shim enters a provider: one macro for every slot. Not part of what Python sees. */
#ifndef INFINITRAIN_CALL_H_
#define INFINITRAIN_CALL_H_

#include <pthread.h>

#include "shim.h"

/* Bumped in every forked child: cheaper than asking for the process id at each call. */
extern int64_t it_generation;

itp_error *it_fresh_error(void);
int32_t it_finished(itp_status status);
int32_t it_refuse(const it_provider *p, const char *slot);
int32_t it_gave_nothing(const char *slot);

/* validate.c */
void it_validate(it_provider *p, int32_t has_enter);
void it_validate_begin(it_provider *p);

static inline void *it_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

static inline int it_may_enter(const it_provider *p) { return p->life == 0 || p->life == it_generation; }

/* What a call holds: a stream's lock, then an event's, in this order everywhere; or the provider's only one.
 */
typedef struct it_held {
  pthread_mutex_t *first;
  pthread_mutex_t *second;
} it_held;

static inline it_held it_hold(const it_provider *p, it_stream *s, it_event *e) {
  it_held held = {NULL, NULL};
  if (p->serial != NULL) {
    held.first = (pthread_mutex_t *)p->serial;
  } else {
    if (s != NULL) held.first = (pthread_mutex_t *)s->lock;
    if (e != NULL) held.second = (pthread_mutex_t *)e->lock;
  }
  if (held.first != NULL) pthread_mutex_lock(held.first);
  if (held.second != NULL) pthread_mutex_lock(held.second);
  return held;
}

static inline void it_let_go(it_held held) {
  if (held.second != NULL) pthread_mutex_unlock(held.second);
  if (held.first != NULL) pthread_mutex_unlock(held.first);
}

/* The same for a slot that gives a handle: OK with a NULL is the provider's mistake, and nobody must use it.
 */
#define CALL_FOR(p, s, e, slot, out, call)                                                     \
  do {                                                                                         \
    if (!it_may_enter(p)) return it_refuse(p, slot);                                           \
    const it_held held_ = it_hold((p), (s), (e));                                              \
    itp_error *err = it_fresh_error();                                                         \
    *(out) = NULL;                                                                             \
    const itp_status status_ = (call);                                                         \
    it_let_go(held_);                                                                          \
    return status_ == ITP_OK && *(out) == NULL ? it_gave_nothing(slot) : it_finished(status_); \
  } while (0)

/* Evaluate `call`, in which `err` is the thread's record, and return its status from the enclosing function.
 */
#define CALL(p, s, e, slot, call)                    \
  do {                                               \
    if (!it_may_enter(p)) return it_refuse(p, slot); \
    const it_held held_ = it_hold((p), (s), (e));    \
    itp_error *err = it_fresh_error();               \
    const itp_status status_ = (call);               \
    it_let_go(held_);                                \
    return it_finished(status_);                     \
  } while (0)

#endif
