// Settings of shell scripts: words, variables, arrays, sums, and where each was written.
#include "sim/import/launch/launch_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/import/megatron/layer_lists.h"

namespace headway::import {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// "key=value value" of every flag, without variables.
std::vector<std::string> flags_of(const std::string& text) {
  std::vector<std::string> out;
  for (const LaunchSetting& setting : read_shell_settings(text, "run.sh").list) {
    if (!setting.key.starts_with('$')) {
      out.push_back(fmt::format("{}={}", setting.key, fmt::join(setting.values, " ")));
    }
  }
  return out;
}

std::string settings_refusal(const std::string& text) {
  try {
    read_shell_settings(text, "run.sh");
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

TEST(ShellSettings, AreTheFlagsOfCommandsArraysAndQuotedTexts) {
  EXPECT_THAT(flags_of("torchrun --nnodes 4 pretrain.py --bf16 --lr=1e-4"),
              ElementsAre("nnodes=4", "bf16=", "lr=1e-4"));
  EXPECT_THAT(
      flags_of("A=(\n  --num-layers 2 # two\n  --swiglu\n)\nA+=(--b 1)\npython x.py ${A[@]}"),
      ElementsAre("num-layers=2", "swiglu=", "b=1"));
  EXPECT_THAT(flags_of("ARGS=\" --a 1 \\\n  --b x y --c\"\nrun $ARGS --d 'two words'"),
              ElementsAre("a=1", "b=x y", "c=", "d=two words"));
  // As Megatron-LM's examples have them.
  EXPECT_THAT(flags_of("A=(\n  \"--num-layers 2\"\n  '--swiglu'\n  \"--a x y\" --b 'c d'\n)\n"),
              ElementsAre("num-layers=2", "swiglu=", "a=x y", "b=c d"));
  EXPECT_THAT(flags_of("--a 1\n--b 2\r\n--c -3\n"), ElementsAre("a=1", "b=2", "c=-3"));
}

TEST(ShellSettings, OfSlurmAreKnownByTheirNames) {
  EXPECT_THAT(
      flags_of("#!/bin/bash\n#SBATCH --nodes=64   # many\n#SBATCH --gres gpu:8\n# --no 1\n"),
      ElementsAre("sbatch-nodes=64", "sbatch-gres=gpu:8"));
  EXPECT_THAT(flags_of("#SBATCH -N 4\n#SBATCH -n32 -J name # two\n"
                       "#SBATCH --nodes=4 --gpus-per-node=8 --exclusive\n"),
              ElementsAre("sbatch-nodes=4", "sbatch-ntasks=32", "sbatch-J=name", "sbatch-nodes=4",
                          "sbatch-gpus-per-node=8"));
}

TEST(ShellSettings, HoldWhatVariablesHold) {
  EXPECT_THAT(flags_of("TP=8\nPP=$TP\nexport N=$((TP * (PP+2) / 4 % 7))\nx --t ${TP} --n $N"),
              ElementsAre("t=8", "n=6"));
  EXPECT_THAT(flags_of("A=${1:-5}\nB=${A:-7}\nx --a $A --b \"$B\" --c ${C:-9} --d /x/${A}/y"),
              ElementsAre("a=5", "b=5", "c=9", "d=/x/5/y"));
  EXPECT_THAT(flags_of("x --a $A --b $(nproc) --c $((A+1)) --d '$TP'"),
              ElementsAre("a=$A", "b=$(nproc)", "c=$((A+1))", "d=$TP"));
  EXPECT_THAT(flags_of("N=$((9000000000000 * 9000000000000))\nx --n $N --m $((1/0))"),
              ElementsAre("n=$((9000000000000 * 9000000000000))", "m=$((1/0))"));
}

TEST(ShellSettings, HaveDefaultsThatAreWordsOfTheirOwn) {
  EXPECT_THAT(flags_of("N=${SLURM_NNODES:-\"4\"}\nM=${A:-${B:-'5'}}\nx --n $N --m \"$M\""),
              ElementsAre("n=4", "m=5"));
  EXPECT_THAT(flags_of("x --a ${A:-it\\'s} --b 1"), ElementsAre("a=it\\'s", "b=1"));
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i) {
    deep = "${A:-" + deep + "}";
  }
  EXPECT_EQ(flags_of("x --a " + deep).size(), 1U);
}

// "A second program": what a later command of another program says is not the run's.
TEST(ShellSettings, AreThoseOfTheProgramThatTrains) {
  const auto read = read_shell_settings(
      "ARGS=(--a 1)\ntorchrun --nnodes 2 tools/pretrain_gpt.py ${ARGS[@]} --b 2\n"
      "python tools/other.py --b 3 --c 4\n",
      "run.sh");
  std::vector<std::string> keys;
  for (const LaunchSetting& setting : read.list) {
    keys.push_back(setting.key);
  }
  EXPECT_THAT(keys, ElementsAre("a", "nnodes", "b"));
  EXPECT_THAT(read.remarks, ElementsAre("line 3: flags of other.py are not read; pretrain_gpt.py "
                                        "is taken for the program that trains"));
  EXPECT_THAT(flags_of("python one.py --a 1\npython two.py --b 2"), ElementsAre("a=1", "b=2"));
}

TEST(ShellSettings, KnowTheirPlaces) {
  const auto read =
      read_shell_settings("A=(\n  --first 1\n\n  --second 2)\nB=\"--third\n --fourth\"", "run.sh");
  ASSERT_EQ(read.list.size(), 4U);
  EXPECT_EQ(read.list[0].mark.line, 2);
  EXPECT_EQ(read.list[0].mark.column, 3);
  EXPECT_EQ(read.list[0].mark.text, "  --first 1");
  EXPECT_EQ(read.list[1].mark.line, 4);
  EXPECT_EQ(read.list[2].mark.line, 5);
  EXPECT_EQ(read.list[3].mark.line, 6);
}

TEST(ShellSettings, InConditionsAreReadWithARemark) {
  const auto read = read_shell_settings("if [ $A -gt 1 ]; then\n  X+=(--b 1)\nfi", "run.sh");
  ASSERT_EQ(read.remarks.size(), 1U);
  EXPECT_THAT(read.remarks[0], HasSubstr("run.sh:1: conditions and loops are not evaluated"));
  EXPECT_TRUE(read_shell_settings("x --if 1", "run.sh").remarks.empty());
  const auto chosen = read_shell_settings(
      "case $M in\n  8b) NL=32;;\n  70b) NL=80;;\nesac\nif true; then NL=90; fi\nNL=100\n",
      "run.sh");
  EXPECT_THAT(chosen.remarks,
              ElementsAre("line 3: NL is 80 here and 32 in line 2; conditions are not evaluated, "
                          "and the last counts",
                          "line 5: NL is 90 here and 80 in line 3; conditions are not evaluated, "
                          "and the last counts",
                          HasSubstr("run.sh:1: conditions and loops are not evaluated")));
}

TEST(ShellSettings, ThatAreNotClosedAreRefusedAtTheirPlace) {
  EXPECT_THAT(settings_refusal("A=1\nB='x"), HasSubstr("run.sh:2:3: this quote is not closed"));
  EXPECT_THAT(settings_refusal("B=\"x"), HasSubstr("run.sh:1:3: this quote is not closed"));
  EXPECT_THAT(settings_refusal("A=(--a 1"),
              HasSubstr("run.sh:1:1: this list of arguments is not closed"));
  EXPECT_THAT(settings_refusal("x --a ${B"),
              HasSubstr("run.sh:1:8: this bracket is not closed; add '}'"));
}

TEST(ShellSettings, ThatGrowWithoutEndAreRefused) {
  std::string text = "A=0123456789\n";
  for (int i = 0; i < 30; ++i) {
    text += "A=$A$A\n";
  }
  EXPECT_THAT(settings_refusal(text), HasSubstr("longer than 65536 bytes"));
}

TEST(LayerPattern, IsAListAsPythonWritesIt) {
  EXPECT_EQ(read_layer_pattern("([0]*2+[1]*3)"), (std::vector{0, 0, 1, 1, 1}));
  EXPECT_EQ(read_layer_pattern("([0]+[1])*2 + [0]"), (std::vector{0, 1, 0, 1, 0}));
  EXPECT_EQ(read_layer_pattern("[1, 0,1]"), (std::vector{1, 0, 1}));
  EXPECT_EQ(read_layer_pattern("2*[0]"), (std::vector{0, 0}));
  for (const char* text :
       {"", "[", "[2]", "[1]*", "([1]", "[1]+", "[1]*99999", "[1]*9000*9000", "x"}) {
    EXPECT_EQ(read_layer_pattern(text), std::nullopt) << text;
  }
}

TEST(PipelineLayout, IsReadAsItIsWritten) {
  const auto chunks = read_pipeline_layout("Et*2|(tt|)*2tmL");
  ASSERT_TRUE(chunks);
  ASSERT_EQ(chunks->size(), 4U);
  EXPECT_EQ((*chunks)[0].layers, 2);
  EXPECT_TRUE((*chunks)[0].embedding);
  EXPECT_EQ((*chunks)[2].layers, 2);
  EXPECT_EQ((*chunks)[3].layers, 1);
  EXPECT_EQ((*chunks)[3].prediction_layers, 1);
  EXPECT_TRUE((*chunks)[3].loss);
  const std::string text = pipeline_layout({3, 0, 4}, 1);
  EXPECT_EQ(text, "Et*3||t*4m*1L");
  const auto again = read_pipeline_layout(text);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)[0].layers, 3);
  EXPECT_EQ((*again)[1].layers, 0);
  EXPECT_EQ((*again)[2].layers, 4);
  for (const char* bad : {"Ex", "(t", "t)", "t*", "t*99999999", "((t*9000)*9000)"}) {
    EXPECT_EQ(read_pipeline_layout(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace headway::import
