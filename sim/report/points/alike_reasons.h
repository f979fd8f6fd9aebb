// Why points of a sweep do not work, told once for all that have the same reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headway::report {

/// Points with one reason; those whose reasons differ only in their numbers count as alike.
struct AlikeReason {
  std::string status;
  std::string reason;                ///< of the first of them
  std::vector<std::int64_t> points;  ///< in the order of the sweep
  bool numbers_differ = false;

  /// The reason, and that the numbers in it are of the first point where others have other ones.
  [[nodiscard]] std::string words() const;
};

class AlikeReasons {
 public:
  /// Nothing where there is no reason: the point works.
  void add(std::int64_t point, const std::string& status, const std::string& reason);
  [[nodiscard]] const std::vector<AlikeReason>& all() const { return all_; }

 private:
  std::vector<AlikeReason> all_;     ///< in the order of their first points
  std::vector<std::string> shapes_;  ///< of each: its status and its reason without numbers
};

}  // namespace headway::report
