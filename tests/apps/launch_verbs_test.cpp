// headway import of launch files and headway export: what one writes the other reads, and both say
// what is lost.
#include <gmock/gmock.h>

#include "tests/apps/program.h"

namespace headway::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

class LaunchVerbs : public ProgramTest {
 protected:
  const std::string data_ = HEADWAY_ROOT "/tests/data/launch/";
};

TEST_F(LaunchVerbs, AScriptOfMegatronBecomesAScenarioThatRuns) {
  const auto import = run("import megatron-args '" + data_ + "llama3_70b.sh' --out s.yaml");
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.err, HasSubstr("the software is 'megatron-lm-2025'"));
  const std::string text = read("s.yaml");
  EXPECT_THAT(text, HasSubstr("# Assumed, because the file does not say:\n"));
  EXPECT_THAT(text, HasSubstr("  nodes: 64\n  node: {use: dgx-h100}\n"));
  EXPECT_THAT(text, HasSubstr("model:\n  use: llama-3.1-70b\n"));
  EXPECT_EQ(run("check s.yaml").out, "s.yaml: correct (scenarios)\n");
  EXPECT_EQ(run("run s.yaml --set run.trials=1").code, 0);
}

TEST_F(LaunchVerbs, WhatIsNotKnownIsListedInTheFileAndOnStandardError) {
  const auto import = run("import megatron-args '" + data_ + "mixtral_8x7b.sh' --gpu h200");
  ASSERT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(import.out, HasSubstr("# Not known, so not read:\n#   line 37: my-own-flag 17\n"));
  EXPECT_THAT(import.err, HasSubstr("Not known, so not read: line 37: my-own-flag 17"));
  EXPECT_THAT(import.out, HasSubstr("node: {use: dgx-h200}"));
  EXPECT_THAT(import.out, HasSubstr("\n  expert: 8\n"));
  const auto quiet = run("import megatron-args '" + data_ + "mixtral_8x7b.sh' --quiet");
  EXPECT_EQ(quiet.err, "");
}

// A run of it is simulated and warned; its launch file says that it does not start.
TEST_F(LaunchVerbs, WhatTheSoftwareDoesNotStartIsSaid) {
  write_small("s.yaml");
  const std::string asked =
      " s.yaml --set training.framework.use=deepspeed --set parallelism.pipeline=2 "
      "--set parallelism.sharding=zero2";
  const std::string words = "DeepSpeed does not start sharding zero2 with pipeline stages";
  EXPECT_THAT(run("export deepspeed" + asked).err, HasSubstr(words));
  EXPECT_THAT(run("run" + asked).out, HasSubstr(words));
  const auto planned = run("plan" + asked + " --vary sharding --save saved");
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(read("saved/plan-1.yaml"), Not(HasSubstr("sharding: zero2")));
  // Of a file for other software its own profile is asked.
  EXPECT_THAT(run("export deepspeed s.yaml --set parallelism.pipeline=2 "
                  "--set parallelism.sharding=zero2")
                  .err,
              HasSubstr(words));
}

// Of two stages the layers of one say those of the other: a file that says both loses nothing.
TEST_F(LaunchVerbs, StagesWithTheSameLayersAreTheSameWhicheverFieldSaysThem) {
  const std::string scenario = HEADWAY_ROOT
      "/configs/scenarios/small-llama-8b-64-h100.yaml --set parallelism.data=auto "
      "--set parallelism.pipeline=2 --set parallelism.last_stage_layers=15";
  const auto two = run("export torchtitan " + scenario);
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("pipeline_parallel_last_stage_less_layers = 1"));
  EXPECT_THAT(two.err, Not(HasSubstr("stage_layers")));
  EXPECT_THAT(two.err, Not(HasSubstr("chunk_layers")));
  // What torchtitan cannot say of stages is still said.
  const std::string unequal =
      HEADWAY_ROOT "/configs/scenarios/unequal-llama-70b-256-h100-a100.yaml";
  EXPECT_THAT(run("export torchtitan " + unequal).err,
              HasSubstr("parallelism.first_stage_layers is 59, and this file is read as 0"));
}

