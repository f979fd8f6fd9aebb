// Tables of published runs, made by hand.
#pragma once

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "sim/validation/training_runs.h"

namespace headway::validation {

/// A row's cells by column.
using Cells = std::map<std::string, std::string>;

inline const Catalogue& catalogue() {
  static const Catalogue entries = load_catalogue({HEADWAY_SOURCE_DIR "/configs"});
  return entries;
}

/// A dense run on two nodes that states everything.
inline Cells stated_run() {
  return {{"id", "a-1"},
          {"source", "a source"},
          {"year", "2024"},
          {"era", "megatron-core-2024+"},
          {"gpu", "H100-80G-SXM"},
          {"n_gpus", "16"},
          {"gpus_per_node", "8"},
          {"nics_per_node", "8"},
          {"nic_gbps", "400"},
          {"nvlink_domain", "8"},
          {"network", "8x NDR-400"},
          {"model", "Llama"},
          {"arch", "dense"},
          {"attention", "gqa"},
          {"n_layers", "8"},
          {"d_model", "4096"},
          {"n_heads", "32"},
          {"n_kv_heads", "8"},
          {"head_dim", "128"},
          {"d_ffn", "14336"},
          {"gated_mlp", "yes"},
          {"vocab", "128256"},
          {"seq_len", "4096"},
          {"global_batch", "32"},
          {"micro_batch", "1"},
          {"tp", "2"},
          {"sequence_parallel", "yes"},
          {"pp", "2"},
          {"vpp", "1"},
          {"cp", "1"},
          {"ep", "1"},
          {"dp", "4"},
          {"sharding", "1"},
          {"recompute", "none"},
          {"tp_comm_overlap", "yes"},
          {"precision", "bf16"},
          {"measured_tokens_per_s_per_gpu", "10000"}};
}

inline Cells with(const Cells& changes) {
  Cells cells = stated_run();
  for (const auto& [column, text] : changes) {
    cells[column] = text;
  }
  return cells;
}

inline import::CsvTable table_of(const std::vector<Cells>& rows) {
  std::map<std::string, int> columns;
  for (const Cells& cells : rows) {
    for (const auto& [column, text] : cells) {
      columns[column] = 0;
    }
  }
  std::string text;
  for (const auto& [column, unused] : columns) {
    text += (text.empty() ? "" : ",") + column;
  }
  for (const Cells& cells : rows) {
    std::string line;
    for (const auto& [column, unused] : columns) {
      const auto cell = cells.find(column);
      line += (line.empty() ? "\"" : ",\"") + (cell == cells.end() ? "" : cell->second) + "\"";
    }
    text += "\n" + line;
  }
  return import::CsvTable(text + "\n", "t.csv");
}

/// The prediction of the stated run with these changes.
/// A status without the words of notes that nothing reads.
inline std::string but_unread(std::string status) {
  const auto begin = status.find("notes: words not read (");
  if (begin == std::string::npos) {
    return status;
  }
  const auto end = status.find("; ", begin);
  status.erase(begin, end == std::string::npos ? end : end + 2 - begin);
  return status.ends_with(": ") ? status.substr(0, status.size() - 2) : status;
}

inline RunPrediction predicted(const Cells& changes) {
  return predict_runs(table_of({with(changes)}), catalogue()).front();
}

/// Its scenario, which it must have.
inline training::Scenario scenario(const Cells& changes) {
  const RowScenario built = row_scenario(table_of({with(changes)}), 0, catalogue());
  EXPECT_TRUE(built.scenario.has_value()) << built.skipped;
  return built.scenario.value_or(training::Scenario{});
}

/// Of an interval, in log time.
inline double width(const RunPrediction& p) { return std::log(p.high / p.low); }

}  // namespace headway::validation
