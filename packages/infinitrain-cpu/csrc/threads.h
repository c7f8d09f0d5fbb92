// The thread pool. It starts at the first parallel region, workers spin briefly for the next one and then
// sleep; regions from several calling threads do not mix: the second one runs on its caller alone. What a
// kernel computes never depends on which thread takes which task, so results do not depend on any of this.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace itp {

class Pool {
 public:
  explicit Pool(int threads);
  ~Pool();  // joins the workers
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  // Threads of a region, the caller included.
  int size() const { return size_; }

  // Call f(task, worker) for task in [0, n) in any order, on any threads; return when all are done. No two
  // calls at a time have the same worker, a number in [0, size()).
  template <class F>
  void worker_tasks(int64_t n, const F &f) {
    run(
        n,
        [](const void *context, int64_t task, int worker) {
          (*static_cast<const F *>(context))(task, worker);
        },
        &f);
  }
  template <class F>
  void tasks(int64_t n, const F &f) {
    worker_tasks(n, [&f](int64_t task, int) { f(task); });
  }

  // Call f(begin, end) on pieces of [0, n) whose lengths are multiples of `grain` (but for the last).
  template <class F>
  void range(int64_t n, int64_t grain, const F &f) {
    if (n <= 0) return;
    const int64_t grains = (n + grain - 1) / grain;
    const int64_t pieces = grains < 4 * size_ ? grains : 4 * size_;
    if (pieces == 1 || size_ == 1) {
      f(int64_t{0}, n);
      return;
    }
    tasks(pieces, [&](int64_t piece) {
      const int64_t begin = grains * piece / pieces * grain, end = grains * (piece + 1) / pieces * grain;
      f(begin, end < n ? end : n);
    });
  }

 private:
  using Task = void (*)(const void *context, int64_t task, int worker);

  void run(int64_t n, Task task, const void *context);
  void start();
  void work(int worker);
  void take_tasks(int worker);
  void forget_workers();
  static void *worker_main(void *pool);
  static void after_fork_in_child();

  // state_: bit 0 a region is open, bits 1..15 workers inside it, the rest counts regions.
  static constexpr uint32_t kOpen = 1, kInside = 2, kInsideMask = 0xFFFE, kRegion = 0x10000;

  const int size_;
  int started_ = 0;  // workers; guarded by busy_
  pthread_t *threads_ = nullptr;
  std::atomic<int> numbered_{0};   // workers that have taken their number
  std::atomic<bool> busy_{false};  // a region or a start is in progress
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> caller_waits_{0};
  Task task_ = nullptr;
  const void *context_ = nullptr;
  int64_t n_ = 0;
  Pool *next_pool_ = nullptr;  // all pools, for after_fork_in_child
  alignas(64) std::atomic<uint32_t> state_{0};
  alignas(64) std::atomic<int64_t> next_task_{0};
};

// Processors that this process may use: affinity, cut by the control group's quota.
int available_processors();

}  // namespace itp
