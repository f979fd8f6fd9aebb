#include "sim/validation/words/network_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "sim/core/text.h"

namespace headway::validation {

namespace {

template <std::size_t kCount>
bool listed_in(const std::array<std::string_view, kCount>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Cuts a text from left to right.
class TokenCutter {
 public:
  explicit TokenCutter(const std::string& text) : text_(text) {}

  std::vector<NetworkToken> cut() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = is(at, std::isdigit)   ? cut_number(at)
                              : is(at, std::isalpha) ? cut_word(at)
                                                     : cut_mark(at);
      at = std::max(end, at + 1);
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool is(std::size_t at, int (*kind)(int)) const {
    return at < text_.size() && kind(static_cast<unsigned char>(text_[at])) != 0;
  }

  void add(NetworkToken token) {
    token.clause = clause_;
    token.inner = inner_;
    tokens_.push_back(std::move(token));
  }

  /// Three digits behind a comma and a unit behind them: "1,600 Gbps".
  [[nodiscard]] bool thousands(std::size_t begin, std::size_t at) const {
    constexpr std::size_t kGroup = 3;
    if (at - begin > kGroup || text_[at] != ',' || text_.find('.', begin) < at) {
      return false;
    }
    std::size_t end = at + 1;
    while (is(end, std::isdigit)) {
      ++end;
    }
    const std::size_t unit = std::min(text_.find_first_not_of(' ', end), text_.size());
    return end == at + 1 + kGroup && is(unit, std::isalpha);
  }

  std::size_t cut_number(std::size_t at) {
    std::string digits;
    std::size_t end = at;
    while (is(end, std::isdigit) ||
           (end < text_.size() &&
            ((text_[end] == '.' && is(end + 1, std::isdigit)) || thousands(at, end)))) {
      digits += text_[end] == ',' ? "" : text_.substr(end, 1);
      ++end;
    }
    NetworkToken token{digits, std::atof(digits.c_str()), true};
    token.glued = at > 0 && is(at - 1, std::isalpha);
    const bool second = at > 1 && text_[at - 1] == ':' && is(at - 2, std::isdigit);
    token.ratio = second || (end < text_.size() && text_[end] == ':' && is(end + 1, std::isdigit));
    add(std::move(token));
    return end;
  }

  std::size_t cut_word(std::size_t at) {
    std::size_t end = at;
    while (is(end, std::isalpha)) {
      ++end;
    }
    std::string word = text_.substr(at, end - at);
    NetworkToken token;
    token.volume = word == "GB" || word == "TB" || word == "GiB" || word == "TiB";
    for (const std::string_view second : {"/second", "/seconds", "/sec", "/s"}) {
      const bool here = core::lower_case(text_.substr(end, second.size())) == std::string(second) &&
                        !is(end + second.size(), std::isalpha);
      if (here) {
        end += second.size();
        word += "/s";
        token.volume = false;
      }
    }
    token.bytes = word.size() > 2 && word[1] == 'B' && (word[2] == '/' || word[2] == 'p');
    token.text = core::lower_case(word);
    const bool ends = token.text == "and" || token.text == "with" || token.text == "plus";
    if (ends) {
      ++clause_;
      inner_ = false;
    } else {
      add(std::move(token));
    }
    return end;
  }

  std::size_t cut_mark(std::size_t at) {
    constexpr std::string_view kEnds = ",;()[]&+|\n";
    constexpr std::string_view kTimes = "\xC3\x97";  // the sign of multiplication
    if (text_.compare(at, kTimes.size(), kTimes) == 0) {
      add({"x"});
      return at + kTimes.size();
    }
    if (text_[at] == '/') {
      add({"per"});
    } else if (text_[at] == '*') {
      add({"x"});
    } else if (kEnds.find(text_[at]) != std::string_view::npos) {
      ++clause_;
      inner_ = text_[at] == '(' || text_[at] == '[';
    }
    return at + 1;
  }

  const std::string& text_;
  std::vector<NetworkToken> tokens_;
  int clause_ = 0;
  bool inner_ = false;
};

}  // namespace

std::vector<NetworkToken> network_tokens(const std::string& text) {
  return TokenCutter(text).cut();
}

RateOf rate_of(const std::string& word) {
  static constexpr std::array<std::string_view, 27> kCards = {
      "edr",      "hdr", "ndr",       "xdr",        "fdr",   "qdr",  "path", "opa",   "ib",
      "omnipath", "efa", "ethernet",  "infiniband", "gbe",   "gige", "roce", "rocev", "slingshot",
      "connectx", "cx",  "bluefield", "tcpx",       "tcpxo", "rdma", "nic",  "nics",  "hca"};
  static constexpr std::array<std::string_view, 23> kElsewhere = {
      "nvlink", "nvswitch", "nvl",  "xgmi",    "infinity", "ram",       "memory",  "mem",
      "dram",   "ddr",      "hbm",  "ssd",     "nvme",     "disk",      "storage", "lustre",
      "intra",  "inside",   "weka", "scratch", "cpu",      "bisection", "flash"};
  static constexpr std::array<std::string_view, 9> kSwitches = {
      "leaf", "leaves", "leafs", "spine", "spines", "switch", "switches", "core", "tor"};
  return listed_in(kCards, word)       ? RateOf::cards
         : listed_in(kElsewhere, word) ? RateOf::elsewhere
         : listed_in(kSwitches, word)  ? RateOf::switches
         : word == "pcie"              ? RateOf::pcie
                                       : RateOf::nothing;
}

double gigabits(const NetworkToken& unit) {
  static constexpr std::array<std::string_view, 13> kGiga = {
      "g",     "gb",     "gbe",     "gige",   "gbps",    "gb/s",    "gbit",
      "gbits", "gbit/s", "gbits/s", "gbitps", "gigabit", "gigabits"};
  static constexpr std::array<std::string_view, 6> kTera = {"tb",   "tbps",   "tb/s",
                                                            "tbit", "tbit/s", "tbits/s"};
  const double bits = unit.bytes ? 8 : 1;
  return unit.is_number                ? 0
         : listed_in(kGiga, unit.text) ? bits
         : listed_in(kTera, unit.text) ? 1000 * bits
                                       : 0;
}

bool gpu_name(const std::vector<NetworkToken>& tokens, std::size_t at) {
  static constexpr std::array<std::string_view, 10> kLetters = {"a",  "b",  "h",  "v",   "l",
                                                                "gb", "gh", "mi", "rtx", "p"};
  constexpr double kLeast = 4;  // "l4"
  return at + 1 < tokens.size() && tokens[at + 1].is_number && tokens[at + 1].glued &&
         tokens[at + 1].number >= kLeast && listed_in(kLetters, tokens[at].text);
}

}  // namespace headway::validation
