#include <algorithm>
#include <map>
#include <optional>

#include "sim/core/text.h"
#include "sim/import/launch/launch_settings.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

constexpr std::size_t kMostSettings = 20000;      // real scripts have 200
constexpr std::size_t kLongestExpansion = 65536;  // bytes of a word; those of real scripts have 100

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_part(char c) { return name_start(c) || digit(c); }

/// A word after quotes and variables are gone, with the place of each of its bytes.
struct ShellWord {
  std::string text;
  std::vector<std::size_t> at;  ///< offset in the file of each byte of `text`
  std::size_t start = 0;
  bool quoted = false;  ///< has a quote somewhere
  void add(char c, std::size_t offset) {
    text += c;
    at.push_back(offset);
  }
};

/// A variable: its text, or that it stands for flags, which are read where they are written.
struct ShellVariable {
  std::string text;
  bool flags = false;
};

/// Whole numbers, + - * / %, brackets and names; nothing where there is more.
class ShellSum {
 public:
  ShellSum(std::string_view text,
           const std::map<std::string, ShellVariable, std::less<>>& variables)
      : text_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const auto result = sum(0);
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  using Value = std::optional<std::int64_t>;
  static constexpr std::int64_t kLargest = 1'000'000'000'000'000;
  static constexpr int kDeepest = 50;

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '$')) {
      ++at_;
    }
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static Value bounded(std::int64_t value) {
    return value > kLargest || value < -kLargest ? Value{} : Value{value};
  }
  Value sum(int depth) {
    Value left = product(depth);
    while (left && (peek() == '+' || peek() == '-')) {
      const bool plus = text_[at_++] == '+';
      const Value right = product(depth);
      left = right ? bounded(plus ? *left + *right : *left - *right) : Value{};
    }
    return left;
  }
  Value product(int depth) {
    Value left = factor(depth);
    while (left && (peek() == '*' || peek() == '/' || peek() == '%')) {
      const char sign = text_[at_++];
      const Value right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) {
        return {};
      }
      if (sign == '*') {
        std::int64_t made = 0;
        left = __builtin_mul_overflow(*left, *right, &made) ? Value{} : bounded(made);
      } else {
        left = sign == '/' ? *left / *right : *left % *right;
      }
    }
    return left;
  }
  Value factor(int depth) {
    const char c = peek();
    if (c == '(' && depth < kDeepest) {
      ++at_;
      const Value inner = sum(depth + 1);
      return peek() == ')' && ++at_ > 0 ? inner : Value{};
    }
    const bool braced = c == '{';
    at_ += braced ? 1 : 0;
    const std::size_t start = at_;
    while (at_ < text_.size() && name_part(text_[at_])) {
      ++at_;
    }
    std::string_view word = text_.substr(start, at_ - start);
    if (braced && (at_ == text_.size() || text_[at_++] != '}')) {
      return {};
    }
    if (!word.empty() && name_start(word.front())) {
      const auto found = variables_.find(word);
      if (found == variables_.end()) {
        return {};
      }
      word = found->second.text;
    }
    const auto number = core::whole_text_as<std::int64_t>(word);
    return number ? bounded(*number) : Value{};
  }

  std::string_view text_;
  const std::map<std::string, ShellVariable, std::less<>>& variables_;
  std::size_t at_ = 0;
};

/// Reads a script from front to back.
class ShellScript {
 public:
  ShellScript(std::string_view text, const std::string& file_name) : text_(text) {
    out_.file_name = file_name;
    for (std::size_t start = 0; start < text.size(); start = text.find('\n', start) + 1) {
      lines_.push_back(start);
      if (text.find('\n', start) == std::string_view::npos) {
        break;
      }
    }
  }

  LaunchSettings read() {
    std::vector<ShellWord> command;
    while (at_ < text_.size()) {
      if (skip_blank()) {
        continue;
      }
      const char c = text_[at_];
      if (c == '#') {
        read_comment();
      } else if (std::string_view("\n;|&<>(){}").find(c) != std::string_view::npos) {
        ++at_;
        finish(command);
      } else if (command.empty() && assignment()) {
        continue;
      } else {
        command.push_back(read_word());
        note_condition(command);
      }
    }
    finish(command);
    if (conditional_) {
      out_.remarks.push_back(
          fmt::format("{}: conditions and loops are not evaluated: flags inside them are read as "
                      "if they were set",
                      conditional_->file + ":" + std::to_string(conditional_->line)));
    }
    return std::move(out_);
  }

