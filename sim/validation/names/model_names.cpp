#include "sim/validation/names/model_names.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "sim/core/text.h"

namespace headway::validation {

namespace {

/// A name without its maker ("meta-llama/Llama-3.1-8B") and without words that say nothing of the
/// architecture ("Instruct"), letters and digits only.
std::string shortened_name(const std::string& name) {
  static constexpr std::array<std::string_view, 6> kMakers = {"meta",   "nvidia",     "google",
                                                              "openai", "deepseekai", "mistralai"};
  static constexpr std::array<std::string_view, 10> kEndings = {
      "instruct", "chat", "base", "pretraining", "pretrain", "dense", "hf", "model", "sft", "it"};
  std::string bare = bare_name(name.substr(name.rfind('/') + 1));
  for (const std::string_view maker : kMakers) {
    bare = bare.starts_with(maker) && bare.size() > maker.size() + 2 ? bare.substr(maker.size())
                                                                     : bare;
  }
  for (const std::string_view ending : kEndings) {
    bare = bare.ends_with(ending) && bare.size() > ending.size() + 2
               ? bare.substr(0, bare.size() - ending.size())
               : bare;
  }
  return bare;
}

/// Names that are not the entry's own. Llama 3 has the architecture of 3.1 (Llama team, 2024); the
/// first LLaMA has no number.
std::string entry_name(const std::string& bare) {
  static constexpr std::pair<std::string_view, const char*> kOther[] = {
      {"llama38b", "llama318b"},     {"llama370b", "llama3170b"},
      {"llama3405b", "llama31405b"}, {"llama65b", "llama165b"},
      {"llama3370b", "llama3170b"},  {"deepseekv3671b", "deepseekv3"},
      {"deepseekr1", "deepseekv3"},  {"mixtral8x7bv01", "mixtral8x7b"},
      {"grok1314b", "grok1"},        {"bloom", "bloom176b"},
      {"mistral7bv01", "mistral7b"}, {"tinyllama", "tinyllama11b"},
      {"dbrx132b", "dbrx"},          {"smollm3", "smollm33b"}};
  for (const auto& [name, entry] : kOther) {
    if (bare == name) {
      return entry;
    }
  }
  return bare;
}

}  // namespace

std::string bare_name(const std::string& name) {
  std::string bare;
  for (const char c : core::lower_case(name)) {
    bare += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : "";
  }
  return bare;
}

std::string model_name(const std::string& name) { return entry_name(shortened_name(name)); }

}  // namespace headway::validation
