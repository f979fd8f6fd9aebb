// Values as JSON and back with the same bits, for what one process hands to another.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/text.h"
#include "sim/core/units.h"
#include "sim/report/result_json.h"

namespace headway::report {

template <class T>
concept IsQuantity = requires(const T& value) {
  { value.si() } -> std::convertible_to<double>;
};

/// Writes the members that a list names into an object. A struct has a list that both directions
/// share: `template <class A> void members(A& archive, S& s) { archive("time", s.time); ... }`; one
/// that users write has its fields.
class Packer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    json_[key] = packed(value);
  }
  template <class T, class... Rest>
  void required(const char* key, const T& value, const Rest&... /*rest*/) {
    (*this)(key, value);
  }
  template <class T, class... Rest>
  void optional(const char* key, const T& value, const Rest&... /*rest*/) {
    (*this)(key, value);
  }
  [[nodiscard]] Json take() { return std::move(json_); }

  template <class T>
  static Json packed(const T& value);

 private:
  template <class T>
  static Json packed_list(const T& list) {
    Json array = Json::array();
    for (const auto& one : list) {
      array.push_back(packed(one));
    }
    return array;
  }

  Json json_ = Json::object();
};

/// Reads what Packer wrote; throws what the JSON library throws where it is something else.
class Unpacker {
 public:
  explicit Unpacker(const Json& json) : json_(json) {}
  template <class T>
  void operator()(const char* key, T& value) {
    unpack(json_.at(key), value);
  }
  template <class T, class... Rest>
  void required(const char* key, T& value, const Rest&... /*rest*/) {
    (*this)(key, value);
  }
  template <class T, class... Rest>
  void optional(const char* key, T& value, const Rest&... /*rest*/) {
    (*this)(key, value);
  }

  template <class T>
  static void unpack(const Json& json, T& value);

 private:
  const Json& json_;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsOrAuto : std::false_type {};
template <class T>
struct IsOrAuto<core::OrAuto<T>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};

template <class T>
Json Packer::packed(const T& value) {
  if constexpr (std::is_same_v<T, double>) {
    // JSON has no number for what is not finite.
    return std::isfinite(value) ? Json(value) : Json(std::to_string(value));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (IsQuantity<T>) {
    return packed(value.si());
  } else if constexpr (IsOptional<T>::value) {
    return value ? packed(*value) : Json();
  } else if constexpr (IsOrAuto<T>::value) {
    return packed(value.value);
  } else if constexpr (IsList<T>::value || IsArray<T>::value) {
    return packed_list(value);
  } else {
    Packer packer;
    T copy = value;  // lists name members that both directions reach
    if constexpr (requires { members(packer, copy); }) {
      members(packer, copy);
    } else {
      copy.fields(packer);
    }
    return packer.take();
  }
}

template <class T>
void Unpacker::unpack(const Json& json, T& value) {
  if constexpr (std::is_same_v<T, double>) {
    const auto text =
        json.is_string()
            ? core::whole_text_as<double, core::NonFinite::taken>(json.get<std::string>())
            : std::nullopt;
    value = text ? *text : json.get<double>();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<int>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    value = json.get<T>();
  } else if constexpr (IsQuantity<T>) {
    double si = 0;
    unpack(json, si);
    value = T(si);
  } else if constexpr (IsOptional<T>::value) {
    value.reset();
    if (!json.is_null()) {
      unpack(json, value.emplace());
    }
  } else if constexpr (IsOrAuto<T>::value) {
    unpack(json, value.value);
  } else if constexpr (IsList<T>::value) {
    value.clear();
    for (const Json& one : json) {
      unpack(one, value.emplace_back());
    }
  } else if constexpr (IsArray<T>::value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      unpack(json.at(i), value[i]);
    }
  } else {
    Unpacker unpacker(json);
    if constexpr (requires { members(unpacker, value); }) {
      members(unpacker, value);
    } else {
      value.fields(unpacker);
    }
  }
}

}  // namespace headway::report
