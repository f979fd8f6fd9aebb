#include "sim/validation/words/attention_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "sim/core/error.h"

namespace headway::validation {

namespace {

using workload::ContextKind;

enum class AttentionSays {
  nothing,
  equal,
  grouped,
  single,
  latent,
  heads,        ///< keys and values
  query_heads,  ///< or heads of either kind
  width,        ///< of a head
  window,
  whole,  ///< layers without a window
  alternating,
  every,
  of,
  ending,  ///< of an ordinal, or "layers"
  rotary,
  alibi,
  ring,
  all_gather,
  all_to_all,
  unfused,
  fused,
  own_kernel  ///< of the software's makers
};

struct AttentionPhrase {
  std::string_view phrase;
  AttentionSays says;
};

constexpr AttentionPhrase kAttentionPhrases[] = {{"mha", AttentionSays::equal},
                                                 {"multihead", AttentionSays::equal},
                                                 {"multiheadattention", AttentionSays::equal},
                                                 {"gqa", AttentionSays::grouped},
                                                 {"groupedquery", AttentionSays::grouped},
                                                 {"groupquery", AttentionSays::grouped},
                                                 {"multigroup", AttentionSays::grouped},
                                                 {"mqa", AttentionSays::single},
                                                 {"multiquery", AttentionSays::single},
                                                 {"mla", AttentionSays::latent},
                                                 {"latent", AttentionSays::latent},
                                                 {"multilatent", AttentionSays::latent},
                                                 {"multiheadlatent", AttentionSays::latent},
                                                 {"group", AttentionSays::heads},
                                                 {"groups", AttentionSays::heads},
                                                 {"head", AttentionSays::query_heads},
                                                 {"heads", AttentionSays::query_heads},
                                                 {"queryheads", AttentionSays::query_heads},
                                                 {"headdim", AttentionSays::width},
                                                 {"headdimension", AttentionSays::width},
                                                 {"dim", AttentionSays::width},
                                                 {"kv", AttentionSays::heads},
                                                 {"kvheads", AttentionSays::heads},
                                                 {"window", AttentionSays::window},
                                                 {"windowed", AttentionSays::window},
                                                 {"windows", AttentionSays::window},
                                                 {"sliding", AttentionSays::window},
                                                 {"slidingwindow", AttentionSays::window},
                                                 {"swa", AttentionSays::window},
                                                 {"local", AttentionSays::window},
                                                 {"global", AttentionSays::whole},
                                                 {"full", AttentionSays::whole},
                                                 {"alternating", AttentionSays::alternating},
                                                 {"alternate", AttentionSays::alternating},
                                                 {"everyother", AttentionSays::alternating},
                                                 {"interleaved", AttentionSays::alternating},
                                                 {"every", AttentionSays::every},
                                                 {"each", AttentionSays::every},
                                                 {"of", AttentionSays::of},
                                                 {"layer", AttentionSays::ending},
                                                 {"layers", AttentionSays::ending},
                                                 {"nd", AttentionSays::ending},
                                                 {"rd", AttentionSays::ending},
                                                 {"st", AttentionSays::ending},
                                                 {"th", AttentionSays::ending},
                                                 {"rope", AttentionSays::rotary},
                                                 {"rotary", AttentionSays::rotary},
                                                 {"alibi", AttentionSays::alibi},
                                                 {"ring", AttentionSays::ring},
                                                 {"ringattention", AttentionSays::ring},
                                                 {"allgather", AttentionSays::all_gather},
                                                 {"ulysses", AttentionSays::all_to_all},
                                                 {"alltoall", AttentionSays::all_to_all},
                                                 {"eager", AttentionSays::unfused},
                                                 {"unfused", AttentionSays::unfused},
                                                 {"naive", AttentionSays::unfused},
                                                 {"math", AttentionSays::unfused},
                                                 {"vanilla", AttentionSays::unfused},
                                                 {"triton", AttentionSays::own_kernel},
                                                 {"xpos", AttentionSays::rotary},
                                                 {"all", AttentionSays::nothing},
                                                 {"and", AttentionSays::nothing},
                                                 {"attention", AttentionSays::nothing},
                                                 {"attn", AttentionSays::nothing},
                                                 {"causal", AttentionSays::nothing},
                                                 {"cudnn", AttentionSays::nothing},
                                                 {"dense", AttentionSays::nothing},
                                                 {"dpa", AttentionSays::nothing},
                                                 {"efficient", AttentionSays::nothing},
                                                 {"fa2", AttentionSays::fused},
                                                 {"fa3", AttentionSays::fused},
                                                 {"flash", AttentionSays::fused},
                                                 {"flash2", AttentionSays::fused},
                                                 {"flash3", AttentionSays::fused},
                                                 {"flashattention", AttentionSays::fused},
                                                 {"flashattention2", AttentionSays::fused},
                                                 {"flashattention3", AttentionSays::fused},
                                                 {"flashattn", AttentionSays::fused},
                                                 {"flashattn2", AttentionSays::fused},
                                                 {"flashattn3", AttentionSays::fused},
                                                 {"flex", AttentionSays::nothing},
                                                 {"flexattention", AttentionSays::nothing},
                                                 {"in", AttentionSays::nothing},
                                                 {"memory", AttentionSays::nothing},
                                                 {"multi", AttentionSays::nothing},
                                                 {"on", AttentionSays::nothing},
                                                 {"per", AttentionSays::nothing},
                                                 {"query", AttentionSays::nothing},
                                                 {"sdpa", AttentionSays::nothing},
                                                 {"self", AttentionSays::nothing},
                                                 {"softmax", AttentionSays::nothing},
                                                 {"standard", AttentionSays::nothing},
                                                 {"te", AttentionSays::nothing},
                                                 {"the", AttentionSays::nothing},
                                                 {"tokens", AttentionSays::nothing},
                                                 {"with", AttentionSays::nothing},
                                                 {"xformers", AttentionSays::nothing}};

/// Reads the words of a cell from left to right.
class AttentionReader {
 public:
  explicit AttentionReader(const std::string& cell) : cell_(cell), denied_(all_denied(cell)) {
    static const std::vector<std::string_view> known = phrases_of(kAttentionPhrases);
    words_ = read_words(undenied_cell(cell), known);
  }

