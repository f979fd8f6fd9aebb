#include "sim/import/measured/timer_block.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/core/text.h"
#include "sim/import/measured/training_lines.h"

namespace headway::import {

namespace {

constexpr double kMilliseconds = 1e-3;
constexpr std::string_view kBars = "time (ms) |";

bool has(const std::string& line, std::string_view words) {
  return line.find(words) != std::string::npos;
}

}  // namespace

bool TimerBlock::read(const std::string& line) {
  const Kind begins = has(line, "(min, max) time across ranks (ms)") ? Kind::least_and_most
                      : has(line, "max time across ranks (ms)")      ? Kind::most
                      : has(line, "times across ranks (ms)")         ? Kind::all
                                                                     : Kind::none;
  if (begins != Kind::none) {
    end();
    kind_ = begins;
    return true;
  }
  return kind_ == Kind::all ? read_rank(line) : kind_ != Kind::none && read_timer(line);
}

void TimerBlock::end() {
  tell_ranks();
  kind_ = Kind::none;
}

/// "    forward-compute ................: (1234.56, 1240.11)", or one figure.
bool TimerBlock::read_timer(const std::string& line) {
  const std::size_t dots = line.find(" ..");
  const std::size_t colon = dots == std::string::npos ? dots : line.find_first_not_of(" .", dots);
  if (colon == std::string::npos || line[colon] != ':') {
    return false;
  }
  const std::string name = word_before(line, dots);
  const std::size_t open = line.find('(', colon);
  const std::string values = line.substr(open == std::string::npos ? colon + 1 : open + 1);
  const auto first = number_of(std::string(core::trimmed(values)));
  const std::size_t comma = values.find(',');
  const auto most = comma == std::string::npos
                        ? first
                        : number_of(std::string(core::trimmed(values.substr(comma + 1))));
  if (!first || !most || *first < 0) {
    wrong_(fmt::format("the timer '{}' has no times", name));
    return true;
  }
  if (*most < *first) {
    wrong_(
        fmt::format("the timer '{}' has its shortest time, {:.2f} ms, above its longest, {:.2f} ms",
                    name, *first, *most));
    return true;
  }
  const bool least = kind_ == Kind::least_and_most;
  timed_(
      {name, least ? std::optional(*first * kMilliseconds) : std::nullopt, *most * kMilliseconds});
  return true;
}

/// "  forward-compute:", then "     rank  0: 1234.56" of each rank that has it.
bool TimerBlock::read_rank(const std::string& line) {
  const std::string text(core::trimmed(line));
  if (text.ends_with(':')) {
    tell_ranks();
    const std::string name = word_before(text, text.size());
    ranks_ = RankTimer{name.substr(0, name.size() - 1), std::nullopt, 0};
    return true;
  }
  const std::string figure = word_before(text, text.size());
  const std::string rank = word_before(text, text.size() - figure.size());
  const std::size_t before = text.rfind(rank);
  const bool known =
      ranks_ && rank.ends_with(':') && number_of(rank) && word_before(text, before) == "rank";
  if (!known) {
    return false;
  }
  const auto value = number_of(figure);
  if (!value || *value < 0) {
    wrong_(fmt::format("the timer '{}' has no time of rank {}", ranks_->name,
                       rank.substr(0, rank.size() - 1)));
    return true;
  }
  const double seconds = *value * kMilliseconds;
  ranks_->least = std::min(ranks_->least.value_or(seconds), seconds);
  ranks_->most = std::max(ranks_->most, seconds);
  return true;
}

void TimerBlock::tell_ranks() {
  if (ranks_ && ranks_->least) {
    timed_(*ranks_);
  }
  ranks_.reset();
}

bool read_timer_bars(const std::string& line, const std::function<void(const RankTimer&)>& timed) {
  if (!has(line, kBars)) {
    return false;
  }
  std::size_t bar = line.find('|');
  while (bar != std::string::npos) {
    const std::size_t next = std::min(line.find('|', bar + 1), line.size());
    const std::string cell = line.substr(bar + 1, next - bar - 1);
    const std::size_t colon = cell.find(':');
    const auto value = colon == std::string::npos
                           ? std::nullopt
                           : number_of(std::string(core::trimmed(cell.substr(colon + 1))));
    if (value && *value >= 0) {
      const double seconds = *value * kMilliseconds;
      timed({std::string(core::trimmed(cell.substr(0, colon))), seconds, seconds});
    }
    bar = next == line.size() ? std::string::npos : next;
  }
  return true;
}

bool is_timer_line(const std::string& line) {
  return has(line, "time across ranks (ms)") || has(line, "times across ranks (ms)") ||
         has(line, kBars);
}

}  // namespace headway::import
