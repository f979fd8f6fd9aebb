// The table of a framework: what each of its settings is in a scenario, read and written by the
// same rows.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/error.h"
#include "sim/import/launch/launch_run.h"
#include "sim/import/launch/launch_settings.h"

namespace headway::import {

struct LaunchTable;

/// What an import found beside the run.
struct LaunchImport {
  LaunchRun run;
  core::SourceMarks marks;                ///< where each value of the scenario was written
  std::vector<std::string> unknown;       ///< settings that no row knows, with their lines
  std::vector<std::string> not_modelled;  ///< settings that matter and have no place in a scenario
  std::vector<std::string> assumptions;   ///< what the file does not say and how it is read
  std::vector<std::string> missing;       ///< what has to be added before it is a scenario
  std::vector<std::string> remarks;
};

/// Settings asked for by key; what is wrong with one becomes a complaint at its line, so that all
/// are shown together. Of a key that is set twice the last counts.
class LaunchReader {
 public:
  /// @param knows_model  the model was named beside the file, whose settings are laid over it
  LaunchReader(const LaunchTable& table,
               const LaunchSettings& settings,
               bool knows_model,
               LaunchImport& out);

  /// Whether the key is set (to anything but null or None).
  bool has(std::string_view key);
  /// A whole number of at least `least`; nothing where the key is not set or its value is wrong.
  std::optional<int> whole(std::string_view key, int least = 1);
  std::optional<std::int64_t> count(std::string_view key, std::int64_t least = 1);
  std::optional<double> number(std::string_view key);
  /// A bare flag is true.
  std::optional<bool> flag(std::string_view key);
  /// The one value, or all in a row.
  std::optional<std::string> word(std::string_view key);
  std::vector<std::string> words(std::string_view key);

  /// The setting's line is where the scenario's value was written.
  void place(std::string_view path, std::string_view key);
  /// A complaint at the setting's line.
  void complain(std::string_view key, std::string message);
  void assume(std::string text) { out_.assumptions.push_back(std::move(text)); }
  void lacks(std::string text) { out_.missing.push_back(std::move(text)); }
  /// The setting is understood, and its effect has no place in a scenario.
  void not_modelled(std::string_view key, std::string why);
  [[nodiscard]] bool knows_model() const { return knows_model_; }
  /// Takes the setting for understood.
  void pass_over(std::string_view key) { find(key); }

  /// Sorts what no row has asked for: without effect on time, not modelled, unknown.
  void sort_rest();
  void throw_if_any() { faults_.throw_if_any(); }
  [[nodiscard]] bool clean() const { return faults_.empty(); }

 private:
  const LaunchSetting* find(std::string_view key);
  std::optional<double> number_of(std::string_view key, bool whole_number, double least);

  const LaunchTable& table_;
  const LaunchSettings& settings_;
  bool knows_model_;
  LaunchImport& out_;
  core::Diagnostics faults_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_key_;
  std::vector<bool> asked_;
};

/// How a value is written. `environment`: a variable that a shell script exports or, without a
/// value, unsets.
enum class LaunchValueKind { flag, bare, text, list, environment };

/// One setting to be written.
struct LaunchLine {
  std::string key;
  std::vector<std::string> values;
  LaunchValueKind kind = LaunchValueKind::bare;
  std::string section;  ///< of the scenario: "model", "parallelism", ...
};

/// What a run is in the words of one framework, in the order of its table.
class LaunchWriter {
 public:
  void flag(std::string_view key) { add(key, {}, LaunchValueKind::flag); }
  void truth(std::string_view key, bool value) { bare(key, value ? "true" : "false"); }
  void whole(std::string_view key, std::int64_t value) { bare(key, std::to_string(value)); }
  void bare(std::string_view key, std::string value) {
    add(key, {std::move(value)}, LaunchValueKind::bare);
  }
  void text(std::string_view key, std::string value) {
    add(key, {std::move(value)}, LaunchValueKind::text);
  }
  void list(std::string_view key, std::vector<std::string> values) {
    add(key, std::move(values), LaunchValueKind::list);
  }
  void environment(std::string_view name, std::vector<std::string> value) {
    add(name, std::move(value), LaunchValueKind::environment);
  }
  /// The lines that follow belong to this section of the scenario.
  void section(std::string_view name) { section_ = name; }
  [[nodiscard]] const std::vector<LaunchLine>& lines() const { return lines_; }

