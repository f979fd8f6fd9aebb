#include "sim/workload/closed_form.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "tests/workload/models.h"

namespace headway::workload {
namespace {

using namespace tests;

TEST(ParameterCounts, EqualThePublishedOnes) {
  // Hugging Face model cards, "safetensors" parameter totals.
  EXPECT_EQ(count_parameters(llama_8b()).total(), 8030261248.0);
  EXPECT_EQ(count_parameters(llama_70b()).total(), 70553706496.0);
  EXPECT_EQ(count_parameters(llama_405b()).total(), 405853388800.0);
}

TEST(ParameterCounts, OfGptAreTwelveLayersTimesHiddenSquared) {
  // 12 L h^2 (1 + 13/12h + (V + s)/12Lh), Narayanan et al. 2021, eq. 2; plus the final norm, 2h.
  const ModelSpec model = gpt_175b();
  const double L = 96, h = 12288, V = 51200, s = 2048;
  const double formula = 12 * L * h * h * (1 + 13 / (12 * h) + (V + s) / (12 * L * h)) + 2 * h;
  EXPECT_NEAR(count_parameters(model).total(), formula, 1e-9 * formula);
}

TEST(ParameterCounts, OfMixturesGiveTotalAndActive) {
  EXPECT_NEAR(count_parameters(mixtral_8x7b()).total(), 46.70e9, 0.01e9);
  EXPECT_NEAR(count_parameters(mixtral_8x7b()).active, 12.88e9, 0.01e9);
  EXPECT_NEAR(count_parameters(deepseek_v3()).total(), 671.03e9, 0.01e9);
  EXPECT_NEAR(count_parameters(deepseek_v3()).active, 37.55e9, 0.1e9);
  EXPECT_GT(count_parameters(deepseek_v3()).prediction, 11e9);
}

/// One row of a comma-separated table with a header; quoted fields may hold commas.
std::map<std::string, std::string> split_row(const std::vector<std::string>& header,
                                             const std::string& line) {
  std::map<std::string, std::string> row;
  std::string field;
  std::size_t column = 0;
  bool quoted = false;
  for (const char c : line + ",") {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      row[column < header.size() ? header[column] : "rest"] = field;
      field.clear();
      ++column;
    } else {
      field += c;
    }
  }
  return row;
}

TEST(ParameterCounts, OfTheDenseModelTableAreWithinItsRounding) {
  std::ifstream file(HEADWAY_SOURCE_DIR "/tests/data/models.csv");
  std::string line;
  std::getline(file, line);
  std::vector<std::string> header;
  std::stringstream names(line);
  for (std::string name; std::getline(names, name, ',');) {
    header.push_back(name);
  }
  int compared = 0;
  while (std::getline(file, line)) {
    auto row = split_row(header, line);
    const std::string arch = row["arch"];
    if (arch != "dense" || row["confidence"] != "high" || std::atoi(row["head_dim"].c_str()) == 0) {
      continue;
    }
    ModelSpec model = llama(row["name"].c_str(), std::atoi(row["n_layers"].c_str()),
                            std::atoi(row["d_model"].c_str()), std::atoi(row["n_heads"].c_str()),
                            std::atoi(row["d_ffn_dense"].c_str()));
    model.key_value_heads = std::atoi(row["n_kv_heads"].c_str());
    model.head_dim = std::atoi(row["head_dim"].c_str());
    model.gated_mlp = row["gated_mlp"] == "yes";
    model.vocabulary = std::atoi(row["vocab"].c_str());
    model.tied_embeddings = row["tied_embeddings"] == "yes";
    const double published = std::atof(row["params_total_b"].c_str()) * 1e9;
    EXPECT_NEAR(count_parameters(model).total() / published, 1, 0.05) << row["name"];
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(TrainingFlops, FollowTheMegatronFormula) {
  // 96 B s L h^2 (1 + s/6h + V/16Lh) with full recompute, 72 without: Narayanan et al. 2021.
  for (const ModelSpec& model : {gpt_175b(), megatron_1t()}) {
    const double s = 2048, L = model.layers, h = model.hidden, V = model.vocabulary;
    const double with = 96 * L * h * h * (1 + s / (6 * h) + V / (16 * L * h));
    const double without = 72 * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
    const TrainingFlops flops = training_flops_per_token(model, 2048, Recompute::full);
    EXPECT_NEAR(flops.hfu.si() / with, 1, 1e-12) << model.name;
    EXPECT_NEAR(flops.mfu.si() / without, 1, 1e-12) << model.name;
  }
}

TEST(TrainingFlops, AreSixTimesTheMatricesPlusAttention) {
  // PaLM: 6 N + 12 L a d s per token, N without the embedding (a look-up) and the norms.
  const ModelSpec model = llama_405b();
  const ParameterCount count = count_parameters(model);
  const double matrices = count.total() - count.embedding - count.final_norm - 126.0 * 2 * 16384;
  const double attention = 12.0 * 126 * 128 * 128 * 8192;
  const TrainingFlops flops = training_flops_per_token(model, 8192, Recompute::none);
  EXPECT_NEAR(flops.mfu.si() / (6 * matrices + attention), 1, 1e-12);
  EXPECT_NEAR(flops.mfu_causal.si() / (6 * matrices + attention / 2), 1, 1e-12);
  EXPECT_EQ(flops.hfu, flops.mfu);
}

TEST(TrainingFlops, OfSelectiveRecomputeAddOneCoreAttention) {
  const ModelSpec model = gpt_175b();
  const TrainingFlops flops = training_flops_per_token(model, 2048, Recompute::selective);
  EXPECT_NEAR((flops.hfu - flops.mfu).si(), 4.0 * 96 * 12288 * 2048, 1.0);
}

TEST(CausalKeys, AreHalfTheSequenceWhenTheWindowCoversIt) {
  ModelSpec model = llama_8b();
  EXPECT_EQ(causal_keys(model, layer_kind(model, {}, 0), 8192), 4096);
  model.window = 1024;
  // Brute force: query i sees min(i, w) keys, in the limit of fine tokens.
  double sum = 0;
  for (int i = 0; i < 8192; ++i) {
    sum += std::min(i + 0.5, 1024.0);
  }
  EXPECT_NEAR(causal_keys(model, layer_kind(model, {}, 0), 8192), sum / 8192, 1e-6);
  model.window_period = 2;
  EXPECT_EQ(causal_keys(model, layer_kind(model, {}, 1), 8192), 4096);
}

TEST(PipelineBubble, IsThatOfThePapers) {
  using core::Seconds;
  const StageTimes times{Seconds(1), Seconds(2), Seconds(1)};
  EXPECT_EQ(pipeline_bubble(ScheduleKind::one_f_one_b, 8, 1, times), Seconds(21));
  EXPECT_EQ(pipeline_bubble(ScheduleKind::interleaved, 8, 4, times), Seconds(21.0 / 4));
  EXPECT_EQ(pipeline_bubble(ScheduleKind::zero_bubble_h1, 8, 1, times), Seconds(7));  // a third
  EXPECT_EQ(pipeline_bubble(ScheduleKind::dual_pipe, 8, 1, times),
            Seconds(3 * 2));  // (p/2-1)(1 + 2 2 - 3 1)
}

}  // namespace
}  // namespace headway::workload