TEST_F(LaunchVerbs, AnOptimizerThatRunsWithinTheBackwardPassIsSaidNotToBeModelled) {
  const auto imported = [&](const std::string& value) {
    std::string text = read_file(data_ + "llama3_405b.toml");
    const std::string section = "[optimizer]\n";
    text.insert(text.find(section) + section.size(), "early_step_in_backward = " + value + "\n");
    write("t.toml", text);
    return run("import torchtitan-toml t.toml --gpus 1024");
  };
  const auto early = imported("true");
  ASSERT_EQ(early.code, 0) << early.err;
  EXPECT_THAT(early.err,
              HasSubstr("optimizer.early_step_in_backward true: the optimizer runs after "
                        "the backward pass"));
  EXPECT_THAT(early.out, HasSubstr("optimizer.early_step_in_backward true"));
  EXPECT_THAT(imported("false").err, Not(HasSubstr("early_step")));
}

// The rule of the profile says it; the remarks of the file need not.
TEST_F(LaunchVerbs, MaxTextSaysOnceThatItsStagesAreUnequal) {
  for (const char* own : {"", " --set training.framework.use=jax-xla"}) {
    const auto exported = run(std::string("export maxtext " HEADWAY_ROOT
                                          "/configs/scenarios/llama-3.1-405b-8k-h100.yaml "
                                          "--set training.framework.narrow_gathers=false") +
                              own);
    ASSERT_EQ(exported.code, 0) << exported.err;
    const auto said = exported.err.find("does not start stages of unequal layers");
    ASSERT_NE(said, std::string::npos) << exported.err;
    EXPECT_EQ(exported.err.find("that it starts", said), std::string::npos) << exported.err;
    EXPECT_THAT(exported.err, Not(HasSubstr("layers are no multiple")));
  }
  EXPECT_THAT(run("export maxtext " HEADWAY_ROOT
                  "/configs/scenarios/small-llama-8b-64-h100.yaml --set parallelism.data=auto "
                  "--set parallelism.pipeline=2 --set training.global_batch=48")
                  .err,
              HasSubstr("num_pipeline_microbatches 3 is no multiple of 2 stages"));
}

TEST_F(LaunchVerbs, PlansOfSoftwareWithoutALaunchFileSayThatTheyHaveNone) {
  write_small("s.yaml");
  const auto planned =
      run("plan s.yaml --vary tensor --set training.framework.use=llama-3-2024 --save saved");
  EXPECT_THAT(planned.err, HasSubstr("No file that starts a plan is beside it"));
}

TEST_F(LaunchVerbs, ContradictionsAreErrorsAtTheLinesOfTheFile) {
  write("a.sh",
        "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096\n"
        "--vocab-size 32000 --position-embedding-type rope --micro-batch-size 1 --bf16\n"
        "--global-batch-size 100\n"
        "--tensor-model-parallel-size 3 --pipeline-model-parallel-size 5\n");
  const auto import = run("import megatron-args a.sh --gpus 64 --out s.yaml");
  EXPECT_EQ(import.code, 2);
  EXPECT_FALSE(exists("s.yaml"));
  EXPECT_THAT(import.err, HasSubstr("a.sh:4:1: "));
  EXPECT_THAT(import.err,
              HasSubstr("a.sh:4:1: tensor 3 x context 1 x pipeline 5 = 15 does not divide"));
  EXPECT_THAT(run("import megatron-args a.sh --gpus 60").err,
              HasSubstr("60 GPUs do not fill nodes of 8"));
}

