// Reads an adapter_config.json of Hugging Face PEFT into the description of adapters.
#pragma once

#include <string>
#include <string_view>

#include "sim/workload/trained_spec.h"

namespace headway::import {

/// The adapters that a PEFT configuration describes: peft_type LORA with Llama's names of modules
/// (q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj) or "all-linear".
///
/// What changes work or memory and has no place in the description is refused by name: DoRA, ranks
/// by pattern, biases, modules or layers chosen one by one, fused modules of other families.
/// @param json_text the whole file
/// @param file_name printed in error messages
/// @throws core::Error that names the file and the key, or line and column of malformed JSON
workload::AdaptersSpec read_adapter_config(std::string_view json_text,
                                           const std::string& file_name);

}  // namespace headway::import
