// Words of a row's free texts: those that this program acts on, those that say nothing about a
// step, and the rest, which is not understood and told.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "sim/core/error.h"
#include "sim/core/shown_text.h"
#include "sim/core/text.h"
#include "sim/validation/run_parts.h"
#include "sim/validation/words/attention_words.h"
#include "sim/validation/words/layout_words.h"
#include "sim/validation/words/model_words.h"
#include "sim/validation/words/network_words.h"
#include "sim/validation/words/note_words.h"

namespace headway::validation {

namespace {

/// A column of free text: what may stand in it.
struct KnownWords {
  const char* column;
  std::string RunRow::*text;
  std::string_view words;  ///< beside numbers and words of one letter
};

/// Words that say nothing of their own in any column.
constexpr std::string_view kFiller =
    " about all also and arch are at by class data default domain each enabled every false for "
    "from "
    "in is it level likely local no node nodes none not of off on one only or other out page per "
    "playbook recipe reference rest restated st stated standard the to total true unverified use "
    "used verified whole with yes nd rd th ";

constexpr KnownWords kColumns[] = {
    {"network", &RunRow::network,
     " a100 across adapter adapters agg aggregate aggregation and aws azure b200 b300 bandwidth "
     "between bisection blocking bluefield card cards "
     "clos cluster compute connectx core cpu cpus cx5 cx6 cx7 cx8 cx9 ddr dgx dpu dram dual edr "
     "efa "
     "efav2 efav3 elastic eos epyc ethernet every external fabric factor fat gb gb200 gb300 gbe "
     "gbit "
     "gbits gbps gcp gcds gen gen3 gen4 gen5 gen6 gib gige gigabit "
     "gpu gpudirect gpus h100 h200 hbm hca hcas hdr hdr100 hdr200 hfi hgx host hosts hpe ib "
     "infiniband "
     "infinity inside inter interconnect internode intra intranode ip layer leaf leaves level "
     "machine management mellanox memory meta mlnx multi ndr ndr200 "
     "ndr400 network nic nics non nvidia nvl72 nvlink nvlink2 nvlink3 nvlink4 nvlink5 nvme "
     "nvswitch "
     "oci omni omnipath opa optimized oversubscribed oversubscription path pcie port ports quad "
     "quantum "
     "quantum2 rail rails ram ratio rdma roce roce2 rocev2 sec second selene server servers shared "
     "sharp "
     "single slingshot slingshot10 slingshot11 "
     "spectrum spine spines ssd storage superpod switch switches taper tapered tb tbit tbps tcp "
     "tcpx tcpxo tier "
     "tiers tomahawk4 topology tray tree two v2 v3 v4 v5 v6 within without x16 x8 x800 xdr xdr800 "
     "xeon xgmi "},
    {"recompute_detail", &RunRow::recompute_detail,
     " activation activations attention base bf16 block blocks checkpoint checkpointed "
     "checkpointing core core_attn cudnn_fmha custom element forward full fused half hfu input "
     "kernel layer layernorm layers matmul matmuls matrix maxtext mfu mla_up_proj mlp modules moe "
     "moe_act operator ops output outputs paxml products projections recompute recomputed remat "
     "save_dot_only saved second selective wise "},
    {"precision_detail", &RunRow::precision_detail,
     " bf16 blockwise cs current delayed dynamic e4m3 e5m2 eager fp16 fp32 fp8 gather gradients "
     "hand hybrid kernels mixed mx mxfp4 mxfp8 mxfp8_cublas mxfp8_cublas_rceil nvfp4 rowwise "
     "rowwise_with_gw_hp scaling subchannel tensor tensorwise triton weight weights written "},
    {"moe_routing", &RunRow::moe_routing,
     " aux auxiliary balance balanced capacity drop dropless dropped dropping expert experts "
     "factor force forced free loss padded padding random router routing token tokens top "
     "uniform "},
    {"cuda_graph", &RunRow::cuda_graph,
     " attn disabled full full_iteration moe moe_preprocess moe_router scope "
     "transformer_engine "}};

/// Of notes: words that something of the program acts on.
constexpr std::string_view kNoteWords =
    " a2a accumulation activation activations adafactor adam adam8bit adamw adamw8bit adapters "
    "aggregate aggregated allgather allocated allreduce alltoall attention attn bf16 bit bridge "
    "bubble cap capped checkpoint checkpointing checkpoints chunked clock clocked clocks cluster "
    "compile compiled contradict contradicts counted count cross data days decode deepep detail "
    "device dgx diloco dispatcher distillation dora downtime dpo entropy etp evaluation excluded "
    "excluding expert experts failures figure figures fine finetuning flash flop flops forward "
    "fp16 fp32 fp8 "
    "frozen ft fuse fused galore generation ghz gpu gpus gradient grpo hardware hfu hold host hour "
    "hours hybridep idle impossible incl include included includes including inconsistent "
    "inference "
    "interval kernels kto layers length limit limited lion loading locked lora loss machine "
    "measured megatron memory mfu mhz minute mlp model muon nemo number nvidia offload offloaded "
    "offloading optimizer orpo overlap packed packing padded padding parallel parameter peak peft "
    "per power ppo prefill projections qlora ramp rank rate recompute recomputed recomputation "
    "remat reported reserved restarts rlhf rloo samples sdpa sec second selective sequence "
    "sequences server serving sft shampoo simulated site sites smi soap speed states step steps "
    "straggler "
    "stragglers sum tensor tflop tflops than theoretical throttled throughput tiled time tok token "
    "tokens torch tuning unfused unpadded value varies variable varlen versus vs wan warm watts "
    "week weeks while xformers ";

bool listed(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

/// "8x200g", "400gbps", "24k": figures with their units, which are read as such or not at all.
bool figure(const std::string& word) {
  static constexpr std::array<std::string_view, 28> kUnits = {
      "",   "g",    "gb",   "gbe",     "gbps", "gbit", "gbits",  "gib", "gige", "t",
      "tb", "tbps", "tbit", "tib",     "k",    "m",    "b",      "x",   "w",    "nd",
      "rd", "st",   "th",   "gigabit", "ghz",  "bit",  "gbitps", "hz"};
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < word.size() && std::isdigit(static_cast<unsigned char>(word[at])) != 0) {
      ++at;
    }
    return at > begin;
  };
  if (!digits()) {
    return false;
  }
  while (at + 1 < word.size() && word[at] == 'x') {  // "8x2x200g", "1x128"
    const std::size_t before = at++;
    if (!digits()) {
      at = before;
      break;
    }
  }
  if (at < word.size() && word[at] == 'x') {
    // "8xhdr": the word behind the factor is a word of its own.
    return at + 1 == word.size();
  }
  return std::find(kUnits.begin(), kUnits.end(), word.substr(at)) != kUnits.end();
}

/// "8xndr": "ndr".
std::string without_factor(const std::string& word) {
  const std::size_t at = word.find_first_not_of("0123456789");
  const bool factor = at != std::string::npos && at > 0 && word[at] == 'x' &&
                      at + 1 < word.size() &&
                      std::isalpha(static_cast<unsigned char>(word[at + 1])) != 0;
  return factor ? word.substr(at + 1) : word;
}

/// The words of a text that no list has, one behind the other.
std::string unknown_words(const std::string& text, std::string_view known) {
  std::string unknown;
  std::string word;
  for (const char c : core::lower_case(text) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    word = without_factor(word);
    const bool rate = word.size() > 1 && word.front() == 'x' && figure(word.substr(1));
    if (word.size() > 1 && !rate && !figure(word) && !listed(known, word) &&
        !listed(kFiller, word)) {
      unknown += (unknown.empty() ? "" : " ") + word;
    }
    word.clear();
  }
  return unknown;
}

/// A column whose words were not all understood; one that is assumed for another reason is once
/// more.
void assume_words(Assumed& assumed, const std::string& column) {
  const bool already = std::find(assumed.begin(), assumed.end(), column) != assumed.end();
  assume(assumed, already ? "words of " + column : column);
}

void tell_unknown(const std::string& column,
                  const std::string& unknown,
                  std::vector<std::string>& doubts,
                  Assumed& assumed) {
  if (!unknown.empty()) {
    doubts.push_back(fmt::format("not understood in {}: {}", column, core::shortened(unknown)));
    assume_words(assumed, column);
  }
}

/// Tells what a reader did not understand, and what it took for something that is not modelled.
void tell(const char* column,
          const ReadCell& read,
          std::vector<std::string>& doubts,
          Assumed& assumed) {
  if (!read.nearness.empty()) {
    doubts.push_back(read.nearness);
  }
  tell_unknown(column, read.unknown, doubts, assumed);
}

/// The network between nodes, of a run that has several.
void tell_network(const RunRow& row,
                  std::string_view known,
                  std::vector<std::string>& doubts,
                  Assumed& assumed) {
  if (row.n_gpus.value_or(0) <= row.gpus_per_node.value_or(0)) {
    return;
  }
  NetworkWords words = network_words(row.network);
  const std::string unknown = unknown_words(words.rest, known);
  if (!unknown.empty()) {
    add_word(words.unknown, unknown);
  }
  if (words.instance.node[0] != '\0' && !instance_of(words, row.gpu)) {
    add_word(words.unknown, words.instance.text);  // of another GPU
  }
  tell("network", words, doubts, assumed);
}

/// Key and value heads that the words give and a column denies are told too.
void tell_attention(const RunRow& row, std::vector<std::string>& doubts, Assumed& assumed) {
  AttentionWords words;
  try {
    words = attention_words(row.attention);
  } catch (const core::Error&) {
    return;  // of a model whose name alone says its attention
  }
  tell("attention", words, doubts, assumed);
  const int heads = words.key_value_heads;
  if (heads > 0 && row.n_kv_heads && *row.n_kv_heads != heads) {
    doubts.push_back(fmt::format("attention says {} key and value heads, n_kv_heads {}", heads,
                                 *row.n_kv_heads));
    assume(assumed, "n_kv_heads");
  }
}

}  // namespace

