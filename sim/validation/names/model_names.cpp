#include "sim/validation/names/model_names.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "sim/core/text.h"
#include "sim/validation/cells/text_has.h"

namespace headway::validation {

namespace {

/// A name without its maker ("meta-llama/Llama-3.1-8B") and without words that say nothing of the
/// architecture ("Instruct"), letters and digits only.
std::string shortened_name(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kMakers = {
      "meta", "nvidia", "google", "openai", "deepseekai", "mistralai", "snowflake"};
  // "4k" to "200k" are contexts, which change no shape.
  static constexpr std::array<std::string_view, 22> kEndings = {
      "instruct", "chat", "base", "pretraining", "pretrain", "dense",   "hf", "model",
      "sft",      "it",   "lora", "qlora",       "deduped",  "4k",      "8k", "16k",
      "32k",      "64k",  "128k", "200k",        "256k",     "finetune"};
  std::string bare = bare_name(name.substr(name.rfind('/') + 1));
  for (const std::string_view maker : kMakers) {
    bare = bare.starts_with(maker) && bare.size() > maker.size() + 2 ? bare.substr(maker.size())
                                                                     : bare;
  }
  for (std::size_t before = 0; before != bare.size();) {
    before = bare.size();
    for (const std::string_view ending : kEndings) {
      bare = bare.ends_with(ending) && bare.size() > ending.size() + 2
                 ? bare.substr(0, bare.size() - ending.size())
                 : bare;
    }
  }
  for (const std::string_view date : {"1124", "0325", "0425"}) {  // of OLMo 2's releases
    const auto at = bare.starts_with("olmo2") ? bare.find(date) : std::string::npos;
    bare = at == std::string::npos ? bare : bare.erase(at, date.size());
  }
  return bare;
}

/// Names that are not the entry's own. Llama 3 has the architecture of 3.1 (Llama team, 2024); the
/// first LLaMA has no number.
std::string entry_name(const std::string& bare) {
  static constexpr std::pair<std::string_view, const char*> kOther[] = {
      {"llama38b", "llama318b"},      {"llama370b", "llama3170b"},
      {"llama3405b", "llama31405b"},  {"llama65b", "llama165b"},
      {"llama3370b", "llama3170b"},   {"deepseekv3671b", "deepseekv3"},
      {"deepseekr1", "deepseekv3"},   {"mixtral8x7bv01", "mixtral8x7b"},
      {"grok1314b", "grok1"},         {"bloom", "bloom176b"},
      {"mistral7bv01", "mistral7b"},  {"tinyllama", "tinyllama11b"},
      {"dbrx132b", "dbrx"},           {"smollm3", "smollm33b"},
      {"gpt175b", "gpt3175b"},        {"neox20b", "gptneox20b"},
      {"mistral7bv02", "mistral7b"},  {"mistral7bv03", "mistral7b"},
      {"minimax01", "minimaxtext01"}, {"llama7b", "llama17b"},
      {"llama13b", "llama113b"},      {"olmo17b", "olmo7b"},
      {"qwen27b", "qwen257b"},        {"bloom7b1", "bloom7b"},
      {"starcoder", "starcoder155b"}, {"starcoder15b", "starcoder155b"}};
  for (const auto& [name, entry] : kOther) {
    if (bare == name) {
      return entry;
    }
  }
  return bare;
}

/// Of a word in small letters, how many of its characters from a place on are of a number.
std::size_t number_length(std::string_view word, std::size_t from) {
  const auto end = word.find_first_not_of("0123456789.", from);
  return (end == std::string_view::npos ? word.size() : end) - from;
}

/// "8x7b" and "a22b": experts by their size, and parameters that a token meets.
bool sizes_experts(std::string_view word) {
  const std::size_t first = number_length(word, 0);
  const bool times = first > 0 && word.substr(first).starts_with('x');
  const std::size_t begin = times ? first + 1 : 1;
  if ((!times && !word.starts_with('a')) || begin >= word.size()) {
    return false;
  }
  const std::size_t size = number_length(word, begin);
  return size > 0 && word.substr(begin + size) == "b";
}

}  // namespace

std::string bare_name(const std::string& name) {
  std::string bare;
  for (const char c : core::lower_case(name)) {
    bare += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : "";
  }
  return bare;
}

bool names_mixture(const std::string& name) {
  std::string word;
  for (const char c : core::lower_case(name) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') {
      word += c;
      continue;
    }
    if (contains_any(word, std::array{"moe", "mixtral", "mixture"}) || sizes_experts(word)) {
      return true;
    }
    word.clear();
  }
  return false;
}

std::string size_of_name(const std::string& name) {
  const std::string small = core::lower_case(name);
  std::string size;
  std::string word;
  for (const char c : small + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') {
      word += c;
      continue;
    }
    const std::size_t digits = number_length(word, 0);
    const bool unit =
        digits > 0 && digits + 1 == word.size() && (word.back() == 'b' || word.back() == 'm');
    size = unit ? word : size;
    word.clear();
  }
  return size;
}

bool is_size(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
         text.find_first_not_of("0123456789.abm") == std::string_view::npos &&
         (text.ends_with('b') || text.ends_with('m'));
}

std::string model_name(const std::string& name) { return entry_name(shortened_name(name)); }

}  // namespace headway::validation
