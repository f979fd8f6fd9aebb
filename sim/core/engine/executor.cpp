#include "sim/core/engine/executor.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

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
    arena_.execute([&] { tbb::parallel_for(std::size_t{0}, count, work, affinity_); });
  }

 private:
  tbb::global_control limit_;  // oneTBB starts no more workers than cores unless it is told to
  tbb::task_arena arena_;
  tbb::affinity_partitioner affinity_;  // a partition stays with the thread whose cache holds it
};

}  // namespace

std::unique_ptr<Executor> make_executor(int threads) {
  HEADWAY_CHECK(threads >= 0, "{} threads", threads);
  const int wanted = threads == 0 ? tbb::info::default_concurrency() : threads;
  if (wanted == 1) {
    return std::make_unique<SequentialExecutor>();
  }
  return std::make_unique<ParallelExecutor>(wanted);
}

}  // namespace headway::core
