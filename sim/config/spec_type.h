// A spec struct as data: its fields, their types and how to reach them. The reader, the writer, the
// schema and the Python classes work on this, so that none of them is compiled once a struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/fields.h"

namespace headway::config {

/// Exponents of second, byte, floating-point operation, dollar and joule.
struct Dimension {
  int time = 0;
  int data = 0;
  int work = 0;
  int money = 0;
  int energy = 0;
  bool operator==(const Dimension&) const = default;
};

/// What a value looks like in YAML.
enum class Shape { number, integer, flag, text, quantity, word, optional, or_auto, list, record };

struct SpecType;

/// One line of a field list.
struct Field {
  std::string_view name;
  std::string_view description;
  bool required = false;
  core::Range range;
  std::size_t offset = 0;  ///< of the member in its struct [B]
  const SpecType* type = nullptr;

  [[nodiscard]] const void* in(const void* record) const {
    return static_cast<const char*>(record) + offset;
  }
  [[nodiscard]] void* in(void* record) const { return static_cast<char*>(record) + offset; }
};

/// A value of some spec struct, owned.
using AnyValue = std::unique_ptr<void, void (*)(void*)>;

/// A type that a field may have, with the functions that reach a value of it behind a `void*`.
struct SpecType {
  Shape shape = Shape::text;
  Dimension dimension;                  ///< quantity
  std::vector<std::string_view> words;  ///< word: in the order of the enum's table
  const SpecType* element = nullptr;    ///< optional, or_auto, list
  std::string_view name;                ///< record: name of the struct
  std::string_view catalogue;           ///< record: folder of its entries, or empty
  std::vector<Field> fields;            ///< record
  const void* defaults = nullptr;       ///< record: a value as the struct initialises itself
  AnyValue (*make)() = nullptr;         ///< record: a new value as the struct initialises itself

  double (*get_number)(const void*) = nullptr;  ///< number, quantity [SI]
  void (*set_number)(void*, double) = nullptr;  ///< number, quantity [SI]
  std::int64_t (*get_integer)(const void*) =
      nullptr;  ///< integer; flag: 0, 1; word: index in `words`
  void (*set_integer)(void*, std::int64_t) = nullptr;  ///< the same; the value must fit
  std::int64_t largest = 0;                            ///< integer: largest value that fits
  std::size_t (*size)(const void*) = nullptr;          ///< optional, or_auto: 0 or 1; list
  const void* (*get_element)(const void*, std::size_t) = nullptr;  ///< optional, or_auto, list
  void* (*add_element)(void*) = nullptr;  ///< list: appends; optional, or_auto: replaces
  void (*clear)(void*) = nullptr;         ///< optional, or_auto, list
};

/// A kind of configuration file: the folder and what a file in it holds.
struct CatalogueKind {
  std::string_view folder;
  const SpecType* type = nullptr;
};

/// All kinds, "scenarios" last.
const std::vector<CatalogueKind>& catalogue();

/// The entry of `catalogue()` for `folder`, or nullptr.
const CatalogueKind* find_kind(std::string_view folder);

}  // namespace headway::config
