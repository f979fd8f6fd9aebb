// Who runs the partitions of one window: the calling thread, or oneTBB.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace headway::core {

/// Runs independent pieces of work. Which thread runs which, and when, never shows in a result.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Calls `work(i)` once for every i below `count`; returns when all calls have.
  virtual void for_each(std::size_t count, const std::function<void(std::size_t)>& work) = 0;

 protected:
  Executor() = default;
  Executor(const Executor&) = default;
  Executor(Executor&&) = default;
  Executor& operator=(const Executor&) = default;
  Executor& operator=(Executor&&) = default;
};

/// @param threads  1: the calling thread alone; 0: all cores; may exceed the cores
std::unique_ptr<Executor> make_executor(int threads);

}  // namespace headway::core
