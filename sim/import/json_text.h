// JSON of other programs, with errors that name the line.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/error.h"

namespace headway::import {

/// The text as JSON.
/// @throws core::Error with line and column if it is none, or holds a number beyond a double
/// (1e999)
nlohmann::json parse_json(std::string_view text, const std::string& file_name);

/// The whole text as a JSON object.
/// @param what  what the file should be, for messages: "the output of fio"
/// @throws core::Error with line and column if the text is no JSON, or not an object at the top
nlohmann::json parse_json_object(std::string_view text,
                                 const std::string& file_name,
                                 const std::string& what);

/// The place of the n-th (from 0) key of this name in the text; the file as a whole where there are
/// fewer.
core::SourceMark mark_of_key(std::string_view text,
                             const std::string& file_name,
                             const std::string& key,
                             std::size_t n = 0);

/// The number at a key: written as a number, or as a text of one ("nan" is none); nothing if
/// absent, null or no finite number.
std::optional<double> number_at(const nlohmann::json& object, const char* key);
/// The text at a key; empty if absent or no text.
std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace headway::import
