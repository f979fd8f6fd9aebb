// Names of models as people write them.
#pragma once

#include <string>
#include <string_view>

namespace headway::validation {

/// Letters and digits of a name, small: "Qwen3-Next-80B" and "qwen3 next 80b" are one.
std::string bare_name(const std::string& name);

/// The bare name of the catalogue's entry that a name means, if there is one: without maker
/// ("meta-llama/Llama-3.1-8B") and words that say nothing of the architecture ("Instruct").
std::string model_name(const std::string& name);

/// The last size that a name has, "1.3b"; empty: none.
std::string size_of_name(const std::string& name);
/// Whether a text is a size, or one and that of what a token meets: "52b", "480ba17b".
bool is_size(std::string_view text);

/// Whether a name says that the model is a mixture of experts: "MoE", "8x7B", "235B-A22B".
bool names_mixture(const std::string& name);

}  // namespace headway::validation
