#include "sim/study/nccl_tests_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <utility>

#include "sim/study/collective.h"

namespace headway::study {

namespace {

using core::CollectiveKind;

constexpr std::array<std::pair<CollectiveKind, std::string_view>, 6> kNames{
    {{CollectiveKind::all_reduce, "all_reduce"},
     {CollectiveKind::all_gather, "all_gather"},
     {CollectiveKind::reduce_scatter, "reduce_scatter"},
     {CollectiveKind::all_to_all, "alltoall"},
     {CollectiveKind::broadcast, "broadcast"},
     {CollectiveKind::send_receive, "sendrecv"}}};

}  // namespace

std::string_view nccl_tests_name(CollectiveKind kind) {
  for (const auto& [each, name] : kNames) {
    if (each == kind) {
      return name;
    }
  }
  return "";
}

std::optional<CollectiveKind> collective_kind(std::string_view word) {
  if (word.ends_with("_perf")) {
    word.remove_suffix(5);
  }
  for (const auto& [kind, name] : kNames) {
    if (word == name) {
      return kind;
    }
  }
  return core::from_word<CollectiveKind>(word);
}

std::string collective_words() {
  std::string words;
  for (const auto& [kind, word] : core::enum_words(CollectiveKind{})) {
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return words;
}

std::string_view reduction_word(CollectiveKind kind) {
  const bool sums = kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
                    kind == CollectiveKind::send_receive;  // sendrecv_perf prints one and sums not
  return sums ? "sum" : "none";
}

int root_of(CollectiveKind kind) { return kind == CollectiveKind::broadcast ? 0 : -1; }

std::uint64_t element_bytes(const std::string& type) {
  static constexpr std::array<std::pair<std::string_view, std::uint64_t>, 12> kTypes{
      {{"int8", 1},
       {"uint8", 1},
       {"int32", 4},
       {"uint32", 4},
       {"int64", 8},
       {"uint64", 8},
       {"half", 2},
       {"float", 4},
       {"double", 8},
       {"bfloat16", 2},
       {"fp8_e4m3", 1},
       {"fp8_e5m2", 1}}};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) {
      return bytes;
    }
  }
  return 0;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || !(value >= 0)) {
    return std::nullopt;
  }
  std::string_view unit(result.ptr, static_cast<std::size_t>(end - result.ptr));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (unit.size() == 3 && unit.ends_with("iB")) {
    unit.remove_suffix(2);
  }
  constexpr std::string_view kUnits = "kmgtKMGT";
  const auto at = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  if (!unit.empty() && at == std::string_view::npos) {
    return std::nullopt;
  }
  for (std::size_t i = 0; !unit.empty() && i <= at % 4; ++i) {
    value *= 1024;
  }
  constexpr double kMost = 1e15;  // a petabyte: beyond it a slip of the keyboard
  return value >= 1 && value <= kMost ? std::optional(static_cast<std::uint64_t>(value))
                                      : std::nullopt;
}

std::string size_words(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace headway::study