  AttentionWords read() {
    bool known = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      known = known || words_[i].phrase;
      if (words_[i].number) {
        read_number(i);
      } else if (words_[i].phrase) {
        read_phrase(says(i));
      } else if (words_[i].text.size() > 1) {
        add_word(out_.unknown, words_[i].text);
      }
    }
    if (!known) {
      throw core::Error("unmodelled: attention '" + cell_ + "'");
    }
    settle_window();
    out_.equal = equal_ && !grouped_ && !out_.single && !out_.latent;
    return out_;
  }

 private:
  [[nodiscard]] AttentionSays says(std::size_t at) const {
    return at < words_.size() && words_[at].phrase ? kAttentionPhrases[*words_[at].phrase].says
                                                   : AttentionSays::nothing;
  }
  [[nodiscard]] int number(std::size_t at) const {
    return at < words_.size() ? words_[at].number.value_or(0) : 0;
  }

  void read_phrase(AttentionSays what) {
    switch (what) {
      case AttentionSays::equal:
        equal_ = true;
        break;
      case AttentionSays::grouped:
        grouped_ = true;
        break;
      case AttentionSays::single:
        out_.single = true;
        break;
      case AttentionSays::latent:
        out_.latent = true;
        break;
      case AttentionSays::window:
        windowed_ = true;
        break;
      case AttentionSays::alternating:
        out_.period = 2;
        break;
      case AttentionSays::rotary:
        out_.rotary = true;
        break;
      case AttentionSays::alibi:
        out_.rotary = false;
        break;
      case AttentionSays::ring:
        out_.context = ContextKind::ring;
        break;
      case AttentionSays::all_gather:
        out_.context = ContextKind::all_gather;
        break;
      case AttentionSays::all_to_all:
        out_.context = ContextKind::all_to_all;
        break;
      case AttentionSays::unfused:
        out_.kernels = workload::AttentionKernels::unfused;
        break;
      case AttentionSays::own_kernel:
        out_.nearness = "attention: a kernel in Triton is read as the software's usual one";
        break;
      case AttentionSays::fused:
        if (denied_) {
          out_.kernels = workload::AttentionKernels::unfused;
        }
        break;
      case AttentionSays::whole:
      case AttentionSays::heads:
      case AttentionSays::query_heads:
      case AttentionSays::width:
      case AttentionSays::every:
      case AttentionSays::of:
      case AttentionSays::ending:
      case AttentionSays::nothing:
        break;
    }
    before_ = what == AttentionSays::window || what == AttentionSays::whole ? what : before_;
  }

