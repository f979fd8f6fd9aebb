#include "sim/config/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/config/suggestions/suggest.h"
#include "sim/config/unit_text.h"
#include "sim/core/text.h"

namespace headway::config {

namespace {

/// One value to be read: what it is called, where it stands and what it must be.
struct Slot {
  const Node& node;
  Place place;              ///< to point at; a mapping's or list's is its key's
  const std::string& path;  ///< "cluster.node.gpu.memory"
  std::string_view name;    ///< "memory"
  const core::Range& range;
};

class Reader {
 public:
  explicit Reader(ReadResult result) : out_(result) {}

  void record(const Slot& slot, const SpecType& type, void* target);

 private:
  void value(const Slot& slot, const SpecType& type, void* target);
  void scalar(const Slot& slot, const SpecType& type, void* target);
  void list(const Slot& slot, const SpecType& type, void* target);
  void member(const Field& field, const Entry& entry, const std::string& parent, void* record);
  void unknown_key(const Entry& entry, const SpecType& type);
  void source(const Entry& entry, const std::string& path);
  void standard_error(const Entry& entry, const std::string& path);
  const Node* unwrap(const Slot& slot);

  std::optional<double> number(const Slot& slot, const SpecType& type);
  std::optional<std::int64_t> integer(const Slot& slot, const SpecType& type);
  std::optional<std::int64_t> word(const Slot& slot, const SpecType& type);
  std::optional<std::int64_t> flag(const Slot& slot);

  void wrong(const Slot& slot, std::string_view what) {
    out_.complaints.add(slot.place, fmt::format("{} {}", slot.name, what));
  }
  void must_be(const Slot& slot, std::string_view what) {
    wrong(slot, fmt::format("must be {}, not {}", what, describe(slot.node)));
  }
  bool in_range(const Slot& slot, double value) {
    if (!slot.range.contains(value)) {
      wrong(slot, fmt::format("'{}' must be {}", slot.node.text, slot.range.words));
    }
    return slot.range.contains(value);
  }