std::vector<std::string> not_understood(const RunRow& row,
                                        const Catalogue& catalogue,
                                        Assumed& assumed) {
  std::vector<std::string> doubts;
  tell_unknown("gpu", unknown_gpu_words(row.gpu, catalogue), doubts, assumed);
  for (const KnownWords& column : kColumns) {
    if (column.text == &RunRow::network) {
      tell_network(row, column.words, doubts, assumed);
    } else {
      tell_unknown(column.column, unknown_words(row.*column.text, column.words), doubts, assumed);
    }
  }
  for (const AboutCell& about : row.abouts) {
    assume(assumed, about.column);
    if (!about.why.empty()) {
      doubts.push_back(about.why);
    }
  }
  if (const std::string unread = unknown_words(row.notes, kNoteWords); !unread.empty()) {
    doubts.push_back(fmt::format("notes: words not read ({}): {}",
                                 std::count(unread.begin(), unread.end(), ' ') + 1,
                                 core::shortened(unread)));
  }
  const TrainingWords training = training_words(row);
  tell("notes", training, doubts, assumed);
  if (training.packed) {
    assume(assumed, "documents");
    doubts.emplace_back("documents in a sequence are read as one");
  }
  for (const auto& [field, what] : note_words(row).told) {
    assume(assumed, field);
    if (std::find(doubts.begin(), doubts.end(), what) == doubts.end()) {
      doubts.push_back(what);
    }
  }
  tell_attention(row, doubts, assumed);
  tell("sharding", sharding_words(row.sharding), doubts, assumed);
  tell("recompute", recompute_words(row.recompute), doubts, assumed);
  if (!row.precision.empty()) {
    tell("precision", precision_words(row.precision), doubts, assumed);
  }
  return doubts;
}

}  // namespace headway::validation
