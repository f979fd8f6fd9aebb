// Questions whose answers several processes work out, a part each: the trials of a run, the
// machines of a plan. A folder keeps what they are made from and the parts that are done, as that
// of a sweep does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/points/kept_answers.h"
#include "sim/study/plan.h"

namespace headway::report {

enum class WorkKind { run, plan };
constexpr auto enum_words(WorkKind) {
  using E = core::EnumWord<WorkKind>;
  return std::array{E{WorkKind::run, "run"}, E{WorkKind::plan, "plan"}};
}

/// What a question is made from: all that a worker on another machine has to know.
struct WorkRequest {
  WorkKind kind = WorkKind::run;
  std::string text;              ///< of the scenario
  std::string file;              ///< its name: where relative `use:` start
  std::vector<std::string> set;  ///< changes of it
  plan::PlanOptions plan;        ///< of a plan
};

/// With how many shards it is cut into.
struct WorkManifest {
  WorkRequest request;
  std::string digest;
  std::int64_t shards = 1;
};
std::string work_manifest(const WorkManifest& manifest);
/// Whether a text says that it is one.
bool is_work_manifest(const std::string& text);
/// @throws core::Error if the text is none
WorkManifest read_work_manifest(const std::string& text, const std::string& name);

struct WorkOptions {
  int threads = 0;  ///< 0: all cores; no result depends on it
  bool fold = true;
  /// Told how many parts of a shard are done; may be empty.
  std::function<void(std::size_t done, std::size_t total)> count{};
};

/// A question that was read and found sound.
class Work {
 public:
  /// @param roots  configuration folders
  /// @throws core::Error if it cannot be cut into parts
  Work(WorkRequest request, std::vector<std::filesystem::path> roots);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] const WorkRequest& request() const { return request_; }
  /// Over all that the answer depends on, and the program version.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  /// Trials, or machines.
  [[nodiscard]] std::size_t parts() const { return parts_; }
  /// As many shards as keep what is lost small if one is stopped, and what each begins with.
  [[nodiscard]] std::int64_t usual_shards() const;
  /// Reads the scenario, with further changes.
  [[nodiscard]] config::LoadedScenario load(const std::vector<std::string>& further = {}) const;

  /// What the file of a shard holds; shards count from 1. What several begin with is worked out
  /// once.
  std::string lines(std::int64_t shard, std::int64_t shards, const WorkOptions& options);

 private:
  struct Trials;
  std::string trials(std::size_t first, std::size_t count, const WorkOptions& options);
  std::string machines(std::size_t first, std::size_t count, const WorkOptions& options);

  WorkRequest request_;
  std::vector<std::filesystem::path> roots_;
  std::string digest_;
  std::size_t parts_ = 0;
  std::vector<study::PlannedMachine> machines_;
  std::mutex mutex_;  ///< of what trials begin with
  std::unique_ptr<Trials> trials_;
};

/// Parts of a shard, which are next to each other: the first, and how many.
std::pair<std::size_t, std::size_t> parts_of_shard(std::size_t parts,
                                                   std::int64_t shards,
                                                   std::int64_t shard);

}  // namespace headway::report
