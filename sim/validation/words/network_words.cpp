#include "sim/validation/words/network_words.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/core/text.h"
#include "sim/validation/run_row.h"
#include "sim/validation/words/network_tokens.h"

namespace headway::validation {

namespace {

bool among(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool generation(const std::string& word) {
  return among(word, {"edr", "hdr", "ndr", "xdr", "path", "opa", "omnipath", "ib", "infiniband"});
}

bool card(const std::string& word) {
  return among(word, {"nic", "nics", "card", "cards", "hca", "hcas", "hfi", "hfis", "adapter",
                      "adapters", "rail", "rails"});
}

bool accelerator(const std::string& word) {
  return among(word, {"gpu", "gpus", "gcd", "gcds", "accelerator", "accelerators"});
}

bool machine(const std::string& word) {
  return among(word, {"node", "nodes", "server", "servers", "host", "hosts", "machine"});
}

/// What a number counts that is no card's.
bool counted(const std::string& word) {
  return accelerator(word) || machine(word) ||
         among(word, {"rack", "racks", "cluster", "switch", "job", "site", "zone", "pod", "layer",
                      "layers", "level", "tier", "tiers", "stage", "k", "m"});
}

/// Rate of a card of the generation that words in small letters name [Gbps]; 0: none.
/// Source: InfiniBand Trade Association, InfiniBand roadmap (4 lanes); HPE Slingshot 10 and 11, 100
/// and 200 Gbps a port; Intel Omni-Path Architecture, product brief, 2016, 100 Gbps.
double generation_rate(const std::string& words) {
  static constexpr std::pair<const char*, double> kRates[] = {
      {"hdr100", 100},       {"hdr-100", 100},      {"ndr200", 200},      {"ndr-200", 200},
      {"xdr", 800},          {"ndr", 400},          {"hdr", 200},         {"edr", 100},
      {"connectx-8", 800},   {"connectx-7", 400},   {"connectx-6", 200},  {"connectx-5", 100},
      {"slingshot-11", 200}, {"slingshot 11", 200}, {"slingshot11", 200}, {"slingshot-10", 100},
      {"slingshot 10", 100}, {"slingshot10", 100},  {"omni-path", 100},   {"omni path", 100},
      {"omnipath", 100}};
  for (const auto& [word, rate] : kRates) {
    if (has_word(words, word)) {  // "Andromeda" has no NDR
      return rate;
    }
  }
  return has_word(words, "opa") ? 100 : 0;
}

/// Reads the tokens of a cell from left to right.
class NetworkReader {
 public:
  explicit NetworkReader(const std::string& cell)
      : words_(core::lower_case(cell)),
        tokens_(network_tokens(cell)),
        fastest_(fastest_card(cell)) {}

  NetworkWords read() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (i > 0 && tokens_[i].clause != tokens_[i - 1].clause) {
        end_clause(i - 1, tokens_[i].inner);
      }
      if (tokens_[i].is_number) {
        read_number(i);
      } else {
        read_word(i);
      }
    }
    if (!tokens_.empty()) {
      end_clause(tokens_.size() - 1, false);
    }
    settle();
    return out_;
  }

 private:
  [[nodiscard]] std::string word(std::size_t at) const {
    return at < tokens_.size() && !tokens_[at].is_number ? tokens_[at].text : "";
  }
  [[nodiscard]] bool together(std::size_t a, std::size_t b) const {
    return b < tokens_.size() && tokens_[a].clause == tokens_[b].clause;
  }
  /// Also where one is in brackets behind the other.
  [[nodiscard]] bool near(std::size_t a, std::size_t b) const {
    return together(a, b) ||
           (b < tokens_.size() && tokens_[b].inner && tokens_[b].clause == tokens_[a].clause + 1);
  }

