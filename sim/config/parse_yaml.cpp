#include "sim/config/parse_yaml.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <yaml.h>

#include "sim/config/text_check.h"
#include "sim/core/shown_text.h"

namespace headway::config {

namespace {

/// The deepest scenario nests 6 levels; a file beyond this is an accident or an attack on the
/// stack.
constexpr std::size_t kDeepest = 64;
/// The longest field list has 20 lines; keys are looked up one by one, so a mapping must not be
/// huge.
constexpr std::size_t kMostKeys = 1000;
/// Scenarios have hundreds of values, calibrations thousands.
constexpr std::size_t kMostValues = 1'000'000;
/// A width that errors cut to what the line has.
constexpr std::size_t kWholeLine = 1000;

[[noreturn]] void fail(const Place& place, std::string message) {
  throw core::Error(to_mark(place), std::move(message));
}

/// Where libyaml's marks are in the file. They count characters and take more than a line feed for
/// the end of a line; places count bytes, and lines as editors do.
class Positions {
 public:
  explicit Positions(const SourceFile& file)
      : file_(file), text_(file.text()), start_(text_.starts_with(kMarkOfOrder) ? 3 : 0) {
    restart();
  }

  Place place(const yaml_mark_t& mark, std::size_t width) {
    if (mark.index < index_) {
      restart();
    }
    for (; index_ < mark.index && offset_ < text_.size(); ++index_) {
      if (text_[offset_] == '\n') {
        ++line_;
        line_start_ = offset_ + 1;
      }
      offset_ += std::max<std::size_t>(core::utf8_length(text_, offset_), 1);
    }
    return {&file_, line_, static_cast<int>(offset_ - line_start_) + 1,
            static_cast<int>(std::min(width, kWidest))};
  }

 private:
  static constexpr std::string_view kMarkOfOrder = "\xEF\xBB\xBF";  // libyaml does not count it
  static constexpr std::size_t kWidest = 1000;

  void restart() {
    index_ = 0;
    offset_ = start_;
    line_ = 1;
    line_start_ = 0;
  }

  const SourceFile& file_;
  std::string_view text_;
  std::size_t start_ = 0, index_ = 0, offset_ = 0, line_start_ = 0;
  int line_ = 1;
};

/// libyaml's texts: bytes that end with a zero, or none.
std::string_view view(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);  // NOLINT
}

char first_char(const Place& at) {
  const std::string_view rest = at.file->from(at.line, at.column);
  return rest.empty() ? '\n' : rest.front();
}

/// Builds the tree from libyaml's events.
class TreeBuilder {
 public:
  explicit TreeBuilder(const SourceFile& file) : positions_(file) {}

  Positions& positions() { return positions_; }
  /// The '[' or '{' that the parser was in.
  [[nodiscard]] std::optional<Place> innermost_bracket() const {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      const Place& at = open->node.place;
      if (const char first = first_char(at); first == '[' || first == '{') {
        return at;
      }
    }
    return std::nullopt;
  }
  std::vector<core::Diagnostic>& faults() { return faults_; }
  Node take_root() { return std::move(root_); }

