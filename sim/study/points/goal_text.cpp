#include "sim/study/points/goal_text.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

#include "sim/config/reflect.h"
#include "sim/config/unit_text.h"
#include "sim/core/checked.h"
#include "sim/core/error.h"
#include "sim/core/parse_word.h"
#include "sim/training/step/step.h"

namespace headway::study {

namespace {

/// A positive quantity from its text.
/// @param unit  what a number without one is most likely meant in
template <class Quantity>
Quantity limit_value(const std::string& key, const std::string& text, const char* unit) {
  std::string why;
  if (const auto number = config::parse_number(text, why); number && number->rest.empty()) {
    throw core::Error(
        fmt::format("--limit {0}: '{1}' has no unit; write '{1} {2}'", key, text, unit));
  }
  const auto si = config::parse_quantity(text, config::reflect::dimension_of(Quantity{}), why);
  if (!si || *si <= 0) {
    throw core::Error(
        fmt::format("--limit {}: {}", key, si ? "'" + text + "' must be positive" : why));
  }
  return Quantity(*si);
}

/// @param limit  must not be set yet
template <class T>
void set_once(const std::string& key, T value, std::optional<T>& limit) {
  if (limit) {
    throw core::Error(fmt::format("--limit {}=... is given twice; keep one", key));
  }
  limit = value;
}

/// A share above 0 and below 1.
double limit_share(const std::string& key, const std::string& text) {
  std::string why;
  const auto number = config::parse_number(text, why);
  if (!number || !number->rest.empty() || number->value <= 0 || number->value >= 1) {
    throw core::Error(
        fmt::format("--limit {}: '{}' must be a share above 0 and below 1, as 0.1", key, text));
  }
  return number->value;
}

/// What stays free of a GPU's memory; a layout that leaves less than always has to is none.
double limit_headroom(const std::string& key, const std::string& text) {
  const double share = limit_share(key, text);
  if (share < training::kMemoryHeadroom) {
    throw core::Error(fmt::format(
        "--limit {}: '{}' is less than the {} of a GPU's memory that stays free of every plan; "
        "write {} or more, or leave the limit out",
        key, text, training::kMemoryHeadroom, training::kMemoryHeadroom));
  }
  return share;
}

/// A number of things from 1 on; nothing where the key is of something else, or the text is.
std::optional<std::int64_t> limit_count(const std::string& key, const std::string& text) {
  std::string why;
  const auto number = config::parse_number(text, why);
  const bool counts = key == "gpus" || key == "racks";
  if (!counts || !number || !number->rest.empty() || number->value < 1 ||
      number->value != std::floor(number->value)) {
    return std::nullopt;
  }
  const auto count = core::narrow<std::int64_t>(number->value);
  if (!count) {
    throw core::Error(fmt::format(
        "--limit {}: '{}' is more than 9.2e18; write the {} there may be, or leave the limit out",
        key, text, key == "gpus" ? "GPUs" : "racks"));
  }
  return count;
}

}  // namespace

void add_limit(const std::string& text, plan::Limits& limits) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (key == "deadline") {
    set_once(key, limit_value<core::Seconds>(key, value, "d"), limits.deadline);
  } else if (key == "budget") {
    set_once(key, limit_value<core::Dollars>(key, value, "USD"), limits.budget);
  } else if (key == "power") {
    set_once(key, limit_value<core::Watts>(key, value, "MW"), limits.power);
  } else if (key == "headroom") {
    set_once(key, limit_headroom(key, value), limits.headroom);
  } else if (key == "goodput") {
    set_once(key, limit_share(key, value), limits.goodput);
  } else if (const auto count = limit_count(key, value); count && key == "gpus") {
    set_once(key, *count, limits.gpus);
  } else if (count && key == "racks") {
    set_once(key, *count, limits.racks);
  } else {
    throw core::Error(
        fmt::format("--limit '{}': write 'deadline=34 d', 'budget=5e6 USD', 'gpus=1024', "
                    "'racks=32', 'power=20 MW', 'headroom=0.1' or 'goodput=0.9'",
                    text));
  }
}

void set_goals(const std::vector<std::string>& words, plan::PlanOptions& how) {
  std::vector<plan::Objective> goals;
  for (const std::string& word : words) {
    const auto goal = core::parse_word<plan::Objective>(word, "goal", "--objective");
    if (std::find(goals.begin(), goals.end(), goal) != goals.end()) {
      throw core::Error(fmt::format("--objective names {} more than once; keep one", word));
    }
    goals.push_back(goal);
  }
  how.objective = goals.front();
  how.beside.assign(goals.begin() + 1, goals.end());
}

void check_sizes(std::vector<int> nodes) {
  std::sort(nodes.begin(), nodes.end());
  if (const auto twice = std::adjacent_find(nodes.begin(), nodes.end()); twice != nodes.end()) {
    throw core::Error(
        fmt::format("--nodes names {} more than once; each size is planned once", *twice));
  }
}

}  // namespace headway::study