  /// What stands without a figure, and what the whole cell names.
  void settle() {
    if (out_.card_gigabits <= 0 && out_.node_gigabits <= 0) {
      const double named = generation_rate(words_);
      out_.card_gigabits = named > 0 ? named : ports_;
      slow_ = slow_ || (named <= 0 && ports_ > 0 && ports_ < kCardOfAGpu);
    }
    const bool ethernet = has_word(words_, "ethernet") || has_word(words_, "gbe") ||
                          has_word(words_, "gige") || has_word(words_, "tcp") || slow_;
    const bool cards = generation_rate(words_) > 0 || contains(words_, "infiniband") ||
                       contains(words_, "roce") || has_word(words_, "ib");
    if (out_.count == 0 && out_.cards_a_gpu <= 0 && ethernet && !cards && out_.node_gigabits <= 0) {
      out_.count = 1;
    }
    if (has_word(words_, "tcp")) {
      out_.nearness = "network: TCP is read as a transport that asks nothing of the CPUs";
    }
    if (oversubscribed_ && out_.oversubscription <= 0 && !above_) {
      tell("oversubscription");
    }
  }

  void tell(const std::string& text) { add_word(out_.unknown, text); }

  /// A factor that no rate followed: "4x HDR". Of what else the clause names: nothing.
  void end_clause(std::size_t last, bool inner_follows) {
    if (inner_follows || !times_) {
      return;
    }
    bool cards = false;
    for (std::size_t i = last + 1; i-- > 0 && together(i, last);) {
      cards = cards || rate_of(tokens_[i].text) == RateOf::cards || card(tokens_[i].text);
    }
    if (cards && out_.count == 0) {
      out_.count = *times_;
      const double named = generation_rate(words_);
      const bool together_so = named * out_.count == out_.card_gigabits;  // "800 Gb/s (4x HDR)"
      out_.card_gigabits = together_so ? named : out_.card_gigabits;
    }
    times_.reset();
  }

  /// The nearest word of the clause that says what a rate is of; in brackets, of what they follow.
  [[nodiscard]] RateOf subject(std::size_t at) const {
    RateOf found = RateOf::nothing;
    std::size_t distance = tokens_.size();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::size_t off = i < at ? at - i : i - at;
      RateOf of = tokens_[i].is_number ? RateOf::nothing : rate_of(tokens_[i].text);
      if (card(tokens_[i].text) && i > 0) {
        of = rate_of(tokens_[i - 1].text) == RateOf::pcie ? RateOf::pcie : RateOf::cards;
      }
      if (together(i, at) && of != RateOf::nothing && off < distance) {
        found = of;
        distance = off;
      }
    }
    if (found != RateOf::nothing || !tokens_[at].inner) {
      return found;
    }
    for (std::size_t i = at; i-- > 0;) {
      const RateOf of = rate_of(tokens_[i].text);
      if (of != RateOf::nothing && tokens_[i].clause + 1 == tokens_[at].clause) {
        return of;
      }
    }
    return RateOf::nothing;
  }

  void read_word(std::size_t i) {
    const std::string& text = tokens_[i].text;
    const int count = among(text, {"single", "one"}) ? 1
                      : text == "dual"               ? 2
                      : text == "quad"               ? 4
                                                     : 0;
    if (count > 0 && !counted(word(i + 1)) && !read_count(i, count)) {
      out_.count = out_.count > 0 ? out_.count : count;
    }
    if (gigabits(tokens_[i]) > 0 && text.starts_with("gigabit") &&
        !(i > 0 && tokens_[i - 1].is_number)) {
      add_rate(1, i);  // "gigabit Ethernet"
    }
    if (text.starts_with("oversubscri")) {
      const auto denied = [&](std::size_t back) {
        return i >= back && among(word(i - back), {"no", "non", "not", "without"});
      };
      oversubscribed_ = oversubscribed_ || !(denied(1) || denied(2));
    }
    // Between pods of a fabric is above what a row's fabric has.
    above_ = above_ || among(text, {"agg", "aggregation", "core", "superspine"});
  }

