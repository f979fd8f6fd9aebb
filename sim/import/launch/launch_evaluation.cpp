#include "sim/import/launch/launch_evaluation.h"

#include "sim/core/text.h"

namespace headway::import {

namespace {

/// A count; nothing for a share of the data ("1.0"), which is not known here.
std::optional<std::int64_t> count_of(LaunchReader& reader, std::string_view key) {
  const auto word = reader.word(key);
  return word ? core::whole_text_as<std::int64_t>(*word) : std::nullopt;
}

}  // namespace

void look_at_evaluation(LaunchReader& reader,
                        std::string_view interval_key,
                        std::string_view passes_key) {
  const bool named = reader.has(interval_key);
  const auto interval = count_of(reader, interval_key);
  const auto passes = count_of(reader, passes_key);
  const bool none = reader.has(passes_key) && reader.number(passes_key) == 0.0;
  if ((!named && !reader.has(passes_key)) || none) {
    return;
  }
  constexpr double kForward = 1.0 / 3.0;
  std::string why = "evaluation is not counted";
  if (interval && passes && *interval > 0 && *passes > 0) {
    const double share =
        kForward * static_cast<double>(*passes) / static_cast<double>(*interval) * 100;
    why += fmt::format(
        ": {} forward passes of a batch after every {} steps add about {:.2g} % to their time",
        *passes, *interval, share);
  }
  reader.not_modelled(named ? interval_key : passes_key, why);
}

}  // namespace headway::import
