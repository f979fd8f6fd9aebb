// Reads a Hugging Face config.json into the description of a model.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/spec.h"

namespace headway::import {

/// The model that a Hugging Face configuration describes.
///
/// Families: the tables of hugging_face_dense.cpp, _older.cpp, _experts.cpp and _hybrid.cpp, from
/// GPT-2 to Qwen3.5. Of some models of images and text the text decoder alone is read, and the name
/// says so. Recurrent models, vision, audio and encoders are refused by name
/// (hugging_face_refused.cpp), and so is a key that changes work or memory and that a model's
/// description has no place for.
/// @param json_text the whole file
/// @param file_name printed in error messages and used as the model's name if the file has none
/// @throws core::Error that names the file and the key, or line and column of malformed JSON
workload::ModelSpec read_hugging_face_config(std::string_view json_text,
                                             const std::string& file_name);

/// What to do where a name is that of a model on the hub, "Qwen/Qwen3-8B", and not of a file; empty
/// where it is of another form.
std::string hub_name_advice(std::string_view name);

}  // namespace headway::import
