// Builds the SpecType of a struct from its field list.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/config/spec_type.h"
#include "sim/core/fields.h"
#include "sim/core/units.h"

namespace headway::config {

template <class T>
const SpecType& spec_type();

namespace reflect {

template <class T>
T& as(void* p) {
  return *static_cast<T*>(p);
}
template <class T>
const T& as(const void* p) {
  return *static_cast<const T*>(p);
}

template <class T>
inline constexpr bool is_quantity = false;
template <int t, int d, int w, int m, int e>
inline constexpr bool is_quantity<core::Quantity<t, d, w, m, e>> = true;

template <int t, int d, int w, int m, int e>
constexpr Dimension dimension_of(core::Quantity<t, d, w, m, e> /*unused*/) {
  return {t, d, w, m, e};
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_or_auto = false;
template <class T>
inline constexpr bool is_or_auto<core::OrAuto<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// The name of a struct without its namespaces, as the compiler spells it.
template <class T>
constexpr std::string_view struct_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto start = text.find("T = ") + 4;
  constexpr auto end = text.find_first_of(";]", start);
  constexpr auto whole = text.substr(start, end - start);
  constexpr auto cut = whole.rfind("::");
  return cut == std::string_view::npos ? whole : whole.substr(cut + 2);
}

/// The visitor that turns a field list into `Field`s.
class FieldCollector {
 public:
  FieldCollector(const void* record, std::vector<Field>& fields)
      : record_(static_cast<const char*>(record)), fields_(fields) {}

  template <class Member>
  void required(const char* name, Member& member, const char* description, core::Range range = {}) {
    add<Member>(name, &member, description, range, true);
  }
  template <class Member>
  void optional(const char* name, Member& member, const char* description, core::Range range = {}) {
    add<Member>(name, &member, description, range, false);
  }

 private:
  template <class Member>
  void add(const char* name,
           const void* member,
           const char* description,
           core::Range range,
           bool required) {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(member) - record_);
    fields_.push_back({name, description, required, range, offset, &spec_type<Member>()});
  }

  const char* record_;
  std::vector<Field>& fields_;
};

template <class T>
SpecType scalar_type() {
  SpecType type;
  if constexpr (std::is_same_v<T, double>) {
    type.shape = Shape::number;
    type.get_number = [](const void* p) { return as<T>(p); };
    type.set_number = [](void* p, double v) { as<T>(p) = v; };
  } else if constexpr (is_quantity<T>) {
    type.shape = Shape::quantity;
    type.dimension = dimension_of(T{});
    type.get_number = [](const void* p) { return as<T>(p).si(); };
    type.set_number = [](void* p, double v) { as<T>(p) = T(v); };
  } else if constexpr (std::is_same_v<T, std::string>) {
    type.shape = Shape::text;
  } else {
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int> ||
                  std::is_same_v<T, std::int64_t>);
    type.shape = std::is_same_v<T, bool> ? Shape::flag : Shape::integer;
    type.largest = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    type.get_integer = [](const void* p) { return static_cast<std::int64_t>(as<T>(p)); };
    type.set_integer = [](void* p, std::int64_t v) { as<T>(p) = static_cast<T>(v); };
  }
  return type;
}

template <class T>
SpecType word_type() {
  SpecType type;
  type.shape = Shape::word;
  for (const auto& entry : enum_words(T{})) {
    type.words.push_back(entry.word);
  }
  type.get_integer = [](const void* p) {
    const auto table = enum_words(T{});
    std::int64_t index = 0;
    while (table[static_cast<std::size_t>(index)].value != as<T>(p)) {
      ++index;
    }
    return index;
  };
  type.set_integer = [](void* p, std::int64_t v) {
    as<T>(p) = enum_words(T{})[static_cast<std::size_t>(v)].value;
  };
  return type;
}

template <class T>
SpecType optional_type() {
  using Element = typename T::value_type;
  SpecType type;
  type.shape = Shape::optional;
  type.element = &spec_type<Element>();
  type.size = [](const void* p) -> std::size_t { return as<T>(p).has_value() ? 1 : 0; };
  type.get_element = [](const void* p, std::size_t) -> const void* { return &*as<T>(p); };
  type.add_element = [](void* p) -> void* { return &as<T>(p).emplace(); };
  type.clear = [](void* p) { as<T>(p).reset(); };
  return type;
}

/// OrAuto holds one optional, so its value is reached as that optional is.
template <class T>
SpecType or_auto_type() {
  using Inner = decltype(T::value);
  static_assert(sizeof(T) == sizeof(Inner));
  SpecType type = optional_type<Inner>();
  type.shape = Shape::or_auto;
  return type;
}

template <class T>
SpecType list_type() {
  SpecType type;
  type.shape = Shape::list;
  type.element = &spec_type<typename T::value_type>();
  type.size = [](const void* p) { return as<T>(p).size(); };
  type.get_element = [](const void* p, std::size_t i) -> const void* { return &as<T>(p)[i]; };
  type.add_element = [](void* p) -> void* { return &as<T>(p).emplace_back(); };
  type.clear = [](void* p) { as<T>(p).clear(); };
  return type;
}

template <class T>
SpecType record_type() {
  static T defaults;  // also the sample whose members' addresses give the offsets
  SpecType type;
  type.shape = Shape::record;
  type.name = struct_name<T>();
  if constexpr (requires { T::kCatalogue; }) {
    type.catalogue = T::kCatalogue;
  }
  type.defaults = &defaults;
  type.make = [] {
    return AnyValue(std::make_unique<T>().release(),
                    [](void* p) { std::unique_ptr<T>(static_cast<T*>(p)); });
  };
  FieldCollector collector(&defaults, type.fields);
  defaults.fields(collector);
  return type;
}

template <class T>
SpecType make_type() {
  if constexpr (is_optional<T>) {
    return optional_type<T>();
  } else if constexpr (is_or_auto<T>) {
    return or_auto_type<T>();
  } else if constexpr (is_list<T>) {
    return list_type<T>();
  } else if constexpr (core::Worded<T>) {
    return word_type<T>();
  } else if constexpr (requires(T t, FieldCollector c) { t.fields(c); }) {
    return record_type<T>();
  } else {
    return scalar_type<T>();
  }
}

}  // namespace reflect

/// The description of T, built at the first call.
template <class T>
const SpecType& spec_type() {
  static const SpecType type = reflect::make_type<T>();
  return type;
}

}  // namespace headway::config
