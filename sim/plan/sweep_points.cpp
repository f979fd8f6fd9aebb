#include "sim/plan/sweep_points.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "sim/core/random.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::plan {

namespace {

using training::SampleKind;
using training::SweepAxisSpec;
using training::SweepScale;

/// The largest sweep: what a table of results can hold.
constexpr std::size_t kMostPoints = 1'000'000;

/// "400 Gbps" as a number, its unit with the space before it, and whether it is written whole.
struct NumberText {
  double value = 0;
  std::string unit;
  bool whole = false;
};

std::optional<NumberText> number_text(std::string_view text) {
  text = core::trimmed(text);
  NumberText number;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number.value);
  if (error != std::errc{} || !std::isfinite(number.value)) {
    return std::nullopt;
  }
  number.unit = std::string(rest, end);
  number.whole =
      number.unit.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
  return number;
}

/// The ends of a range; how many values lie between them its step or its points say.
struct Range {
  NumberText from, to;
  SweepScale scale = SweepScale::linear;

  /// The value a share of the way along, 0 at `from` and 1 at `to`.
  [[nodiscard]] std::string at(double share) const {
    const double value = scale == SweepScale::log
                             ? from.value * std::pow(to.value / from.value, share)
                             : from.value + (to.value - from.value) * share;
    // Twelve digits: 0.1 + 2 x 0.1 is 0.3.
    return from.whole && to.whole ? fmt::format("{:.0f}", std::round(value))
                                  : fmt::format("{:.12g}{}", value, from.unit);
  }
};

Range range_of(const SweepAxisSpec& axis) {
  if (axis.from.empty() || axis.to.empty()) {
    throw core::Error(fmt::format(
        "axis '{}' has neither values nor a range; write values: [...], or from and to with step "
        "or points",
        core::shortened(axis.key)));
  }
  const auto from = number_text(axis.from), to = number_text(axis.to);
  if (!from || !to) {
    throw core::Error(fmt::format("axis '{}' goes from '{}' to '{}', which are not both numbers",
                                  core::shortened(axis.key), core::shortened(axis.from),
                                  core::shortened(axis.to)));
  }
  if (from->unit != to->unit) {
    throw core::Error(fmt::format("axis '{}' goes from '{}' to '{}'; write both in one unit",
                                  core::shortened(axis.key), core::shortened(axis.from),
                                  core::shortened(axis.to)));
  }
  if (axis.scale == SweepScale::log && (from->value <= 0 || to->value <= 0)) {
    throw core::Error(fmt::format("axis '{}' is logarithmic; both ends must be above zero",
                                  core::shortened(axis.key)));
  }
  return {*from, *to, axis.scale};
}

/// Values between the ends of a range.
std::size_t steps_of(const SweepAxisSpec& axis, const Range& range) {
  if (axis.step.empty() == (axis.points == 0)) {
    throw core::Error(fmt::format("axis '{}' is a range; give it either step or points",
                                  core::shortened(axis.key)));
  }
  if (axis.points > 0) {
    return static_cast<std::size_t>(axis.points);
  }
  const auto step = number_text(axis.step);
  const double distance = range.to.value - range.from.value;
  if (!step || step->unit != range.from.unit || step->value == 0 || distance / step->value < 0 ||
      axis.scale == SweepScale::log) {
    throw core::Error(fmt::format("axis '{}': a step of '{}' does not lead from '{}' to '{}'",
                                  core::shortened(axis.key), core::shortened(axis.step),
                                  core::shortened(axis.from), core::shortened(axis.to)));
  }
  // Three steps of 0.1 are a little less than 0.3.
  const double steps = std::floor(distance / step->value * (1 + 1e-12));
  if (steps >= static_cast<double>(kMostPoints)) {
    throw core::Error(
        fmt::format("axis '{}' has more than {} values", core::shortened(axis.key), kMostPoints));
  }
  return static_cast<std::size_t>(steps) + 1;
}

/// The field that a key changes: an entry of the catalogue is named by it or by its `use`.
std::string_view field_of(std::string_view key) {
  constexpr std::string_view kUse = ".use";
  return key.ends_with(kUse) ? key.substr(0, key.size() - kUse.size()) : key;
}

/// Refuses points that change one field twice: only one of the values would be simulated.
void refuse_twice(const std::vector<SweepChanges>& dimension) {
  for (const SweepChanges& changes : dimension) {
    for (auto change = changes.begin(); change != changes.end(); ++change) {
      if (std::any_of(changes.begin(), change, [&](const SweepChange& other) {
            return field_of(other.key) == field_of(change->key);
          })) {
        throw core::Error(
            fmt::format("a point changes '{}' twice, the second time to '{}'; name "
                        "each field once",
                        core::shortened(change->key), core::shortened(change->value)));
      }
    }
  }
}

