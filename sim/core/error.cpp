#include "sim/core/error.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/shown_text.h"

namespace headway::core {

std::optional<SourceMark> find_mark(const SourceMarks& marks, std::string_view path) {
  while (true) {
    if (auto found = marks.find(path); found != marks.end()) {
      return found->second;
    }
    const auto cut = path.find_last_of(".[");
    if (cut == std::string_view::npos) {
      break;
    }
    path = path.substr(0, cut);
  }
  if (auto root = marks.find(std::string_view{}); root != marks.end()) {
    return root->second;
  }
  return std::nullopt;
}

std::string format_diagnostics(const std::vector<Diagnostic>& diagnostics) {
  constexpr std::size_t kLongestMessage = 4000;  // who quotes more than this helps nobody
  std::string out;
  for (const auto& [mark, message] : diagnostics) {
    const std::string words = visible(shortened(message, kLongestMessage));
    if (!mark) {
      out += words + "\n";
      continue;
    }
    const std::string file = visible(mark->file);
    if (mark->line == 0) {
      out += fmt::format("{}: {}\n", file, words);
      continue;
    }
    out += fmt::format("{}:{}:{}: {}\n", file, mark->line, mark->column, words);
    if (!mark->text.empty()) {
      const auto indent = static_cast<std::size_t>(std::max(mark->column - 1, 0));
      const auto width = static_cast<std::size_t>(std::max(mark->width, 1));
      out += fmt::format("{:>5} | {}\n", mark->line, visible(blanked(mark->text)));
      out += fmt::format("{:>5} | {}{}\n", "", std::string(indent, ' '), std::string(width, '^'));
    }
  }
  return out;
}

Error::Error(std::string message)
    : Error(std::vector<Diagnostic>{{std::nullopt, std::move(message)}}) {}

Error::Error(SourceMark mark, std::string message)
    : Error(std::vector<Diagnostic>{{std::move(mark), std::move(message)}}) {}

Error::Error(std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)), text_(format_diagnostics(diagnostics_)) {}

void Diagnostics::add(std::optional<SourceMark> mark, std::string message) {
  // A wrong file of a million lines holds a million complaints; nobody reads more than these.
  constexpr std::size_t kMostComplaints = 50;
  list_.push_back({std::move(mark), std::move(message)});
  if (list_.size() == kMostComplaints) {
    list_.push_back(
        {std::nullopt, fmt::format("... reading stopped after {} errors", list_.size())});
    throw_if_any();
  }
}

void Diagnostics::throw_if_any() {
  if (!list_.empty()) {
    throw Error(std::move(list_));
  }
}

namespace {

/// Letters to add, leave out or replace, or neighbours to exchange (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;  // the row above `row`
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1);
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        next[j] = std::min(next[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(row, std::move(next));
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
  // More than a third of the letters wrong is no slip of the finger.
  const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  std::size_t best_distance = most + 1;
  for (const auto& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) > most) {
      continue;  // each letter too many is one wrong; spares the work on a word of a megabyte
    }
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

void check_failed(const char* expression, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: check failed: {}: {}", file, line, expression, message));
}

}  // namespace headway::core
