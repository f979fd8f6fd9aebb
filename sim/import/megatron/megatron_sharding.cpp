// Megatron-LM's arguments about sharding, offload and order of ranks, as far as it starts with
// them. Sources: NVIDIA/Megatron-LM, validate_args of megatron/training/arguments.py,
// megatron/core/optimizer/{optimizer_config,distrib_optimizer}.py and megatron/core/
// parallel_state.py, core_v0.14.0 to core_v0.19.0.
#include <algorithm>

#include "sim/import/launch/launch_fields.h"
#include "sim/import/megatron/megatron_rows.h"

namespace headway::import {

namespace {

using workload::OptimizerState;
using workload::Sharding;

bool is_adam(const LaunchRun& run) {
  const OptimizerState state = run.training.optimizer_state;
  return state != OptimizerState::sgd_momentum && state != OptimizerState::muon;
}

/// What `--use-torch-fsdp2` asserts.
bool takes_torch_fsdp(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  return p.pipeline == 1 && (!run.model.moe || p.expert == 1) && !run.model.tied_embeddings &&
         run.training.precision != core::Precision::fp16 &&
         run.training.optimizer_state != OptimizerState::muon;
}

void read_sharding(LaunchReader& reader, LaunchRun& run) {
  workload::ParallelismSpec& p = run.parallelism;
  const bool fsdp = reader.flag("use-megatron-fsdp").value_or(false) ||
                    reader.flag("use-custom-fsdp").value_or(false);
  const bool torch_fsdp = reader.flag("use-torch-fsdp2").value_or(false);
  const bool optimizer = reader.flag("use-distributed-optimizer").value_or(false);
  const std::string strategy = reader.word("data-parallel-sharding-strategy").value_or("no_shard");
  const auto instances = reader.whole("num-distributed-optimizer-instances");
  p.sharding = optimizer ? Sharding::zero1 : Sharding::zero0;
  reader.place("parallelism.sharding", "use-distributed-optimizer");
  if (torch_fsdp) {
    p.sharding = Sharding::zero3;
    p.reshard = !reader.flag("torch-fsdp2-no-reshard-after-forward").value_or(false);
    reader.place("parallelism.sharding", "use-torch-fsdp2");
  } else if (fsdp) {
    reader.place("parallelism.sharding", "data-parallel-sharding-strategy");
    p.sharding = strategy == "optim_grads_params" ? Sharding::zero3
                 : strategy == "optim_grads"      ? Sharding::zero2
                 : strategy == "optim"            ? Sharding::zero1
                                                  : Sharding::zero0;
  }
  if (!instances || *instances == 1) {
    return;
  }
  const std::int64_t replica = ranks_product({p.tensor, p.pipeline});
  if (p.sharding == Sharding::zero3 && run.gpus > 0 &&
      run.gpus % ranks_product({replica, *instances}) == 0) {
    p.sharding = Sharding::hsdp;
    p.shard_group_size = static_cast<int>(run.gpus / ranks_product({replica, *instances}));
    reader.place("parallelism.shard_group_size", "num-distributed-optimizer-instances");
  } else {
    reader.not_modelled("num-distributed-optimizer-instances",
                        "the optimizer is taken to be sharded over all data-parallel ranks");
  }
}

/// CUDA_DEVICE_MAX_CONNECTIONS must be 1 for tensor and context ranks before Blackwell, so that
/// communication that is launched first runs first, and must not be 1 with either FSDP.
void write_environment(const LaunchRun& run, LaunchWriter& out) {
  constexpr std::string_view kConnections = "CUDA_DEVICE_MAX_CONNECTIONS";
  const workload::ParallelismSpec& p = run.parallelism;
  const MegatronSharding sharding = megatron_sharding(run);
  if (sharding == MegatronSharding::megatron_fsdp || sharding == MegatronSharding::torch_fsdp) {
    out.environment(kConnections, {});
  } else if (run.before_blackwell && (p.tensor > 1 || p.context > 1)) {
    out.environment(kConnections, {"1"});
  }
}

void write_sharding(const LaunchRun& run, LaunchWriter& out) {
  write_environment(run, out);
  const workload::ParallelismSpec& p = run.parallelism;
  switch (megatron_sharding(run)) {
    case MegatronSharding::none:
      break;
    case MegatronSharding::optimizer:
      out.flag("use-distributed-optimizer");
      break;
    case MegatronSharding::torch_fsdp:
      out.flag("use-torch-fsdp2");
      out.flag("torch-fsdp2-no-reshard-after-forward");
      out.flag("no-gradient-accumulation-fusion");  // asserted
      break;
    case MegatronSharding::megatron_fsdp:
      out.flag("use-megatron-fsdp");
      out.flag("use-distributed-optimizer");
      out.text("data-parallel-sharding-strategy",
               p.sharding == Sharding::zero2 ? "optim_grads" : "optim_grads_params");
      const std::int64_t shards = ranks_product({p.tensor, p.pipeline, p.shard_group_size});
      if (p.sharding == Sharding::hsdp && shards > 0 && run.gpus > 0) {
        out.whole("num-distributed-optimizer-instances", run.gpus / shards);
      }
      out.text("ckpt-format", "fsdp_dtensor");  // asserted
      break;
  }
}

/// Whether gradients are reduced beside the backward pass, and weights gathered beside the forward.
void read_data_overlap(LaunchReader& reader, LaunchRun& run) {
  const bool reduce = reader.flag("overlap-grad-reduce").value_or(false);
  const bool gather = reader.flag("overlap-param-gather").value_or(false);
  reader.place("training.framework.data_overlap", "overlap-grad-reduce");
  run.training.framework.data_overlap = reduce || reader.flag("use-torch-fsdp2").value_or(false);
  if (reduce && run.parallelism.sharding == Sharding::zero1) {
    reader.place("training.framework.gather_overlap", "overlap-param-gather");
    run.training.framework.gather_overlap = gather;
  }
}

void write_data_overlap(const LaunchRun& run, LaunchWriter& out) {
  if (!run.training.framework.data_overlap) {
    return;
  }
  out.flag("overlap-grad-reduce");
  const MegatronSharding sharding = megatron_sharding(run);
  const bool beside_forward =
      run.parallelism.sharding != Sharding::zero1 || run.training.framework.gather_overlap;
  if (sharding == MegatronSharding::megatron_fsdp ||
      (sharding == MegatronSharding::optimizer && beside_forward)) {
    out.flag("overlap-param-gather");
  }
}

void read_offload(LaunchReader& reader, LaunchRun& run) {
  const bool optimizer = reader.flag("optimizer-cpu-offload").value_or(false);
  const auto layers = reader.whole("cpu-offloading-num-layers", 0);
  const bool activations = layers && *layers > 0;
  reader.place("parallelism.offload",
               optimizer ? "optimizer-cpu-offload" : "cpu-offloading-num-layers");
  run.parallelism.offload = optimizer && activations ? workload::Offload::all
                            : optimizer              ? workload::Offload::optimizer
                            : activations            ? workload::Offload::activations
                                                     : workload::Offload::none;
  if (activations) {
    run.parallelism.offload_layers = *layers;
  }
  if (const auto share = reader.number("optimizer-offload-fraction"); share && *share < 1) {
    reader.not_modelled("optimizer-offload-fraction", "the whole optimizer is offloaded");
  }
}

void write_offload(const LaunchRun& run, LaunchWriter& out) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (workload::offloads_optimizer(p.offload) && takes_precise_optimizer(run)) {
    out.flag("optimizer-cpu-offload");
    out.bare("optimizer-offload-fraction", "1.0");
  }
  // Refused with a pipeline or recomputation (transformer_config.py).
  if (workload::offloads_activations(p.offload) && p.pipeline == 1 &&
      p.recompute == workload::Recompute::none) {
    const int chunk = middle_layers(run) / std::max(1, p.virtual_stages);
    out.whole("cpu-offloading-num-layers",
              p.offload_layers.is_auto() ? std::max(1, chunk - 1) : *p.offload_layers.value);
  }
}

/// Whether the groups of ranks can be built with pipeline ranks inside data ranks: experts must
/// have as many data ranks as the rest (parallel_state.py), and NeMo's order has no context and
/// expert ranks at all (megatron_init.py, fake_initialize_model_parallel: "tp-pp-dp").
bool takes_pipeline_first(const LaunchRun& run, bool nemo) {
  const workload::ParallelismSpec& p = run.parallelism;
  return !workload::has_other_data_ranks(run.model, p) &&
         (!nemo || (p.context == 1 && (!run.model.moe || p.expert == 1)));
}

}  // namespace

