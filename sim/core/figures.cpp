#include "sim/core/figures.h"

#include <cmath>
#include <fmt/format.h>

#include "sim/core/text.h"

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

const Figure* element(const Figure& list, std::size_t index) {
  if (list.kind != FigureKind::list || (list.length > 0 && index >= list.length)) {
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
  const auto steps = path_steps(path);
  const Figure* at = steps ? &root : nullptr;
  for (std::size_t i = 0; at != nullptr && i < steps->size(); ++i) {
    const auto& [key, index] = (*steps)[i];
    at = index ? element(*at, *index) : member(*at, key);
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
