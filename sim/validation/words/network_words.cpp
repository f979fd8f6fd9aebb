#include "sim/validation/words/network_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "sim/core/text.h"
#include "sim/validation/run_row.h"

namespace headway::validation {

namespace {

/// Letters with a slash between them ("gb/s"), or a number.
struct NetworkToken {
  std::string text;
  double number = 0;
  bool is_number = false;
  bool glued = false;  ///< a number right behind letters: "hdr200", "a100"
};

/// "GB/s" and "GBps" are bytes, which small letters do not tell from bits.
std::string unit_of(const std::string& word) {
  const bool bytes = word.size() > 1 && word[1] == 'B' && word.find_first_of("/p") == 2;
  return bytes ? "bytes of " + core::lower_case(word) : core::lower_case(word);
}

std::vector<NetworkToken> tokens_of(const std::string& text) {
  const auto is = [&](std::size_t at, int (*kind)(int)) {
    return at < text.size() && kind(static_cast<unsigned char>(text[at])) != 0;
  };
  std::vector<NetworkToken> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (is(at, std::isdigit)) {
      while (is(end, std::isdigit) || (text[end] == '.' && is(end + 1, std::isdigit))) {
        ++end;
      }
      const std::string digits = text.substr(at, end - at);
      tokens.push_back(
          {digits, std::atof(digits.c_str()), true, at > 0 && is(at - 1, std::isalpha)});
    } else if (is(at, std::isalpha)) {
      while (is(end, std::isalpha) ||
             (end < text.size() && text[end] == '/' && end > at && is(end + 1, std::isalpha))) {
        ++end;
      }
      tokens.push_back({unit_of(text.substr(at, end - at))});
    }
    at = std::max(end, at + 1);
  }
  return tokens;
}

/// Gbps of one of this unit; 0: it is none.
double gigabits(const std::string& unit) {
  static constexpr std::array<std::string_view, 9> kGiga = {
      "g", "gb", "gbe", "gbps", "gb/s", "gbit", "gbits", "gbit/s", "gib"};
  static constexpr std::array<std::string_view, 4> kTera = {"tbps", "tb/s", "tbit", "tbit/s"};
  const bool bytes = unit.starts_with("bytes of ");
  const std::string word = bytes ? unit.substr(9) : unit;
  const double bits = bytes ? 8 : 1;
  return std::find(kGiga.begin(), kGiga.end(), word) != kGiga.end()   ? bits
         : std::find(kTera.begin(), kTera.end(), word) != kTera.end() ? 1000 * bits
                                                                      : 0;
}

bool among(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool generation(const std::string& word) {
  return among(word, {"edr", "hdr", "ndr", "xdr", "path", "opa", "ib", "infiniband"});
}

bool card(const std::string& word) {
  return among(word, {"nic", "nics", "card", "cards", "hca", "hcas", "adapter", "adapters"});
}

/// Rate of a card of the generation that words in small letters name [Gbps]; 0: none.
/// Source: InfiniBand Trade Association, InfiniBand roadmap (4 lanes); HPE Slingshot 11, 200 Gbps a
/// port.
double generation_rate(const std::string& words) {
  static constexpr std::pair<const char*, double> kRates[] = {
      {"hdr100", 100},       {"hdr-100", 100},     {"ndr200", 200},     {"ndr-200", 200},
      {"xdr", 800},          {"ndr", 400},         {"hdr", 200},        {"edr", 100},
      {"connectx-8", 800},   {"connectx-7", 400},  {"connectx-6", 200}, {"connectx-5", 100},
      {"slingshot-11", 200}, {"slingshot 11", 200}};
  for (const auto& [word, rate] : kRates) {
    if (contains(words, word)) {
      return rate;
    }
  }
  return 0;
}

/// Reads the tokens of a cell from left to right.
class NetworkReader {
 public:
  explicit NetworkReader(const std::string& cell)
      : words_(core::lower_case(cell)), tokens_(tokens_of(cell)) {}

  NetworkWords read() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].is_number) {
        read_number(i);
      } else {
        read_word(i);
      }
    }
    if (out_.card_gigabits <= 0 && out_.node_gigabits <= 0) {
      out_.card_gigabits = generation_rate(words_);
    }
    const bool ethernet =
        has_word(words_, "ethernet") || has_word(words_, "gbe") || has_word(words_, "tcp") || slow_;
    const bool cards = generation_rate(words_) > 0 || contains(words_, "infiniband") ||
                       contains(words_, "roce") || has_word(words_, "ib");
    if (out_.count == 0 && !out_.card_a_gpu && ethernet && !cards && out_.node_gigabits <= 0) {
      out_.count = 1;
    }
    if (has_word(words_, "tcp")) {
      out_.nearness = "network: TCP is read as a transport that asks nothing of the CPUs";
    }
    return out_;
  }

 private:
  [[nodiscard]] std::string word(std::size_t at) const {
    return at < tokens_.size() && !tokens_[at].is_number ? tokens_[at].text : "";
  }

  void read_word(std::size_t i) {
    const std::string& text = tokens_[i].text;
    const int count = among(text, {"single", "one"}) ? 1
                      : text == "dual"               ? 2
                      : text == "quad"               ? 4
                                                     : 0;
    if (count > 0 && !among(word(i + 1), {"node", "nodes", "gpu", "rack"})) {
      out_.count = out_.count > 0 ? out_.count : count;
    }
  }

  void read_number(std::size_t i) {
    const double number = tokens_[i].number;
    const std::string before = i > 0 ? word(i - 1) : "";
    const std::string next = word(i + 1);
    if (next == "x" && i + 2 < tokens_.size()) {
      multiply(number);
    } else if (tokens_[i].glued && before != "x" && !generation(before)) {
      return;  // of a name: "a100", "cx7"
    } else if (card(next) || (before == "x" && times_ == 1 && gigabits(next) <= 0)) {
      out_.count = std::max(1, static_cast<int>(std::min(number, 1e6)));
    } else if (gigabits(next) > 0) {
      add_rate(number * gigabits(next), i + 2, gigabits(next) >= 1000);
    } else if ((generation(before) || before == "x") && number >= kSlowestCard) {
      add_rate(number, i + 1, false);
    } else if (has_word(words_, "efa") && before == "efa" && number >= kSlowestCard) {
      add_rate(number, i + 1, true);
    } else if (times_ > 1 && before == "x") {
      multiply(number);
    }
  }

  /// Cards by factors, up to what no node has.
  void multiply(double factor) {
    constexpr double kMostCards = 1e6;
    times_ = static_cast<int>(std::clamp(times_ * std::floor(factor), 1.0, kMostCards));
  }

  /// A rate, of what the words behind it say.
  /// @param after  token behind it and its unit
  void add_rate(double rate, std::size_t after, bool whole_node) {
    constexpr double kMostGigabits = 1e6;  // a thousand times a card of today
    if (!(rate > 0) || rate > kMostGigabits) {
      return;  // no network's
    }
    bool per_node = false;
    bool per_gpu = false;
    for (std::size_t i = after; i < std::min(after + 5, tokens_.size()); ++i) {
      const bool per = among(word(i), {"per", "each", "a"});
      per_node = per_node || (per && among(word(i + 1), {"node", "server", "host", "machine"}));
      per_gpu = per_gpu || (per && among(word(i + 1), {"gpu", "gcd", "accelerator"}));
    }
    if (times_ > 1 || first_factor(after)) {
      if (times_ * rate > out_.count * out_.card_gigabits) {
        out_.count = times_;
        out_.card_gigabits = rate;
        out_.node_gigabits = 0;
      }
      times_ = 1;
    } else if (out_.card_gigabits > 0 && out_.count > 0) {
      return;  // said already: "4x HDR-200" beside "800 Gb/s per node"
    } else if (per_node || whole_node || has_word(words_, "efa")) {
      out_.node_gigabits = rate;
    } else {
      out_.card_gigabits = std::max(out_.card_gigabits, rate);
      out_.card_a_gpu = out_.card_a_gpu || per_gpu;
      slow_ = slow_ || rate < kCardOfAGpu;
    }
  }

  /// Whether the rate is the end of "1x HDR100".
  [[nodiscard]] bool first_factor(std::size_t after) const {
    for (std::size_t i = 0; i + 1 < std::min(after, tokens_.size()); ++i) {
      if (tokens_[i].is_number && tokens_[i].number == 1 && word(i + 1) == "x") {
        return true;
      }
    }
    return false;
  }

  static constexpr double kSlowestCard = 25;  ///< Gbps; smaller numbers without a unit are no rate
  static constexpr double kCardOfAGpu = 200;  ///< Gbps; slower ones alone are of the node

  std::string words_;
  std::vector<NetworkToken> tokens_;
  NetworkWords out_;
  int times_ = 1;      ///< "8x", "8x2x" before a rate
  bool slow_ = false;  ///< a rate that no machine has for each GPU
};

}  // namespace

NetworkWords network_words(const std::string& cell) { return NetworkReader(cell).read(); }

}  // namespace headway::validation