  ReadResult out_;
};

std::string joined(const std::string& parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

std::optional<double> Reader::number(const Slot& slot, const SpecType& type) {
  std::string why;
  std::optional<double> value;
  if (type.shape == Shape::quantity) {
    value = parse_quantity(slot.node.text, type.dimension, why);
  } else if (const auto parsed = parse_count(slot.node.text, why)) {
    value = parsed->value;
    if (!parsed->rest.empty()) {
      const std::string_view rest = core::trimmed(parsed->rest);
      why = rest == "%"
                ? fmt::format("'{}' must be a plain number: {:.15g}", slot.node.text,
                              parsed->value / 100)
                : fmt::format("'{}' must be a plain number, without '{}'", slot.node.text, rest);
      value.reset();
    }
  }
  if (!value) {
    wrong(slot, why);
    return std::nullopt;
  }
  return in_range(slot, *value) ? value : std::nullopt;
}

std::optional<std::int64_t> Reader::integer(const Slot& slot, const SpecType& type) {
  std::string why;
  const auto parsed = parse_count(slot.node.text, why);
  if (!parsed || !parsed->rest.empty()) {
    wrong(slot, parsed ? fmt::format("'{}' must be a whole number, without '{}'", slot.node.text,
                                     core::trimmed(parsed->rest))
                       : why);
    return std::nullopt;
  }
  if (parsed->value != std::floor(parsed->value)) {
    wrong(slot, fmt::format("'{}' must be a whole number", slot.node.text));
    return std::nullopt;
  }
  if (!in_range(slot, parsed->value)) {
    return std::nullopt;
  }
  const double largest = std::min(static_cast<double>(type.largest), kExactIntegers);
  if (std::abs(parsed->value) > largest) {
    wrong(slot, fmt::format("'{}' is too large; the largest is {:.0f}", slot.node.text, largest));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(parsed->value);
}

std::optional<std::int64_t> Reader::word(const Slot& slot, const SpecType& type) {
  std::vector<std::string> known;
  std::string list;
  for (std::size_t i = 0; i < type.words.size(); ++i) {
    if (slot.node.text == type.words[i]) {
      return static_cast<std::int64_t>(i);
    }
    known.emplace_back(type.words[i]);
    list += (i == 0 ? "" : ", ") + known.back();
  }
  if (const auto near = word_suggestion(slot.node.text, known)) {
    wrong(slot, fmt::format("'{}' is unknown; did you mean '{}'?", slot.node.text, *near));
  } else {
    wrong(slot, fmt::format("'{}' is unknown; write one of: {}", slot.node.text, list));
  }
  return std::nullopt;
}

std::optional<std::int64_t> Reader::flag(const Slot& slot) {
  if (slot.node.text == "true" || slot.node.text == "false") {
    return slot.node.text == "true" ? 1 : 0;
  }
  wrong(slot, fmt::format("'{}' must be true or false", slot.node.text));
  return std::nullopt;
}

void Reader::scalar(const Slot& slot, const SpecType& type, void* target) {
  if (!slot.node.is_scalar()) {
    must_be(slot, "one value");
    return;
  }
  switch (type.shape) {
    case Shape::text:
      *static_cast<std::string*>(target) = slot.node.text;
      return;
    case Shape::number:
    case Shape::quantity:
      if (const auto parsed = number(slot, type)) {
        type.set_number(target, *parsed);
      }
      return;
    default:
      break;
  }
  const auto parsed = type.shape == Shape::integer ? integer(slot, type)
                      : type.shape == Shape::word  ? word(slot, type)
                                                   : flag(slot);
  if (parsed) {
    type.set_integer(target, *parsed);
  }
}

void Reader::list(const Slot& slot, const SpecType& type, void* target) {
  if (slot.node.kind != Node::Kind::list) {
    must_be(slot, "a list");
    return;
  }
  type.clear(target);
  for (std::size_t i = 0; i < slot.node.items.size(); ++i) {
    const Node& item = slot.node.items[i];
    const std::string path = fmt::format("{}[{}]", slot.path, i);
    const std::string name = fmt::format("{}[{}]", slot.name, i);
    value({item, item.place, path, name, slot.range}, *type.element, type.add_element(target));
  }
}

/// The value itself where it is written as {value: ..., source: ..., standard_error: ...}; nullptr
/// after a complaint.
const Node* Reader::unwrap(const Slot& slot) {
  const Entry* inner = slot.node.is_mapping() ? slot.node.find("value") : nullptr;
  if (inner == nullptr) {
    return &slot.node;
  }
  for (const Entry& entry : slot.node.entries) {
    if (entry.key == "source") {
      source(entry, slot.path);
    } else if (entry.key == "standard_error") {
      standard_error(entry, slot.path);
    } else if (entry.key != "value") {
      out_.complaints.add(entry.place,
                          fmt::format("unknown key '{}' beside 'value'; only 'source' and "
                                      "'standard_error' may stand there",
                                      entry.key));
    }
  }
  return &inner->value;
}

void Reader::value(const Slot& slot, const SpecType& type, void* target) {
  out_.marks[slot.path] = to_mark(slot.place);
  if (!slot.node.stated.empty()) {
    out_.sources[slot.path] = slot.node.stated;
  }
  if (slot.node.kind == Node::Kind::broken) {
    return;
  }
  if (slot.node.kind == Node::Kind::null) {
    if (type.shape == Shape::optional && slot.node.text == "null") {
      type.clear(target);
    } else {
      wrong(slot, "has no value; give it one or remove the key");
    }
    return;
  }
  if (type.shape == Shape::record) {
    record(slot, type, target);
    return;
  }
  if (type.shape == Shape::list) {
    list(slot, type, target);
    return;
  }
  if (type.shape == Shape::or_auto && slot.node.is_scalar() && slot.node.text == "auto") {
    type.clear(target);
    return;
  }
  if (type.shape == Shape::optional || type.shape == Shape::or_auto) {
    value(slot, *type.element, type.add_element(target));
    return;
  }
  const Node* plain = unwrap(slot);
  scalar(
      {*plain, plain == &slot.node ? slot.place : plain->place, slot.path, slot.name, slot.range},
      type, target);
}

void Reader::source(const Entry& entry, const std::string& path) {
  if (!entry.value.is_scalar()) {
    out_.complaints.add(entry.place,
                        fmt::format("source must be one text, not {}", describe(entry.value)));
    return;
  }
  out_.sources[path] = entry.value.text;
}

void Reader::standard_error(const Entry& entry, const std::string& path) {
  std::string why;
  const auto number =
      entry.value.is_scalar() ? parse_number(entry.value.text, why) : std::optional<NumberText>{};
  if (!number || !number->rest.empty() || number->value < 0) {
    out_.complaints.add(entry.place,
                        fmt::format("standard_error must be a number of 0 or more, relative to the "
                                    "value, not {}",
                                    describe(entry.value)));
    return;
  }
  out_.standard_errors[path] = number->value;
}

void Reader::unknown_key(const Entry& entry, const SpecType& type) {
  out_.complaints.add(
      entry.place, fmt::format("unknown key '{}'{}", entry.key, key_suggestion(entry.key, type)));
}

void Reader::member(const Field& field,
                    const Entry& entry,
                    const std::string& parent,
                    void* record) {
  const std::string path = joined(parent, field.name);
  const bool points_at_value = entry.value.is_scalar() && entry.value.place.line > 0;
  const Place& place = points_at_value ? entry.value.place : entry.place;
  value({entry.value, place, path, field.name, field.range}, *field.type, field.in(record));
}

namespace {

/// ", as {use: NAME}" or ", as {tokens: 8192}": what somebody meant who wrote a value alone. Empty
/// where that is not one key.
std::string mapping_of(const Node& node, const SpecType& type) {
  constexpr std::size_t kLongest = 60;
  if (!node.is_scalar() || node.text.size() > kLongest) {
    return "";
  }
  if (!type.catalogue.empty()) {
    return fmt::format(", as {{use: {}}}", node.text);
  }
  const auto required = [](const Field& field) { return field.required; };
  const auto first = std::find_if(type.fields.begin(), type.fields.end(), required);
  return std::count_if(type.fields.begin(), type.fields.end(), required) == 1
             ? fmt::format(", as {{{}: {}}}", first->name, node.text)
             : "";
}

}  // namespace

void Reader::record(const Slot& slot, const SpecType& type, void* target) {
  if (!slot.node.is_mapping()) {
    must_be(slot, "a mapping" + mapping_of(slot.node, type));
    return;
  }
  for (const Entry& entry : slot.node.entries) {
    bool known = entry.key == "source";
    if (known) {
      source(entry, slot.path);
    }
    for (const Field& field : type.fields) {
      if (field.name == entry.key) {
        member(field, entry, slot.path, target);
        known = true;
      }
    }
    if (!known) {
      unknown_key(entry, type);
    }
  }
  for (const Field& field : type.fields) {
    if (field.required && slot.node.find(field.name) == nullptr) {
      const std::string where = slot.path.empty() ? "" : fmt::format(" in {}", slot.path);
      out_.complaints.add(
          slot.place, fmt::format("missing key '{}'{}: {}", field.name, where, field.description));
    }
  }
}

}  // namespace

void read_record(const Node& root, const SpecType& type, void* record, ReadResult result) {
  static constexpr core::Range kAny;
  static const std::string kRoot;
  const Place whole_file{root.place.file, 0, 0, 1};
  result.marks[""] = to_mark(whole_file);
  if (!root.stated.empty()) {
    result.sources[""] = root.stated;
  }
  Reader reader(result);
  reader.record({root, whole_file, kRoot, "the file", kAny}, type, record);
}

}  // namespace headway::config
