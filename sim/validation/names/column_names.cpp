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
constexpr ColumnName kColumnNames[] = {
    {"gpus", "n_gpus"},
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
    {"steptimes", "step_time_s"},
    {"numgpu", "n_gpus"},
    {"numofgpus", "n_gpus"},
    {"numberofgpus", "n_gpus"},
    {"gpucount", "n_gpus"},
    {"totalgpus", "n_gpus"},
    {"numdevices", "n_gpus"},
    {"worldsizegpus", "n_gpus"},
    {"nodes", "n_nodes"},
    {"numnodes", "n_nodes"},
    {"numofnodes", "n_nodes"},
    {"numberofnodes", "n_nodes"},
    {"nodecount", "n_nodes"},
    {"accelerator", "gpu"},
    {"hardware", "gpu"},
    {"gpumodel", "gpu"},
    {"gpuname", "gpu"},
    {"params", "params_b"},
    {"parameters", "params_b"},
    {"modelsize", "params_b"},
    {"numparams", "params_b"},
    {"nparams", "params_b"},
    {"paramsbillion", "params_b"},
    {"parameterscount", "params_b"},
    {"numparameters", "params_b"},
    {"perdevicetrainbatchsize", "micro_batch"},
    {"perdevicebatchsize", "micro_batch"},
    {"perdevicebatch", "micro_batch"},
    {"batchsizepergpu", "micro_batch"},
    {"batchsizeperdevice", "micro_batch"},
    {"gradientaccumulationsteps", "grad_accumulation"},
    {"gradientaccumulation", "grad_accumulation"},
    {"gradaccum", "grad_accumulation"},
    {"gradaccumsteps", "grad_accumulation"},
    {"gradaccumulationsteps", "grad_accumulation"},
    {"numaccumulationsteps", "grad_accumulation"},
    {"ga", "grad_accumulation"},
    {"gas", "grad_accumulation"},
    {"seq", "seq_len"},
    {"context", "seq_len"},
    {"contextsize", "seq_len"},
    {"contextwindow", "seq_len"},
    {"blocksize", "seq_len"},
    {"maxseqlen", "seq_len"},
    {"maxseqlength", "seq_len"},
    {"sequence", "seq_len"},
    {"ctx", "seq_len"},
    {"ctxlen", "seq_len"},
    {"zerostage", "sharding"},
    {"zero", "sharding"},
    {"shardingstrategy", "sharding"},
    {"activationcheckpointing", "recompute"},
    {"activationrecomputation", "recompute"},
    {"activationrecompute", "recompute"},
    {"gradientcheckpointing", "recompute"},
    {"recomputation", "recompute"},
    {"actckpt", "recompute"},
    {"ac", "recompute"},
    {"nlayer", "n_layers"},
    {"layercount", "n_layers"},
    {"numberoflayers", "n_layers"},
    {"nhead", "n_heads"},
    {"attentionheads", "n_heads"},
    {"nembd", "d_model"},
    {"dim", "d_model"},
    {"embeddim", "d_model"},
    {"hiddenwidth", "d_model"},
    {"moeroutertopk", "top_k"},
    {"numexpertspertok", "top_k"},
    {"numlocalexperts", "n_experts"},
    {"nexpert", "n_experts"},
    {"tokenssecgpu", "measured_tokens_per_s_per_gpu"},
    {"toksecgpu", "measured_tokens_per_s_per_gpu"},
    {"tokensgpus", "measured_tokens_per_s_per_gpu"},
    {"tokensgpusec", "measured_tokens_per_s_per_gpu"},
    {"tokgpus", "measured_tokens_per_s_per_gpu"},
    {"tokenspersecondperdevice", "measured_tokens_per_s_per_gpu"},
    {"tokenspersecperdevice", "measured_tokens_per_s_per_gpu"},
    {"tokenssdevice", "measured_tokens_per_s_per_gpu"},
    {"tokpspergpu", "measured_tokens_per_s_per_gpu"},
    {"tpspergpu", "measured_tokens_per_s_per_gpu"},
    {"tokenspergpupersec", "measured_tokens_per_s_per_gpu"},
    {"tokenspersecondgpu", "measured_tokens_per_s_per_gpu"},
    {"throughputpergpu", "measured_tokens_per_s_per_gpu"},
    {"tpsgpu", "measured_tokens_per_s_per_gpu"},
    {"tokenss", "tokens_per_s"},
    {"tokenssec", "tokens_per_s"},
    {"tokenssecond", "tokens_per_s"},
    {"tokenspersec", "tokens_per_s"},
    {"tokenspersecond", "tokens_per_s"},
    {"toks", "tokens_per_s"},
    {"toksec", "tokens_per_s"},
    {"tps", "tokens_per_s"},
    {"tokensps", "tokens_per_s"},
    {"totaltokenss", "tokens_per_s"},
    {"totaltokenspersecond", "tokens_per_s"},
    {"globaltokenspersecond", "tokens_per_s"},
    {"sampless", "samples_per_s"},
    {"samplessec", "samples_per_s"},
    {"samplespersec", "samples_per_s"},
    {"samplespersecond", "samples_per_s"},
    {"sequencess", "samples_per_s"},
    {"sequencespersecond", "samples_per_s"},
    {"seqs", "samples_per_s"},
    {"seqssec", "samples_per_s"},
    {"seqspersec", "samples_per_s"},
    {"trainsamplespersecond", "samples_per_s"},
    {"samplessgpu", "samples_per_s_per_gpu"},
    {"samplessecgpu", "samples_per_s_per_gpu"},
    {"samplespersecondpergpu", "samples_per_s_per_gpu"},
    {"sequencessgpu", "samples_per_s_per_gpu"},
    {"samplesgpus", "samples_per_s_per_gpu"},
    {"its", "steps_per_s"},
    {"itss", "steps_per_s"},
    {"itsec", "steps_per_s"},
    {"iters", "steps_per_s"},
    {"iterss", "steps_per_s"},
    {"iterations", "steps_per_s"},
    {"itpers", "steps_per_s"},
    {"itspers", "steps_per_s"},
    {"iterspersec", "steps_per_s"},
    {"iterationspersecond", "steps_per_s"},
    {"iterationss", "steps_per_s"},
    {"stepss", "steps_per_s"},
    {"stepssec", "steps_per_s"},
    {"stepspersec", "steps_per_s"},
    {"stepspersecond", "steps_per_s"},
    {"trainstepspersecond", "steps_per_s"},
    {"sit", "step_time_s"},
    {"siter", "step_time_s"},
    {"sstep", "step_time_s"},
    {"secit", "step_time_s"},
    {"secstep", "step_time_s"},
    {"seciter", "step_time_s"},
    {"secondsit", "step_time_s"},
    {"secondsstep", "step_time_s"},
    {"secperit", "step_time_s"},
    {"secperstep", "step_time_s"},
    {"secperiter", "step_time_s"},
    {"secondsperstep", "step_time_s"},
    {"secondsperiteration", "step_time_s"},
    {"steptimesec", "step_time_s"},
    {"steptimesecs", "step_time_s"},
    {"steptimeseconds", "step_time_s"},
    {"iterationtime", "step_time_s"},
    {"iterationtimes", "step_time_s"},
    {"itertime", "step_time_s"},
    {"itertimes", "step_time_s"},
    {"iterationtimesec", "step_time_s"},
    {"iterationtimeseconds", "step_time_s"},
    {"timeperstep", "step_time_s"},
    {"timeperiteration", "step_time_s"},
    {"timeperiterations", "step_time_s"},
    {"timepersteps", "step_time_s"},
    {"msit", "step_time_ms"},
    {"msiter", "step_time_ms"},
    {"msstep", "step_time_ms"},
    {"msperit", "step_time_ms"},
    {"msperiter", "step_time_ms"},
    {"msperstep", "step_time_ms"},
    {"iterationtimems", "step_time_ms"},
    {"itertimems", "step_time_ms"},
    {"elapsedtimeperiterationms", "step_time_ms"},
    {"timeperstepms", "step_time_ms"},
    {"timeperiterationms", "step_time_ms"},
    {"tflops", "tflops_per_gpu"},
    {"tflopss", "tflops_per_gpu"},
    {"tflopsdevice", "tflops_per_gpu"},
    {"tflopssgpu", "tflops_per_gpu"},
    {"tflopsperdevice", "tflops_per_gpu"},
    {"modeltflopsgpu", "tflops_per_gpu"},
    {"modeltflops", "tflops_per_gpu"},
    {"modeltflopspergpu", "tflops_per_gpu"},
    {"hardwaretflopsgpu", "tflops_per_gpu"},
    {"hardwaretflops", "tflops_per_gpu"},
    {"tflopsgpus", "tflops_per_gpu"},
    {"tflopspersecondpergpu", "tflops_per_gpu"},
    {"teraflopspergpu", "tflops_per_gpu"},
    {"achievedtflops", "tflops_per_gpu"},
    {"achievedtflopsgpu", "tflops_per_gpu"},
    {"modelflopsutilization", "mfu"},
    {"modelflopsutilisation", "mfu"},
    {"mfupercent", "mfu"},
    {"hardwareflopsutilization", "hfu"},
    {"hfupercent", "hfu"},
    {"gpuh", "gpu_hours"},
    {"trainingtimegpuhours", "gpu_hours"},
    {"gpuhourstotal", "gpu_hours"},
    {"tokens", "trained_tokens"},
    {"trainingtokens", "trained_tokens"},
    {"tokenstrained", "trained_tokens"},
    {"totaltokens", "trained_tokens"},
    {"numtokens", "trained_tokens"},
    {"traintokens", "trained_tokens"},
    {"ntokens", "trained_tokens"},
    {"yearofrun", "year"}};