  void take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        if (std::exchange(started_, true)) {
          fail(place(event, 1), "a second document starts here; a file holds one");
        }
        break;
      case YAML_ALIAS_EVENT:
        fail(place(event, 1),
             "anchors and aliases are not supported; put what is shared into a file and say "
             "'use:'");
      case YAML_SCALAR_EVENT:
        take_scalar(event);
        break;
      case YAML_SEQUENCE_START_EVENT:
        refuse_properties(event, event.data.sequence_start.anchor, event.data.sequence_start.tag);
        open(place(event, 1), Node::Kind::list);
        break;
      case YAML_MAPPING_START_EVENT:
        refuse_properties(event, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        open(place(event, 1), Node::Kind::mapping);
        break;
      case YAML_MAPPING_END_EVENT:
        note_duplicates(open_.back().node);
        close();
        break;
      case YAML_SEQUENCE_END_EVENT:
        close();
        break;
      default:
        break;
    }
  }

 private:
  /// A list or mapping whose end has not come yet.
  struct Open {
    Node node;
    bool key_waits = false;  ///< mapping: a key has come, its value has not
  };

  [[nodiscard]] Place place(const yaml_event_t& event, std::size_t width) {
    return positions_.place(event.start_mark, width);
  }

  void refuse_properties(const yaml_event_t& event,
                         const yaml_char_t* anchor,
                         const yaml_char_t* tag) {
    if (anchor != nullptr) {
      const std::string_view name = view(anchor);
      fail(place(event, name.size() + 1),
           fmt::format("anchor '&{}': anchors and aliases are not supported; "
                       "put what is shared into a file and say 'use:'",
                       name));
    }
    if (tag != nullptr && view(tag) != "!") {
      fail(place(event, 1), fmt::format("tag '{}': YAML tags are not supported", view(tag)));
    }
  }

  void take_scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    refuse_properties(event, scalar.anchor, scalar.tag);
    Node node;
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);  // NOLINT
    node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!node.quoted && is_null(node.text)) {
      node.place = place(event, 4);
      node.text = node.text.empty() ? "" : "null";
    } else {
      node.kind = Node::Kind::scalar;
      node.place = place(event, node.text.size() + (node.quoted ? 2 : 0));
    }
    accept(std::move(node));
  }

  [[nodiscard]] static bool is_null(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
  }

  void open(const Place& at, Node::Kind kind) {
    if (open_.size() >= kDeepest) {
      fail(at, fmt::format("nested more than {} levels deep", kDeepest));
    }
    if (waits_for_key()) {
      fail(at, "a key must be one word, not a list or a mapping");
    }
    open_.emplace_back();
    open_.back().node.kind = kind;
    open_.back().node.place = at;
  }

  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    accept(std::move(node));
  }

  [[nodiscard]] bool waits_for_key() const {
    return !open_.empty() && open_.back().node.is_mapping() && !open_.back().key_waits;
  }

  void accept(Node node) {
    if (++values_ > kMostValues) {
      fail(node.place, fmt::format("more than {} values", kMostValues));
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (!parent.node.is_mapping()) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key_waits) {
      parent.node.entries.back().value = std::move(node);
      parent.key_waits = false;
    } else {
      accept_key(parent, std::move(node));
    }
  }

  static void accept_key(Open& parent, Node key) {
    if (!key.is_scalar()) {
      fail(key.place, "a key is missing before the ':'");
    }
    if (key.text == "<<") {
      fail(key.place,
           "merge keys (<<) are not supported; put what is shared into a file and say 'use:'");
    }
    if (parent.node.entries.size() >= kMostKeys) {
      fail(key.place, fmt::format("more than {} keys in one mapping", kMostKeys));
    }
    parent.node.entries.push_back({std::move(key.text), key.place, {}});
    parent.key_waits = true;
  }

  void note_duplicates(const Node& mapping) {
    std::vector<const Entry*> sorted;
    for (const Entry& entry : mapping.entries) {
      sorted.push_back(&entry);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Entry* a, const Entry* b) { return a->key < b->key; });
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i]->key == sorted[i - 1]->key) {
        faults_.push_back(
            {to_mark(sorted[i]->place), fmt::format("duplicate key '{}'; it is also in line {}",
                                                    sorted[i]->key, sorted[i - 1]->place.line)});
      }
    }
  }

  Positions positions_;
  std::vector<Open> open_;
  Node root_;
  std::vector<core::Diagnostic> faults_;
  std::size_t values_ = 0;
  bool started_ = false;
};

/// libyaml's words for the mistakes people make, in plainer ones.
std::string plain_words(std::string_view message) {
  struct Translation {
    std::string_view libyaml;
    std::string_view plain;
  };
  static constexpr std::array kTranslations{
      Translation{"did not find expected key",
                  "expected a 'key: value' here, in line with the keys above"},
      Translation{"could not find expected ':'",
                  "expected a 'key: value' here, in line with the keys above"},
      Translation{"did not find expected '-' indicator",
                  "expected another '- item' here, in line with those above"},
      Translation{"mapping values are not allowed in this context",
                  "a ':' that starts no value; check the indentation, or put the text in quotes"},
      Translation{"block sequence entries are not allowed in this context",
                  "a '-' where no list can start"},
      Translation{"did not find expected node content", "expected a value here"},
      Translation{"did not find expected <document start>", "nothing can follow here"},
      Translation{"found unexpected ':'",
                  "a ':' that starts no value; check the brackets, or put the text in quotes"},
      Translation{"found undefined tag handle", "YAML tags are not supported"},
      Translation{"did not find expected comment or line break",
                  "nothing but a comment can follow here; a text that starts with '|' or '>' must "
                  "be in quotes"},
      Translation{"did not find expected alphabetic or numeric character",
                  "a text that starts with '&' or '*' must be in quotes"},
      Translation{"found unknown escape character",
                  "an escape that YAML does not know; put the text in single quotes"},
  };
  for (const auto& [libyaml, plain] : kTranslations) {
    if (message == libyaml) {
      return std::string(plain);
    }
  }
  return std::string(message);
}