/// "a=1; b=2" as changes.
SweepChanges row_changes(std::string_view row) {
  SweepChanges changes;
  while (true) {
    const auto end = row.find(';');
    const auto part = core::trimmed(row.substr(0, end));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw core::Error(
          fmt::format("'{}' in a row of a sweep is not KEY=VALUE; separate changes "
                      "by semicolons",
                      core::shortened(std::string(part))));
    }
    changes.push_back({std::string(core::trimmed(part.substr(0, equals))),
                       std::string(core::trimmed(part.substr(equals + 1)))});
    if (end == std::string_view::npos) {
      return changes;
    }
    row = row.substr(end + 1);
  }
}

/// The value of an axis a share of the way along it.
std::string value_at(const SweepAxisSpec& axis, double share) {
  if (axis.values.empty()) {
    return range_of(axis).at(share);
  }
  const auto count = axis.values.size();
  return axis
      .values[std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1)];
}

/// For each point the part of one axis that it is in: a permutation (Fisher and Yates).
std::vector<std::size_t> drawn_parts(const core::RandomStream& stream, std::size_t points) {
  std::vector<std::size_t> parts(points);
  std::iota(parts.begin(), parts.end(), 0);
  constexpr std::uint32_t kOrder = 1;
  for (std::size_t i = points; i > 1; --i) {
    std::swap(parts[i - 1], parts[stream.index(i, kOrder, i)]);
  }
  return parts;
}

std::vector<SweepChanges> drawn(const training::SweepSampleSpec& sample) {
  if (sample.axes.empty()) {
    throw core::Error("a sample without axes draws nothing; list what is drawn as 'axes'");
  }
  const auto points = static_cast<std::size_t>(sample.points);
  std::vector<SweepChanges> changes(points);
  for (std::size_t a = 0; a < sample.axes.size(); ++a) {
    const SweepAxisSpec& axis = sample.axes[a];
    if (axis.values.empty() && (!axis.step.empty() || axis.points > 0)) {
      throw core::Error(fmt::format("axis '{}' is drawn; it takes no step and no points of its own",
                                    core::shortened(axis.key)));
    }
    const auto stream =
        core::RandomStream(static_cast<std::uint64_t>(sample.seed), "sweep").part(a);
    const auto parts = drawn_parts(stream, points);
    for (std::size_t i = 0; i < points; ++i) {
      const double u = stream.uniform(i);
      const double share = sample.kind == SampleKind::random
                               ? u
                               : (static_cast<double>(parts[i]) + u) / static_cast<double>(points);
      changes[i].push_back({axis.key, value_at(axis, share)});
    }
  }
  return changes;
}

std::vector<SweepChanges> zipped(const std::vector<SweepAxisSpec>& axes) {
  std::vector<SweepChanges> changes;
  for (const SweepAxisSpec& axis : axes) {
    const auto values = axis_values(axis);
    if (!changes.empty() && values.size() != changes.size()) {
      throw core::Error(
          fmt::format("axis '{}' of zip has {} values, '{}' has {}; axes that change "
                      "together have equally many",
                      core::shortened(axis.key), values.size(), core::shortened(axes.front().key),
                      changes.size()));
    }
    changes.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      changes[i].push_back({axis.key, values[i]});
    }
  }
  return changes;
}

std::vector<SweepChanges> explicit_rows(const std::vector<std::string>& rows) {
  std::vector<SweepChanges> changes;
  std::transform(rows.begin(), rows.end(), std::back_inserter(changes), [](const std::string& row) {
    return row.empty() ? SweepChanges{} : row_changes(row);
  });
  return changes;
}

/// A row without its changes of a field.
std::string row_without(std::string_view row, std::string_view key) {
  std::string kept;
  for (bool more = true; more;) {
    const auto end = row.find(';');
    const auto part = core::trimmed(row.substr(0, end));
    if (field_of(core::trimmed(part.substr(0, part.find('=')))) != field_of(key)) {
      kept += fmt::format("{}{}", kept.empty() ? "" : "; ", part);
    }
    more = end != std::string_view::npos;
    row = more ? row.substr(end + 1) : "";
  }
  return kept;
}

std::set<std::string> keys_of(const std::vector<SweepChanges>& dimension) {
  std::set<std::string> keys;
  for (const SweepChanges& changes : dimension) {
    for (const SweepChange& change : changes) {
      keys.insert(change.key);
    }
  }
  return keys;
}

}  // namespace

training::SweepSpec without(training::SweepSpec spec, const std::string& key) {
  const auto same = [&](const SweepAxisSpec& axis) { return field_of(axis.key) == field_of(key); };
  std::erase_if(spec.grid, same);
  std::erase_if(spec.zip, same);
  std::vector<std::string> rows;
  for (const std::string& row : spec.rows) {
    const std::string kept = row_without(row, key);
    if (std::find(rows.begin(), rows.end(), kept) == rows.end()) {
      rows.push_back(kept);
    }
  }
  // A row of nothing else is the scenario as it is, beside those that change more.
  spec.rows = rows == std::vector<std::string>{""} ? std::vector<std::string>{} : std::move(rows);
  if (spec.sample && std::erase_if(spec.sample->axes, same) > 0 && spec.sample->axes.empty()) {
    spec.sample.reset();
  }
  return spec;
}

