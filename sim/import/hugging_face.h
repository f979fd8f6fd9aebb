// Reads a Hugging Face config.json into the description of a model.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/spec.h"

namespace headway::import {

/// The model that a Hugging Face configuration describes.
///
/// Families: llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, deepseek_v3 (and kimi_k2), gpt_oss.
/// State-space hybrids and vision-language models are refused by name.
/// @param json_text the whole file
/// @param file_name printed in error messages and used as the model's name if the file has none
/// @throws core::Error that names the file and the key, or line and column of malformed JSON
workload::ModelSpec read_hugging_face_config(std::string_view json_text,
                                             const std::string& file_name);

}  // namespace headway::import
