#include "sim/validation/compared/open_fields.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <tbb/parallel_for.h>
#include <utility>

#include "sim/analytic/analytic.h"
#include "sim/core/error.h"
#include "sim/training/step/step.h"
#include "sim/validation/compared/compared_runs.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {

namespace {

using import::CsvTable;

/// Of so many sources or more the one that a blank moves most counts as the next does: it does not
/// decide alone. Source: round value; of fewer nobody can say which of them is unusual.
constexpr std::size_t kTellApart = 5;
/// Sources that have to state a field before its blanks say something, and to have a row that they
/// move before they say how little: where nothing moves, all rows state what is usual, which is no
/// measurement of rows that do not. Source: as for constants that no second source judges
/// (constant_fit.h).
constexpr int kEnoughSources = 2;

/// A field and the columns that have to be blank for it to be open: those that say the same, and
/// degrees that it would follow from.
struct Blank {
  const char* field;
  std::vector<std::string> columns;
};
const std::vector<Blank>& blanks() {
  static const std::vector<Blank> all = {{"micro_batch", {"micro_batch"}},
                                         {"vpp", {"vpp"}},
                                         {"recompute", {"recompute", "recompute_detail"}},
                                         {"era", {"era", "source"}},
                                         {"release", {"release"}},
                                         {"software", {"release", "notes"}},
                                         {"precision", {"precision", "precision_detail"}},
                                         {"tp", {"tp", "dp"}},
                                         {"pp", {"pp", "dp"}},
                                         {"ep", {"ep", "etp"}},
                                         {"vocab", {"vocab"}},
                                         {"n_kv_heads", {"n_kv_heads"}},
                                         {"sharding", {"sharding", "shard_group_size"}},
                                         {"sequence_parallel", {"sequence_parallel"}},
                                         {"network", {"network", "nics_per_node", "nic_gbps"}},
                                         {"gpus_per_node", {"gpus_per_node"}},
                                         {"gated_mlp", {"gated_mlp"}},
                                         {"global_batch", {"global_batch"}},
                                         {"shard_group_size", {"shard_group_size"}},
                                         {"tp_comm_overlap", {"tp_comm_overlap", "async_tp"}},
                                         {"moe_a2a_overlap", {"moe_a2a_overlap"}},
                                         {"cuda_graph", {"cuda_graph"}}};
  return all;
}

/// Visitor: empties the column of this name.
struct Emptied {
  std::string_view name;