MegatronSharding megatron_sharding(const LaunchRun& run) {
  const workload::ParallelismSpec& p = run.parallelism;
  if (p.sharding == Sharding::zero0) {
    return MegatronSharding::none;
  }
  if (p.sharding == Sharding::zero3 && !p.reshard && takes_torch_fsdp(run)) {
    return MegatronSharding::torch_fsdp;
  }
  const OptimizerState state = run.training.optimizer_state;
  if (state == OptimizerState::sgd_momentum) {
    return MegatronSharding::none;  // its state is not sharded (distrib_optimizer.py)
  }
  return p.sharding == Sharding::zero1 || state == OptimizerState::muon
             ? MegatronSharding::optimizer
             : MegatronSharding::megatron_fsdp;
}

bool takes_precise_optimizer(const LaunchRun& run) {
  const MegatronSharding sharding = megatron_sharding(run);
  return is_adam(run) &&
         (sharding == MegatronSharding::optimizer || sharding == MegatronSharding::megatron_fsdp);
}

LaunchRow megatron_sharding_row() {
  return ruled({"use-distributed-optimizer", "use-megatron-fsdp", "use-torch-fsdp2",
                "data-parallel-sharding-strategy", "num-distributed-optimizer-instances",
                "torch-fsdp2-no-reshard-after-forward"},
               {"parallelism.sharding", "parallelism.shard_group_size", "parallelism.reshard"},
               read_sharding, write_sharding);
}

