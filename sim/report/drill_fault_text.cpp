#include "sim/report/drill_fault_text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "sim/config/unit_text.h"
#include "sim/core/error.h"

namespace headway::report {

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

double above_zero(const std::string& key, const std::string& text, config::Dimension dimension) {
  const double value = quantity(key, text, dimension);
  if (value == 0) {
    refuse(key + " must be above zero");
  }
  return value;
}

constexpr config::Dimension kTime{1, 0, 0, 0, 0};

Seconds time(const std::string& key, const std::string& text) {
  return Seconds(above_zero(key, text, kTime));
}

std::int64_t some(const std::string& key, const std::string& text) {
  const std::int64_t value = whole(text, key);
  if (value == 0 || value > std::numeric_limits<int>::max()) {
    refuse(fmt::format("{}={} must be a whole number above zero", key, text));
  }
  return value;
}

/// A slower part is as good as hung, and no step of it can be simulated.
constexpr double kSlowest = 0.001;

double share(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value <= 1)) {
    refuse(
        fmt::format("factor '{}' must be above 0 and at most 1: the share of its speed that the "
                    "part keeps",
                    text));
  }
  if (value < kSlowest) {
    refuse(fmt::format("factor '{}' is below {}: a part that slow is as good as hung, try 'hang'",
                       text, kSlowest));
  }
  return value;
}

void set(Fault& fault, const std::string& key, const std::string& value) {
  if (key == "rate") {
    fault.rate = core::BytesPerSecond(above_zero(key, value, {-1, 1, 0, 0, 0}));
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
    fault.nodes = static_cast<int>(some(key, value));
  } else if (key == "since_save") {
    fault.since_save = Seconds(quantity(key, value, kTime));
  } else {
    fault.behind = some(key, value);
  }
}

/// A number behind a word: node12.
bool numbered(const std::string& part, const std::string& word, std::int64_t& number) {
  if (part.rfind(word, 0) != 0) {
    return false;
  }
  number = whole(part.substr(word.size()), word == "gpu" ? "GPU" : word);
  return true;
}

[[noreturn]] void break_place(const std::string& place, bool leaf, bool rack) {
  refuse(fmt::format("place '{}' is none; write {}node12, gpu99 or node12/gpu3", place,
                     leaf ? "leaf3, " : (rack ? "rack2, " : "")));
}

void set_place(Fault& fault, const std::string& place, int gpus_per_node) {
  if (!drill::facts_of(fault.kind).has_place) {
    refuse(fmt::format("{} has no place; leave '@{}' out", core::to_word(fault.kind), place));
  }
  const bool leaf = fault.kind == FaultKind::leaf_down;
  const bool rack = fault.kind == FaultKind::rack_power_loss;
  const auto parts = split(place, '/');
  std::int64_t number = 0;
  bool node_given = false;
  for (const auto& part : parts) {
    if (numbered(part, "node", number) && !node_given && parts.front() == part) {
      fault.node = number;
      node_given = true;
    } else if (numbered(part, "gpu", number) && parts.back() == part) {
      fault.node = node_given ? fault.node : number / gpus_per_node;
      fault.gpu = static_cast<int>(
          std::min<std::int64_t>(node_given ? number : number % gpus_per_node, 1 << 30));
    } else if (leaf && parts.size() == 1 && numbered(part, "leaf", number)) {
      fault.leaf = number;
    } else if (rack && parts.size() == 1 && numbered(part, "rack", number)) {
      fault.rack = number;
    } else {
      break_place(place, leaf, rack);
    }
  }
  if (parts.empty()) {
    break_place(place, leaf, rack);
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
  auto keys = split(std::string(drill::facts_of(fault.kind).parameters), ' ');
  keys.emplace_back("since_save");
  std::set<std::string> given;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    const std::string key = parts[i].substr(0, equals);
    if (equals == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse(fmt::format("{} takes {}, not '{}'", core::to_word(fault.kind), fmt::join(keys, ", "),
                         parts[i]));
    }
    if (!given.insert(key).second) {
      refuse(fmt::format("{} is given twice", key));
    }
    set(fault, key, parts[i].substr(equals + 1));
  }
  if (fault.down && fault.every && *fault.down >= *fault.every) {
    refuse("down must be shorter than every");
  }
  return fault;
}

std::pair<drill::Monitor, std::optional<Seconds>> parse_monitor(const std::string& text) {
  const auto equals = text.find('=');
  const auto monitor = word_to<drill::Monitor>(text.substr(0, equals), "monitor", "--monitor");
  const std::string value = equals == std::string::npos ? "on" : text.substr(equals + 1);
  if (value == "off") {
    return {monitor, std::nullopt};
  }
  if (value == "on") {
    return {monitor, Seconds(0)};
  }
  std::string why;
  const auto seconds = config::parse_quantity(value, kTime, why);
  if (!seconds || *seconds <= 0) {
    throw core::Error(fmt::format("--monitor: {}: {}; write a time above zero, on or off",
                                  core::to_word(monitor), seconds ? "'" + value + "'" : why));
  }
  return {monitor, Seconds(*seconds)};
}

}  // namespace headway::report