  void read_number(std::size_t i) {
    const double number = tokens_[i].number;
    const std::string before = i > 0 ? word(i - 1) : "";
    const std::string next = word(i + 1);
    const double unit = i + 1 < tokens_.size() && together(i, i + 1) ? gigabits(tokens_[i + 1]) : 0;
    if (tokens_[i].ratio) {
      read_ratio(i);
    } else if (of_oversubscription(i)) {
      set_oversubscription(number, i);
    } else if (version(i, before)) {
      return;
    } else if (next == "x" && i + 2 < tokens_.size()) {
      if (!other_thing(i + 2)) {
        multiply(number);
      }
    } else if ((tokens_[i].glued && before != "x" && !generation(before)) || counted(next)) {
      return;  // of a name: "a100", "cx7"; or of something else
    } else if (unit <= 0 && read_count(i, number)) {
      return;
    } else if (before == "x" && !times_ && unit <= 0) {
      out_.count = std::max(1, static_cast<int>(std::min(number, kMostCards)));
    } else if (unit > 0) {
      read_rate(number * unit, i);
    } else if ((generation(before) || before == "x" || before == "efa") && number >= kSlowestCard) {
      add_rate(number, i);
    } else if (times_ && before == "x") {
      multiply(number);
    } else if (number >= kSlowestCard && !per_something(i)) {
      tell(tokens_[i].text);
    }
  }

  /// Of a generation ("PCIe 4.0", "Gen 3"), or lanes ("PCIe x16").
  [[nodiscard]] bool version(std::size_t i, const std::string& before) const {
    const RateOf of = rate_of(before);
    const bool lanes = before == "x" && tokens_[i].glued && subject(i) == RateOf::pcie;
    const bool of_a_name = among(before, {"connectx", "bluefield", "slingshot", "quantum"}) &&
                           tokens_[i].number < kSlowestCard;  // "BlueField-3 NICs"
    return lanes || of_a_name || before == "gen" || of == RateOf::pcie ||
           (of == RateOf::elsewhere && tokens_[i].glued);
  }

  [[nodiscard]] bool per_something(std::size_t i) const {
    return i > 0 && among(word(i - 1), {"per", "each", "every"});
  }

  /// Whether what a factor counts is no card: "8x A100", "2x8 GPUs", "4x oversubscription".
  [[nodiscard]] bool other_thing(std::size_t at) const {
    while (among(word(at), {"nvidia", "amd", "intel", "tesla"})) {
      ++at;
    }
    const bool numbers = at < tokens_.size() && tokens_[at].is_number && counted(word(at + 1));
    return numbers || counted(word(at)) || gpu_name(tokens_, at) ||
           among(word(at), {"xeon", "epyc", "cpu", "cpus", "cores"}) ||
           word(at).starts_with("oversubscri");
  }

  /// Cards by factors, up to what no node has.
  void multiply(double factor) {
    times_ = static_cast<int>(std::clamp(times_.value_or(1) * std::floor(factor), 1.0, kMostCards));
  }

  /// GPUs for each of which the words behind say that something is, 0: none; and whether of a node.
  struct Per {
    double gpus = 0;
    bool node = false;
  };
  [[nodiscard]] Per per(std::size_t after) const {
    Per out;
    for (std::size_t i = after; i < std::min(after + 5, tokens_.size()); ++i) {
      const bool shared = word(i) == "by" && word(i - 1) == "shared";
      if (!near(after - 1, i) || !(shared || among(word(i), {"per", "each", "every", "a"}))) {
        continue;
      }
      const bool number = i + 1 < tokens_.size() && tokens_[i + 1].is_number;
      const std::size_t what = number ? i + 2 : i + 1;
      out.node = out.node || (!number && machine(word(what)));
      if (accelerator(word(what))) {
        out.gpus = number ? std::max(1.0, tokens_[i + 1].number) : 1;
      }
    }
    return out;
  }

  /// "4 NICs", "1 HDR NIC per 4 GPUs". Whether cards are what is counted.
  bool read_count(std::size_t i, double number) {
    constexpr std::size_t kFar = 6;
    if (!(number >= 1) || number > kMostCards || !(number == std::floor(number))) {
      return false;
    }
    for (std::size_t at = i + 1; at < std::min(i + kFar, tokens_.size()) && together(i, at); ++at) {
      if (card(word(at))) {
        const double gpus = per(at + 1).gpus;
        out_.cards_a_gpu = gpus > 0 ? number / gpus : out_.cards_a_gpu;
        out_.count = gpus > 0 ? out_.count : static_cast<int>(number);
        return true;
      }
      if (at == i + 1 && among(word(at), {"connectx", "bluefield"}) && number < kSlowestCard) {
        out_.count = static_cast<int>(number);  // "4 ConnectX-6 HDR"
        return true;
      }
      const bool describes = tokens_[at].is_number || gigabits(tokens_[at]) > 0 ||
                             rate_of(word(at)) == RateOf::cards ||
                             among(word(at), {"port", "omni", "mellanox", "nvidia"});
      if (!describes || word(at) == "x") {
        return false;
      }
    }
    return false;
  }

