// A simulation that somebody waits for and may stop waiting for: a process of its own, which is
// ended when a newer question takes its place, when its time is up, or when the server ends.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace headway::apps {

/// How a simulation ended.
struct Worked {
  enum class End { answered, replaced, late, busy, failed };
  End end = End::failed;
  int code = 0;      ///< answered: 0, or the exit code of an error, whose text is in `text`
  std::string text;  ///< answered: what it printed
};

/// The simulations of one server.
class Workers {
 public:
  /// @param most   processes at a time
  /// @param limit  how long one may take
  Workers(int most, std::chrono::seconds limit) : most_(most), limit_(limit) {}

  /// Runs this program as `headway serve --answer` with `question` on its standard input, and
  /// waits.
  /// @param slot  who asks what: a newer question of the same slot replaces an older one
  Worked run(const std::string& slot, const std::string& question);

  /// Ends the simulation of the slot, if there is one.
  void stop(const std::string& slot);

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  Flag enter(const std::string& slot);
  void leave(const std::string& slot, const Flag& flag);

  int most_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::map<std::string, Flag> running_;  ///< set: to be ended
  int processes_ = 0;
};

}  // namespace headway::apps
