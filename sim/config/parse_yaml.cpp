#include "sim/config/parse_yaml.h"

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <streambuf>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "sim/config/text_check.h"

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

[[noreturn]] void fail(const Place& place, std::string message) {
  throw core::Error(to_mark(place), std::move(message));
}

/// Builds the tree from yaml-cpp's events, which keep duplicate keys that YAML::Node would drop.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const SourceFile& file) : file_(file) {}

  /// The list or mapping that the parser was in.
  [[nodiscard]] const Node* innermost() const {
    return open_.empty() ? nullptr : &open_.back().node;
  }
  std::vector<core::Diagnostic>& faults() { return faults_; }
  Node take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (finished_) {
      fail(place(mark, 1), "a second document starts here; a file holds one");
    }
  }
  void OnDocumentEnd() override { finished_ = true; }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fail(place(mark, name.size() + 1),
         fmt::format("anchor '&{}': anchors and aliases are not supported; "
                     "put what is shared into a file and say 'use:'",
                     name));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    fail(place(mark, 1),
         "anchors and aliases are not supported; put what is shared into a file and say 'use:'");
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    Node node;
    // yaml-cpp tells `key: null` and `key:` apart by nothing but the text at the mark.
    const Place at = place(mark, 4);
    const std::string_view rest = rest_of_line(at);
    if (rest.starts_with("null") || rest.starts_with("~")) {
      node.text = "null";
    }
    node.place = at;
    accept(std::move(node));
  }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    refuse_tag(mark, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.quoted = tag == "!";  // yaml-cpp marks plain scalars '?' and quoted ones '!'
    node.text = value;
    node.place = place(mark, value.size() + (node.quoted ? 2 : 0));
    refuse_open_quote(node.place);
    accept(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, Node::Kind::mapping);
  }
  void OnMapEnd() override {
    note_duplicates(open_.back().node);
    close();
  }

 private:
  /// A list or mapping whose end has not come yet.
  struct Open {
    Node node;
    bool key_waits = false;  ///< mapping: a key has come, its value has not
  };

  [[nodiscard]] Place place(const YAML::Mark& mark, std::size_t width) const {
    if (mark.is_null()) {
      return {&file_, 0, 0, 1};
    }
    return {&file_, mark.line + 1, mark.column + 1,
            static_cast<int>(std::min<std::size_t>(width, 1000))};
  }

  [[nodiscard]] static std::string_view rest_of_line(const Place& at) {
    const std::string_view line = at.file->line(at.line);
    return line.substr(std::min(line.size(), static_cast<std::size_t>(std::max(at.column - 1, 0))));
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail(place(mark, 1), fmt::format("tag '{}': YAML tags are not supported", tag));
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind) {
    refuse_tag(mark, tag);
    const Place at = place(mark, 1);
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

  /// yaml-cpp 0.7 lets the end of the file close a quote if the last line is complete.
  void refuse_open_quote(const Place& at) const {
    const std::string_view rest = file_.from(at.line, at.column);
    const char quote = rest.empty() ? ' ' : rest[0];
    if (quote != '"' && quote != '\'') {
      return;
    }
    for (std::size_t i = 1; i < rest.size(); ++i) {
      const bool escape = quote == '"' ? rest[i] == '\\' : rest.substr(i, 2) == "''";
      if (escape) {
        ++i;
      } else if (rest[i] == quote) {
        return;
      }
    }
    fail(at, "not valid YAML: this quote is never closed");
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

  const SourceFile& file_;
  std::vector<Open> open_;
  Node root_;
  std::vector<core::Diagnostic> faults_;
  std::size_t values_ = 0;
  bool finished_ = false;
};

/// yaml-cpp's words for the mistakes people make, in plainer ones.
std::string plain_words(const std::string& message) {
  struct Translation {
    std::string_view yaml_cpp;
    std::string_view plain;
  };
  static constexpr std::array kTranslations{
      Translation{"end of map not found",
                  "expected a 'key: value' here, in line with the keys above"},
      Translation{"end of sequence not found",
                  "expected another '- item' here, in line with those above"},
      Translation{"illegal map value",
                  "a ':' that starts no value; check the indentation, or put the text in quotes"},
      Translation{"illegal EOF in scalar", "a quote is never closed"},
      Translation{"illegal flow end", "a closing bracket without its opening one"},
      Translation{"illegal block entry", "a '-' where no list can start"},
  };
  for (const auto& [yaml_cpp, plain] : kTranslations) {
    if (message == yaml_cpp) {
      return std::string(plain);
    }
  }
  return message;
}

/// What yaml-cpp found, at the bracket that is open if that is the fault.
core::Diagnostic syntax_fault(const SourceFile& file,
                              const YAML::Exception& error,
                              const Node* innermost) {
  const int line = error.mark.is_null() ? 0 : error.mark.line + 1;
  const bool open_bracket =
      innermost != nullptr && innermost->place.line > 0 &&
      (error.msg == "end of map flow not found" || error.msg == "end of sequence flow not found");
  if (open_bracket) {
    const auto [opening, closing] =
        innermost->is_mapping() ? std::pair('{', '}') : std::pair('[', ']');
    return {to_mark(innermost->place),
            fmt::format("not valid YAML: this '{}' is never closed, or a ',' is missing; "
                        "a '{}' or ',' was expected in line {}",
                        opening, closing, line)};
  }
  const Place at{&file, line, line == 0 ? 0 : error.mark.column + 1, 1};
  return {to_mark(at), fmt::format("not valid YAML: {}", plain_words(error.msg))};
}

/// Reads from a string without a copy of it.
class StringBuffer : public std::streambuf {
 public:
  explicit StringBuffer(const std::string& text) {
    char* start = const_cast<char*>(text.data());  // NOLINT: streambuf's get area is never written
    setg(start, start, start + text.size());
  }
};

}  // namespace

Node parse_yaml(const SourceFile& file) {
  if (auto wrong = check_text(file)) {
    throw core::Error({std::move(*wrong)});
  }
  StringBuffer buffer(file.text());
  std::istream stream(&buffer);
  TreeBuilder builder(file);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    builder.faults().push_back(syntax_fault(file, error, builder.innermost()));
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
