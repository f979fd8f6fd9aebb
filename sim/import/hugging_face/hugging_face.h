// Reads a Hugging Face config.json into the description of a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/spec.h"

namespace headway::import {

/// The model that a Hugging Face configuration describes.
///
/// Families: the tables of hugging_face_dense.cpp, _older.cpp, _experts.cpp, _hybrid.cpp and
/// _halves.cpp, from GPT-2 to Nemotron 3. Of some models of images and text the text decoder alone
/// is read, and the name says so. Recurrent models, vision, audio and encoders are refused by name
/// (hugging_face_refused.cpp), and so is a key that changes work or memory and that a model's
/// description has no place for. Of other keys that nothing reads the remarks say the names, but
/// for those that change no shape (hugging_face_harmless.cpp).
/// @param json_text the whole file
/// @param file_name printed in error messages and used as the model's name if the file has none
/// @throws core::Error that names the file and the key, or line and column of malformed JSON
struct HuggingFaceModel {
  workload::ModelSpec model;
  std::vector<std::string> remarks;  ///< what to know of how it was read, a sentence each
};
HuggingFaceModel import_hugging_face_config(std::string_view json_text,
                                            const std::string& file_name);
/// The model alone.
workload::ModelSpec read_hugging_face_config(std::string_view json_text,
                                             const std::string& file_name);

/// What to do where a name is that of a model on the hub, "Qwen/Qwen3-8B", and not of a file; empty
/// where it is of another form.
std::string hub_name_advice(std::string_view name);

}  // namespace headway::import