// A hybrid without its letters is no plain transformer: nothing is written.
TEST_F(LaunchVerbs, AHybridIsReadByItsLettersOrRefused) {
  const std::string head =
      "--hidden-size 2048 --num-attention-heads 16 --seq-length 4096 --disable-bias-linear\n"
      "--vocab-size 32000 --position-embedding-type none --micro-batch-size 1 --bf16\n"
      "--global-batch-size 64 --ffn-hidden-size 8192 --squared-relu\n";
  write("a.sh", head + "--num-layers 8 --is-hybrid-model --mamba-num-heads 64\n");
  const auto refused = run("import megatron-args a.sh --gpus 16 --out s.yaml");
  EXPECT_EQ(refused.code, 2);
  EXPECT_FALSE(exists("s.yaml"));
  EXPECT_THAT(refused.err, HasSubstr("belongs to a hybrid of Mamba-2 and attention, and no "
                                     "'hybrid-layer-pattern' says which layer is what"));
  write("b.sh", head + "--hybrid-override-pattern M-M*M-M- --is-hybrid-model\n");
  const auto read_whole = run("import megatron-args b.sh --gpus 16 --out s.yaml");
  ASSERT_EQ(read_whole.code, 0) << read_whole.err;
  EXPECT_THAT(read("s.yaml"), HasSubstr("layer_pattern:\n"));
  EXPECT_THAT(read("s.yaml"), HasSubstr("mamba2"));
  EXPECT_EQ(run("check s.yaml").code, 0) << run("check s.yaml").err;
  EXPECT_THAT(run("export megatron s.yaml").out, HasSubstr("M-M*M-M-"));
}

// Without --bf16 or --fp16 Megatron trains in fp32: no line says so, the file does.
TEST_F(LaunchVerbs, ADefaultThatBreaksARuleIsAnErrorOfTheFile) {
  write("a.sh",
        "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096\n"
        "--vocab-size 32000 --position-embedding-type rope --micro-batch-size 1\n"
        "--global-batch-size 64 --context-parallel-size 2\n");
  const auto import = run("import megatron-args a.sh --gpus 64 --gpu h100");
  EXPECT_EQ(import.code, 2);
  EXPECT_THAT(import.err, testing::ContainsRegex("a.sh[^\n]*: context parallelism needs fused"));
}

TEST_F(LaunchVerbs, WhatIsMissingIsToBeAdded) {
  write("a.sh", "--bf16 --micro-batch-size 1 --global-batch-size 64 --seq-length 2048\n");
  const auto import = run("import megatron-args a.sh --out s.yaml");
  EXPECT_EQ(import.code, 0) << import.err;
  EXPECT_THAT(read("s.yaml"), HasSubstr("# To be added before this is a scenario:\n"));
  EXPECT_EQ(run("check s.yaml").code, 2);
  const auto filled =
      run("import megatron-args a.sh --model llama-3.1-8b --gpus 16 --name Eight --out t.yaml "
          "--framework megatron-core");
  EXPECT_EQ(filled.code, 0) << filled.err;
  EXPECT_THAT(read("t.yaml"), HasSubstr("name: \"Eight\"\n"));
  EXPECT_THAT(read("t.yaml"), HasSubstr("model:\n  use: llama-3.1-8b\n"));
  EXPECT_EQ(run("check t.yaml").code, 0);
  EXPECT_THAT(run("import megatron-args a.sh --model llama-9").err,
              HasSubstr("has no 'models/llama-9'"));
  EXPECT_THAT(
      run("import megatron-args a.sh --gpus 64 --cluster selene-a100 --model llama-3.1-8b").out,
      HasSubstr("cluster:\n  nodes: 8\n  use: selene-a100\n"));
}

