// A result as a tree of figures, built from its field lists (result_fields.h). All that is printed
// of a result works on this tree, so that no printer is compiled once a struct.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/core/result_fields.h"

namespace headway::core {

/// What a value of a result looks like in JSON.
enum class FigureKind : std::uint8_t {
  number,
  integer,
  flag,
  text,
  word,
  digest,
  object,
  list,
  map
};

/// One value of a result with what its field list says of it; objects, lists and maps have parts.
struct Figure {
  std::string key;           ///< in its object or map; empty in a list
  std::string_view unit;     ///< SI; "1" for a ratio, "" for a count or for no number
  std::string_view meaning;  ///< empty: that of the figure it is part of
  Range range;               ///< numbers
  FigureKind kind = FigureKind::text;
  bool absent = false;      ///< here: null
  bool optional = false;    ///< may be absent
  bool on_request = false;  ///< where absent, its key is left out
  bool specimen = false;    ///< list, map: the one part stands for any number of them
  std::size_t length = 0;   ///< list: fixed number of elements; 0: any
  double number = 0;
  std::int64_t integer = 0;             ///< also flags
  std::string text;                     ///< also words and digests
  std::vector<std::string_view> words;  ///< all that a word may be
  std::string_view record;              ///< object: its struct, with namespaces
  std::vector<Figure> parts;
};

/// The figure at a path such as "campaign.ettr.p50" or "step.links[0].mean"; nullptr if there is
/// none. Below a specimen any index and any key lead to the one part.
const Figure* find_figure(const Figure& root, std::string_view path);

/// Paths of all numbers and flags below `root`, with index 0 in lists that are specimens.
std::vector<std::string> number_paths(const Figure& root);

/// The value of a number or flag (true: 1); nothing for other kinds, and where it is absent.
std::optional<double> value_of(const Figure& figure);

class FigureCollector;

namespace figures {

template <class T>
concept Record = requires(const T& value, FigureCollector& collector) {
  value.fields(collector);
};
template <class T>
concept Optional = requires(const T& value) {
  typename T::value_type;
  { value.has_value() } -> std::same_as<bool>;
};
template <class T>
concept Dimensioned = requires(const T& value) {
  { value.si() } -> std::same_as<double>;
};
/// Pairs of a name and a value: std::map, or a vector of pairs, whose order is kept.
template <class T>
concept Map = requires {
  typename T::value_type::second_type;
};
template <class T>
inline constexpr std::size_t fixed_length = 0;
template <class T, std::size_t n>
inline constexpr std::size_t fixed_length<std::array<T, n>> = n;

/// The name of a struct with its namespaces, as the compiler spells it.
template <class T>
constexpr std::string_view struct_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto start = text.find("T = ") + 4;
  return text.substr(start, text.find_first_of("<;]", start) - start);
}

void set_number(double value, bool specimen, Figure& figure);
void set_digest(Hexadecimal value, Figure& figure);
template <class T>
void describe(const T& value, bool specimen, Figure& figure);

}  // namespace figures

/// The visitor that turns a field list into figures.
class FigureCollector {
 public:
  /// @param specimen  describe the type: what is absent too, and one part of every list and map
  FigureCollector(Figure& parent, bool specimen) : parent_(parent), specimen_(specimen) {}

  template <class T>
  void figure(std::string_view key,
              const T& value,
              std::string_view unit,
              std::string_view meaning,
              Range range = any_value) {
    figures::describe(value, specimen_, add(key, unit, meaning, range));
  }
  template <class T>
  void part(std::string_view key, const T& value, std::string_view meaning = "") {
    figures::describe(value, specimen_, add(key, "", meaning, any_value));
  }
  template <class T>
  void on_request(std::string_view key, const std::optional<T>& value, std::string_view meaning) {
    Figure& figure = add(key, "", meaning, any_value);
    figures::describe(value, specimen_, figure);
    figure.optional = false;
    figure.on_request = true;
  }

 private:
  /// A new part, with the parent's unit and range where it has none of its own.
  Figure& add(std::string_view key, std::string_view unit, std::string_view meaning, Range range);

  Figure& parent_;
  bool specimen_;
};

namespace figures {

template <class T>
void describe_parts(const T& values, bool specimen, Figure& figure) {
  figure.length = fixed_length<T>;
  figure.specimen = specimen;
  const auto add = [&](const std::string& key, const auto& value) {
    Figure part;
    part.key = key;
    part.unit = figure.unit;
    part.range = figure.range;
    describe(value, specimen, part);
    figure.parts.push_back(std::move(part));
  };
  if constexpr (Map<T>) {
    if (specimen) {
      add("*", typename T::value_type::second_type{});
      return;
    }
    for (const auto& [key, value] : values) {
      add(key, value);
    }
  } else {
    if (specimen) {
      add("", typename T::value_type{});
      return;
    }
    for (const auto& value : values) {
      add("", value);
    }
  }
}

template <class T>
void describe(const T& value, bool specimen, Figure& figure) {
  if constexpr (Record<T>) {
    figure.kind = FigureKind::object;
    figure.record = struct_name<T>();
    FigureCollector collector(figure, specimen);
    value.fields(collector);
  } else if constexpr (Optional<T>) {
    figure.optional = true;
    figure.absent = !value.has_value() && !specimen;
    if (value.has_value()) {
      describe(*value, specimen, figure);
    } else if (specimen) {
      describe(typename T::value_type{}, specimen, figure);
    }
  } else if constexpr (std::same_as<T, bool>) {
    figure.kind = FigureKind::flag;
    figure.integer = value ? 1 : 0;
  } else if constexpr (std::integral<T>) {
    figure.kind = FigureKind::integer;
    figure.integer = static_cast<std::int64_t>(value);
  } else if constexpr (std::floating_point<T>) {
    set_number(value, specimen, figure);
  } else if constexpr (Dimensioned<T>) {
    set_number(value.si(), specimen, figure);
  } else if constexpr (std::same_as<T, Hexadecimal>) {
    set_digest(value, figure);
  } else if constexpr (Worded<T>) {
    figure.kind = FigureKind::word;
    figure.text = to_word(value);
    for (const auto& entry : enum_words(value)) {
      figure.words.push_back(entry.word);
    }
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    figure.text = std::string_view(value);
  } else {
    figure.kind = Map<T> ? FigureKind::map : FigureKind::list;
    describe_parts(value, specimen, figure);
  }
}

}  // namespace figures

/// The tree of a result.
template <figures::Record Result>
Figure figures_of(const Result& result) {
  Figure root;
  figures::describe(result, false, root);
  return root;
}

/// The tree that every result of this type has a part of: what may be absent is there, lists and
/// maps have one part.
template <figures::Record Result>
Figure figures_of_type() {
  Figure root;
  figures::describe(Result{}, true, root);
  return root;
}

}  // namespace headway::core
