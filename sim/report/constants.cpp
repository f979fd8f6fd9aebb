#include "sim/report/constants.h"

#include <concepts>
#include <fmt/format.h>

#include "sim/config/load.h"
#include "sim/gpu/spec.h"
#include "sim/network/spec.h"
#include "sim/workload/spec.h"

namespace headway::report {

namespace {

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
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& numbers() const {
    return numbers_;
  }

 private:
  template <class Member>
  void take(const char* name, const Member& member) {
    if constexpr (std::floating_point<Member>) {
      numbers_.emplace_back(prefix_ + name, member);
    } else if constexpr (requires { member.si(); }) {
      numbers_.emplace_back(prefix_ + name, member.si());
    }
  }

  std::string prefix_;
  std::vector<std::pair<std::string, double>> numbers_;
};

template <class Spec>
std::vector<std::pair<std::string, double>> numbers_of(Spec spec, const std::string& prefix) {
  NumberCollector collector(prefix);
  spec.fields(collector);
  return collector.numbers();
}

using Numbers = std::vector<std::pair<std::string, double>>;

Numbers constants_of(const gpu::GpuSpec& spec) { return numbers_of(spec.sustained, "sustained."); }
Numbers constants_of(const network::FabricSpec& spec) { return {{"efficiency", spec.efficiency}}; }
Numbers constants_of(const workload::FrameworkSpec& spec) { return numbers_of(spec, ""); }
Numbers constants_of(const training::CalibrationSpec& spec) {
  Numbers out = spec.kernels ? numbers_of(*spec.kernels, "kernels.") : Numbers{};
  out.emplace_back("relative_error", spec.relative_error);
  return out;
}

template <class Spec>
void add_kind(const std::vector<std::filesystem::path>& roots, Table& table) {
  for (const auto& entry : config::list_entries(Spec::kCatalogue, roots)) {
    const auto loaded = config::load_entry<Spec>(entry.path, {roots, {}});
    for (const auto& [path, value] : constants_of(loaded.spec)) {
      // A value that no file writes is the program's own; the source of the entry does not cover
      // it.
      const bool written = loaded.marks.count(path) > 0;
      const std::string source = written ? config::find_source(loaded.sources, path) : "";
      table.rows.push_back(
          {fmt::format("{}/{}", Spec::kCatalogue, entry.name), path, fmt::format("{}", value),
           written ? (source.empty() ? "not given" : source) : "default of the program"});
    }
  }
}

}  // namespace

Table constants_table(const std::vector<std::filesystem::path>& roots) {
  Table table{"Constants of the models, SI units",
              {{"entry", false}, {"field", false}, {"value"}, {"source", false}},
              {},
              false};
  add_kind<gpu::GpuSpec>(roots, table);
  add_kind<network::FabricSpec>(roots, table);
  add_kind<workload::FrameworkSpec>(roots, table);
  add_kind<training::CalibrationSpec>(roots, table);
  return table;
}

}  // namespace headway::report