  void read_number(std::size_t i) {
    constexpr int kLeastWindow = 64;
    const int value = number(i);
    const AttentionSays previous = i > 0 ? says(i - 1) : AttentionSays::nothing;
    if (previous == AttentionSays::every) {
      every(value, i);
    } else if (says(i + 1) == AttentionSays::of && number(i + 2) > 0) {
      share(value, number(i + 2));
    } else if (previous == AttentionSays::of || (i > 0 && words_[i - 1].number && ratio_)) {
      return;  // read with the number before it
    } else if (previous == AttentionSays::width ||
               (says(i + 1) == AttentionSays::width && previous != AttentionSays::window)) {
      return;  // the column head_dim
    } else if (says(i + 1) == AttentionSays::heads || previous == AttentionSays::grouped) {
      out_.key_value_heads = value;
    } else if (says(i + 1) == AttentionSays::query_heads) {
      return;  // the column n_heads
    } else if (value >= kLeastWindow && out_.window == 0 && says(i + 1) != AttentionSays::ending) {
      out_.window = value;
    } else if (number(i + 1) > 0 && number(i + 1) < kLeastWindow) {
      ratio_ = true;
      share(std::max(value, number(i + 1)), value + number(i + 1));
    } else {
      add_word(out_.unknown, words_[i].text);
    }
  }

  /// "window every 2nd layer", "global every 6th layer", "every 6th layer full": of what stands
  /// next to these words, else of what was named last.
  /// @param at  the number
  void every(int period, std::size_t at) {
    std::size_t after = at + 1;
    while (says(after) == AttentionSays::ending) {
      ++after;
    }
    const auto kind = [](AttentionSays what) {
      return what == AttentionSays::window || what == AttentionSays::whole;
    };
    const AttentionSays before = at > 1 ? says(at - 2) : AttentionSays::nothing;
    const AttentionSays meant = kind(before) ? before : kind(says(after)) ? says(after) : before_;
    share(meant == AttentionSays::whole ? period - 1 : 1, period);
  }

  /// So many of so many layers have the window.
  void share(int windowed, int layers) {
    const int common = std::max(1, std::gcd(windowed, layers));
    const int full = (layers - windowed) / common;
    if (layers < 1 || windowed < 1 || windowed > layers || full > 1) {
      throw core::Error(fmt::format("unmodelled: attention '{}' (a window on {} of {} layers)",
                                    cell_, windowed, layers));
    }
    out_.period = full == 0 ? 1 : layers / common;
    shared_ = true;
  }

  void settle_window() {
    if (!windowed_) {
      out_.window = 0;
      out_.period = 1;
      return;
    }
    if (out_.window < 1) {
      throw core::Error("unmodelled: attention '" + cell_ +
                        "' (the window's tokens are not stated)");
    }
    const bool both = std::any_of(words_.begin(), words_.end(),
                                  [](const CellWord& word) { return word.text == "global"; });
    if (both && out_.period == 1 && !shared_) {
      throw core::Error("unmodelled: attention '" + cell_ +
                        "' (how many layers have the window is not stated)");
    }
  }

  std::string cell_;
  bool denied_;  ///< "no FlashAttention"
  std::vector<CellWord> words_;
  AttentionWords out_;
  AttentionSays before_ = AttentionSays::nothing;  ///< the last of window and whole
  bool equal_ = false, grouped_ = false, windowed_ = false;
  bool ratio_ = false;   ///< "5:1" was read
  bool shared_ = false;  ///< which layers have the window is stated
};

}  // namespace

AttentionWords attention_words(const std::string& cell) {
  return cell.empty() ? AttentionWords{} : AttentionReader(cell).read();
}

}  // namespace headway::validation
