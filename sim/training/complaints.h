// What `check` collects: violated rules, each with the place of the field it is about.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "sim/core/error.h"
#include "sim/training/scenario.h"
#include "sim/workload/violation.h"

namespace headway::training {

/// Complaints with the place of the field they are about.
class Complaints {
 public:
  explicit Complaints(const core::SourceMarks& marks) : marks_(marks) {}

  template <class... Args>
  void add(std::string_view path, fmt::format_string<Args...> text, Args&&... args) {
    list_.add(core::find_mark(marks_, placed(path)),
              fmt::format(text, std::forward<Args>(args)...));
  }
  /// Of a rule that several fields keep together: at the one that was changed where no file has a
  /// line of it (--set), else at the first.
  template <class... Args>
  void add(std::initializer_list<std::string_view> paths,
           fmt::format_string<Args...> text,
           Args&&... args) {
    const auto* changed = std::find_if(paths.begin(), paths.end(), [&](std::string_view path) {
      const auto mark = marks_.find(placed(path));
      return mark != marks_.end() && mark->second.line == 0;
    });
    add(changed == paths.end() ? *paths.begin() : *changed, text, std::forward<Args>(args)...);
  }
  void add(const workload::Violations& violations) {
    for (const auto& [path, text] : violations) {
      list_.add(core::find_mark(marks_, path), text);
    }
  }
  /// Whether two values were written in different places, as where one of an entry is changed.
  [[nodiscard]] bool apart(std::string_view one, std::string_view other) const {
    const auto a = marks_.find(placed(one)), b = marks_.find(placed(other));
    return a != marks_.end() && b != marks_.end() && a->second.file != b->second.file;
  }
  /// What follows is asked of a node that stands at this path.
  void set_node(std::string path) { node_ = std::move(path); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  void throw_if_any() { list_.throw_if_any(); }

 private:
  static constexpr std::string_view kNode = "cluster.node.";
  [[nodiscard]] std::string placed(std::string_view path) const {
    return path.starts_with(kNode) ? fmt::format("{}.{}", node_, path.substr(kNode.size()))
                                   : std::string(path);
  }

  const core::SourceMarks& marks_;
  std::string node_ = "cluster.node";
  core::Diagnostics list_;
};

/// Rules of how the job is run: its end, checkpoints, data and failures.
void check_run(const RunSpec& run, Complaints& complaints);

/// Who must notice hangs, and where the state of a job that does not go back to checkpoints comes
/// from.
/// @param data  data-parallel degree; 0: unknown
void check_recovery(const Scenario& scenario, int data, Complaints& complaints);
/// Hazards of ways between sites.
void check_ways(const Scenario& scenario, Complaints& complaints);

}  // namespace headway::training
