#include "sim/config/suggestions/suggest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

#include "sim/core/error.h"
#include "sim/core/text.h"

namespace headway::config {

namespace {

/// Nothing suggests more than this.
constexpr std::size_t kMost = 6;

/// What frameworks and people call keys of ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kOtherNames{
    {{"tp", "tensor"},
     {"tp_size", "tensor"},
     {"tensor_parallel", "tensor"},
     {"tensor_parallel_size", "tensor"},
     {"pp_size", "pipeline"},
     {"pipeline_parallel", "pipeline"},
     {"pipeline_parallel_size", "pipeline"},
     {"dp_size", "data"},
     {"data_parallel", "data"},
     {"gradient_accumulation", "micro_batch"},
     {"gradient_accumulation_steps", "micro_batch"},
     {"optimizer", "optimizer_state"},
     {"pp", "pipeline"},
     {"dp", "data"},
     {"cp", "context"},
     {"ep", "expert"},
     {"etp", "expert_tensor"},
     {"vpp", "virtual"},
     {"vp", "virtual"},
     {"mbs", "micro_batch"},
     {"gbs", "global_batch"},
     {"batch_size", "global_batch"},
     {"seqlen", "sequence_length"},
     {"dtype", "precision"},
     {"zero", "sharding"},
     {"n_layers", "layers"},
     {"vocab_size", "vocabulary"},
     {"micro_batch_size", "micro_batch"},
     {"num_nodes", "cluster.nodes"},
     {"num_gpus", "cluster.nodes"},
     {"save_interval", "checkpoint.interval"},
     {"checkpoint_interval", "checkpoint.interval"}}};

/// What frameworks call words of ours. Source: ShardingStrategy of torch/distributed/fsdp/api.py;
/// DeepSpeed's stages; Megatron-LM's --use-distributed-optimizer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOtherWords{
    {{"fsdp", "zero3"},
     {"fsdp2", "zero3"},
     {"full_shard", "zero3"},
     {"hybrid_shard", "hsdp"},
     {"shard_grad_op", "zero2"},
     {"no_shard", "zero0"},
     {"ddp", "zero0"},
     {"distributed_optimizer", "zero1"},
     {"stage1", "zero1"},
     {"stage2", "zero2"},
     {"stage3", "zero3"}}};

std::vector<std::string> parts_of(std::string_view text, std::string_view marks) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (marks.find(c) != std::string_view::npos) {
      parts.emplace_back();
    } else {
      parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return parts;
}

/// "seq_length" for "sequence_length": as many words, each the beginning of the other's.
bool abbreviates(std::string_view text, std::string_view key) {
  const auto shorter = parts_of(text, "_");
  const auto whole = parts_of(key, "_");
  return shorter.size() == whole.size() && text != key &&
         std::equal(shorter.begin(), shorter.end(), whole.begin(),
                    [](const auto& a, const auto& b) { return !a.empty() && b.starts_with(a); });
}

/// Letters and digits of a name apart: "llama3-70b" is llama, 3, 70, b.
std::vector<std::string> tokens_of(std::string_view name) {
  std::vector<std::string> tokens;
  int last = 0;  // 0: a mark, 1: a letter, 2: a digit
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const int now = std::isdigit(byte) != 0 ? 2 : std::isalpha(byte) != 0 ? 1 : 0;
    if (now != 0 && now != last) {
      tokens.emplace_back();
    }
    if (now != 0) {
      tokens.back() += static_cast<char>(std::tolower(byte));
    }
    last = now;
  }
  return tokens;
}

bool has_all(std::vector<std::string> whole, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    const auto found = std::find(whole.begin(), whole.end(), part);
    const bool there = found != whole.end();
    if (there) {
      whole.erase(found);
    }
    return there;
  });
}

/// Whether each part is the beginning of one of the words, or near it: "h" and "10" begin "h" and
/// "100", "lama" is near "llama".
bool almost_all(const std::vector<std::string>& parts,
                const std::vector<std::string>& words,
                bool near) {
  constexpr std::size_t kShortest = 4;  // of what may be misspelt
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return (near && part.size() >= kShortest && core::did_you_mean(part, words)) ||
           std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return word.starts_with(part); });
  });
}

std::string did_you_mean_one_of(const std::vector<std::string>& names) {
  return fmt::format(
      "; did you mean {}{}?",
      fmt::join(names.begin(),
                names.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, names.size())), ", "),
      names.size() > kMost ? ", ..." : "");
}

void collect(const std::string& parent, const SpecType& type, std::vector<KeyPath>& keys) {
  for (const Field& field : type.fields) {
    KeyPath key{parent.empty() ? std::string(field.name) : fmt::format("{}.{}", parent, field.name),
                &field, type.name};
    keys.push_back(key);
    const SpecType* inner = field.type;
    while (inner->shape == Shape::optional || inner->shape == Shape::or_auto ||
           inner->shape == Shape::list) {
      key.path += inner->shape == Shape::list ? "[]" : "";
      inner = inner->element;
    }
    if (inner->shape == Shape::record) {
      collect(key.path, *inner, keys);
    }
  }
}

std::string_view name_of(const KeyPath& key) {
  return std::string_view(key.path).substr(key.path.rfind('.') + 1);
}

}  // namespace

const std::vector<KeyPath>& scenario_keys() {
  static const std::vector<KeyPath> keys = [] {
    std::vector<KeyPath> all;
    collect("", *find_kind("scenarios")->type, all);
    return all;
  }();
  return keys;
}

