// The values of a spec that have no parts, found by the field lists, and other values that they
// could have.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/spec_type.h"

namespace headway::testing {

/// A value without parts: a scalar, a list of scalars, or one of these that may be absent.
struct Leaf {
  std::string path;  ///< as in files: "run.failures.hazards[2].mtbf"
  const config::SpecType* type = nullptr;
  core::Range range;
  void* value = nullptr;
};

inline std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

inline bool may_be_absent(const config::SpecType& type) {
  return type.shape == config::Shape::optional || type.shape == config::Shape::or_auto;
}

/// Adds the leaves of `value`; an absent record has none.
inline void add_leaves(const config::SpecType& type,
                       const core::Range& range,
                       void* value,
                       const std::string& path,
                       std::vector<Leaf>& leaves) {
  const bool of_records = type.element != nullptr && type.element->shape == config::Shape::record;
  if (type.shape == config::Shape::record) {
    for (const config::Field& field : type.fields) {
      add_leaves(*field.type, field.range, field.in(value), joined(path, field.name), leaves);
    }
  } else if (of_records) {
    for (std::size_t i = 0; i < type.size(value); ++i) {
      const std::string entry = may_be_absent(type) ? path : path + "[" + std::to_string(i) + "]";
      // The whole scenario is the caller's to change; the element is reached by a reader's
      // function.
      add_leaves(*type.element, {}, const_cast<void*>(type.get_element(value, i)), entry, leaves);
    }
  } else {
    leaves.push_back({path, &type, range, value});
  }
}

/// Every leaf that a spec of this type could have; entries of lists without their numbers.
inline void add_fields(const config::SpecType& type,
                       const core::Range& range,
                       const std::string& path,
                       std::vector<Leaf>& fields) {
  if (type.shape == config::Shape::record) {
    for (const config::Field& field : type.fields) {
      add_fields(*field.type, field.range, joined(path, field.name), fields);
    }
  } else if (type.element != nullptr && type.element->shape == config::Shape::record) {
    add_fields(*type.element, {}, may_be_absent(type) ? path : path + "[]", fields);
  } else {
    fields.push_back({path, &type, range, nullptr});
  }
}

/// What a leaf could be instead, in the order in which they are tried; nothing: absent.
using Changes = std::vector<std::optional<double>>;

/// Other values of a number: a tenth more first, then what makes a larger difference.
inline Changes other_numbers(const core::Range& range, double now, bool whole) {
  Changes changes;
  std::vector<double> values{1.1 * now, 0.9 * now, 2 * now, 0.5 * now, 4 * now};
  if (now == 0) {
    values = {0.1, 1, 10, 1e3, 1e6, 1e9, 1e12};
  } else if (whole) {
    values = {now + std::floor(now / 10) + 1, now - 1, 2 * now, std::floor(now / 2), 4 * now};
  }
  for (const double value : values) {
    if (value != now && range.contains(value) && (!whole || value == std::floor(value))) {
      changes.emplace_back(value);
    }
  }
  return changes;
}

/// @param value  of that type; nullptr: none yet
inline Changes other_values(const config::SpecType& type,
                            const core::Range& range,
                            const void* value) {
  using config::Shape;
  Changes changes;
  if (type.shape == Shape::number || type.shape == Shape::quantity) {
    return other_numbers(range, value == nullptr ? 0 : type.get_number(value), false);
  }
  if (type.shape == Shape::integer) {
    const auto now = value == nullptr ? 0 : type.get_integer(value);
    return other_numbers(range, static_cast<double>(now), true);
  }
  if (type.shape == Shape::flag || type.shape == Shape::word) {
    const std::int64_t count =
        type.shape == Shape::flag ? 2 : static_cast<std::int64_t>(type.words.size());
    for (std::int64_t i = 0; i < count; ++i) {
      if (value == nullptr || i != type.get_integer(value)) {
        changes.emplace_back(static_cast<double>(i));
      }
    }
  } else if (type.element != nullptr) {
    const bool there = type.size(value) > 0;
    changes = other_values(*type.element, range, there ? type.get_element(value, 0) : nullptr);
    if (there) {
      changes.emplace_back(std::nullopt);
    }
  }
  return changes;
}

inline Changes other_values(const Leaf& leaf) {
  return other_values(*leaf.type, leaf.range, leaf.value);
}

/// Writes one of `other_values`; of a list the first entry.
inline void change(const config::SpecType& type, void* value, std::optional<double> to) {
  using config::Shape;
  if (type.element != nullptr) {
    if (!to) {
      type.clear(value);
      return;
    }
    const bool there = type.shape == Shape::list && type.size(value) > 0;
    void* element = there ? const_cast<void*>(type.get_element(value, 0)) : type.add_element(value);
    change(*type.element, element, to);
  } else if (type.shape == Shape::number || type.shape == Shape::quantity) {
    type.set_number(value, *to);
  } else {
    type.set_integer(value, static_cast<std::int64_t>(*to));
  }
}

}  // namespace headway::testing
