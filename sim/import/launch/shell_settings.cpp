#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/import/launch/launch_settings.h"
#include "sim/import/launch/shell_sum.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

constexpr std::size_t kMostSettings = 20000;      // real scripts have 200
constexpr std::size_t kLongestExpansion = 65536;  // bytes of a word; those of real scripts have 100

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
        if (command.size() == 1 && !command[0].quoted && begins_command(command[0].text)) {
          command.clear();
        }
      }
    }
    finish(command);
    if (conditional_) {
      out_.remarks.push_back(
          fmt::format("{}: conditions and loops are not evaluated: flags and variables inside them "
                      "are read as if all of it ran, and the last counts",
                      conditional_->file + ":" + std::to_string(conditional_->line)));
    }
    keep_one_program();
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNoProgram = static_cast<std::size_t>(-1);

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
      read_slurm(line, at_, kSlurm.size());
    }
    at_ = end;
  }

  /// Options of Slurm: --nodes=4, --nodes 4, -N 4, -N4; several in a line.
  void read_slurm(std::string_view line, std::size_t offset, std::size_t at) {
    constexpr std::string_view kBlanks = " \t\r";
    std::string option;  // waits for its value
    for (at = line.find_first_not_of(kBlanks, at); at < line.size() && line[at] != '#';
         at = line.find_first_not_of(kBlanks, at)) {
      const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
      const std::string_view word = line.substr(at, end - at);
      const bool named = word.starts_with("--");
      if (named || (word.starts_with('-') && word.size() > 1)) {
        const std::size_t stop = named ? std::min(word.find('='), word.size()) : 2;
        option = named ? std::string(word.substr(2, stop - 2)) : slurm_name(word[1]);
        if (stop < word.size()) {
          add_slurm(option, word.substr(stop + (named ? 1 : 0)), offset + at);
        }
      } else {
        add_slurm(option, word, offset + at);
      }
      at = end;
    }
  }
  static std::string slurm_name(char letter) {
    return letter == 'N'   ? "nodes"
           : letter == 'n' ? "ntasks"
           : letter == 'G' ? "gpus"
                           : std::string(1, letter);
  }
  void add_slurm(std::string& option, std::string_view value, std::size_t offset) {
    if (!option.empty()) {
      add("sbatch-" + option, {std::string(value)}, offset, value.size());
      option.clear();
    }
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
    if (depth_ > 0 && !more) {
      note_choice(name, variable, word.text, start);
    }
    variable.text = more ? variable.text + word.text : word.text;
    variable.flags = more && variable.flags;
    if (variable.text.size() > kLongestExpansion) {
      throw core::Error(mark(start, name.size()), fmt::format("variable {} is longer than {} bytes",
                                                              name, kLongestExpansion));
    }
    add("$" + name, {variable.text}, start, name.size());
    variable.line = out_.list.back().mark.line;
  }

  /// A number that a condition chooses.
  void note_choice(const std::string& name,
                   const ShellVariable& before,
                   const std::string& text,
                   std::size_t start) {
    if (before.line > 0 && before.text != text && core::whole_text_as<std::int64_t>(text)) {
      out_.remarks.push_back(fmt::format(
          "line {}: {} is {} here and {} in line {}; conditions are not evaluated, and the last "
          "counts",
          mark(start).line, core::shortened(name), text, core::shortened(before.text),
          before.line));
    }
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
      if (const auto number = shell_sum(inner, variables_)) {
        value = std::to_string(*number);
      }
    } else if (at(end) == '(') {
      end = closing(end, '(', ')') + 1;
    } else if (at(end) == '{') {
      end = closing(end, '{', '}') + 1;
      value = braced(start + 2, end - 1);
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

  /// NAME, NAME[@], NAME:-default, where the default is a word of its own: "4", ${OTHER:-4}.
  std::optional<std::string> braced(std::size_t start, std::size_t end) {
    const std::string_view inside = text_.substr(start, end - start);
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
      return known && !known->empty() ? known : without_quotes(end - rest.size() + 1, end);
    }
    return std::nullopt;
  }

  /// The text between two places after its quotes and variables are gone; with a quote that is not
  /// closed, or nested too deep, as it is written.
  std::string without_quotes(std::size_t start, std::size_t end) {
    constexpr int kDeepest = 20;
    const std::string_view text = text_.substr(start, end - start);
    const auto closed = [text](char quote) { return std::ranges::count(text, quote) % 2 == 0; };
    if (nested_ >= kDeepest || !closed('"') || !closed('\'')) {
      return std::string(text);
    }
    const std::size_t before = std::exchange(at_, start);
    ++nested_;
    ShellWord word;
    while (at_ < end) {
      read_piece(word);
    }
    --nested_;
    at_ = before;
    return word.text;
  }

  void note_condition(const std::vector<ShellWord>& command) {
    static constexpr std::string_view kOpen[]{"if", "for", "while", "case", "until"};
    static constexpr std::string_view kClose[]{"fi", "done", "esac"};
    if (command.size() != 1 || command[0].quoted) {
      return;
    }
    if (std::ranges::find(kOpen, command[0].text) != std::end(kOpen)) {
      ++depth_;
      conditional_ = conditional_ ? conditional_ : mark(command[0].start);
    } else if (std::ranges::find(kClose, command[0].text) != std::end(kClose)) {
      depth_ = std::max(0, depth_ - 1);
    }
  }
  /// Words of the shell behind which a command stands.
  static bool begins_command(std::string_view word) {
    static constexpr std::string_view kWords[]{"if", "elif", "else",  "then",
                                               "do", "time", "while", "until"};
    return std::ranges::find(kWords, word) != std::end(kWords);
  }

  /// The end of a command: `export NAME=value`, or words with flags.
  void finish(std::vector<ShellWord>& command) {
    static constexpr std::string_view kDeclare[]{"export", "local", "declare", "readonly"};
    if (command.size() > 1 && std::ranges::find(kDeclare, command[0].text) != std::end(kDeclare)) {
      for (std::size_t i = 1; i < command.size(); ++i) {
        declare(command[i]);
      }
    } else {
      const auto program = std::ranges::find_if(
          command, [](const ShellWord& word) { return word.text.ends_with(".py"); });
      if (program != command.end()) {
        programs_.push_back(program->text.substr(program->text.rfind('/') + 1));
        program_ = programs_.size() - 1;
      }
      collect(command);
      program_ = kNoProgram;
    }
    command.clear();
  }

  /// Of several Python programs the one whose name says that it trains: flags of the others'
  /// commands are not its own.
  void keep_one_program() {
    const auto trains = [](const std::string& name) {
      return name.find("train") != std::string::npos || name.find("finetune") != std::string::npos;
    };
    const auto chosen = std::ranges::find_if(programs_, trains);
    if (chosen == programs_.end()) {
      return;
    }
    std::vector<LaunchSetting> kept;
    std::vector<std::string> left_out;
    for (std::size_t i = 0; i < out_.list.size(); ++i) {
      const std::size_t program = program_of_[i];
      if (program == kNoProgram || trains(programs_[program])) {
        kept.push_back(std::move(out_.list[i]));
      } else if (std::ranges::find(left_out, programs_[program]) == left_out.end()) {
        left_out.push_back(programs_[program]);
        out_.remarks.push_back(fmt::format(
            "line {}: flags of {} are not read; {} is taken for the "
            "program that trains",
            out_.list[i].mark.line, core::shortened(left_out.back()), core::shortened(*chosen)));
      }
    }
    out_.list = std::move(kept);
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
    program_of_.push_back(program_);
  }

  std::string_view text_;
  std::vector<std::size_t> lines_;  ///< offset of the start of each
  std::size_t at_ = 0;
  LaunchSettings out_;
  ShellVariables variables_;
  std::optional<core::SourceMark> conditional_;
  int depth_ = 0;                        ///< of conditions and loops
  int nested_ = 0;                       ///< of defaults of variables
  std::vector<std::string> programs_;    ///< Python files of commands with flags
  std::size_t program_ = kNoProgram;     ///< whose command is read
  std::vector<std::size_t> program_of_;  ///< of each setting; kNoProgram: of an array or variable
};

}  // namespace

LaunchSettings read_shell_settings(std::string_view text, const std::string& file_name) {
  return ShellScript(text, file_name).read();
}

}  // namespace headway::import