std::vector<KeyPath> find_keys(std::string_view text) {
  // An index of somebody's file stands for any.
  std::string asked;
  for (std::size_t at = 0; at < text.size(); ++at) {
    asked += text[at];
    if (text[at] == '[') {
      at = std::min(text.find(']', at), text.size()) - 1;
    }
  }
  std::vector<KeyPath> whole, ends;
  for (const KeyPath& key : scenario_keys()) {
    if (key.path == asked) {
      whole.push_back(key);
    } else if (name_of(key) == asked || key.path.ends_with("." + asked)) {
      ends.push_back(key);
    }
  }
  return whole.empty() ? ends : whole;
}

bool is_other_name(std::string_view key) {
  return std::ranges::any_of(kOtherNames, [&](const auto& pair) { return pair.first == key; });
}

std::string key_suggestion(std::string_view key, const SpecType& where) {
  std::vector<std::string> known{"use", "source"};
  for (const Field& field : where.fields) {
    known.emplace_back(field.name);
  }
  if (const auto near = core::did_you_mean(key, known)) {
    return fmt::format("; did you mean '{}'?", *near);
  }
  const auto other = std::find_if(kOtherNames.begin(), kOtherNames.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  for (const std::string& name : known) {
    if (abbreviates(key, name) || (other != kOtherNames.end() && other->second == name)) {
      return fmt::format("; did you mean '{}'?", name);
    }
  }
  std::vector<std::string> elsewhere;
  for (const KeyPath& path : scenario_keys()) {
    if (name_of(path) == key || abbreviates(key, name_of(path))) {
      elsewhere.push_back(path.path);
    }
  }
  if (elsewhere.empty() && other != kOtherNames.end()) {
    for (const KeyPath& path : find_keys(other->second)) {
      elsewhere.push_back(path.path);
    }
  }
  if (elsewhere.size() == 1 && elsewhere.front() == key) {
    return fmt::format("; only a scenario has it, at its top; known here are {}",
                       fmt::join(known.begin() + 2, known.end(), ", "));
  }
  std::erase(elsewhere, key);  // at the top of a scenario: what is written already
  return elsewhere.empty() ? "" : did_you_mean_one_of(elsewhere);
}

std::optional<std::string> word_suggestion(std::string_view word,
                                           const std::vector<std::string>& known) {
  const auto other = std::find_if(kOtherWords.begin(), kOtherWords.end(),
                                  [&](const auto& pair) { return pair.first == word; });
  if (other != kOtherWords.end() &&
      std::find(known.begin(), known.end(), other->second) != known.end()) {
    return std::string(other->second);
  }
  return core::did_you_mean(word, known);
}

namespace {

/// GPUs that are spoken of and have no entry, by what their names hold, and why.
struct LeftOut {
  std::array<std::string_view, 4> parts;
  std::string_view why;
};
/// As of November 2026. Vendors' pages that were looked for: product pages and data sheets.
constexpr std::array<LeftOut, 2> kLeftOut{{
    {{"rubin ultra", "rubin-ultra", "vr300", "nvl576"},
     "Rubin Ultra is left out: no page of its vendor was found that gives its dense 16-bit peak; "
     "`rubin` is the GPU of Vera Rubin NVL72, first called NVL144"},
    {{"mi430", "mi440", "mi450", "mi400"},
     "of the MI400 series only MI455X is there: no page of their vendor was found that gives the "
     "dense 16-bit peak of the others"},
}};

/// Other names of a machine, and what its entries are called by.
struct Nickname {
  std::string_view part, token;
};
constexpr std::array kNicknames = {Nickname{"rubin", "rubin"}, Nickname{"vr200", "rubin"},
                                   Nickname{"nvl144", "rubin"}, Nickname{"helios", "mi455x"}};

/// What to say of a name that is not forgotten but left out; empty: nothing.
std::string why_left_out(std::string_view name) {
  const std::string lower = core::lower_case(std::string(name));
  for (const LeftOut& gpus : kLeftOut) {
    if (std::any_of(gpus.parts.begin(), gpus.parts.end(),
                    [&](std::string_view part) { return lower.find(part) != std::string::npos; })) {
      return fmt::format(
          "; {}; whoever has its figures writes them into a file, as `headway catalog show gpus "
          "gb300` has them, and names that",
          gpus.why);
    }
  }
  return "";
}

}  // namespace

std::string entry_suggestion(std::string_view name, const std::vector<std::string>& known) {
  const auto tokens = tokens_of(name);
  const auto alike = [&](auto matches) {
    std::vector<std::string> entries;
    std::copy_if(
        known.begin(), known.end(), std::back_inserter(entries),
        [&](const std::string& entry) { return !tokens.empty() && matches(tokens_of(entry)); });
    return entries;
  };
  auto found = alike([&](const auto& words) { return has_all(words, tokens); });
  if (found.empty()) {
    if (std::string why = why_left_out(name); !why.empty()) {
      return why;
    }
    const std::string lower = core::lower_case(std::string(name));
    for (const auto& nickname : kNicknames) {
      if (found.empty() && lower.find(nickname.part) != std::string::npos) {
        found =
            alike([&](const auto& words) { return has_all(words, {std::string(nickname.token)}); });
      }
    }
  }
  if (found.empty()) {
    found = alike([&](const auto& words) { return almost_all(tokens, words, false); });
  }
  if (found.empty()) {
    if (const auto near = core::did_you_mean(name, known)) {
      found = {*near};
    }
  }
  if (found.empty()) {
    found = alike([&](const auto& words) { return almost_all(tokens, words, true); });
  }
  return found.empty()       ? ""
         : found.size() == 1 ? fmt::format("; did you mean '{}'?", found.front())
                             : did_you_mean_one_of(found);
}

}  // namespace headway::config
