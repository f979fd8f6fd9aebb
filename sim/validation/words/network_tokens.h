// A source's words for its network as tokens: words, numbers, their clauses.
#pragma once

#include <string>
#include <vector>

namespace headway::validation {

/// What a rate may be of.
enum class RateOf { nothing, cards, elsewhere, pcie, switches };

/// Letters ("gb/s" is one word), or a number; "/" is "per" and "*" is "x".
struct NetworkToken {
  std::string text;
  double number = 0;
  bool is_number = false;
  bool glued = false;   ///< a number right behind letters: "hdr200", "a100"
  bool ratio = false;   ///< one of the two numbers of "1:4"
  bool bytes = false;   ///< "GB/s", which small letters do not tell from bits
  bool volume = false;  ///< "GB"
  int clause = 0;       ///< between commas and brackets
  bool inner = false;   ///< of a clause in brackets
};

std::vector<NetworkToken> network_tokens(const std::string& text);

/// What a word is of: "hdr", "nvlink", "pcie", "leaf".
RateOf rate_of(const std::string& word);

/// Gbps of one of this unit; 0: it is none.
double gigabits(const NetworkToken& unit);

/// Whether a token is the first of a GPU's name: "a100", "gb200".
bool gpu_name(const std::vector<NetworkToken>& tokens, std::size_t at);

}  // namespace headway::validation
