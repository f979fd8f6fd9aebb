// Why layouts are left out, and how many.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/core/result_fields.h"

namespace headway::plan {

/// Layouts left out for one reason.
struct Rejection {
  /// A field of `parallelism` whose rule they break, or "rule" of several; "batch"; "memory",
  /// "headroom", "host memory"; "slower"; a limit: "gpus", "racks", "power", "deadline", "budget",
  /// "goodput"; "software" that does not start it; "too large" (for the simulator)
  std::string kind;
  std::string reason;  ///< one sentence
  std::int64_t count = 0;
  std::string nearest;  ///< which of them came closest; may be empty
  double distance = std::numeric_limits<double>::infinity();  ///< its, from what would do: relative

  bool operator==(const Rejection&) const = default;

  template <class V>
  void fields(V& v) const {
    v.part("class", kind, "what kind of rule, limit or bound they fail on");
    v.part("reason", reason, "one sentence");
    v.figure("count", count, "", "layouts left out for the same `reason`", core::at_least_one);
    v.part("nearest", nearest, "which of them came closest, and what it lacks; may be empty");
  }
};

/// Why a machine without a plan has none, with the layout that came closest: a limit if one is
/// missed, since what is left for it is what fits and keeps the rules; else memory; else a rule.
/// Never "slower", unless there is nothing else: what was faster has failed on something too.
std::string why_none(const std::vector<Rejection>& rejected);

/// Collects rejections; equal reasons are counted together, in the order of their first appearance.
class Rejections {
 public:
  void add(const std::string& kind, const std::string& reason, std::int64_t count = 1);
  /// A rule of one field, whose messages differ in their numbers: counted together under the first.
  void add_example(const std::string& kind, const std::string& example, std::int64_t count);
  /// @param where  where others looked, said before their nearest; may be empty
  void add(const std::vector<Rejection>& others, const std::string& where = "");
  void add(const Rejections& others, const std::string& where = "") { add(others.list(), where); }
  /// Which of the layouts left out for this came closest; the closest of all calls is kept.
  void set_nearest(const std::string& kind,
                   const std::string& reason,
                   double distance,
                   const std::string& text);
  [[nodiscard]] const std::vector<Rejection>& list() const { return list_; }
  /// Layouts left out for reasons of this kind.
  [[nodiscard]] std::int64_t count(const std::string& kind) const;
  [[nodiscard]] std::int64_t total() const;

 private:
  std::vector<Rejection> list_;
};

}  // namespace headway::plan