/// Names that may be either of two columns: told, and not read.
struct EitherColumn {
  std::string_view other, either, or_else;
};
constexpr EitherColumn kEitherColumns[] = {{"batchsize", "global_batch", "micro_batch"},
                                           {"batch", "global_batch", "micro_batch"},
                                           {"bs", "global_batch", "micro_batch"},
                                           {"hiddendim", "d_model", "d_ffn"},
                                           {"system", "gpu", "software"},
                                           {"throughput", "tokens/s/GPU", "tokens/s"},
                                           {"speed", "tokens/s/GPU", "tokens/s"},
                                           {"time", "step_time_s", "days of a whole run"}};

/// Words that stand before the name of a figure: "train/tokens_per_second", "Throughput (it/s)".
constexpr std::string_view kBeforeFigures[] = {"training", "train", "throughput", "average",
                                               "avg",      "mean",  "measured"};

/// Letters and digits, small; "#" counts.
std::string plain(std::string_view name) {
  std::string out = name.starts_with('#') ? "num" : "";
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    out += std::isalnum(letter) != 0 ? std::string(1, static_cast<char>(std::tolower(letter))) : "";
  }
  return out;
}

bool is_name(const std::string& name, std::string_view column) {
  return name == plain(column) ||
         std::any_of(std::begin(kColumnNames), std::end(kColumnNames),
                     [&](const auto& each) { return each.other == name && each.column == column; });
}

}  // namespace

std::string columns_of_either(const std::string& written) {
  const std::string name = plain(written);
  for (const auto& [other, either, or_else] : kEitherColumns) {
    if (name == other) {
      return std::string(either) + " or " + std::string(or_else);
    }
  }
  return "";
}

bool means_column(const std::string& written, std::string_view column) {
  std::string name = plain(written);
  if (is_name(name, column)) {
    return true;
  }
  const bool either = !columns_of_either(written).empty();
  for (const std::string_view word : kBeforeFigures) {
    const bool before = name.starts_with(word) && name.size() > word.size();
    name = before && !either ? name.substr(word.size()) : name;
  }
  return is_name(name, column);
}

std::string column_in(const std::vector<std::string>& header, std::string_view column) {
  if (std::find(header.begin(), header.end(), column) != header.end()) {
    return std::string(column);
  }
  const auto found = std::find_if(header.begin(), header.end(), [&](const auto& written) {
    return means_column(written, column);
  });
  return found == header.end() ? "" : *found;
}

}  // namespace headway::validation