  template <class T>
  void optional(const char* column, T& member, const char* /*text*/, core::Range /*any*/ = {}) {
    if (name == column) {
      member = T{};
    }
  }
  template <class T>
  void required(const char* column, T& member, const char* text, core::Range range = {}) {
    optional(column, member, text, range);
  }
};

RunRow without(RunRow row, const std::vector<std::string>& columns) {
  for (const std::string& column : columns) {
    Emptied visitor{column};
    RunRow::fields(row, visitor);
  }
  return row;
}

/// Whether the row states the field, in any of the columns that say it.
bool states(const RunRow& row, const Blank& blank) { return row.certain(blank.columns.front()); }

core::Seconds step_time(const training::Scenario& scenario) {
  return analytic::AnalyticTier(scenario).evaluate(training::check(scenario)).time;
}

double log_speed(const training::Scenario& s) {
  // Tokens a second: batches that follow from blanks differ.
  return std::log(static_cast<double>(s.training.global_batch) / step_time(s).si());
}

bool open(const RowScenario& built, const std::string& field) {
  return std::find(built.assumed.begin(), built.assumed.end(), field) != built.assumed.end();
}

/// A row to blank: its source, and what it says as it stands.
struct Chosen {
  RunRow row;
  std::string source;
  RowScenario as_stated;
  double speed = 0;  ///< log_speed
};

std::optional<Chosen> chosen(RunRow row, const Catalogue& catalogue) {
  std::string source = row.id.substr(0, row.id.rfind('-'));
  const std::string id = std::exchange(row.id, "blanked");  // no shipped scenario is in its place
  try {
    RowScenario as_stated = scenario_of_row(row, catalogue);
    const double speed = log_speed(*as_stated.scenario);
    row.id = id;
    return Chosen{std::move(row), std::move(source), std::move(as_stated), speed};
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

std::vector<RunRow> measured_rows(const std::vector<const CsvTable*>& tables) {
  std::vector<RunRow> rows;
  for (const CsvTable* table : tables) {
    for (std::size_t i = 0; i < table->rows(); ++i) {
      RunRow row = read_run_row(*table, i);
      if (row.problems.empty() && row.measured_tokens_per_s_per_gpu) {
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

/// One blank of one row; nothing where the field is then still known, or no run can be read so.
std::optional<BlankedRow> blanked(const Chosen& chosen,
                                  const Blank& field,
                                  const Catalogue& catalogue) {
  if (!states(chosen.row, field) || open(chosen.as_stated, field.field)) {
    return std::nullopt;
  }
  RunRow blank = without(chosen.row, field.columns);
  blank.id = "blanked";
  try {
    const RowScenario as_blank = scenario_of_row(blank, catalogue);
    if (!open(as_blank, field.field)) {
      return std::nullopt;
    }
    BlankedRow out{chosen.source, chosen.row.id, field.field, chosen.row.is_mixture()};
    const bool same = *chosen.as_stated.scenario == *as_blank.scenario;
    out.error = same ? 0 : log_speed(*as_blank.scenario) - chosen.speed;
    std::vector<OtherReading> readings = as_blank.readings;
    std::erase_if(readings, [&](const OtherReading& one) { return one.column != field.field; });
    if (!readings.empty()) {
      const auto halves = half_distances(readings, step_time(*as_blank.scenario), step_time);
      out.half_distance = halves.contains(field.field) ? halves.at(field.field) : 0;
    }
    return out;
  } catch (const core::Error&) {
    return std::nullopt;
  }
}

/// Sums of one source.
struct Squares {
  double error = 0, half_distance = 0, moved = 0;
  int rows = 0;

  void add(const BlankedRow& row) {
    constexpr double kMoved = 0.01;  // Source: round value
    error += row.error * row.error;
    half_distance += row.half_distance * row.half_distance;
    moved += std::abs(row.error) > kMoved ? 1 : 0;
    ++rows;
  }
};

/// The figure of a field and a kind of models that `figure` makes of its blanks. Where they moved
/// rows of fewer than two sources it is a lower limit: then the largest of both kinds and `least`.
/// Nothing where neither kind has two sources that state the field.
template <class Figure>
std::optional<double> measured(const std::vector<OpenField>& known,
                               const std::string& field,
                               bool mixture,
                               const Figure& figure,
                               double least) {
  std::optional<double> largest;
  bool moves = false;
  for (const OpenField& each : known) {
    if (each.field != field || each.sources < kEnoughSources) {
      continue;
    }
    if (each.mixture == mixture && each.moving >= kEnoughSources) {
      return figure(each);
    }
    largest = std::max(largest.value_or(0), figure(each));
    moves = moves || each.moving >= kEnoughSources;
  }
  return largest && !moves ? std::max(*largest, least) : largest;
}

/// The smallest error that moves rows of two sources; 0: there is none.
double smallest_error(const std::vector<OpenField>& known) {
  double least = 0;
  for (const OpenField& each : known) {
    if (each.moving >= kEnoughSources) {
      least = least > 0 ? std::min(least, each.error) : each.error;
    }
  }
  return least;
}

}  // namespace

std::vector<BlankedRow> blank_rows(const std::vector<const CsvTable*>& tables,
                                   const Catalogue& catalogue) {
  std::vector<RunRow> rows = measured_rows(tables);
  std::vector<std::vector<BlankedRow>> found(rows.size());
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    const auto row = chosen(std::move(rows[i]), catalogue);
    for (const Blank& field : blanks()) {
      if (auto one = row ? blanked(*row, field, catalogue) : std::nullopt) {
        found[i].push_back(std::move(*one));
      }
    }
  });
  std::vector<BlankedRow> out;
  for (auto& of_row : found) {
    std::move(of_row.begin(), of_row.end(), std::back_inserter(out));
  }
  return out;
}

std::vector<OpenField> open_fields(const std::vector<BlankedRow>& rows) {
  std::map<std::pair<std::string, bool>, std::map<std::string, Squares>> fields;
  for (const BlankedRow& row : rows) {
    fields[{row.field, row.mixture}][row.source].add(row);
  }
  std::vector<OpenField> all;
  for (const auto& [key, by_source] : fields) {
    OpenField field{key.first, key.second, static_cast<int>(by_source.size())};
    std::vector<double> errors;
    for (const auto& [source, squares] : by_source) {
      field.rows += squares.rows;
      field.moved += squares.moved;
      field.moving += squares.moved > 0 ? 1 : 0;
      errors.push_back(squares.error / squares.rows);
      field.half_distance += squares.half_distance / squares.rows;
    }
    std::sort(errors.begin(), errors.end());
    if (errors.size() >= kTellApart) {
      errors.back() = errors[errors.size() - 2];
    }
    const auto n = static_cast<double>(errors.size());
    field.moved /= field.rows;
    field.error = std::sqrt(std::accumulate(errors.begin(), errors.end(), 0.0) / n);
    field.half_distance = std::sqrt(field.half_distance / n);
    all.push_back(field);
  }
  return all;
}

std::optional<double> open_error(const std::vector<OpenField>& known,
                                 const std::string& field,
                                 bool mixture) {
  return measured(
      known, field, mixture, [](const OpenField& each) { return each.error; },
      smallest_error(known));
}

double reading_share(const std::vector<OpenField>& known, const std::string& field, bool mixture) {
  const auto share = [](const OpenField& each) {
    return each.half_distance > 0 ? each.error / each.half_distance : 0;
  };
  const double found = measured(known, field, mixture, share, 1).value_or(1);
  return found > 0 ? found : 1;
}

std::vector<OpenField> load_open_fields(const std::vector<std::filesystem::path>& roots) {
  std::vector<OpenField> known;
  const auto table = first_table(roots, "open_fields.csv");
  for (std::size_t row = 0; table && row < table->rows(); ++row) {
    known.push_back(
        {table->text(row, "field"), table->text(row, "kind") == "mixture",
         table->integer(row, "sources").value_or(0), table->integer(row, "moving").value_or(0),
         table->integer(row, "rows").value_or(0), table->number(row, "moved").value_or(0),
         table->number(row, "error").value_or(0), table->number(row, "half_distance").value_or(0)});
  }
  return known;
}

}  // namespace headway::validation