LaunchRow megatron_data_overlap_row() {
  return ruled({"overlap-grad-reduce", "overlap-param-gather"},
               {"training.framework.data_overlap", "training.framework.gather_overlap"},
               read_data_overlap, write_data_overlap);
}

LaunchRow megatron_offload_row() {
  return ruled({"optimizer-cpu-offload", "optimizer-offload-fraction", "cpu-offloading-num-layers"},
               {"parallelism.offload", "parallelism.offload_layers"}, read_offload, write_offload);
}

LaunchRow tensor_overlap_row(const MegatronSpelling& spell, std::string key) {
  const auto read = [key](LaunchReader& reader, LaunchRun& run) {
    reader.place("training.framework.tensor_overlap", key);
    if (const auto overlap = reader.flag(key)) {
      run.training.framework.tensor_overlap = *overlap;
    }
  };
  const auto write = [key, bare = spell.bare_flags](const LaunchRun& run, LaunchWriter& out) {
    const bool overlap = run.training.framework.tensor_overlap && run.parallelism.sequence;
    if (!bare) {
      out.truth(key, overlap);
    } else if (overlap) {
      out.flag(key);
    }
  };
  return {
      {key}, {"training.framework.tensor_overlap"}, LaunchRule{read, write}, 1, kHasTensorRanks};
}

LaunchRow rank_order_row(const MegatronSpelling& spell) {
  const std::string key = spell("use-tp-pp-dp-mapping");
  const auto read = [key](LaunchReader& reader, LaunchRun& run) {
    reader.place("parallelism.rank_order", key);
    if (reader.flag(key).value_or(false)) {
      run.parallelism.rank_order = workload::RankOrder::pipeline_first;
    }
  };
  const auto write = [key, spell](const LaunchRun& run, LaunchWriter& out) {
    if (run.parallelism.rank_order == workload::RankOrder::pipeline_first &&
        takes_pipeline_first(run, !spell.bare_flags)) {
      spell.truth(out, "use-tp-pp-dp-mapping", true);
    }
  };
  return {{key}, {"parallelism.rank_order"}, LaunchRule{read, write}};
}

}  // namespace headway::import
