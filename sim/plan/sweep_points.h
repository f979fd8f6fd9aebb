// The points of a sweep: which fields of a scenario take which values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/training/sweep_spec.h"

namespace headway::plan {

/// A field and its value, as `--set key=value` writes them.
struct SweepChange {
  std::string key, value;
  bool operator==(const SweepChange&) const = default;
};
using SweepChanges = std::vector<SweepChange>;

/// Every point of a sweep, made when it is asked for: the product of its dimensions, the last of
/// which changes fastest. A dimension is an axis of the grid, or what moves together.
class SweepPoints {
 public:
  /// @throws core::Error with every axis that is none, and where two of them change one field
  explicit SweepPoints(const training::SweepSpec& spec, const core::SourceMarks& marks = {});

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] SweepChanges changes(std::size_t point) const;
  /// The fields that change, in the order of the dimensions.
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }
  /// What each dimension changes, value by value.
  [[nodiscard]] const std::vector<std::vector<SweepChanges>>& dimensions() const {
    return dimensions_;
  }

 private:
  std::vector<std::vector<SweepChanges>> dimensions_;
  std::vector<std::string> keys_;
  std::size_t size_ = 1;
};

/// An axis as the command line has it: "cluster.nodes=16,32,64" or "cluster.nodes=16:128:16" (from,
/// to, step).
/// @param option  of which it is the argument
/// @throws core::Error
training::SweepAxisSpec sweep_axis(const std::string& argument,
                                   const std::string& option = "--sweep");

/// A sweep without what it says of a field, in whatever kind of axis. Rows that are alike then are
/// one.
training::SweepSpec without(training::SweepSpec spec, const std::string& key);

/// The values of an axis.
/// @throws core::Error
std::vector<std::string> axis_values(const training::SweepAxisSpec& axis);

}  // namespace headway::plan