  /// A figure with a unit: of cards, or of what is no card's and is left.
  void read_rate(double rate, std::size_t i) {
    const NetworkToken& unit = tokens_[i + 1];
    const RateOf of = subject(i);
    const bool memory = unit.volume && of != RateOf::cards;
    if (memory && of == RateOf::nothing && !beside_gpu(i)) {
      tell(tokens_[i].text + " " + unit.text);
    } else if (memory || of == RateOf::elsewhere || (of == RateOf::pcie && unit.bytes) ||
               (unit.text == "gb" && i > 1 && gpu_name(tokens_, i - 2))) {
      return;
    } else if (of == RateOf::switches) {
      ports_ = rate <= fastest_ ? std::max(ports_, rate) : ports_;
    } else {
      add_rate(rate, i + 1);
    }
  }

  [[nodiscard]] bool beside_gpu(std::size_t at) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (together(i, at) && (gpu_name(tokens_, i) || accelerator(word(i)))) {
        return true;
      }
    }
    return false;
  }

  /// A rate, of what the words behind it say.
  /// @param last  token of the rate's number or its unit
  void add_rate(double rate, std::size_t last) {
    const Per each = per(last + 1);
    const bool efa = has_word(words_, "efa") || contains(words_, "efav");
    const bool of_card = times_ || each.gpus > 0;
    if (!(rate > 0) || rate > (of_card ? fastest_ : kMostOfNode * fastest_)) {
      tell(tokens_[last].is_number ? tokens_[last].text
                                   : tokens_[last - 1].text + " " + tokens_[last].text);
      times_.reset();
      return;
    }
    if (times_) {
      add_cards(*times_, rate, each.gpus);
      times_.reset();
    } else if (out_.card_gigabits > 0 && out_.count > 0) {
      return;  // said already: "4x HDR-200" beside "800 Gb/s per node"
    } else if (each.node || tera(last) || efa || rate > fastest_) {
      out_.node_gigabits = rate;
    } else {
      out_.card_gigabits = std::max(out_.card_gigabits, rate);
      out_.cards_a_gpu =
          each.gpus > 0 ? std::max(out_.cards_a_gpu, 1 / each.gpus) : out_.cards_a_gpu;
      slow_ = slow_ || rate < kCardOfAGpu;
    }
  }

  [[nodiscard]] bool tera(std::size_t unit) const { return gigabits(tokens_[unit]) >= 1000; }

  /// "8x200G", of a node, or of so many GPUs: "4x NDR-400 per 4-GPU tray", "2x 200G per GPU".
  void add_cards(int times, double rate, double gpus) {
    constexpr int kMostOfGpu = 2;  // "8x200 Gb/s per GPU" counts the node's
    if (times * rate <= out_.count * out_.card_gigabits) {
      return;
    }
    const bool of_gpus = gpus > 1 || (gpus > 0 && times <= kMostOfGpu);
    out_.cards_a_gpu = of_gpus ? times / gpus : 0;
    out_.count = of_gpus ? 0 : times;
    out_.card_gigabits = rate;
    out_.node_gigabits = 0;
  }

  /// "1:4": how much less goes up than comes in.
  void read_ratio(std::size_t i) {
    if (i + 1 >= tokens_.size() || !tokens_[i + 1].ratio || tokens_[i + 1].number <= 0 ||
        tokens_[i].number <= 0) {
      return;  // its second number
    }
    const double a = tokens_[i].number;
    const double b = tokens_[i + 1].number;
    set_oversubscription(std::max(a, b) / std::min(a, b), i);
  }

  /// "4x oversubscription", "oversubscription factor 4".
  [[nodiscard]] bool of_oversubscription(std::size_t i) const {
    const std::size_t behind = word(i + 1) == "x" ? i + 2 : i + 1;
    bool named = together(i, behind) && word(behind).starts_with("oversubscri");
    for (std::size_t at = i > 3 ? i - 3 : 0; at < i; ++at) {
      named = named || (together(at, i) && word(at).starts_with("oversubscri"));
    }
    const bool rate = i + 1 < tokens_.size() && gigabits(tokens_[i + 1]) > 0;
    return named && !rate && tokens_[i].number < kSlowestCard;
  }

  [[nodiscard]] bool oversubscribed_here(std::size_t i) const {
    bool here = false;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      here = here || (together(at, i) && word(at).starts_with("oversubscri"));
    }
    return here;
  }

  void set_oversubscription(double ratio, std::size_t i) {
    // No published fabric has half of it; what is said of one in so many words is meant.
    const double most = oversubscribed_here(i) ? 1000 : 64;
    bool other = false;  // "1:2 NIC:GPU"
    bool above = false;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string text = word(at);
      other = other || (together(at, i) && accelerator(text));
      above = above || (together(at, i) && among(text, {"agg", "aggregation", "core"}));
    }
    if (ratio < 1 || ratio > most || other) {
      tell(tokens_[i].text + (tokens_[i].ratio ? ":" + tokens_[i + 1].text : ""));
    } else if (!above) {
      out_.oversubscription = std::max(out_.oversubscription, ratio);
    }
  }

  static constexpr double kSlowestCard = 25;  ///< Gbps; smaller numbers without a unit are no rate
  static constexpr double kCardOfAGpu = 200;  ///< Gbps; slower ones alone are of the node
  static constexpr double kMostCards = 64;    ///< of a node: 32 on EFA
  static constexpr double kMostOfNode = 16;   ///< of a node's rate over a card's: p6, 16 of 400

  std::string words_;
  std::vector<NetworkToken> tokens_;
  double fastest_;
  NetworkWords out_;
  std::optional<int> times_;     ///< "8x", "8x2x" before a rate
  double ports_ = 0;             ///< of switches [Gbps]
  bool slow_ = false;            ///< a rate that no machine has for each GPU
  bool oversubscribed_ = false;  ///< named, and not denied
  bool above_ = false;           ///< of switches above the spines
};

}  // namespace

