// Names of models as people write them.
#pragma once

#include <string>

namespace headway::validation {

/// Letters and digits of a name, small: "Qwen3-Next-80B" and "qwen3 next 80b" are one.
std::string bare_name(const std::string& name);

/// The bare name of the catalogue's entry that a name means, if there is one: without maker
/// ("meta-llama/Llama-3.1-8B") and words that say nothing of the architecture ("Instruct").
std::string model_name(const std::string& name);

}  // namespace headway::validation
