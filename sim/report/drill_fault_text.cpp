#include "sim/report/drill_fault_text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <sstream>

#include "sim/config/unit_text.h"
#include "sim/core/error.h"

namespace headway::report {

using campaign::Fault;
using campaign::FaultKind;
using core::Seconds;

namespace {

[[noreturn]] void refuse(const std::string& why) { throw core::Error("--fault: " + why); }

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    parts.push_back(part);
  }
  return parts;
}

std::string guess(const std::string& word, const std::vector<std::string>& words) {
  const auto near = core::did_you_mean(word, words);
  return near ? fmt::format("; did you mean '{}'?", *near)
              : fmt::format("; known: {}", fmt::join(words, ", "));
}

template <class Enum>
Enum word_to(const std::string& word, const char* what, const char* option) {
  std::vector<std::string> words;
  for (const auto& [value, name] : enum_words(Enum{})) {
    if (name == word) {
      return value;
    }
    words.emplace_back(name);
  }
  throw core::Error(fmt::format("{}: unknown {} '{}'{}", option, what, word, guess(word, words)));
}

std::int64_t whole(const std::string& text, const std::string& what) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    refuse(fmt::format("{} '{}' is no whole number", what, text));
  }
  return value;
}

double quantity(const std::string& key, const std::string& text, config::Dimension dimension) {
  std::string why;
  const auto value = config::parse_quantity(text, dimension, why);
  if (!value || *value < 0) {
    refuse(fmt::format("{}: {}", key, value ? "must not be below zero" : why));
  }
  return *value;
}

Seconds time(const std::string& key, const std::string& text) {
  const Seconds value(quantity(key, text, {1, 0, 0, 0, 0}));
  if (value.si() == 0) {
    refuse(key + " must be above zero");
  }
  return value;
}

double share(const std::string& text) {
  try {
    const double value = std::stod(text);
    if (value > 0 && value <= 1) {
      return value;
    }
  } catch (const std::exception&) {
    // told below
  }
  refuse(
      fmt::format("factor '{}' must be above 0 and at most 1: the share of its speed that the "
                  "part keeps",
                  text));
}

void set(Fault& fault, const std::string& key, const std::string& value) {
  if (key == "rate") {
    fault.rate = core::BytesPerSecond(quantity(key, value, {-1, 1, 0, 0, 0}));
  } else if (key == "factor") {
    fault.factor = share(value);
  } else if (key == "lasts") {
    fault.lasts = time(key, value);
  } else if (key == "repair") {
    fault.repair = time(key, value);
  } else if (key == "after") {
    fault.after = time(key, value);
  } else if (key == "down") {
    fault.down = time(key, value);
  } else if (key == "every") {
    fault.every = time(key, value);
  } else if (key == "nodes") {
    fault.nodes = static_cast<int>(whole(value, key));
  } else {
    fault.behind = static_cast<int>(whole(value, key));
  }
}

void set_place(Fault& fault, const std::string& place, int gpus_per_node) {
  bool node_given = false;
  for (const auto& part : split(place, '/')) {
    if (part.rfind("node", 0) == 0) {
      fault.node = whole(part.substr(4), "node");
      node_given = true;
    } else if (part.rfind("gpu", 0) == 0) {
      const std::int64_t gpu = whole(part.substr(3), "GPU");
      fault.node = node_given ? fault.node : gpu / gpus_per_node;
      fault.gpu = static_cast<int>(node_given ? gpu : gpu % gpus_per_node);
    } else {
      refuse(fmt::format("place '{}' is none; write node12, gpu99 or node12/gpu3", place));
    }
  }
}

}  // namespace

Fault parse_fault(const std::string& text, int gpus_per_node) {
  const auto parts = split(text, ',');
  if (parts.empty()) {
    refuse("is empty; write KIND[@PLACE][,key=value]");
  }
  const auto at = parts[0].find('@');
  Fault fault;
  fault.kind = word_to<FaultKind>(parts[0].substr(0, at), "kind", "--fault");
  if (at != std::string::npos) {
    set_place(fault, parts[0].substr(at + 1), gpus_per_node);
  }
  const auto keys = split(std::string(campaign::facts_of(fault.kind).parameters), ' ');
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals);
    if (equals == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse(fmt::format("{} takes {}, not '{}'", core::to_word(fault.kind),
                         keys.empty() ? "no figures" : fmt::format("{}", fmt::join(keys, ", ")),
                         parts[i]));
    }
    set(fault, key, parts[i].substr(equals + 1));
  }
  if (fault.down && fault.every && *fault.down >= *fault.every) {
    refuse("down must be shorter than every");
  }
  return fault;
}

std::pair<campaign::Monitor, std::optional<Seconds>> parse_monitor(const std::string& text) {
  const auto equals = text.find('=');
  const auto monitor = word_to<campaign::Monitor>(text.substr(0, equals), "monitor", "--monitor");
  const std::string value = equals == std::string::npos ? "on" : text.substr(equals + 1);
  if (value == "off") {
    return {monitor, std::nullopt};
  }
  return {monitor, value == "on" ? Seconds(0) : time("--monitor", value)};
}

}  // namespace headway::report