TEST_F(LaunchVerbs, WhatExportWritesImportReads) {
  write_small("s.yaml", "run: {until: {steps: 1000}}\n");
  const auto exported = run("export megatron s.yaml --out a.sh");
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_THAT(read("a.sh"), HasSubstr("  --tensor-model-parallel-size 2\n"));
  EXPECT_THAT(read("a.sh"), HasSubstr("# Left to you: the tokenizer"));
  const auto import = run("import megatron-args a.sh --framework generic --out t.yaml");
  EXPECT_EQ(import.code, 2);  // no such profile
  ASSERT_EQ(run("import megatron-args a.sh --out t.yaml").code, 0);
  EXPECT_THAT(read("t.yaml"), HasSubstr("model:\n  use: llama-3.1-8b\n"));
  EXPECT_THAT(read("t.yaml"), HasSubstr("  tensor: 2\n"));
  // Written again it is the same file, but for the lines that name where it came from.
  ASSERT_EQ(run("export megatron t.yaml --out b.sh").code, 0);
  const auto from_launch = [this](const std::string& name) {
    const std::string text = read(name);
    return text.substr(text.find("LAUNCH_ARGS"));
  };
  EXPECT_EQ(from_launch("a.sh"), from_launch("b.sh"));
}

// An import keeps how often a run saves, and an export writes it.
TEST_F(LaunchVerbs, SavesGoBothWays) {
  write_small("s.yaml",
              "run: {until: {steps: 1000}, checkpoint: {interval_steps: 20, mode: sync}}\n");
  for (const auto& [tool, format] :
       {std::pair("megatron", "megatron-args"), std::pair("nemo", "nemo-yaml"),
        std::pair("torchtitan", "torchtitan-toml")}) {
    const std::string file = std::string("a.") + tool;
    ASSERT_EQ(run(std::string("export ") + tool + " s.yaml --out " + file).code, 0);
    ASSERT_EQ(run(std::string("import ") + format + " " + file + " --out t.yaml --force").code, 0);
    EXPECT_THAT(read("t.yaml"),
                HasSubstr("  checkpoint:\n    interval_steps: 20\n    mode: sync\n"))
        << tool;
  }
}

TEST_F(LaunchVerbs, FilesOfOtherFrameworksBecomeScenarios) {
  const auto titan = run("import torchtitan-toml '" + data_ + "llama3_405b.toml' --out t.yaml");
  ASSERT_EQ(titan.code, 0) << titan.err;
  EXPECT_THAT(read("t.yaml"), HasSubstr("model:\n  use: llama-3.1-405b\n"));
  EXPECT_THAT(read("t.yaml"), HasSubstr("  first_stage_layers: 15\n"));
  EXPECT_EQ(run("check t.yaml").code, 0);
  const auto nemo = run("import nemo-yaml '" + data_ + "megatron_gpt.yaml' --out n.yaml");
  ASSERT_EQ(nemo.code, 0) << nemo.err;
  EXPECT_EQ(run("check n.yaml").code, 0);
  const auto deepspeed =
      run("import deepspeed-json '" + data_ +
          "zero3_offload.json' --model llama-3.1-8b --sequence-length 4096 --out d.yaml");
  ASSERT_EQ(deepspeed.code, 0) << deepspeed.err;
  EXPECT_THAT(read("d.yaml"), HasSubstr("  offload: optimizer\n"));
  EXPECT_EQ(run("check d.yaml").code, 0);
}

TEST_F(LaunchVerbs, EveryFrameworkIsWrittenAndReadAgain) {
  write_small("s.yaml", "run: {until: {steps: 1000}}\n");
  for (const std::string pair :
       {"torchtitan torchtitan-toml", "nemo nemo-yaml", "deepspeed deepspeed-json"}) {
    const std::string name = pair.substr(0, pair.find(' '));
    const std::string format = pair.substr(name.size() + 1);
    const auto exported = run("export " + name + " s.yaml --out a." + name);
    ASSERT_EQ(exported.code, 0) << exported.err;
    const auto import = run("import " + format + " a." + name +
                            " --model llama-3.1-8b --sequence-length 4096 --out " + name + ".yaml");
    ASSERT_EQ(import.code, 0) << name << import.err;
    const std::string text = read(name + ".yaml");
    EXPECT_THAT(text, HasSubstr("  global_batch: 32\n")) << name;
    EXPECT_THAT(text, HasSubstr("  pipeline: 2\n")) << name;
    EXPECT_EQ(run("check " + name + ".yaml").code, 0) << name;
  }
  const auto maxtext = run("export maxtext s.yaml");
  EXPECT_EQ(maxtext.code, 0) << maxtext.err;
  EXPECT_THAT(maxtext.out, HasSubstr("ici_tensor_parallelism: 2\n"));
  EXPECT_THAT(maxtext.out, HasSubstr("base_emb_dim: 4096\n"));
  // 16 GPUs: tensor 2 x copies 4 fill a node, the stages lie on two.
  EXPECT_THAT(maxtext.out, HasSubstr("ici_data_parallelism: 4\ndcn_data_parallelism: 1\n"));
  EXPECT_THAT(maxtext.out, HasSubstr("ici_pipeline_parallelism: 1\ndcn_pipeline_parallelism: 2\n"));
  EXPECT_EQ(run("import maxtext-yaml s.yaml").code, 2);
}