double fastest_card(const std::string& cell) {
  // ConnectX-9, of Vera Rubin, has 1,600 Gbps (NVIDIA, 2026); all before it at most 800.
  const std::string words = core::lower_case(cell);
  const bool ninth = contains_any(words, std::array{"connectx-9", "connectx 9", "cx9", "cx-9"}) ||
                     has_word(words, "rubin");
  return ninth ? 1600 : 800;
}

NetworkWords network_words(const std::string& cell) {
  constexpr std::size_t kMost = 1000;  // characters; the longest of 1,471 published cells has 110
  // Half of a number is another number.
  const std::size_t end =
      cell.size() > kMost ? std::min(kMost, cell.find_last_of(" \t\n", kMost)) : cell.size();
  const WithoutInstances without = without_instances(cell.substr(0, end));
  NetworkWords out = NetworkReader(without.text).read();
  out.rest = without.text;
  if (cell.size() > kMost) {
    add_word(out.unknown, "all behind its first thousand characters");
  }
  for (const InstanceName& name : without.names) {
    if (name.node[0] != '\0' && out.instance.node[0] == '\0') {
      out.instance = name;
    } else if (name.node[0] == '\0' || std::string(name.node) != out.instance.node) {
      add_word(out.unknown, name.text);
    }
  }
  return out;
}

bool instance_of(const NetworkWords& words, const std::string& gpu) {
  const std::string there = core::lower_case(gpu);
  return words.instance.node[0] != '\0' &&
         (contains(there, words.instance.gpu) || contains(there, words.instance.text));
}

double cards_of_node(const NetworkWords& words, int gpus) {
  return words.count > 0         ? words.count
         : words.cards_a_gpu > 0 ? std::max(1.0, std::floor(words.cards_a_gpu * gpus + 0.5))
                                 : 0;
}

}  // namespace headway::validation
