// Words of a row's cells: each is understood, or told, or refused by name.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/training/check.h"
#include "sim/training/step/step.h"
#include "sim/validation/compared/constant_fit.h"
#include "sim/validation/training_runs.h"

#include "tests/validation/published_rows.h"

namespace headway::validation {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// A flag is its first word, whatever follows; what is none is an error of its row alone.
TEST(RunWords, FlagsHaveManyWords) {
  const auto overlap = [](const char* text) {
    return scenario({{"tp_comm_overlap", text}}).training.framework.tensor_overlap;
  };
  for (const char* yes : {"yes", "on", "enabled", "True", "yes: userbuffers", "1"}) {
    EXPECT_TRUE(overlap(yes)) << yes;
  }
  for (const char* no : {"no", "off", "disabled", "no (default)", "0"}) {
    EXPECT_FALSE(overlap(no)) << no;
  }
  EXPECT_THAT(predicted({{"gated_mlp", "maybe"}}).status,
              HasSubstr("'maybe' in column 'gated_mlp' must be yes or no"));
  EXPECT_TRUE(scenario({{"cuda_graph", "yes: whole step"}}).training.framework.cuda_graphs);
  EXPECT_TRUE(scenario({{"cuda_graph", "enabled"}}).training.framework.cuda_graphs);
  EXPECT_FALSE(scenario({{"cuda_graph", "none:full_iteration"}}).training.framework.cuda_graphs);
}

// Asynchronous linears of software whose profile has nothing that hides a collective are no user
// buffers, whatever its source calls them.
TEST(RunWords, OverlapNeedsAProfileThatSaysWhatItCosts) {
  const auto overlap = [](const char* era) {
    return scenario({{"era", era}, {"tp_comm_overlap", "yes"}}).training.framework;
  };
  EXPECT_EQ(overlap("nanotron-2025").name, "nanotron");
  EXPECT_FALSE(overlap("nanotron-2025").tensor_overlap);
  EXPECT_TRUE(overlap("megatron-core-2024").tensor_overlap);
}

// A word that no list has is told, and the interval widens; a known one is not.
TEST(RunWords, WordsThatAreNotUnderstoodAreTold) {
  const auto odd = predicted({{"precision_detail", "fp8 quux scaling"}});
  EXPECT_EQ(odd.status, "ok-assumed: not understood in precision_detail: quux");
  EXPECT_THAT(odd.assumed, Contains("precision_detail"));
  EXPECT_GT(width(odd), width(predicted({{"precision_detail", "fp8 delayed scaling"}})));
  EXPECT_THAT(predicted({{"network", "8x Frobnet 400G"}}).status, HasSubstr("frobnet"));
  EXPECT_EQ(predicted({{"recompute_detail", "none"}}).status, "ok");
}

// Memory, bandwidth and power in a name are the board's: Meta's H100 is an SXM board with NVSwitch
// and 500 W, not the NVL of 94 GB and 400 W; what no entry has replaces the entry's figure.
TEST(RunWords, WordsOfAGpusNameAreItsVariant) {
  const auto meta = scenario({{"gpu", "H100-96G-HBM2e-500W (Grand Teton)"}}).cluster.node;
  EXPECT_NEAR(meta.gpu.memory.si() / (1024.0 * 1024 * 1024), 96, 1.5);
  EXPECT_NEAR(meta.gpu.memory_bandwidth.si(), 2.4e12, 0.06e12);
  EXPECT_EQ(meta.gpu.power.si(), 500);
  EXPECT_EQ(meta.scale_up.kind, network::ScaleUpKind::nvswitch);
  const Cells small{{"gpu", "H100 SXM5 64GB 600W 2.0 TB/s"}};
  const auto node = scenario(small).cluster.node;
  EXPECT_EQ(node.gpu.memory.si(), 64 * 1024.0 * 1024 * 1024);
  EXPECT_EQ(node.gpu.memory_bandwidth.si(), 2e12);
  EXPECT_EQ(node.gpu.power.si(), 600);
  EXPECT_THAT(predicted(small).assumed, Contains("gpu variant"));
  EXPECT_EQ(scenario({{"gpu", "B200 800W"}}).cluster.node.gpu.power.si(), 800);
  // What the entry says already changes nothing.
  EXPECT_THAT(predicted({{"gpu", "NVIDIA H100 80GB HBM3 SXM5 700W"}}).assumed, IsEmpty());
}

// The driver's name of a GH200 has the CPU's memory; a Quadro, a Ti and a V100S are other chips.
TEST(RunWords, WordsOfNamesAreNotTakenForOtherBoards) {
  for (const char* name : {"NVIDIA GH200 120GB", "GH200 480GB", "GH200-96G"}) {
    const Cells cells{{"gpu", name}, {"gpus_per_node", "4"}};
    EXPECT_EQ(scenario(cells).cluster.node.gpu.name, catalogue().gpus.at("gh200-96gb").name)
        << name;
    EXPECT_EQ(predicted(cells).status, "ok") << name;
  }
  for (const char* name :
       {"Quadro RTX 6000 24GB", "Quadro RTX 6000", "RTX 6000 24GB", "TITAN RTX", "RTX 2080 Ti",
        "RTX 3090 Ti", "RTX A5000", "Tesla V100S", "AMD MI210", "MI100"}) {
    EXPECT_EQ(predicted({{"gpu", name}}).status, "skipped:unknown GPU " + std::string(name));
  }
  EXPECT_EQ(scenario({{"gpu", "RTX 6000 Ada 48GB"}}).cluster.node.gpu.name,
            catalogue().gpus.at("rtx-6000-ada").name);
}

TEST(RunWords, GpusAreFoundByTheWordsOfTheirNames) {
  const auto gpu = [](const char* name) { return scenario({{"gpu", name}}).cluster.node.gpu.name; };
  for (const char* name :
       {"H100-80G-SXM", "NVIDIA H100 SXM5 80GB", "h100_sxm5", "H100-SXM5-80GB"}) {
    EXPECT_EQ(gpu(name), catalogue().gpus.at("h100-sxm").name) << name;
  }
  EXPECT_EQ(gpu("A100-40GB"), catalogue().gpus.at("a100-40gb-sxm").name);
  EXPECT_EQ(gpu("A100-SXM4-80GB"), catalogue().gpus.at("a100-80gb-sxm").name);
  EXPECT_EQ(gpu("H100-80G-PCIe"), catalogue().gpus.at("h100-pcie").name);
  EXPECT_EQ(gpu("B200-SXM"), catalogue().gpus.at("b200-sxm").name);
  EXPECT_THAT(predicted({{"gpu", "A100"}}).assumed, Contains("gpu"));  // 40 or 80 GB
  EXPECT_EQ(predicted({{"gpu", "TPU-v5p"}}).status, "skipped:unknown GPU TPU-v5p");
}

TEST(RunWords, PyTorchAloneNamesNoSoftware) {
  const auto profile = [](const char* era) {
    return scenario({{"era", era}}).training.framework.name;
  };
  EXPECT_EQ(profile("NeMo / PyTorch 2.3"), "Megatron-Core 2024");
  EXPECT_EQ(profile("JAX (MaxText), not PyTorch"), "JAX and XLA");
  EXPECT_EQ(profile("pytorch 2.1"), "PyTorch FSDP");
}

TEST(RunWords, PrecisionsAndShardingsHaveManyWords) {
  for (const char* word : {"fp8", "fp8-cs", "fp8_delayed", "FP8-blockwise"}) {
    EXPECT_EQ(scenario({{"precision", word}}).training.precision, core::Precision::fp8) << word;
  }
  EXPECT_EQ(scenario({{"precision", "bf16-mixed"}}).training.precision, core::Precision::bf16);
  EXPECT_EQ(predicted({{"precision", "int8"}}).status, "skipped:unknown precision int8");
  for (const char* word :
       {"3", "fsdp", "FSDP2", "zero3", "ZeRO-3", "ZeRO Stage 3", "FSDP (full shard)"}) {
    EXPECT_EQ(scenario({{"sharding", word}}).parallelism.sharding, workload::Sharding::zero3)
        << word;
  }
}

// A fabric that words name has what the catalogue says of it.
TEST(RunWords, WordsForTheNetworkNameItsFabric) {
  const auto cluster = scenario({{"network", "AWS EFA between nodes"}}).cluster;
  EXPECT_EQ(cluster.fabric.node_latency, catalogue().fabrics.at("efa").node_latency);
  EXPECT_GT(cluster.fabric.node_latency.si(), 0);
  EXPECT_EQ(cluster.node.nic.latency.si(), 6.75e-6);
  EXPECT_EQ(scenario({}).cluster.fabric.node_latency.si(), 0);
  EXPECT_EQ(scenario({{"network", "Omni-Path 100"}}).cluster.fabric.efficiency,
            catalogue().fabrics.at("omni-path-100").efficiency);
  EXPECT_GT(scenario({{"network", "8x EFAv2"}}).cluster.fabric.node_latency.si(), 0);
  EXPECT_EQ(scenario({{"network", "the default network"}}).cluster.fabric.node_latency.si(), 0);
}

// Each of Google's two transports has its fabric and the cards of its machine: whole words only.
TEST(RunWords, WordsForATransportNameItsCards) {
  const auto mega = scenario({{"network", "8x200G TCPXO"}}).cluster;
  EXPECT_EQ(mega.fabric.efficiency, catalogue().fabrics.at("gpudirect-tcpxo").efficiency);
  EXPECT_EQ(mega.node.nic.latency, catalogue().nodes.at("a3-megagpu-8g").nic.latency);
  const auto high = scenario({{"network", "GPUDirect-TCPX, 4x200G"}}).cluster;
  EXPECT_EQ(high.fabric.efficiency, catalogue().fabrics.at("gpudirect-tcpx").efficiency);
  EXPECT_EQ(high.node.nic.latency, catalogue().nodes.at("a3-highgpu-8g").nic.latency);
  EXPECT_GT(high.node.nic.latency, mega.node.nic.latency);
}

TEST(RunWords, AMissingNetworkIsThatOfTheGpusNode) {
  const Cells blank{{"nics_per_node", "0"}, {"nic_gbps", "0"}, {"network", ""}};
  EXPECT_EQ(scenario(blank).cluster.node.nic.bandwidth.si(), 50e9);  // DGX H100: 400 Gbps
  EXPECT_THAT(predicted(blank).assumed, Contains("network"));
  Cells worded = blank;
  worded["network"] = "1600 Gbps RoCE per node";
  EXPECT_EQ(scenario(worded).cluster.node.nic.bandwidth.si(), 25e9);  // over 8 cards
}

TEST(RunWords, EveryKindOfRecomputationIsReadInEveryEra) {
  for (const char* era : {"jax-maxtext", "megatron-core-2024+", "pytorch-fsdp"}) {
    for (const char* kind : {"none", "selective", "full"}) {
      const RunPrediction p = predicted({{"era", era}, {"recompute", kind}});
      EXPECT_EQ(p.status, "ok") << era << ' ' << kind;
      EXPECT_EQ(core::to_word(scenario({{"era", era}, {"recompute", kind}}).parallelism.recompute),
                std::string(kind));
    }
  }
  EXPECT_EQ(predicted({{"recompute", "block"}}).status, "ok-assumed");
  EXPECT_EQ(scenario({{"recompute", "block"}}).parallelism.recompute_period, 2);
}

// A limit without a figure: 0.65 of the board's power is taken, 0.4 of it and all of it are read
// too.
TEST(RunWords, ALimitOfPowerWithoutAFigureIsReadThreeWays) {
  const auto power = [](const training::Scenario& s) { return s.cluster.node.gpu.power.si(); };
  const double board = power(scenario({}));
  const Cells limited{{"notes", "power-limited"}};
  EXPECT_DOUBLE_EQ(power(scenario(limited)), 0.65 * board);
  const auto run = predicted(limited);
  EXPECT_THAT(run.assumed, Contains("power"));
  EXPECT_GT(width(run), 1.1 * width(predicted({})));
  EXPECT_TRUE(compared_runs({run}).empty());  // nothing is learned of its software
  EXPECT_EQ(compared_runs({predicted({})}).size(), 1U);
}

// "torch 2.7": its torchtitan did not compile the loss.
TEST(RunWords, AnEarlyPyTorchIsTorchtitanOf2024) {
  const auto profile = [](const char* notes) {
    return scenario(
               {{"era", "torchtitan"}, {"year", "2025"}, {"sharding", "fsdp2"}, {"notes", notes}})
        .training.framework.name;
  };
  EXPECT_EQ(profile("torch 2.7 dev"), "torchtitan (FSDP2) of 2024");
  EXPECT_EQ(profile("torch 2.9 dev"), "torchtitan (FSDP2)");
  EXPECT_EQ(profile(""), "torchtitan (FSDP2)");
}

// Peak memory is compared with what the notes name, else with what the software's logs print:
// Megatron's tensors, FSDP's allocator, of older software all that the driver shows.
TEST(RunWords, PeaksOfMemoryAreThoseThatTheSourceSpeaksOf) {
  const auto peak = [](Cells cells) {
    cells["measured_peak_mem_gib"] = "40";
    return predicted(cells).predicted_memory;
  };
  const double allocated = peak({{"notes", "memory = max allocated"}});
  const double reserved = peak({{"notes", "reserved"}});
  const double device = peak({{"notes", "nvidia-smi"}});
  EXPECT_NEAR(reserved, allocated / 0.94, 1e-9 * reserved);
  EXPECT_GT(device, reserved + 1.5);  // the context
  EXPECT_EQ(peak({}), allocated);
}

// nanotron's rank 0 prints, which is of the first stage; of two stages the second has the logits in
// fp32 (two arrays and the 16-bit one, 10 B of 4,096 x 1,000,000 logits: 38 GiB).
TEST(RunWords, PeaksOfMemoryAreThoseOfTheStageThatPrints) {
  const Cells two_stages{{"tp", "1"},
                         {"pp", "2"},
                         {"dp", "4"},
                         {"era", "nanotron-2025"},
                         {"vocab", "1000000"},
                         {"micro_batch", "1"},
                         {"measured_peak_mem_gib", "40"}};
  const auto built = scenario(two_stages);
  EXPECT_EQ(built.training.framework.usual.reporting_stage, workload::ReportingStage::first);
  const auto step = training::simulate_step(training::check(built), {.fold = true, .trace = false});
  const training::MemoryResult& memory = step.memory;
  ASSERT_EQ(memory.stage_allocated.size(), 2U);
  EXPECT_EQ(memory.peak_stage, 1);
  EXPECT_EQ(memory.allocated, memory.stage_allocated[1]);
  EXPECT_GT(memory.stage_allocated[1] - memory.stage_allocated[0], core::Bytes(5e9));
  EXPECT_EQ(predicted(two_stages).predicted_memory,
            memory.stage_allocated[0].si() / 1024 / 1024 / 1024);
  // Megatron prints of every stage; what a source states is the fullest.
  EXPECT_EQ(scenario({}).training.framework.usual.reporting_stage,
            workload::ReportingStage::fullest);
}

// Paxml's models have biases and no dropout.
TEST(RunWords, DropoutIsThatOfTheSoftware) {
  const Cells gpt{
      {"gated_mlp", "no"}, {"era", "jax-paxml"}, {"sharding", "3"}, {"tp", "1"}, {"pp", "1"}};
  EXPECT_EQ(scenario(gpt).model.dropout, std::optional(false));
  EXPECT_FALSE(scenario({}).model.dropout.has_value());
}

TEST(RunWords, AnUnknownEraIsThatOfItsFamilyAndYear) {
  const auto profile = [](const Cells& changes) {
    return scenario(changes).training.framework.name;
  };
  EXPECT_EQ(profile({{"era", ""}}), "Megatron-Core 2024");
  EXPECT_EQ(profile({{"era", ""}, {"year", "2025"}}), "Megatron-LM 2025");
  EXPECT_EQ(profile({{"era", ""}, {"year", "2025"}, {"notes", "NeMo 25.02"}}), "Megatron-Core");
  EXPECT_EQ(profile({{"era", ""}, {"year", "2023"}}), "Megatron-Core 2023");
  EXPECT_EQ(profile({{"era", ""},
                     {"year", "2021"},
                     {"sequence_parallel", "no"},
                     {"sharding", "0"},
                     {"precision", "fp16-mixed"}}),
            "Megatron-LM 2021");
  EXPECT_EQ(profile({{"era", "hf-trainer"}, {"pp", "1"}, {"dp", "8"}, {"sharding", "zero3"}}),
            "PyTorch FSDP");
  EXPECT_EQ(profile({{"era", ""}, {"source", "MaxText"}, {"pp", "1"}, {"dp", "8"}}), "JAX and XLA");
  EXPECT_EQ(profile({{"era", "nanotron-2025"}, {"global_batch", "16"}}), "nanotron");
}

// Before FlashAttention: sequence parallelism, bf16 and sharded states beside pipelines tell the
// kinds of Megatron apart; whose document says so tells nothing.
TEST(RunWords, EarlyMegatronsAreToldApartByWhatTheyHad) {
  const auto profile = [](const Cells& changes) {
    Cells cells{{"era", "unfused-megatron-2021"},
                {"sequence_parallel", "no"},
                {"sharding", "0"},
                {"recompute", "full"},
                {"precision", "fp16-mixed"}};
    for (const auto& [column, text] : changes) {
      cells[column] = text;
    }
    return scenario(cells).training.framework.name;
  };
  EXPECT_EQ(profile({}), "Megatron-LM 2021");
  EXPECT_EQ(profile({{"source", "BigScience, MT-NLG, Korthikanti"}}), "Megatron-LM 2021");
  EXPECT_EQ(profile({{"precision", "bf16"}}), "Megatron-DeepSpeed bf16 2022");
  EXPECT_EQ(profile({{"sharding", "1"}}), "Megatron-DeepSpeed 2022");
  EXPECT_EQ(profile({{"era", "unfused-megatron-deepspeed"}}), "Megatron-DeepSpeed 2022");
  EXPECT_EQ(profile({{"recompute", "selective"}, {"precision", "bf16"}}),
            "Megatron-LM with sequence parallelism 2022");
}

// Four hundred digits are no double; as any memory that no board has, they leave the board open.
TEST(RunWords, AMemoryOfFourHundredDigitsIsNoBoards) {
  const RunPrediction p = predicted({{"gpu", "A100-" + std::string(400, '9') + "GB"}});
  EXPECT_EQ(p.status, "ok-assumed");
  EXPECT_THAT(p.assumed, Contains("gpu"));
}

}  // namespace
}  // namespace headway::validation
