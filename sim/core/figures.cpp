#include "sim/core/figures.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace headway::core {

namespace figures {

void set_number(double value, bool specimen, Figure& figure) {
  figure.kind = FigureKind::number;
  figure.number = value;
  // JSON has no word for what is not finite.
  figure.absent = !std::isfinite(value) && !specimen;
}

void set_digest(Hexadecimal value, Figure& figure) {
  figure.kind = FigureKind::digest;
  figure.text = fmt::format("{:016x}", value.value);
}

}  // namespace figures

Figure& FigureCollector::add(std::string_view key,
                             std::string_view unit,
                             std::string_view meaning,
                             Range range) {
  Figure& figure = parent_.parts.emplace_back();
  figure.key = key;
  figure.unit = unit.empty() ? parent_.unit : unit;
  figure.meaning = meaning;
  const bool free = std::isinf(range.low) && std::isinf(range.high);
  figure.range = free ? parent_.range : range;
  return figure;
}

namespace {

/// Takes "name" or "[3]" off the front of a path; a dot before a name goes too.
std::string_view next_step(std::string_view& path) {
  if (path.starts_with('.')) {
    path.remove_prefix(1);
  }
  const std::size_t bracket = path.find(']');
  const std::size_t end = path.starts_with('[') ? (bracket == path.npos ? path.npos : bracket + 1)
                                                : path.find_first_of(".[");
  const std::string_view step = path.substr(0, end);
  path.remove_prefix(step.size());
  return step;
}

const Figure* element(const Figure& list, std::string_view step) {
  if (list.kind != FigureKind::list || !step.ends_with(']')) {
    return nullptr;
  }
  std::size_t index = 0;
  const char* last = step.data() + step.size() - 1;
  const auto [end, error] = std::from_chars(step.data() + 1, last, index);
  if (error != std::errc() || end != last || (list.length > 0 && index >= list.length)) {
    return nullptr;
  }
  index = list.specimen ? 0 : index;
  return index < list.parts.size() ? &list.parts[index] : nullptr;
}

const Figure* member(const Figure& object, std::string_view key) {
  if (object.kind == FigureKind::map && object.specimen) {
    return &object.parts.front();
  }
  if (object.kind != FigureKind::object && object.kind != FigureKind::map) {
    return nullptr;
  }
  for (const Figure& part : object.parts) {
    if (part.key == key) {
      return &part;
    }
  }
  return nullptr;
}

void collect_paths(const Figure& figure, const std::string& path, std::vector<std::string>& out) {
  if (figure.absent) {
    return;
  }
  if (value_of(figure)) {
    out.push_back(path);
  }
  std::size_t index = 0;
  for (const Figure& part : figure.parts) {
    if (figure.kind == FigureKind::list) {
      collect_paths(part, fmt::format("{}[{}]", path, index++), out);
    } else {
      collect_paths(part, path.empty() ? part.key : path + "." + part.key, out);
    }
  }
}

}  // namespace

const Figure* find_figure(const Figure& root, std::string_view path) {
  const Figure* at = &root;
  while (at != nullptr && !path.empty()) {
    const std::string_view step = next_step(path);
    at = step.starts_with('[') ? element(*at, step) : member(*at, step);
  }
  return at;
}

std::vector<std::string> number_paths(const Figure& root) {
  std::vector<std::string> out;
  collect_paths(root, "", out);
  return out;
}

std::optional<double> value_of(const Figure& figure) {
  if (figure.absent) {
    return std::nullopt;
  }
  switch (figure.kind) {
    case FigureKind::number:
      return figure.number;
    case FigureKind::integer:
    case FigureKind::flag:
      return static_cast<double>(figure.integer);
    default:
      return std::nullopt;
  }
}

}  // namespace headway::core