// Two stages folded into a V hold two chunks each: 32 layers are 8 a chunk, as they are where each
// of two stages is asked to hold two.
TEST_F(LaunchVerbs, TorchtitanCountsTheChunksOfFoldedSchedules) {
  write_small("s.yaml");
  for (const char* schedule : {"zb-v", "dualpipe-v"}) {
    const auto folded = run(std::string("export torchtitan s.yaml --set parallelism.schedule=") +
                            schedule + " --out v.toml --force");
    ASSERT_EQ(folded.code, 0) << folded.err;
    EXPECT_THAT(read("v.toml"), HasSubstr("pipeline_parallel_layers_per_stage = 8\n")) << schedule;
  }
  const auto plain = run("export torchtitan s.yaml");
  EXPECT_THAT(plain.out, HasSubstr("pipeline_parallel_layers_per_stage = 16\n"));
}

TEST_F(LaunchVerbs, WhatAFrameworkCannotSayIsSaid) {
  write_small("s.yaml");
  const auto exported = run("export megatron s.yaml --set parallelism.schedule=zb-h1");
  EXPECT_EQ(exported.code, 0);
  EXPECT_THAT(exported.out,
              HasSubstr("#   parallelism.schedule is zb-h1, and this file is read as 1f1b\n"));
  EXPECT_THAT(exported.err, HasSubstr("megatron cannot say: parallelism.schedule is zb-h1"));
  EXPECT_EQ(run("export pytorch s.yaml").code, 2);
}

// A file names no hosts: which ranks must be where is said for every framework.
TEST_F(LaunchVerbs, WhatAClusterIsIsSaidByEveryFramework) {
  const std::string scenarios = HEADWAY_ROOT "/configs/scenarios/";
  write_small("s.yaml");
  for (const char* framework : {"megatron", "torchtitan", "nemo", "deepspeed", "maxtext"}) {
    const std::string verb = std::string("export ") + framework + " ";
    EXPECT_THAT(run(verb + "'" + scenarios + "unequal-llama-70b-256-h100-a100.yaml'").err,
                HasSubstr("nodes 0-15 (ranks 0-127) on DGX H100 with H100 80 GB SXM, nodes 16-31 "
                          "(ranks 128-255) on DGX A100"))
        << framework;
    const auto apart =
        run(verb + "'" + scenarios + "two-sites-diloco-llama-70b-1024-h100.yaml'").err;
    EXPECT_THAT(apart, HasSubstr("on 2 sites, site 1 nodes 0-63 (ranks 0-511), site 2"))
        << framework;
    EXPECT_THAT(apart, HasSubstr("DiLoCo")) << framework;
    EXPECT_THAT(run(verb + "s.yaml --set 'cluster.occupancy={nodes: 16, take: [4, 9]}'").err,
                HasSubstr("the job takes nodes 4, 9 of the fabric"))
        << framework;
    EXPECT_THAT(run(verb + "s.yaml").err, Not(HasSubstr("cannot say: cluster."))) << framework;
  }
}

}  // namespace
}  // namespace headway::apps
