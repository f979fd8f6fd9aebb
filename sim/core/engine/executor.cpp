#include "sim/core/engine/executor.h"

#include <atomic>
#include <chrono>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <optional>

#include "sim/core/error.h"

namespace headway::core {

namespace {

class SequentialExecutor final : public Executor {
 public:
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) override {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
  }
};

class ParallelExecutor final : public Executor {
 public:
  explicit ParallelExecutor(int threads)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena_(threads) {}

  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) override {
    run(0, count, work);
  }

  void run(std::size_t first, std::size_t end, const std::function<void(std::size_t)>& work) {
    arena_.execute([&] { tbb::parallel_for(first, end, work, affinity_); });
  }

 private:
  tbb::global_control limit_;  // oneTBB starts no more workers than cores unless it is told to
  tbb::task_arena arena_;
  tbb::affinity_partitioner affinity_;  // a partition stays with the thread whose cache holds it
};

/// All cores, once this process has had work for them: starting oneTBB takes 2 ms and 100 pages, a
/// tenth of a small run, so the first work is done without it.
class PatientExecutor final : public Executor {
 public:
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work) override {
    const std::size_t done = parallel_ ? 0 : alone(count, work);
    if (done == count) {
      return;
    }
    if (!parallel_) {
      parallel_.emplace(tbb::info::default_concurrency());
    }
    parallel_->run(done, count, work);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kAlone = std::chrono::milliseconds(5);

  /// The first pieces, as long as this process has not worked alone for long enough.
  /// @return how many are done
  static std::size_t alone(std::size_t count, const std::function<void(std::size_t)>& work) {
    static std::atomic<Clock::rep> spent{0};
    const Clock::time_point start = Clock::now();
    Clock::duration took{0};
    std::size_t done = 0;
    for (; done < count && took + Clock::duration(spent) < kAlone; ++done) {
      work(done);
      took = Clock::now() - start;
    }
    spent += took.count();
    return done;
  }

  std::optional<ParallelExecutor> parallel_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(int threads) {
  HEADWAY_CHECK(threads >= 0, "{} threads", threads);
  if (threads == 0) {
    return std::make_unique<PatientExecutor>();
  }
  if (threads == 1) {
    return std::make_unique<SequentialExecutor>();
  }
  return std::make_unique<ParallelExecutor>(threads);
}

}  // namespace headway::core
