#include "threads.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <new>

namespace itp {
namespace {

// How long a worker looks for the next region before it sleeps: longer than the gap between two launches of
// an eager step, shorter than anybody would notice.
constexpr int64_t kSpinNs = 60'000;

thread_local bool in_region = false;

Pool *all_pools = nullptr;
pthread_mutex_t all_pools_lock = PTHREAD_MUTEX_INITIALIZER;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

void futex_wait(std::atomic<uint32_t> *word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t> *word, int threads) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(word), FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

// Spin until ready() or the time is over. True when ready.
template <class F>
bool spin(const F &ready) {
  const int64_t begin = now_ns();
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (now_ns() - begin < kSpinNs);
  return false;
}

}  // namespace

Pool::Pool(int threads) : size_(threads < 1 ? 1 : threads > 0x3FFF ? 0x3FFF : threads) {
  pthread_mutex_lock(&all_pools_lock);
  static bool registered = false;
  if (!registered) registered = pthread_atfork(nullptr, nullptr, after_fork_in_child) == 0;
  next_pool_ = all_pools;
  all_pools = this;
  pthread_mutex_unlock(&all_pools_lock);
}

Pool::~Pool() {
  pthread_mutex_lock(&all_pools_lock);
  for (Pool **p = &all_pools; *p != nullptr; p = &(*p)->next_pool_) {
    if (*p == this) {
      *p = next_pool_;
      break;
    }
  }
  pthread_mutex_unlock(&all_pools_lock);
  stop_.store(true);
  state_.fetch_add(kRegion);
  futex_wake(&state_, started_);
  for (int i = 0; i < started_; ++i) pthread_join(threads_[i], nullptr);
  delete[] threads_;
}

// The workers exist in the parent alone. The child begins anew, at its first region.
void Pool::after_fork_in_child() {
  pthread_mutex_init(&all_pools_lock, nullptr);
  in_region = false;
  for (Pool *pool = all_pools; pool != nullptr; pool = pool->next_pool_) pool->forget_workers();
}

void Pool::forget_workers() {
  started_ = 0;
  threads_ = nullptr;  // the parent's array; a few bytes stay behind
  numbered_.store(0);
  busy_.store(false);
  sleepers_.store(0);
  caller_waits_.store(0);
  state_.store(0);
}

void Pool::start() {
  threads_ = new (std::nothrow) pthread_t[static_cast<size_t>(size_ - 1)];
  if (threads_ == nullptr) return;
  sigset_t all, before;  // signals are for the program's own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (started_ < size_ - 1 && pthread_create(&threads_[started_], nullptr, worker_main, this) == 0)
    ++started_;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void *Pool::worker_main(void *pool) {
  in_region = true;  // a kernel that opens a region inside a task runs it inline
  Pool *self = static_cast<Pool *>(pool);
  self->work(self->numbered_.fetch_add(1) + 1);
  return nullptr;
}

void Pool::work(int worker) {
  uint32_t last = ~0u;  // the last region that this worker saw
  for (;;) {
    uint32_t state = 0;
    const auto ready = [&] {
      state = state_.load(std::memory_order_acquire);
      return stop_.load(std::memory_order_relaxed) || ((state & kOpen) != 0 && state / kRegion != last);
    };
    if (!spin(ready)) {
      sleepers_.fetch_add(1);
      while (!ready()) futex_wait(&state_, state);
      sleepers_.fetch_sub(1);
    }
    if (stop_.load()) return;
    // Enter only while the region is open: its caller waits for those who are inside, and for nobody else.
    if (!state_.compare_exchange_strong(state, state + kInside)) continue;
    last = state / kRegion;
    take_tasks(worker);
    const uint32_t before = state_.fetch_sub(kInside);
    if ((before & kInsideMask) == kInside && (before & kOpen) == 0 && caller_waits_.exchange(0) != 0) {
      futex_wake(&caller_waits_, 1);
    }
  }
}

void Pool::take_tasks(int worker) {
  for (int64_t task; (task = next_task_.fetch_add(1, std::memory_order_relaxed)) < n_;)
    task_(context_, task, worker);
}

void Pool::run(int64_t n, Task task, const void *context) {
  bool idle = false;
  if (n <= 1 || size_ == 1 || in_region || !busy_.compare_exchange_strong(idle, true)) {
    for (int64_t i = 0; i < n; ++i) task(context, i, 0);
    return;
  }
  in_region = true;
  if (threads_ == nullptr) start();
  task_ = task;
  context_ = context;
  n_ = n;
  next_task_.store(0);
  const uint32_t region = (state_.load() & ~(kRegion - 1)) + kRegion;
  state_.store(region | kOpen);
  if (sleepers_.load() != 0) futex_wake(&state_, static_cast<int>(n - 1 < started_ ? n - 1 : started_));
  take_tasks(0);
  state_.fetch_sub(kOpen);
  const auto alone = [&] { return (state_.load(std::memory_order_acquire) & kInsideMask) == 0; };
  if (!spin(alone)) {
    for (caller_waits_.store(1); !alone(); caller_waits_.store(1)) futex_wait(&caller_waits_, 1);
    caller_waits_.store(0);
  }
  in_region = false;
  busy_.store(false);
}

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                      : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re")) {
    long long quota, period;  // the first word is "max" where there is no quota
    if (fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0) {
      const long long whole = (quota + period - 1) / period;
      if (whole < n) n = static_cast<int>(whole);
    }
    fclose(file);
  }
  return n < 1 ? 1 : n;
}

}  // namespace itp
