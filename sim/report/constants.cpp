#include "sim/report/constants.h"

#include <concepts>
#include <fmt/format.h>
#include <utility>

#include "sim/campaign/constants.h"
#include "sim/config/load.h"
#include "sim/drill/constants.h"
#include "sim/gpu/constants.h"
#include "sim/gpu/spec.h"
#include "sim/network/constants.h"
#include "sim/network/spec.h"
#include "sim/study/diagnose/diagnose.h"
#include "sim/study/expect/expect.h"
#include "sim/training/constants.h"
#include "sim/validation/compared/compared_runs.h"
#include "sim/workload/constants.h"

namespace headway::report {

namespace {

/// A number of a spec, with its dotted path.
struct Number {
  std::string path;
  double value = 0;
  std::string unit;
};
using Numbers = std::vector<Number>;

/// Symbols with their exponents, as "B/s".
template <int time, int data, int work, int money, int energy>
std::string unit_of(const core::Quantity<time, data, work, money, energy>& /*unused*/) {
  std::string above, below;
  for (const auto& [symbol, exponent] :
       {std::pair{"B", data}, {"FLOP", work}, {"USD", money}, {"J", energy}, {"s", time}}) {
    for (int i = 0; i < exponent; ++i) {
      above += (above.empty() ? "" : " ") + std::string(symbol);
    }
    for (int i = 0; i > exponent; --i) {
      below += "/" + std::string(symbol);
    }
  }
  return (above.empty() && !below.empty() ? "1" : above) + below;
}

/// Walks a field list and keeps the numbers, with their dotted paths, in SI units.
class NumberCollector {
 public:
  explicit NumberCollector(std::string prefix) : prefix_(std::move(prefix)) {}

  template <class Member, class... More>
  void required(const char* name, const Member& member, const More&... /*unused*/) {
    take(name, member);
  }
  template <class Member, class... More>
  void optional(const char* name, const Member& member, const More&... /*unused*/) {
    take(name, member);
  }
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }

 private:
  template <class Member>
  void take(const char* name, const Member& member) {
    if constexpr (std::floating_point<Member>) {
      numbers_.push_back({prefix_ + name, member, ""});
    } else if constexpr (requires { member.si(); }) {
      numbers_.push_back({prefix_ + name, member.si(), unit_of(member)});
    } else if constexpr (requires(Member group, NumberCollector v) { group.fields(v); }) {
      Member group = member;
      NumberCollector inner(prefix_ + name + ".");
      group.fields(inner);
      numbers_.insert(numbers_.end(), inner.numbers_.begin(), inner.numbers_.end());
    }
  }

  std::string prefix_;
  Numbers numbers_;
};

template <class Spec>
Numbers numbers_of(Spec spec, const std::string& prefix) {
  NumberCollector collector(prefix);
  spec.fields(collector);
  return collector.numbers();
}

Numbers constants_of(const gpu::GpuSpec& spec) { return numbers_of(spec.sustained, "sustained."); }
Numbers constants_of(const network::FabricSpec& spec) {
  return {{"efficiency", spec.efficiency, ""}, {"node_latency", spec.node_latency.si(), "s"}};
}
Numbers constants_of(const workload::FrameworkSpec& spec) { return numbers_of(spec, ""); }
Numbers constants_of(const training::CalibrationSpec& spec) {
  Numbers out = spec.kernels ? numbers_of(*spec.kernels, "kernels.") : Numbers{};
  out.push_back({"relative_error", spec.relative_error, ""});
  return out;
}

template <class Spec>
void add_kind(const std::vector<std::filesystem::path>& roots, Table& table) {
  for (const auto& entry : config::list_entries(Spec::kCatalogue, roots)) {
    const auto loaded = config::load_entry<Spec>(entry.path, {roots, {}});
    for (const auto& [path, value, unit] : constants_of(loaded.spec)) {
      // A value that no file writes is the program's own; the source of the entry does not cover
      // it.
      const bool written = loaded.marks.count(path) > 0;
      const auto error = loaded.standard_errors.find(path);
      const std::string source = written ? config::find_source(loaded.sources, path) : "";
      table.rows.push_back(
          {fmt::format("{}/{}", Spec::kCatalogue, entry.name), path, fmt::format("{}", value), unit,
           error == loaded.standard_errors.end() ? ""
                                                 : fmt::format("{:.3g}", value * error->second),
           written ? (source.empty() ? "not given" : source) : "default of the program"});
    }
  }
}

/// Constants that stand in the source text of a room.
void add_room(const std::vector<core::ModelConstant>& constants, Table& table) {
  for (const auto& constant : constants) {
    const std::size_t dot = constant.name.find('.');
    table.rows.push_back(
        {"models/" + constant.name.substr(0, dot), constant.name.substr(dot + 1),
         fmt::format("{}", constant.value), constant.unit,
         constant.standard_error > 0 ? fmt::format("{}", constant.standard_error) : "",
         constant.source});
  }
}

}  // namespace

Table constants_table(const std::vector<std::filesystem::path>& roots) {
  Table table{"Constants of the models, SI units",
              {{"entry", false},
               {"field", false},
               {"value"},
               {"unit", false},
               {"standard_error"},
               {"source", false}},
              {},
              false};
  add_room(workload::model_constants(), table);
  add_room(gpu::model_constants(), table);
  add_room(network::model_constants(), table);
  add_room(training::model_constants(), table);
  add_room(campaign::model_constants(), table);
  add_room(drill::model_constants(), table);
  add_room(validation::model_constants(), table);
  add_room(study::expect_constants(), table);
  add_room(study::diagnose_constants(), table);
  add_kind<gpu::GpuSpec>(roots, table);
  add_kind<network::FabricSpec>(roots, table);
  add_kind<workload::FrameworkSpec>(roots, table);
  add_kind<training::CalibrationSpec>(roots, table);
  return table;
}

}  // namespace headway::report
