#include "sim/import/megatron/layer_lists.h"

#include <charconv>
#include <fmt/format.h>

namespace headway::import {

namespace {

constexpr std::size_t kMostListed = 10000;
constexpr int kDeepestList = 20;

/// The number at the front, which is taken away.
std::optional<std::size_t> leading_number(std::string_view& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > kMostListed) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// `list` n times, unless that is too long.
template <class T>
std::optional<std::vector<T>> repeated(const std::vector<T>& list, std::size_t n) {
  std::vector<T> out;
  if (list.size() * n > kMostListed) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < n; ++i) {
    out.insert(out.end(), list.begin(), list.end());
  }
  return out;
}

/// list = term {"+" term}; term = ("[" numbers "]" | "(" list ")") ["*" number] | number "*" ...
class PatternText {
 public:
  explicit PatternText(std::string_view text) {
    for (const char c : text) {
      if (c != ' ') {
        text_ += c;
      }
    }
    rest_ = text_;
  }
  std::optional<std::vector<int>> read() {
    auto found = list(0);
    return rest_.empty() ? found : std::nullopt;
  }

 private:
  using Pattern = std::optional<std::vector<int>>;

  bool take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  Pattern list(int depth) {
    Pattern left = term(depth);
    while (left && take('+')) {
      const Pattern right = term(depth);
      if (!right || left->size() + right->size() > kMostListed) {
        return {};
      }
      left->insert(left->end(), right->begin(), right->end());
    }
    return left;
  }
  Pattern term(int depth) {
    if (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      const auto times = leading_number(rest_);
      const Pattern base = times && take('*') ? bracket(depth) : Pattern{};
      return base ? repeated(*base, *times) : Pattern{};
    }
    Pattern base = bracket(depth);
    while (base && take('*')) {
      const auto times = leading_number(rest_);
      base = times ? repeated(*base, *times) : Pattern{};
    }
    return base;
  }
  Pattern bracket(int depth) {
    if (take('(') && depth < kDeepestList) {
      Pattern inner = list(depth + 1);
      return take(')') ? inner : Pattern{};
    }
    if (!take('[')) {
      return {};
    }
    std::vector<int> numbers;
    while (!take(']')) {
      const auto number = leading_number(rest_);
      if (!number || *number > 1 || numbers.size() >= kMostListed) {
        return {};
      }
      numbers.push_back(static_cast<int>(*number));
      if (!take(',') && !rest_.starts_with(']')) {
        return {};
      }
    }
    return numbers;
  }

  std::string text_;
  std::string_view rest_;
};

/// "t*3" and "(tt|)*2" written out, as "ttt" and "tt|tt|".
std::optional<std::string> expanded_layout(std::string_view& rest, int depth) {
  std::string out;
  while (!rest.empty() && rest.front() != ')') {
    std::string unit;
    if (rest.front() == '(') {
      rest.remove_prefix(1);
      const auto inner = depth < kDeepestList ? expanded_layout(rest, depth + 1) : std::nullopt;
      if (!inner || rest.empty()) {
        return std::nullopt;
      }
      unit = *inner;
    } else {
      unit = rest.front();
    }
    rest.remove_prefix(1);
    std::size_t times = 1;
    if (rest.starts_with('*')) {
      rest.remove_prefix(1);
      const auto number = leading_number(rest);
      if (!number) {
        return std::nullopt;
      }
      times = *number;
    }
    if (out.size() + unit.size() * times > 2 * kMostListed) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < times; ++i) {
      out += unit;
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<int>> read_layer_pattern(std::string_view text) {
  return PatternText(text).read();
}

std::optional<std::vector<ChunkContent>> read_pipeline_layout(std::string_view text) {
  std::string_view rest = text;
  const auto written = expanded_layout(rest, 0);
  if (!written || !rest.empty()) {
    return std::nullopt;
  }
  std::vector<ChunkContent> chunks(1);
  for (const char c : *written) {
    switch (c) {
      case 'E':
        chunks.back().embedding = true;
        break;
      case 't':
        ++chunks.back().layers;
        break;
      case 'm':
        ++chunks.back().prediction_layers;
        break;
      case 'L':
        chunks.back().loss = true;
        break;
      case '|':
        chunks.emplace_back();
        break;
      case ',':
      case ' ':
        break;
      default:
        return std::nullopt;
    }
  }
  return chunks;
}

std::string pipeline_layout(const std::vector<int>& chunk_layers, int prediction_layers) {
  std::string out = "E";
  for (std::size_t i = 0; i < chunk_layers.size(); ++i) {
    out += i > 0 ? "|" : "";
    out += chunk_layers[i] > 0 ? fmt::format("t*{}", chunk_layers[i]) : "";
  }
  out += prediction_layers > 0 ? fmt::format("m*{}", prediction_layers) : "";
  return out + "L";
}

}  // namespace headway::import
