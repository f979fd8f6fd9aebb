#include "sim/import/launch/launch_table.h"

#include <algorithm>
#include <cmath>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"

namespace headway::import {

namespace {

bool nothing_in(const LaunchSetting& setting) {
  return setting.values.size() == 1 &&
         (setting.values[0] == "null" || setting.values[0] == "None" || setting.values[0] == "~");
}

bool switched_off(const LaunchSetting& setting) {
  if (setting.values.empty()) {
    return false;
  }
  const std::string word = core::lower_case(setting.values[0]);
  return nothing_in(setting) || word == "false" || word == "0" || word.empty();
}

/// What to do about a value that the file does not hold.
std::string how_to_set(const std::string& value) {
  const bool variable = value.find('$') != std::string::npos;
  return variable ? fmt::format("'{}' is not set in this file; write its value above, or here",
                                core::shortened(value))
                  : "";
}

/// The setting by the name that the table's rows have for it.
std::string usual_name(const LaunchTable& table, const std::string& key) {
  for (const auto& [written, meant] : table.other_names) {
    if (key.starts_with(written)) {
      return std::string(meant) + key.substr(written.size());
    }
  }
  return key;
}

bool known_without_effect(const LaunchTable& table, std::string_view key) {
  return std::ranges::any_of(table.no_effect, [key](std::string_view entry) {
    return entry.ends_with('*') ? key.starts_with(entry.substr(0, entry.size() - 1)) : key == entry;
  });
}

std::string shown(const LaunchSetting& setting) {
  std::string values;
  for (const std::string& value : setting.values) {
    values += " " + core::shortened(value);
    if (values.size() > 60) {
      values += " ...";
      break;
    }
  }
  return fmt::format("line {}: {}{}", setting.mark.line, core::shortened(setting.key), values);
}

}  // namespace

LaunchReader::LaunchReader(const LaunchTable& table,
                           const LaunchSettings& settings,
                           bool knows_model,
                           LaunchImport& out)
    : table_(table),
      settings_(settings),
      knows_model_(knows_model),
      out_(out),
      asked_(settings.list.size(), false) {
  for (std::size_t i = 0; i < settings.list.size(); ++i) {
    std::string key = usual_name(table, settings.list[i].key);
    std::ranges::replace(key, '_', '-');
    by_key_[key].push_back(i);
  }
}

const LaunchSetting* LaunchReader::find(std::string_view key) {
  std::string same(key);
  std::ranges::replace(same, '_', '-');
  const auto found = by_key_.find(same);
  if (found == by_key_.end()) {
    return nullptr;
  }
  for (const std::size_t i : found->second) {
    const LaunchSetting& one = settings_.list[i];
    const LaunchSetting& last = settings_.list[found->second.back()];
    if (!asked_[i] && one.values != last.values) {
      out_.remarks.push_back(fmt::format("{} is set again in line {}; the last one counts",
                                         shown(one), last.mark.line));
    }
    asked_[i] = true;
  }
  return &settings_.list[found->second.back()];
}

bool LaunchReader::has(std::string_view key) {
  const LaunchSetting* setting = find(key);
  return setting != nullptr && !nothing_in(*setting);
}

std::optional<std::string> LaunchReader::word(std::string_view key) {
  const LaunchSetting* setting = find(key);
  if (setting == nullptr || nothing_in(*setting)) {
    return std::nullopt;
  }
  if (setting->values.size() != 1) {
    complain(key, fmt::format("'{}' has {}; write one", key,
                              setting->values.empty()
                                  ? "no value"
                                  : fmt::format("{} values", setting->values.size())));
    return std::nullopt;
  }
  return setting->values[0];
}

std::vector<std::string> LaunchReader::words(std::string_view key) {
  const LaunchSetting* setting = find(key);
  return setting == nullptr || nothing_in(*setting) ? std::vector<std::string>{} : setting->values;
}

std::optional<double> LaunchReader::number_of(std::string_view key,
                                              bool whole_number,
                                              double least) {
  const auto text = word(key);
  if (!text) {
    return std::nullopt;
  }
  std::string digits = *text;
  std::erase(digits, '_');
  const auto value = core::whole_text_as<double>(digits);
  const bool read = value && (!whole_number || std::floor(*value) == *value);
  if (!read || *value < least || *value > 9e15) {
    const std::string hint = how_to_set(*text);
    complain(key, !hint.empty()
                      ? hint
                      : fmt::format("'{}' is '{}'; write a {}number of at least {:g}", key,
                                    core::shortened(*text), whole_number ? "whole " : "", least));
    return std::nullopt;
  }
  return value;
}

/// Above every size and degree that a scenario takes (core::from_one_to_16m).
constexpr double kLargestWhole = 16'777'216;

std::optional<int> LaunchReader::whole(std::string_view key, int least) {
  const auto value = number_of(key, true, least);
  if (value && *value > kLargestWhole) {
    complain(key,
             fmt::format("'{}' is {:.0f}; at most {:.0f} is read", key, *value, kLargestWhole));
    return std::nullopt;
  }
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<std::int64_t> LaunchReader::count(std::string_view key, std::int64_t least) {
  const auto value = number_of(key, true, static_cast<double>(least));
  return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::optional<double> LaunchReader::number(std::string_view key) {
  return number_of(key, false, 0);
}

std::optional<bool> LaunchReader::flag(std::string_view key) {
  const LaunchSetting* setting = find(key);
  if (setting == nullptr || nothing_in(*setting)) {
    return std::nullopt;
  }
  if (setting->values.empty()) {
    return true;
  }
  const std::string word = core::lower_case(setting->values[0]);
  if (setting->values.size() == 1 && (word == "true" || word == "false" || word == "1" ||
                                      word == "0" || word == "yes" || word == "no")) {
    return word == "true" || word == "1" || word == "yes";
  }
  const std::string hint = how_to_set(setting->values[0]);
  complain(key, !hint.empty() ? hint
                              : fmt::format("'{}' is '{}'; it is true or false", key,
                                            core::shortened(setting->values[0])));
  return std::nullopt;
}

void LaunchReader::place(std::string_view path, std::string_view key) {
  if (const LaunchSetting* setting = find(key)) {
    out_.marks.insert_or_assign(std::string(path), setting->mark);
    if (path.starts_with("parallelism.")) {
      out_.marks.emplace("parallelism", setting->mark);  // for rules across the degrees
    }
  }
}

void LaunchReader::complain(std::string_view key, std::string message) {
  const LaunchSetting* setting = find(key);
  faults_.add(setting == nullptr ? std::optional<core::SourceMark>{} : setting->mark,
              std::move(message));
}

void LaunchReader::not_modelled(std::string_view key, std::string why) {
  if (const LaunchSetting* setting = find(key)) {
    out_.not_modelled.push_back(fmt::format("{}: {}", shown(*setting), why));
  }
}

void LaunchReader::sort_rest() {
  for (const auto& [key, why] : table_.not_modelled) {
    const LaunchSetting* setting = find(key);
    if (setting != nullptr && !switched_off(*setting)) {
      out_.not_modelled.push_back(fmt::format("{}: {}", shown(*setting), why));
    }
  }
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const LaunchSetting& setting = settings_.list[i];
    std::string key = setting.key;
    if (table_.bare_flags) {
      std::ranges::replace(key, '_', '-');
    }
    if (!asked_[i] && !key.starts_with('$') && !known_without_effect(table_, key) &&
        !known_without_effect(table_, usual_name(table_, key))) {
      out_.unknown.push_back(shown(setting));
    }
  }
}

namespace {

void read_row(const LaunchRow& row, LaunchReader& reader, LaunchRun& run) {
  if (const auto* rule = std::get_if<LaunchRule>(&row.binding)) {
    rule->read(reader, run);
    return;
  }
  for (const std::string_view key : row.keys) {
    if (!reader.has(key)) {
      continue;
    }
    reader.place(row.paths.front(), key);
    if (const auto* whole = std::get_if<WholeField>(&row.binding)) {
      int* field = (*whole)(run);
      const auto value = reader.whole(key, row.least);
      if (field == nullptr) {
        reader.complain(
            key, fmt::format("'{}' has nothing that it applies to: {} is not set", key,
                             row.paths.front().starts_with("model.moe") ? "the number of experts"
                                                                        : "latent attention"));
      } else if (value) {
        *field = *value;
      }
      continue;
    }
    const auto& flag = std::get<FlagField>(row.binding);
    bool* field = flag.at(run);
    const auto value = reader.flag(key);
    if (field != nullptr && value) {
      *field = *value != flag.inverted;
    }
  }
}

void find_what_is_missing(LaunchReader& reader, const LaunchRun& run) {
  const workload::ModelSpec& model = run.model;
  if (run.model_entry.empty() && (model.layers == 0 || model.hidden == 0 || model.heads == 0)) {
    reader.lacks("model: the file does not say what is trained; name an entry: --model ENTRY");
  }
  if (run.training.sequence_length == 0) {
    reader.lacks("training.sequence_length: the file does not say how many tokens a sequence has");
  }
}

void write_row(const LaunchTable& table, const LaunchRow& row, LaunchRun run, LaunchWriter& out) {
  if (const auto* rule = std::get_if<LaunchRule>(&row.binding)) {
    rule->write(run, out);
  } else if (const auto* whole = std::get_if<WholeField>(&row.binding)) {
    if (const int* field = (*whole)(run)) {
      out.whole(row.keys.front(), *field);
    }
  } else {
    const auto& flag = std::get<FlagField>(row.binding);
    if (const bool* field = flag.at(run)) {
      const bool value = *field != flag.inverted;
      if (!table.bare_flags) {
        out.truth(row.keys.front(), value);
      } else if (value) {
        out.flag(row.keys.front());
      }
    }
  }
}

}  // namespace

std::vector<const LaunchTable*> launch_tables() {
  return {&megatron_table(), &torchtitan_table(), &nemo_table(), &deepspeed_table(),
          &maxtext_table()};
}

LaunchImport read_launch(const LaunchTable& table,
                         const LaunchSettings& settings,
                         LaunchRun start) {
  LaunchImport out;
  out.run = std::move(start);
  out.remarks = settings.remarks;
  LaunchReader reader(table, settings, out.run.model.layers > 0, out);
  table.defaults(out.run);
  for (const LaunchRow& row : table.rows) {
    read_row(row, reader, out.run);
  }
  find_what_is_missing(reader, out.run);
  reader.sort_rest();
  reader.throw_if_any();
  out.run = normalised(std::move(out.run));
  return out;
}

std::vector<LaunchLine> write_launch(const LaunchTable& table, const LaunchRun& run) {
  LaunchWriter out;
  for (const LaunchRow& row : table.rows) {
    const std::string& path = row.paths.front();
    out.section(std::string_view(path).substr(0, path.find('.')));
    if (row.when == nullptr || row.when(run)) {
      write_row(table, row, run, out);
    }
  }
  std::vector<LaunchLine> lines = out.lines();
  static constexpr std::string_view kOrder[]{"cluster", "model", "training", "parallelism", "run"};
  std::ranges::stable_sort(lines, {}, [](const LaunchLine& line) {
    return std::ranges::find(kOrder, line.section) - std::begin(kOrder);
  });
  return lines;
}

}  // namespace headway::import