std::vector<std::string> axis_values(const SweepAxisSpec& axis) {
  if (!axis.values.empty()) {
    if (!axis.from.empty() || !axis.to.empty() || !axis.step.empty() || axis.points > 0) {
      throw core::Error(fmt::format("axis '{}' has values and a range; leave one of them out",
                                    core::shortened(axis.key)));
    }
    return axis.values;
  }
  Range range = range_of(axis);
  const std::size_t count = steps_of(axis, range);
  std::vector<std::string> values;
  const auto step = number_text(axis.step);
  range.from.whole = range.from.whole && (!step || step->whole);
  for (std::size_t i = 0; i < count; ++i) {
    const double share =
        step ? static_cast<double>(i) * step->value / (range.to.value - range.from.value)
             : static_cast<double>(i) / std::max(1.0, static_cast<double>(count - 1));
    std::string value = range.at(range.to.value == range.from.value ? 0 : share);
    if (values.empty() || values.back() != value) {  // whole numbers may meet
      values.push_back(std::move(value));
    }
  }
  return values;
}

SweepPoints::SweepPoints(const training::SweepSpec& spec, const core::SourceMarks& marks) {
  core::Diagnostics diagnostics;
  const auto add = [&](const std::string& path, const auto& make) {
    try {
      auto dimension = make();
      refuse_twice(dimension);
      for (const std::string& key : keys_of(dimension)) {
        const auto same = [&](const std::string& other) {
          return field_of(other) == field_of(key);
        };
        if (std::any_of(keys_.begin(), keys_.end(), same)) {
          throw core::Error(
              fmt::format("two axes change '{}'; let one of them do it", core::shortened(key)));
        }
        keys_.push_back(key);
      }
      if (!dimension.empty()) {
        size_ = dimension.size() > kMostPoints / size_ ? kMostPoints + 1 : size_ * dimension.size();
        dimensions_.push_back(std::move(dimension));
      }
    } catch (const core::Error& error) {
      for (const auto& diagnostic : error.diagnostics()) {
        diagnostics.add(core::find_mark(marks, path), diagnostic.message);
      }
    }
    size_ = std::min(size_, kMostPoints + 1);
  };
  for (std::size_t i = 0; i < spec.grid.size(); ++i) {
    add(fmt::format("sweep.grid[{}]", i), [&] { return zipped({spec.grid[i]}); });
  }
  add("sweep.zip", [&] { return zipped(spec.zip); });
  add("sweep.rows", [&] { return explicit_rows(spec.rows); });
  if (spec.sample) {
    add("sweep.sample", [&] { return drawn(*spec.sample); });
  }
  diagnostics.throw_if_any();
  if (dimensions_.empty()) {
    throw core::Error(
        "nothing to sweep: give the scenario a block 'sweep:', or write --sweep KEY=VALUE,VALUE");
  }
  if (size_ > kMostPoints) {
    throw core::Error(fmt::format(
        "the sweep has more than {} points; take fewer values, or draw some by 'sample:'",
        kMostPoints));
  }
}

SweepChanges SweepPoints::changes(std::size_t point) const {
  SweepChanges changes;
  std::size_t rest = point;
  for (auto dimension = dimensions_.rbegin(); dimension != dimensions_.rend(); ++dimension) {
    const SweepChanges& of = (*dimension)[rest % dimension->size()];
    changes.insert(changes.begin(), of.begin(), of.end());
    rest /= dimension->size();
  }
  return changes;
}

SweepAxisSpec sweep_axis(const std::string& argument, const std::string& option) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
    throw core::Error(
        fmt::format("argument {} {}: write KEY=VALUE,VALUE or KEY=FROM:TO:STEP, as in "
                    "'cluster.nodes=16,32' or 'cluster.nodes=16:64:16'",
                    option, core::shortened(argument)));
  }
  SweepAxisSpec axis;
  axis.key = argument.substr(0, equals);
  const std::string text = argument.substr(equals + 1);
  // Commas of a list or a block, "[0,0],[1,1]", are of one value.
  const auto split = [&](char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      if (c == separator && depth <= 0) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  };
  const auto ends = split(':');
  if (ends.size() == 3 && number_text(ends[0]) && number_text(ends[1])) {
    axis.from = ends[0];
    axis.to = ends[1];
    axis.step = ends[2];
  } else {
    axis.values = split(',');
  }
  return axis;
}

}  // namespace headway::plan