 private:
  void add(std::string_view key, std::vector<std::string> values, LaunchValueKind kind) {
    lines_.push_back({std::string(key), std::move(values), kind, section_});
  }
  std::vector<LaunchLine> lines_;
  std::string section_;
};

/// A whole number of the run; nullptr where the run has none (experts of a dense model).
using WholeField = int* (*)(LaunchRun&);
/// A truth of the run. `inverted`: the setting says the opposite. A tool whose flags are bare
/// writes only what is set.
struct FlagField {
  bool* (*at)(LaunchRun&);
  bool inverted = false;
};
/// Anything that is not one value for one value.
struct LaunchRule {
  std::function<void(LaunchReader&, LaunchRun&)> read;
  std::function<void(const LaunchRun&, LaunchWriter&)> write;
};

/// One line of the table.
struct LaunchRow {
  std::vector<std::string> keys;   ///< settings of the framework
  std::vector<std::string> paths;  ///< what they are in a scenario
  std::variant<WholeField, FlagField, LaunchRule> binding;
  int least = 1;  ///< of a whole number
  /// Runs for which the row means something: for others it is not written; nullptr: for all.
  bool (*when)(const LaunchRun&) = nullptr;
};

/// A setting that changes time and has no place in a scenario, and why.
struct NotModelled {
  std::string_view key;
  std::string_view why;
};

/// A second name of settings, of a later release of the framework: what begins with `written` is
/// read as if it began with `meant`.
struct OtherName {
  std::string_view written;
  std::string_view meant;
};

/// The syntax of a framework's files.
enum class LaunchSyntax { shell, toml, json, yaml };

/// How a framework's file says what is trained.
enum class LaunchModel { by_shape, by_name, not_at_all };

/// A framework's file.
struct LaunchTable {
  std::string_view name;       ///< as `headway export` names it
  std::string_view format;     ///< as `headway import` names its file; empty: only written
  std::string_view framework;  ///< entry of `frameworks` that a run of it is taken for
  LaunchSyntax syntax = LaunchSyntax::shell;
  LaunchModel model = LaunchModel::by_shape;
  bool bare_flags = false;  ///< a flag is true by being there
  std::vector<LaunchRow> rows;
  /// Settings without effect on time; "log-*" are all that begin so.
  std::span<const std::string_view> no_effect;
  /// Settings that change time and have no place in a scenario.
  std::span<const NotModelled> not_modelled;
  /// Lays the framework's own defaults over the run, those of the model only where none was named
  /// (no layers).
  void (*defaults)(LaunchRun&) = nullptr;
  /// What the framework wants to know and a scenario does not, for the head of an export.
  std::string_view left_to_you;
  /// What these settings cannot say of the run beside values that are read otherwise; nullptr:
  /// nothing.
  std::vector<std::string> (*remarks)(const LaunchRun&, const std::vector<LaunchLine>&) = nullptr;
  /// Of several that fit the first counts.
  std::span<const OtherName> other_names = {};
};

const LaunchTable& megatron_table();
const LaunchTable& torchtitan_table();
const LaunchTable& deepspeed_table();
const LaunchTable& nemo_table();
const LaunchTable& maxtext_table();

/// All frameworks, in the order of the documentation.
std::vector<const LaunchTable*> launch_tables();

/// What the settings say. `start` holds what is known without them: a model or framework of the
/// catalogue, GPUs from the command line (0: unknown).
/// @throws core::Error with every setting that is wrong or contradicts another
LaunchImport read_launch(const LaunchTable& table, const LaunchSettings& settings, LaunchRun start);

/// The settings that say the run, section by section in the order of the table.
std::vector<LaunchLine> write_launch(const LaunchTable& table, const LaunchRun& run);

/// Settings as a file of that syntax, below comments; JSON, which knows none, has them at the key
/// "//". Shell: a script that starts Megatron-LM.
std::string launch_text(LaunchSyntax syntax,
                        const std::vector<LaunchLine>& lines,
                        const std::vector<std::string>& comments);

}  // namespace headway::import
