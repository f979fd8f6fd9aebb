#include "sim/validation/names/column_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace headway::validation {

namespace {

struct ColumnName {
  std::string_view other;  ///< letters and digits, small
  std::string_view column;
};

/// Source: arguments of Megatron-LM and NeMo, config.json of transformers, tables of papers. A word
/// that may be two columns ("batch_size") is none of them.
constexpr ColumnName kColumnNames[] = {{"gpus", "n_gpus"},
                                       {"numgpus", "n_gpus"},
                                       {"ngpu", "n_gpus"},
                                       {"worldsize", "n_gpus"},
                                       {"gpuspernode", "gpus_per_node"},
                                       {"gputype", "gpu"},
                                       {"framework", "era"},
                                       {"software", "era"},
                                       {"modelname", "model"},
                                       {"layers", "n_layers"},
                                       {"numlayers", "n_layers"},
                                       {"numhiddenlayers", "n_layers"},
                                       {"hidden", "d_model"},
                                       {"hiddensize", "d_model"},
                                       {"hiddendim", "d_model"},
                                       {"dmodel", "d_model"},
                                       {"heads", "n_heads"},
                                       {"numheads", "n_heads"},
                                       {"numattentionheads", "n_heads"},
                                       {"kvheads", "n_kv_heads"},
                                       {"numkvheads", "n_kv_heads"},
                                       {"numkeyvalueheads", "n_kv_heads"},
                                       {"numquerygroups", "n_kv_heads"},
                                       {"ffn", "d_ffn"},
                                       {"ffnhiddensize", "d_ffn"},
                                       {"ffndim", "d_ffn"},
                                       {"intermediatesize", "d_ffn"},
                                       {"vocabsize", "vocab"},
                                       {"seqlength", "seq_len"},
                                       {"sequencelength", "seq_len"},
                                       {"contextlength", "seq_len"},
                                       {"numexperts", "n_experts"},
                                       {"experts", "n_experts"},
                                       {"gbs", "global_batch"},
                                       {"globalbatchsize", "global_batch"},
                                       {"mbs", "micro_batch"},
                                       {"microbatchsize", "micro_batch"},
                                       {"tensorparallel", "tp"},
                                       {"tensorparallelsize", "tp"},
                                       {"pipelineparallel", "pp"},
                                       {"pipelineparallelsize", "pp"},
                                       {"contextparallel", "cp"},
                                       {"contextparallelsize", "cp"},
                                       {"expertparallel", "ep"},
                                       {"expertparallelsize", "ep"},
                                       {"dataparallel", "dp"},
                                       {"dataparallelsize", "dp"},
                                       {"dtype", "precision"},
                                       {"parametersb", "params_b"},
                                       {"paramsb", "params_b"},
                                       {"tokenssgpu", "measured_tokens_per_s_per_gpu"},
                                       {"toksgpu", "measured_tokens_per_s_per_gpu"},
                                       {"tokensperspergpu", "measured_tokens_per_s_per_gpu"},
                                       {"tokenspersecpergpu", "measured_tokens_per_s_per_gpu"},
                                       {"tokenspersecondpergpu", "measured_tokens_per_s_per_gpu"},
                                       {"tokenspergpupersecond", "measured_tokens_per_s_per_gpu"},
                                       {"tgs", "measured_tokens_per_s_per_gpu"},
                                       {"tflopsgpu", "tflops_per_gpu"},
                                       {"tflopspergpu", "tflops_per_gpu"},
                                       {"steptime", "step_time_s"},
                                       {"steptimes", "step_time_s"}};

/// Letters and digits, small.
std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    out += std::isalnum(letter) != 0 ? std::string(1, static_cast<char>(std::tolower(letter))) : "";
  }
  return out;
}

bool means(const std::string& written, std::string_view column) {
  const std::string name = plain(written);
  return name == plain(column) ||
         std::any_of(std::begin(kColumnNames), std::end(kColumnNames),
                     [&](const auto& each) { return each.other == name && each.column == column; });
}

}  // namespace

std::string column_in(const std::vector<std::string>& header, std::string_view column) {
  if (std::find(header.begin(), header.end(), column) != header.end()) {
    return std::string(column);
  }
  const auto found = std::find_if(header.begin(), header.end(),
                                  [&](const auto& written) { return means(written, column); });
  return found == header.end() ? "" : *found;
}

}  // namespace headway::validation
