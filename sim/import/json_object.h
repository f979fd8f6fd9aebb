// A JSON object read from a file, whose values are asked for by key and type, with errors that name
// the place.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/error.h"

namespace headway::import {

/// The top level of a JSON file; "a.b" is the key b of the object a in it. A key that holds null
/// counts as absent. Asking for a value of the wrong type or out of range adds a complaint and
/// yields a stand-in, so that all complaints come together.
class JsonObject {
 public:
  /// Python writes Infinity and NaN, which JSON does not know; they are read as texts.
  /// @throws core::Error with line and column if the text is no JSON, or no object at the top
  JsonObject(std::string_view text, std::string file_name);

  /// Keys are those of the object at `key` from here on; of `shared` ones that it lacks, those
  /// beside it.
  void enter(const char* key, std::initializer_list<const char*> shared);

  [[nodiscard]] bool has(const char* key) const;
  /// Whether it holds anything: an empty list or object does not.
  [[nodiscard]] bool has_content(const char* key) const;
  [[nodiscard]] bool is_list(const char* key) const;
  [[nodiscard]] bool is_word(const char* key) const;
  /// A whole number of at least `least`; a missing key is a complaint.
  int whole(const char* key, int least = 1);
  /// The same, `fallback` if the key is missing.
  int whole_or(const char* key, int fallback, int least = 1);
  bool flag_or(const char* key, bool fallback);
  /// A number of zero or more.
  double real_or(const char* key, double fallback);
  /// A text; empty if the key is missing.
  std::string word(const char* key);
  /// A list of texts; empty if the key is missing.
  std::vector<std::string> words(const char* key);
  /// A list of whole numbers; empty if the key is missing.
  std::vector<int> wholes(const char* key);

  /// Keys that nobody has asked for and that hold anything but null, false, zero or nothing at all,
  /// in the order of the alphabet; of objects of which a part was asked for the other parts, as
  /// "a.b".
  [[nodiscard]] std::vector<std::string> unread() const;

  /// Takes keys for read that say nothing new.
  void pass_over(std::initializer_list<const char*> keys) const {
    asked_.insert(keys.begin(), keys.end());
  }
  /// Something to be said of what was read.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }
  /// Adds a complaint at `key`, or for the whole file where the key is missing.
  void complain(const char* key, std::string message);
  /// No complaint so far: values are real, so rules across keys mean something.
  [[nodiscard]] bool clean() const { return faults_.empty(); }
  /// @throws core::Error if there was any complaint
  void throw_if_any() { faults_.throw_if_any(); }

  [[nodiscard]] const std::string& file_name() const { return file_name_; }

 private:
  [[nodiscard]] const nlohmann::json* find(const char* key) const;
  [[nodiscard]] core::SourceMark mark_of(const char* key) const;
  int whole_of(const char* key, const nlohmann::json& value, int least);

  std::string text_;
  std::string file_name_;
  nlohmann::json top_;
  mutable std::set<std::string, std::less<>> asked_;
  std::vector<std::string> remarks_;
  core::Diagnostics faults_;
};

}  // namespace headway::import
