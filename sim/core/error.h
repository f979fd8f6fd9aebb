// What the user did wrong (Error, with the place in his file) and what we did wrong
// (HEADWAY_CHECK).
#pragma once

#include <exception>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::core {

/// A place in a file the user wrote.
struct SourceMark {
  std::string file;
  int line = 0;      ///< 1 is the first; 0 means the whole file
  int column = 0;    ///< 1 is the first
  int width = 1;     ///< characters to underline
  std::string text;  ///< the line itself, without its end; empty prints no excerpt

  bool operator==(const SourceMark&) const = default;
};

/// Where each value of a configuration came from: dotted path -> place.
/// Paths look like "cluster.node.gpu.memory" and "run.failures.hazards[2].mtbf".
using SourceMarks = std::map<std::string, SourceMark, std::less<>>;

/// The mark of `path`, or of its nearest parent that has one; empty if none has.
std::optional<SourceMark> find_mark(const SourceMarks& marks, std::string_view path);

/// One complaint, with its place where there is one.
struct Diagnostic {
  std::optional<SourceMark> mark;
  std::string message;
};

/// The user's fault: one or more complaints, all found in one pass. Exit code 2.
class Error : public std::exception {
 public:
  explicit Error(std::string message);
  Error(SourceMark mark, std::string message);
  /// @param diagnostics at least one
  explicit Error(std::vector<Diagnostic> diagnostics);

  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  /// All complaints, formatted as `format_diagnostics` does.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// "file:line:col: message", the line and a caret below it; one block a complaint.
std::string format_diagnostics(const std::vector<Diagnostic>& diagnostics);

/// Collects complaints so that all of them are shown together; the 50th is thrown with the others.
class Diagnostics {
 public:
  void add(std::optional<SourceMark> mark, std::string message);
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  /// @throws Error if anything was added
  void throw_if_any();

 private:
  std::vector<Diagnostic> list_;
};

/// The entry of `candidates` that is nearest to `word` by edit distance, if near enough to be a
/// slip.
std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates);

/// Our own fault: a broken invariant. Exit code 1.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* expression,
                               const char* file,
                               int line,
                               const std::string& message);

}  // namespace headway::core

/// Always on. HEADWAY_CHECK(rate > 0, "flow {} has rate {}", flow, rate);
#define HEADWAY_CHECK(condition, ...)                                                            \
  do {                                                                                           \
    if (!(condition)) [[unlikely]] {                                                             \
      ::headway::core::check_failed(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    }                                                                                            \
  } while (false)
