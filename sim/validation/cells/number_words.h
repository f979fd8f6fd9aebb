// Numbers as tables write them: "4,096", "4k", "~64", "4M tokens", "8192 (packed)", "2500 tok/s".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::validation {

/// What the words beside a number say that it counts.
enum class NumberOf {
  tokens,
  sequences,
  packed,   ///< sequences that documents are packed into
  per_gpu,  ///< of each GPU
  gpus,
  nodes,
  per_replica,
  replicas,
  minutes,
  heads,
  gate,  ///< an MLP with a gate
  no_gate,
  seconds,  ///< or a rate, behind "per"
  step,     ///< of one step
  tflops,
  parameters
};

/// A number in words.
struct NumberWords {
  double value = 0;
  bool about = false;        ///< "~64", "about 64", "3.15M"
  bool scaled = false;       ///< with k, M or B
  std::vector<NumberOf> of;  ///< what its words say
  double spread = 0;         ///< half a range over its middle: "4000-5000", "340 +/- 5"
  std::string beside;        ///< what stands in brackets behind it
  std::string told;          ///< what of the cell is read otherwise than it stands; empty: nothing
  double beside_tokens = 0;  ///< "512 sequences (2M tokens)": the tokens in brackets; 0: none
  [[nodiscard]] bool counts(NumberOf what) const;
};

/// What k and M are: 1,024 and its square where that is a whole number ("4M tokens"), or 1,000.
enum class Thousands { binary, decimal };

/// Nothing where a cell is a plain number, or is none.
std::optional<NumberWords> number_words(const std::string& cell,
                                        Thousands thousands = Thousands::binary);

/// The words of a cell of a column of counts; nothing where it is a plain number, is none, or says
/// something that the column does not count.
std::optional<NumberWords> count_words(std::string_view column, const std::string& cell);
/// The same of a column of figures, which have thousands of 1,000.
std::optional<NumberWords> figure_words(std::string_view column, const std::string& cell);

}  // namespace headway::validation
