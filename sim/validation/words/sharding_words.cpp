// Words of the column `sharding`.
#include <algorithm>
#include <fmt/format.h>

#include "sim/core/error.h"
#include "sim/validation/words/layout_words.h"

namespace headway::validation {

namespace {

using workload::Sharding;

/// What a phrase says. `replicated` and `sharded` are families that a stage beside them refines.
enum class ShardingSays {
  nothing,
  zero0,
  zero1,
  zero2,
  zero3,
  hsdp,
  hsdp_kept,
  replicated,
  sharded,
  sharded_in_groups,  ///< SageMaker's: a number beside it is the ranks of one copy
  stage_open,
  dimensions,       ///< how many kinds of parallelism meet; none is ZeRO's
  plugin_of_zero1,  ///< Colossal-AI's of tensor and pipeline parallelism
  offload,
  zero_offload,
  degree,
  compressed,
  host_weights
};

struct ShardingPhrase {
  std::string_view phrase;
  ShardingSays says;
  const char* column = nullptr;  ///< of a degree
};

constexpr ShardingPhrase kShardingPhrases[] = {
    {"zero0", ShardingSays::zero0},
    {"stage0", ShardingSays::zero0},
    {"zerostage0", ShardingSays::zero0},
    {"none", ShardingSays::zero0},
    {"no", ShardingSays::zero0},
    {"noshard", ShardingSays::zero0},
    {"nosharding", ShardingSays::zero0},
    {"unsharded", ShardingSays::zero0},
    {"zero1", ShardingSays::zero1},
    {"stage1", ShardingSays::zero1},
    {"zerostage1", ShardingSays::zero1},
    {"optimizer", ShardingSays::zero1},
    {"optimizerstate", ShardingSays::zero1},
    {"optimizerstates", ShardingSays::zero1},
    {"shardedoptimizer", ShardingSays::zero1},
    {"distopt", ShardingSays::zero1},
    {"distributedoptimizer", ShardingSays::zero1},
    {"zero2", ShardingSays::zero2},
    {"stage2", ShardingSays::zero2},
    {"zerostage2", ShardingSays::zero2},
    {"shardgradop", ShardingSays::zero2},
    {"zero3", ShardingSays::zero3},
    {"stage3", ShardingSays::zero3},
    {"zerostage3", ShardingSays::zero3},
    {"fullshard", ShardingSays::zero3},
    {"fullysharded", ShardingSays::zero3},
    {"hsdp", ShardingSays::hsdp},
    {"hybrid", ShardingSays::hsdp},
    {"hybridshard", ShardingSays::hsdp},
    {"hybridsharding", ShardingSays::hsdp},
    {"mics", ShardingSays::hsdp},
    {"hybridshardzero2", ShardingSays::hsdp_kept},
    {"dp", ShardingSays::replicated},
    {"ddp", ShardingSays::replicated},
    {"dataparallel", ShardingSays::replicated},
    {"dataparallelism", ShardingSays::replicated},
    {"distributeddataparallel", ShardingSays::replicated},
    {"replicated", ShardingSays::replicated},
    {"fsdp", ShardingSays::sharded},
    {"fsdp1", ShardingSays::sharded},
    {"fsdp2", ShardingSays::sharded},
    {"fullyshardeddataparallel", ShardingSays::sharded},
    {"fullyshard", ShardingSays::sharded},  // FSDP2's function
    {"shardedddp", ShardingSays::zero2},    // fairscale's
    {"shardeddataparallel", ShardingSays::sharded_in_groups},
    {"shardeddataparallelism", ShardingSays::sharded_in_groups},
    {"sdp", ShardingSays::sharded_in_groups},
    {"os", ShardingSays::zero1},  // optimizer's states, gradients and parameters of ZeRO's paper
    {"pos", ShardingSays::zero1},
    {"osg", ShardingSays::zero2},
    {"posg", ShardingSays::zero2},
    {"osgp", ShardingSays::zero3},
    {"posgp", ShardingSays::zero3},
    {"z1", ShardingSays::zero1},
    {"z2", ShardingSays::zero2},
    {"z3", ShardingSays::zero3},
    {"2d", ShardingSays::dimensions},
    {"3d", ShardingSays::dimensions},
    {"4d", ShardingSays::dimensions},
    {"5d", ShardingSays::dimensions},
    {"hybridparallel", ShardingSays::plugin_of_zero1},
    {"hybridparallelplugin", ShardingSays::plugin_of_zero1},
    {"zero", ShardingSays::stage_open},
    {"zerodp", ShardingSays::stage_open},
    {"offload", ShardingSays::offload},
    {"offloading", ShardingSays::offload},
    {"offloaded", ShardingSays::offload},
    {"cpuoffload", ShardingSays::offload},
    {"cpu", ShardingSays::offload},
    {"optimizeroffload", ShardingSays::offload},
    {"offloadoptimizer", ShardingSays::offload},
    {"optimizercpuoffload", ShardingSays::offload},
    {"zerooffload", ShardingSays::zero_offload},
    {"tp", ShardingSays::degree, "tp"},
    {"tensorparallel", ShardingSays::degree, "tp"},
    {"tensorparallelism", ShardingSays::degree, "tp"},
    {"pp", ShardingSays::degree, "pp"},
    {"pipelineparallel", ShardingSays::degree, "pp"},
    {"pipelineparallelism", ShardingSays::degree, "pp"},
    {"cp", ShardingSays::degree, "cp"},
    {"contextparallel", ShardingSays::degree, "cp"},
    {"ep", ShardingSays::degree, "ep"},
    {"expertparallel", ShardingSays::degree, "ep"},
    {"zero++", ShardingSays::compressed},
    {"zeropp", ShardingSays::compressed},
    {"zeroplusplus", ShardingSays::compressed},
    {"hpz", ShardingSays::compressed},
    {"qwz", ShardingSays::compressed},
    {"qgz", ShardingSays::compressed},
    {"infinity", ShardingSays::host_weights},
    {"zeroinfinity", ShardingSays::host_weights},
    {"nvme", ShardingSays::host_weights},
    {"nvmeoffload", ShardingSays::host_weights},
    {"offloadnvme", ShardingSays::host_weights},
    {"paramoffload", ShardingSays::host_weights},
    {"parameteroffload", ShardingSays::host_weights},
    {"offloadparam", ShardingSays::host_weights},
    {"and", ShardingSays::nothing},
    {"ai", ShardingSays::nothing},
    {"colossal", ShardingSays::nothing},
    {"colossalai", ShardingSays::nothing},
    {"deepspeed", ShardingSays::nothing},
    {"degree", ShardingSays::nothing},
    {"gpus", ShardingSays::nothing},
    {"group", ShardingSays::nothing},
    {"in", ShardingSays::nothing},
    {"inside", ShardingSays::nothing},
    {"node", ShardingSays::nothing},
    {"of", ShardingSays::nothing},
    {"parallel", ShardingSays::nothing},
    {"parallelism", ShardingSays::nothing},
    {"plugin", ShardingSays::nothing},
    {"pytorch", ShardingSays::nothing},
    {"ranks", ShardingSays::nothing},
    {"shard", ShardingSays::nothing},
    {"sharded", ShardingSays::nothing},
    {"sharding", ShardingSays::nothing},
    {"size", ShardingSays::nothing},
    {"smp", ShardingSays::nothing},
    {"sagemaker", ShardingSays::nothing},
    {"sp", ShardingSays::nothing},  // the column sequence_parallel
    {"strategy", ShardingSays::nothing},
    {"torch", ShardingSays::nothing},
    {"with", ShardingSays::nothing},
    {"within", ShardingSays::nothing},
    {"x", ShardingSays::nothing}};

/// What the words of a cell say together.
struct ShardingSaid {
  std::vector<Sharding> stages;
  bool replicated = false, sharded = false, in_groups = false, dimensions = false;
  std::vector<int> numbers;
};

void add(ShardingSays says, const CellWord& word, ShardingWords& out, ShardingSaid& said) {
  switch (says) {
    case ShardingSays::zero0:
      said.stages.push_back(Sharding::zero0);
      break;
    case ShardingSays::zero1:
      said.stages.push_back(Sharding::zero1);
      break;
    case ShardingSays::zero2:
      said.stages.push_back(Sharding::zero2);
      break;
    case ShardingSays::zero3:
      said.stages.push_back(Sharding::zero3);
      break;
    case ShardingSays::hsdp_kept:
      out.resharded = false;
      [[fallthrough]];
    case ShardingSays::hsdp:
      said.stages.push_back(Sharding::hsdp);
      break;
    case ShardingSays::replicated:
      said.replicated = true;
      break;
    case ShardingSays::sharded:
      said.sharded = true;
      break;
    case ShardingSays::sharded_in_groups:
      said.sharded = said.in_groups = true;
      break;
    case ShardingSays::stage_open:
      out.stage_open = true;
      break;
    case ShardingSays::dimensions:
      said.dimensions = true;
      break;
    case ShardingSays::plugin_of_zero1:
      said.stages.push_back(Sharding::zero1);
      out.open = true;
      out.nearness = "sharding: Colossal-AI's hybrid_parallel plugin is read as ZeRO-1";
      break;
    case ShardingSays::zero_offload:
      out.stage_open = true;
      [[fallthrough]];
    case ShardingSays::offload:
      out.offload = true;
      break;
    case ShardingSays::compressed:
      throw core::Error("unmodelled: sharding '" + word.text +
                        "' (weights and gradients travel in fewer bits)");
    case ShardingSays::host_weights:
      throw core::Error("unmodelled: sharding '" + word.text +
                        "' (weights in host memory or on disks)");
    case ShardingSays::degree:
    case ShardingSays::nothing:
      break;
  }
}

/// The one stage that is named; of HSDP's, what lies inside a group is no other.
std::optional<Sharding> one_stage(const std::string& cell, ShardingWords& out, ShardingSaid& said) {
  const bool groups =
      std::find(said.stages.begin(), said.stages.end(), Sharding::hsdp) != said.stages.end();
  for (const Sharding stage : said.stages) {
    const bool inside = groups && (stage == Sharding::zero2 || stage == Sharding::zero3);
    out.resharded = out.resharded && !(inside && stage == Sharding::zero2);
    if (!inside && stage != (groups ? Sharding::hsdp : said.stages.front())) {
      throw core::Error("unknown sharding '" + cell + "'");
    }
  }
  return groups                ? std::optional(Sharding::hsdp)
         : said.stages.empty() ? std::nullopt
                               : std::optional(said.stages.front());
}

/// "hsdp (8x8)", "hsdp 4x8": as PyTorch's mesh has them, copies first.
void read_numbers(const ShardingSaid& said, ShardingWords& out) {
  const std::vector<int>& numbers = said.numbers;
  const bool groups = out.kind == Sharding::hsdp && !numbers.empty() && numbers.size() <= 2;
  if (groups && numbers.back() > 0) {
    out.group = numbers.back();
    out.open = out.open || numbers.front() != numbers.back();
    return;
  }
  for (const int number : numbers) {
    add_word(out.unknown, std::to_string(number));
  }
}

void decide(const std::string& cell, ShardingWords& out, ShardingSaid& said) {
  const bool number = said.numbers.size() == 1 && said.numbers[0] <= 3 && out.unknown.empty();
  if (number && said.stages.empty() && !said.sharded && !said.dimensions) {
    static constexpr Sharding kStages[] = {Sharding::zero0, Sharding::zero1, Sharding::zero2,
                                           Sharding::zero3};
    said.stages.push_back(kStages[static_cast<std::size_t>(said.numbers[0])]);
    said.numbers.clear();
  }
  out.kind = one_stage(cell, out, said);
  if (!out.kind && said.in_groups && said.numbers.size() == 1 && said.numbers[0] > 1) {
    out.kind = Sharding::hsdp;
  } else if (!out.kind && said.sharded) {
    out.kind = Sharding::zero3;
    out.open = said.replicated || said.in_groups;  // over all replicas, or in groups
  } else if (!out.kind && out.stage_open) {
    out.open = true;
    if (out.offload) {
      out.kind = Sharding::zero2;  // ZeRO-Offload's own
    }
  } else if (!out.kind && said.dimensions) {
    out.open = true;
    out.nearness = fmt::format("sharding: '{}' says nothing of what is sharded", cell);
  } else if (!out.kind && said.replicated) {
    out.kind = Sharding::zero0;
  } else if (!out.kind) {
    throw core::Error("unknown sharding '" + cell + "'");
  }
  read_numbers(said, out);
  const bool weights = out.kind == Sharding::zero3 || out.kind == Sharding::hsdp;
  if (out.offload && weights) {
    out.open = true;
    out.nearness = "sharding: offload is read as the optimizer's, not the weights'";
  }
}

}  // namespace

ShardingWords sharding_words(const std::string& cell) {
  ShardingWords out;
  if (cell.empty()) {
    return out;
  }
  static const std::vector<std::string_view> known = phrases_of(kShardingPhrases);
  ShardingSaid said;
  bool after_degree = false;
  const std::vector<CellWord> words = read_words(undenied_cell(cell), known);
  if (all_denied(cell)) {
    const bool offload_only = std::any_of(words.begin(), words.end(), [](const CellWord& word) {
      return word.phrase && kShardingPhrases[*word.phrase].says == ShardingSays::offload;
    });
    out.open = offload_only;  // what is denied is another thing
    out.kind = offload_only ? std::nullopt : std::optional(Sharding::zero0);
    return out;
  }
  for (const CellWord& word : words) {
    if (word.number && after_degree) {
      out.degrees.back().second = *word.number;
    } else if (word.number) {
      said.numbers.push_back(*word.number);
    } else if (!word.phrase) {
      add_word(out.unknown, word.text);
    } else {
      add(kShardingPhrases[*word.phrase].says, word, out, said);
    }
    after_degree = word.phrase && kShardingPhrases[*word.phrase].says == ShardingSays::degree;
    if (after_degree) {
      out.degrees.emplace_back(kShardingPhrases[*word.phrase].column, 0);
    }
  }
  decide(cell, out, said);
  return out;
}

int sharded_stage(const std::string& cell) {
  try {
    switch (sharding_words(cell).kind.value_or(Sharding::zero0)) {
      case Sharding::zero0:
        return 0;
      case Sharding::zero1:
        return 1;
      case Sharding::zero2:
        return 2;
      case Sharding::zero3:
      case Sharding::hsdp:
        return 3;
    }
  } catch (const core::Error&) {
    return 0;  // the layout's reader refuses it by name
  }
  return 0;
}

}  // namespace headway::validation
