#include "sim/report/fault_argument.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/config/arguments/argument_values.h"
#include "sim/config/reflect.h"
#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::report {

using config::ArgumentValue;
using core::Seconds;
using drill::Fault;
using drill::FaultKind;

namespace {

[[noreturn]] void refuse(const std::string& why) { throw core::Error("--fault: " + why); }

/// Empty parts are parts; the empty text has none.
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Without the quotes that a shell would have taken off.
std::string unquoted(const std::string& text) {
  const bool quoted = text.size() > 1 && text.front() == text.back() &&
                      (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// "node12" -> {"node", "12"}.
ArgumentValue numbered(const std::string& part) {
  const std::size_t digit = std::min(part.find_first_of("0123456789"), part.size());
  return {part.substr(0, digit), part.substr(digit)};
}

/// A GPU counted over the machine, as node and GPU of the node.
std::vector<ArgumentValue> of_machine(const std::string& number, int gpus_per_node) {
  const auto gpu = core::whole_text_as<std::int64_t>(number);
  if (!gpu) {
    refuse(fmt::format("GPU '{}' is no whole number", number));
  }
  return {{"node", std::to_string(*gpu / gpus_per_node)},
          {"gpu", std::to_string(*gpu % gpus_per_node)}};
}

/// What stands behind the '@', as values of a fault's fields.
std::vector<ArgumentValue> place_of(FaultKind kind, const std::string& place, int gpus_per_node) {
  if (!drill::facts_of(kind).has_place) {
    refuse(fmt::format("{} has no place; leave '@{}' out", core::to_word(kind), place));
  }
  const char* const unit = kind == FaultKind::leaf_down         ? "leaf"
                           : kind == FaultKind::rack_power_loss ? "rack"
                           : drill::is_of_ways(kind)            ? "site"
                                                                : "";
  std::vector<ArgumentValue> values;
  for (const auto& part : split(place, '/')) {
    values.push_back(numbered(part));
  }
  const auto is = [&](std::size_t i, const char* word) {
    return i < values.size() && values[i].key == word && !values[i].text.empty();
  };
  if (values.size() == 1 && is(0, "gpu")) {
    return of_machine(values[0].text, gpus_per_node);
  }
  const bool one = values.size() == 1 && (is(0, "node") || (*unit != 0 && is(0, unit)));
  if (!one && !(values.size() == 2 && is(0, "node") && is(1, "gpu"))) {
    refuse(fmt::format("place '{}' is none; write {}node12, gpu99 or node12/gpu3", place,
                       *unit != 0 ? fmt::format("{}3, ", unit) : ""));
  }
  return values;
}

/// Keys that the kind takes, and no other, each once.
std::vector<ArgumentValue> figures_of(FaultKind kind, const std::vector<std::string>& parts) {
  auto keys = split(std::string(drill::facts_of(kind).parameters), ' ');
  keys.emplace_back("since_save");
  std::vector<ArgumentValue> values;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals);
    if (equals == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      const auto near = core::did_you_mean(key, keys);
      refuse(fmt::format("{} takes {}, not '{}'{}", core::to_word(kind), fmt::join(keys, ", "),
                         parts[i], near ? fmt::format("; did you mean '{}'?", *near) : ""));
    }
    if (std::any_of(values.begin(), values.end(), [&](const auto& v) { return v.key == key; })) {
      refuse(fmt::format("{} is given twice", key));
    }
    values.push_back({key, unquoted(parts[i].substr(equals + 1))});
  }
  return values;
}

}  // namespace

Fault parse_fault(const std::string& text, int gpus_per_node) {
  const auto parts = split(text, ',');
  if (parts.empty()) {
    refuse("is empty; write KIND[@PLACE][,key=value]");
  }
  const std::string argument = "argument --fault " + text;
  const auto& type = config::spec_type<Fault>();
  const auto at = parts[0].find('@');
  std::vector<ArgumentValue> values{{"kind", parts[0].substr(0, at)}};
  Fault fault;
  config::read_argument(argument, values, type, &fault);
  const auto append = [&values](const std::vector<ArgumentValue>& more) {
    values.insert(values.end(), more.begin(), more.end());
  };
  if (at != std::string::npos) {
    append(place_of(fault.kind, parts[0].substr(at + 1), gpus_per_node));
  }
  append(figures_of(fault.kind, parts));
  config::read_argument(argument, values, type, &fault);
  if (fault.down && fault.every && *fault.down >= *fault.every) {
    refuse("down must be shorter than every");
  }
  return fault;
}

std::pair<drill::Monitor, std::optional<Seconds>> parse_monitor(const std::string& text) {
  const auto equals = text.find('=');
  const std::string value = equals == std::string::npos ? "on" : unquoted(text.substr(equals + 1));
  const bool word = value == "on" || value == "off";
  std::vector<ArgumentValue> values{{"name", text.substr(0, equals)}};
  if (!word) {
    values.push_back({"time", value});
  }
  drill::MonitorChange change;
  config::read_argument("argument --monitor " + text, values,
                        config::spec_type<drill::MonitorChange>(), &change);
  if (value == "off") {
    return {change.name, std::nullopt};
  }
  return {change.name, change.time};
}

}  // namespace headway::report