/// The words for a mistake that the character at its place tells.
std::string words_of(std::string_view problem, char first) {
  if (first == '}' || first == ']') {
    return "a closing bracket without its opening one";
  }
  if (problem == "found character that cannot start any token") {
    return first == '\t' ? "a tab where a space belongs"
                         : fmt::format("a text that starts with '{}' must be in quotes", first);
  }
  return plain_words(problem);
}

/// What libyaml found, at the bracket or the quote that is open if that is the fault.
core::Diagnostic syntax_fault(const SourceFile& file,
                              const yaml_parser_t& parser,
                              TreeBuilder& builder) {
  if (parser.error == YAML_READER_ERROR) {
    return {
        to_mark(place_of_offset(file, parser.problem_offset)),
        fmt::format("not valid YAML: character U+{:04X} cannot stand in it", parser.problem_value)};
  }
  const std::string_view problem = parser.problem == nullptr ? "no memory" : parser.problem;
  const std::string_view context = parser.context == nullptr ? "" : parser.context;
  const Place at = builder.positions().place(parser.problem_mark, 1);
  const char first = first_char(at);
  const auto bracket = builder.innermost_bracket();
  if (bracket && context.starts_with("while parsing a flow") && first != ',') {
    const auto [opening, closing] =
        first_char(*bracket) == '{' ? std::pair('{', '}') : std::pair('[', ']');
    return {to_mark(*bracket),
            fmt::format("not valid YAML: this '{}' is never closed, or a ',' is missing; "
                        "a '{}' or ',' was expected in line {}",
                        opening, closing, at.line)};
  }
  if (problem == "found unexpected end of stream") {
    return {to_mark(builder.positions().place(parser.context_mark, kWholeLine)),
            "not valid YAML: this quote is never closed"};
  }
  if (context == "while scanning a simple key") {
    return {to_mark(builder.positions().place(parser.context_mark, 1)),
            fmt::format("not valid YAML: {}", plain_words(problem))};
  }
  return {to_mark(at), fmt::format("not valid YAML: {}", words_of(problem, first))};
}

/// libyaml's parser of a text.
class Parser {
 public:
  explicit Parser(const std::string& text) {
    HEADWAY_CHECK(yaml_parser_initialize(&parser_) == 1, "no memory for a parser");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());  // NOLINT
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  ~Parser() { yaml_parser_delete(&parser_); }

  [[nodiscard]] const yaml_parser_t& state() const { return parser_; }

  /// Gives `builder` all events.
  /// @return false if one of them could not be made of the text
  bool parse(TreeBuilder& builder) {
    for (bool more = true; more;) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        return false;
      }
      const std::unique_ptr<yaml_event_t, decltype(&yaml_event_delete)> owner(&event,
                                                                              &yaml_event_delete);
      more = event.type != YAML_STREAM_END_EVENT;
      builder.take(event);
    }
    return true;
  }

 private:
  yaml_parser_t parser_;
};

}  // namespace

Node parse_yaml(const SourceFile& file) {
  if (auto wrong = check_text(file)) {
    throw core::Error({std::move(*wrong)});
  }
  TreeBuilder builder(file);
  Parser parser(file.text());
  if (!parser.parse(builder)) {
    builder.faults().push_back(syntax_fault(file, parser.state(), builder));
  }
  if (!builder.faults().empty()) {
    throw core::Error(std::move(builder.faults()));
  }
  Node root = builder.take_root();
  if (root.kind == Node::Kind::null) {
    fail({&file, 0, 0, 1}, "the file is empty");
  }
  return root;
}

}  // namespace headway::config
