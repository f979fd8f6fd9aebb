#include "sim/validation/shipped_scenarios.h"

#include <fstream>
#include <optional>
#include <sstream>

#include "sim/config/load.h"

namespace headway::validation {

namespace fs = std::filesystem;

std::map<std::string, training::Scenario> load_shipped(const std::vector<fs::path>& roots) {
  std::map<std::string, training::Scenario> shipped;
  for (const fs::path& root : roots) {
    const fs::path list = root / "validation" / "scenario_rows.csv";
    std::ifstream file(list);
    if (!file.is_open()) {
      continue;
    }
    std::stringstream text;
    text << file.rdbuf();
    const import::CsvTable table(text.str(), list.string());
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const fs::path path = root / "scenarios" / (table.text(row, "scenario") + ".yaml");
      shipped.try_emplace(table.text(row, "id"), config::load_scenario(path, {roots, {}}).scenario);
    }
  }
  return shipped;
}

std::string disagreement(const RunRow& row, const training::Scenario& s) {
  struct Number {
    const char* column;
    std::optional<int> stated;
    int scenario = 0;
  };
  const Number numbers[] = {{"n_gpus", row.n_gpus, s.cluster.nodes * s.cluster.node.gpus},
                            {"n_layers", row.n_layers, s.model.layers},
                            {"d_model", row.d_model, s.model.hidden},
                            {"seq_len", row.seq_len, s.training.sequence_length},
                            {"global_batch", row.global_batch, s.training.global_batch},
                            {"micro_batch", row.micro_batch, s.parallelism.micro_batch},
                            {"tp", row.tp, s.parallelism.tensor},
                            {"pp", row.pp, s.parallelism.pipeline},
                            {"cp", row.cp, s.parallelism.context},
                            {"vpp", row.vpp, s.parallelism.virtual_stages}};
  for (const auto& number : numbers) {
    if (row.certain(number.column) && number.stated != number.scenario) {
      return number.column;
    }
  }
  return {};
}

}  // namespace headway::validation