 private:
  /// As mark_at, without counting the lines before it again.
  [[nodiscard]] core::SourceMark mark(std::size_t offset, std::size_t width = 1) const {
    const auto line = std::upper_bound(lines_.begin(), lines_.end(), offset) - lines_.begin();
    const std::size_t start = line == 0 ? 0 : lines_[static_cast<std::size_t>(line - 1)];
    const std::string_view rest = text_.substr(start);
    core::SourceMark found = mark_at(rest.substr(0, rest.find('\n')), out_.file_name,
                                     offset - start, static_cast<int>(width));
    found.line = static_cast<int>(std::max<std::ptrdiff_t>(line, 1));
    return found;
  }
  [[nodiscard]] char at(std::size_t offset) const {
    return offset < text_.size() ? text_[offset] : '\0';
  }

  /// Blanks and continued lines.
  bool skip_blank() {
    if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r') {
      ++at_;
      return true;
    }
    if (const std::size_t length = continued(at_); length > 0) {
      at_ += length;
      return true;
    }
    return false;
  }
  /// Bytes of a backslash and the end of its line, or 0.
  [[nodiscard]] std::size_t continued(std::size_t offset) const {
    if (at(offset) != '\\') {
      return 0;
    }
    const std::size_t line_end = offset + 1 + (at(offset + 1) == '\r' ? 1 : 0);
    return line_end >= text_.size() || text_[line_end] == '\n' ? line_end - offset + 1 : 0;
  }

  void read_comment() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    constexpr std::string_view kSlurm = "#SBATCH";
    if (line.starts_with(kSlurm)) {
      const std::size_t dash = line.find("--");
      const std::size_t stop =
          line.find_first_of("= \t\r", dash == std::string_view::npos ? 0 : dash);
      if (dash != std::string_view::npos && stop != std::string_view::npos) {
        std::string_view value = line.substr(stop + 1);
        value = value.substr(0, value.find_first_of(" \t\r#"));
        add("sbatch-" + std::string(line.substr(dash + 2, stop - dash - 2)), {std::string(value)},
            at_ + dash, stop - dash);
      }
    }
    at_ = end;
  }

  /// NAME=..., NAME+=..., NAME=(...): at the start of a command.
  bool assignment() {
    std::size_t end = at_;
    while (end < text_.size() && (end == at_ ? name_start(text_[end]) : name_part(text_[end]))) {
      ++end;
    }
    const bool more = at(end) == '+' && at(end + 1) == '=';
    if (end == at_ || (!more && at(end) != '=')) {
      return false;
    }
    const std::string name(text_.substr(at_, end - at_));
    const std::size_t start = at_;
    at_ = end + (more ? 2 : 1);
    if (at(at_) == '(') {
      ++at_;
      read_array(start);
      variables_[name].flags = true;
      return true;
    }
    ShellWord word = read_word();
    keep(name, word, more, start);
    return true;
  }

  void keep(const std::string& name, const ShellWord& word, bool more, std::size_t start) {
    if (holds_flags(word)) {
      collect(split(word));
      variables_[name].flags = true;
      return;
    }
    ShellVariable& variable = variables_[name];
    variable.text = more ? variable.text + word.text : word.text;
    variable.flags = more && variable.flags;
    if (variable.text.size() > kLongestExpansion) {
      throw core::Error(mark(start, name.size()), fmt::format("variable {} is longer than {} bytes",
                                                              name, kLongestExpansion));
    }
    add("$" + name, {variable.text}, start, name.size());
  }

  static bool holds_flags(const ShellWord& word) {
    const std::size_t first = word.text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && word.text.compare(first, 2, "--") == 0;
  }

  /// The words of a quoted text.
  static std::vector<ShellWord> split(const ShellWord& word) {
    std::vector<ShellWord> words;
    bool inside = false;
    for (std::size_t i = 0; i < word.text.size(); ++i) {
      const char c = word.text[i];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        inside = false;
        continue;
      }
      if (!inside) {
        words.emplace_back();
        words.back().start = word.at[i];
        inside = true;
      }
      words.back().add(c, word.at[i]);
    }
    return words;
  }

  void read_array(std::size_t start) {
    std::vector<ShellWord> words;
    while (at_ < text_.size() && text_[at_] != ')') {
      if (text_[at_] == '\n') {
        ++at_;
      } else if (text_[at_] == '#') {
        read_comment();
      } else if (!skip_blank()) {
        const std::size_t before = at_;
        ShellWord word = read_word();
        at_ += at_ == before ? 1 : 0;  // a stray operator
        if (holds_flags(word)) {       // "--flag value", which bash takes apart where it is used
          std::ranges::move(split(word), std::back_inserter(words));
        } else {
          words.push_back(std::move(word));
        }
      }
    }
    if (at_ == text_.size()) {
      throw core::Error(mark(start), "this list of arguments is not closed; add ')'");
    }
    ++at_;
    collect(words);
  }

  ShellWord read_word() {
    ShellWord word;
    word.start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::string_view(" \t\r\n;|&<>()").find(c) != std::string_view::npos) {
        break;
      }
      if (const std::size_t length = continued(at_); length > 0) {
        at_ += length;
        break;
      }
      read_piece(word);
    }
    return word;
  }

  /// One character, one quoted text or one variable.
  void read_piece(ShellWord& word) {
    const char c = text_[at_];
    if (c == '\'') {
      read_single(word);
    } else if (c == '"') {
      read_double(word);
    } else if (c == '$') {
      expand(word);
    } else if (c == '\\' && at_ + 1 < text_.size()) {
      word.add(text_[at_ + 1], at_);
      at_ += 2;
    } else {
      word.add(c, at_);
      ++at_;
    }
  }

  void read_single(ShellWord& word) {
    const std::size_t close = text_.find('\'', at_ + 1);
    if (close == std::string_view::npos) {
      throw core::Error(mark(at_), "this quote is not closed");
    }
    for (std::size_t i = at_ + 1; i < close; ++i) {
      word.add(text_[i], i);
    }
    word.quoted = true;
    at_ = close + 1;
  }

  void read_double(ShellWord& word) {
    const std::size_t open = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (const std::size_t length = continued(at_); length > 0) {
        word.add(' ', at_);
        at_ += length;
      } else if (text_[at_] == '$') {
        expand(word);
      } else {
        at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 1 : 0;
        word.add(text_[at_], at_);
        ++at_;
      }
    }
    if (at_ >= text_.size()) {
      throw core::Error(mark(open), "this quote is not closed");
    }
    word.quoted = true;
    ++at_;
  }

  /// The bracket that closes the one at `open`.
  [[nodiscard]] std::size_t closing(std::size_t open, char left, char right) const {
    int depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      depth += text_[i] == left ? 1 : text_[i] == right ? -1 : 0;
      if (depth == 0) {
        return i;
      }
    }
    throw core::Error(mark(open), fmt::format("this bracket is not closed; add '{}'", right));
  }

  void put(ShellWord& word, std::string_view text, std::size_t offset) {
    if (word.text.size() + text.size() > kLongestExpansion) {
      throw core::Error(
          mark(offset),
          fmt::format("with its variables this word is longer than {} bytes", kLongestExpansion));
    }
    for (const char c : text) {
      word.add(c, offset);
    }
  }

  /// $NAME, ${NAME...}, $((...)), $(...)
  void expand(ShellWord& word) {
    const std::size_t start = at_;
    std::size_t end = start + 1;
    std::optional<std::string> value;
    if (at(end) == '(' && at(end + 1) == '(') {
      end = closing(end, '(', ')') + 1;
      const std::string_view inner = text_.substr(start + 3, end > start + 5 ? end - start - 5 : 0);
      if (const auto number = ShellSum(inner, variables_).value()) {
        value = std::to_string(*number);
      }
    } else if (at(end) == '(') {
      end = closing(end, '(', ')') + 1;
    } else if (at(end) == '{') {
      end = closing(end, '{', '}') + 1;
      value = braced(text_.substr(start + 2, end - start - 3));
    } else {
      while (end < text_.size() && name_part(text_[end])) {
        ++end;
      }
      value = value_of(text_.substr(start + 1, end - start - 1));
    }
    put(word, value ? std::string_view(*value) : text_.substr(start, end - start), start);
    at_ = end;
  }

  [[nodiscard]] std::optional<std::string> value_of(std::string_view name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      return std::nullopt;
    }
    return found->second.flags ? "" : found->second.text;
  }

  /// NAME, NAME[@], NAME:-default.
  [[nodiscard]] std::optional<std::string> braced(std::string_view inside) const {
    const std::size_t stop = std::min(
        inside.size(),
        static_cast<std::size_t>(std::ranges::find_if_not(inside, name_part) - inside.begin()));
    const std::string_view name = inside.substr(0, stop);
    std::string_view rest = inside.substr(stop);
    if (rest == "[@]" || rest == "[*]" || rest.empty()) {
      return value_of(name);
    }
    rest.remove_prefix(rest.starts_with(':') ? 1 : 0);
    if (rest.starts_with('-') || rest.starts_with('=')) {
      const auto known = value_of(name);
      return known && !known->empty() ? known : std::string(rest.substr(1));
    }
    return std::nullopt;
  }

  void note_condition(const std::vector<ShellWord>& command) {
    static constexpr std::string_view kWords[]{"if",    "elif", "else", "for",
                                               "while", "case", "until"};
    if (command.size() == 1 && !command[0].quoted && !conditional_ &&
        std::ranges::find(kWords, command[0].text) != std::end(kWords)) {
      conditional_ = mark(command[0].start);
    }
  }

  /// The end of a command: `export NAME=value`, or words with flags.
  void finish(std::vector<ShellWord>& command) {
    static constexpr std::string_view kDeclare[]{"export", "local", "declare", "readonly"};
    if (command.size() > 1 && std::ranges::find(kDeclare, command[0].text) != std::end(kDeclare)) {
      for (std::size_t i = 1; i < command.size(); ++i) {
        declare(command[i]);
      }
    } else {
      collect(command);
    }
    command.clear();
  }

  void declare(const ShellWord& word) {
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos || equals == 0 || !name_start(word.text.front())) {
      return;
    }
    ShellWord value;
    value.start = word.start;
    for (std::size_t i = equals + 1; i < word.text.size(); ++i) {
      value.add(word.text[i], word.at[i]);
    }
    keep(word.text.substr(0, equals), value, false, word.start);
  }

  /// The flags among the words, each with the words behind it.
  void collect(const std::vector<ShellWord>& words) {
    bool open = false;  // the next word is a value of the last flag
    for (const ShellWord& word : words) {
      if (word.text.starts_with("--") && word.text.size() > 2) {
        const std::size_t equals = word.text.find('=');
        const std::string key =
            word.text.substr(2, equals == std::string::npos ? equals : equals - 2);
        std::vector<std::string> values;
        if (equals != std::string::npos) {
          values.push_back(word.text.substr(equals + 1));
        }
        add(key, std::move(values), word.start, word.text.size());
        open = equals == std::string::npos;
      } else if (word.text.ends_with(".py") || word.text == "-m") {
        open = false;
      } else if (open && !word.text.empty()) {
        out_.list.back().values.push_back(word.text);
      }
    }
  }

  void add(std::string key,
           std::vector<std::string> values,
           std::size_t offset,
           std::size_t width) {
    if (out_.list.size() >= kMostSettings) {
      throw core::Error(mark(offset), fmt::format("more than {} settings; is this the file that "
                                                  "starts a run?",
                                                  kMostSettings));
    }
    out_.list.push_back(
        {std::move(key), std::move(values), mark(offset, std::min<std::size_t>(width, 80))});
  }

  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< offset of the start of each
  std::size_t at_ = 0;
  LaunchSettings out_;
  std::map<std::string, ShellVariable, std::less<>> variables_;
  std::optional<core::SourceMark> conditional_;
};

}  // namespace

LaunchSettings read_shell_settings(std::string_view text, const std::string& file_name) {
  return ShellScript(text, file_name).read();
}

}  // namespace headway::import
