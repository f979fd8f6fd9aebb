#include "sim/plan/space.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "sim/core/error.h"

#include "tests/plan/sample_scenario.h"

namespace headway::plan {
namespace {

using training::SearchAxis;

template <class Visit>
void for_each_layout(const Space& space, const Visit& visit) {
  for (const Shape& shape : space.shapes()) {
    for (std::int64_t i = 0; i < space.layouts(shape); ++i) {
      visit(shape, space.layout(shape, i));
    }
  }
}

// With all else held: tensor 1 2 4 8, pipeline divides 16 / tensor: 5 + 4 + 3 + 2 shapes.
TEST(Space, OfTwoDegreesIsTheirProduct) {
  auto s = sample_scenario();
  s.search.vary = {SearchAxis::tensor, SearchAxis::pipeline};
  EXPECT_EQ(Space(s).layouts(), 5 + 4 + 3 + 2);
  s.search.vary.push_back(SearchAxis::micro_batch);
  // Of 64 sequences d replicas have 64 / d each: 2^k, k + 1 micro-batches; by data 16, 8, 4, 2, 1.
  EXPECT_EQ(Space(s).layouts(), (3 + 4 + 5 + 6 + 7) + (4 + 5 + 6 + 7) + (5 + 6 + 7) + (6 + 7));
  s.search.vary.push_back(SearchAxis::sequence);  // with tensor ranks
  EXPECT_EQ(Space(s).layouts(), 25 + 2 * (22 + 18 + 13));
}

std::vector<int> micro_batches(const training::Scenario& s) {
  const Space space(s);
  std::vector<int> sizes;
  for (const Cut& cut : space.cuts(space.shapes().front())) {
    sizes.push_back(cut.micro_batch);
  }
  return sizes;
}

// All 16 GPUs are replicas.
TEST(Space, CutsTheBatchOfAReplicaAsFarAsItGoes) {
  auto s = sample_scenario();
  s.search.vary = {SearchAxis::micro_batch};
  s.training.global_batch = 16 * 128;
  EXPECT_EQ(micro_batches(s), (std::vector{1, 2, 4, 8, 16, 32, 64, 128}));
  s.training.global_batch = 16 * 24;
  EXPECT_EQ(micro_batches(s), (std::vector{1, 2, 3, 4, 6, 8, 12, 24}));
  s.training.global_batch = 17;  // no multiple of the replicas: left out by the rules
  EXPECT_EQ(micro_batches(s), (std::vector{1}));
  s.search.micro_batch = {5};
  EXPECT_EQ(micro_batches(s), (std::vector{5}));
}

TEST(Space, HasChunksThatDivideTheLayersOfAStage) {
  auto s = sample_scenario();
  s.model.layers = 48;
  s.search.vary = {SearchAxis::virtual_stages};
  s.parallelism.pipeline = 2;
  s.parallelism.schedule = workload::ScheduleKind::interleaved;
  s.parallelism.virtual_stages = 2;
  const Space space(s);
  std::set<int> chunks;
  for (const Shape& shape : space.shapes()) {
    chunks.insert(shape.layout.virtual_stages);
  }
  EXPECT_EQ(chunks, (std::set{2, 3, 4, 5, 6, 7, 8, 12, 24}));
}

TEST(Space, UsesEveryGpuAndNamesEachLayoutOnce) {
  auto s = sample_scenario();
  s.cluster.nodes = 1;
  s.search.hold = {SearchAxis::recompute, SearchAxis::offload};
  const Space space(s);
  std::int64_t count = 0;
  std::set<std::string> seen;
  for_each_layout(space, [&](const Shape& shape, const ParallelismSpec& p) {
    EXPECT_EQ(p.tensor * p.context * p.pipeline * shape.data, 8);
    EXPECT_EQ(p.virtual_stages > 1, p.schedule == workload::ScheduleKind::interleaved);
    seen.insert(fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}", p.tensor, p.sequence,
                            p.pipeline, p.virtual_stages, p.context, core::to_word(p.context_kind),
                            core::to_word(p.schedule), core::to_word(p.sharding),
                            p.shard_group_size, p.reshard, p.micro_batch, p.first_stage_layers,
                            p.last_stage_layers, core::to_word(p.rank_order)));
    ++count;
  });
  EXPECT_EQ(count, space.layouts());
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
}

TEST(Space, HasEverythingThatTheStepKnows) {
  auto s = sample_scenario();
  s.training.sequence_length = 8192;
  s.model.moe.emplace();
  s.model.moe->experts = 8;
  s.model.moe->ffn = 1024;
  s.search.tensor = {2};
  std::set<std::string> words;
  const auto note = [&](const ParallelismSpec& p) {
    for (const auto word :
         {core::to_word(p.schedule), core::to_word(p.sharding), core::to_word(p.context_kind),
          core::to_word(p.recompute), core::to_word(p.offload), core::to_word(p.rank_order)}) {
      words.insert(std::string(word));
    }
    for (const auto part : p.recompute_parts) {
      words.insert(std::string(core::to_word(part)));
    }
    words.insert(fmt::format("expert {}", p.expert));
    words.insert(fmt::format("expert tensor {}", p.expert_tensor));
    words.insert(fmt::format("context {}", p.context));
    words.insert(fmt::format("{} of {} layers", p.recompute_layers, p.recompute_period));
    words.insert(p.reshard ? "reshard" : "gathered once");
  };
  const Space space(s);
  for (const Shape& shape : space.shapes()) {
    const auto& cut = space.cuts(shape).front();
    for (const PassChoice& pass : space.passes(shape)) {
      note(space.layout(shape, cut, pass, shape.states.front()));
    }
    for (const StateChoice& state : shape.states) {
      note(space.layout(shape, cut, space.passes(shape).front(), state));
      note(space.layout(shape, cut, space.passes(shape).back(), state));
    }
  }
  for (const char* word : {"gpipe",
                           "1f1b",
                           "interleaved",
                           "zb-h1",
                           "zb-h2",
                           "zb-v",
                           "dualpipe",
                           "dualpipe-v",
                           "zero0",
                           "zero1",
                           "zero2",
                           "zero3",
                           "hsdp",
                           "ring",
                           "all-gather",
                           "all-to-all",
                           "none",
                           "selective",
                           "full",
                           "norms",
                           "activation",
                           "mlp",
                           "experts",
                           "operators",
                           "optimizer",
                           "activations",
                           "all",
                           "tp-cp-dp-pp",
                           "tp-cp-pp-dp",
                           "expert 8",
                           "expert tensor 2",
                           "context 8",
                           "1 of 4 layers",
                           "3 of 4 layers",
                           "gathered once"}) {
    EXPECT_TRUE(words.contains(word)) << word;
  }
}

// What is listed is tried and nothing else; what is held is as the scenario has it.
TEST(Space, TakesListsAndHolds) {
  auto s = sample_scenario();
  s.parallelism.sharding = workload::Sharding::zero2;
  s.parallelism.schedule = workload::ScheduleKind::gpipe;
  s.search.hold = {SearchAxis::sharding, SearchAxis::schedule};
  s.search.tensor = {2, 4};
  s.search.recompute = {workload::Recompute::full};
  s.search.offload = {workload::Offload::none};
  const Space space(s);
  ASSERT_GT(space.layouts(), 0);
  for_each_layout(space, [&](const Shape&, const ParallelismSpec& p) {
    EXPECT_TRUE(p.tensor == 2 || p.tensor == 4);
    EXPECT_EQ(p.sharding, workload::Sharding::zero2);
    EXPECT_EQ(p.recompute, workload::Recompute::full);
    EXPECT_EQ(p.offload, workload::Offload::none);
    EXPECT_TRUE(p.pipeline == 1 || p.schedule == workload::ScheduleKind::gpipe);
  });
}

// Those that the software has, unless others are asked for.
TEST(Space, TriesTheSchedulesOfTheFramework) {
  using workload::ScheduleKind;
  auto s = sample_scenario();
  const auto schedules_of = [&] {
    std::set<ScheduleKind> kinds;
    const Space space(s);
    for (const Shape& shape : space.shapes()) {
      kinds.insert(shape.layout.schedule);
    }
    return kinds;
  };
  EXPECT_EQ(schedules_of().size(), 8U);
  s.training.framework.schedules = {ScheduleKind::one_f_one_b, ScheduleKind::interleaved};
  EXPECT_EQ(schedules_of(), (std::set{ScheduleKind::one_f_one_b, ScheduleKind::interleaved}));
  s.search.schedule = {ScheduleKind::dual_pipe};  // all else is one stage alone
  EXPECT_EQ(schedules_of(), (std::set{ScheduleKind::one_f_one_b, ScheduleKind::dual_pipe}));
}

// Likewise what it shards and how it divides sequences.
TEST(Space, TriesWhatTheFrameworkCanShard) {
  using workload::ContextKind, workload::Sharding;
  auto s = sample_scenario();
  s.search.vary = {SearchAxis::sharding, SearchAxis::shard_group_size, SearchAxis::context,
                   SearchAxis::context_kind};
  const auto kinds = [&] {
    std::pair<std::set<Sharding>, std::set<ContextKind>> found;
    const Space space(s);
    for_each_layout(space, [&](const Shape&, const ParallelismSpec& p) {
      found.first.insert(p.sharding);
      if (p.context > 1) {
        found.second.insert(p.context_kind);
      }
    });
    return found;
  };
  EXPECT_EQ(kinds().first.size(), 5U);
  EXPECT_EQ(kinds().second.size(), 3U);
  s.training.framework.shardings = {Sharding::zero1, Sharding::zero3};
  s.training.framework.context_kinds = {ContextKind::all_to_all};
  EXPECT_EQ(kinds().first, (std::set{Sharding::zero1, Sharding::zero3}));
  EXPECT_EQ(kinds().second, (std::set{ContextKind::all_to_all}));
  s.search.sharding = {Sharding::zero2};
  s.search.context_kind = {ContextKind::ring};
  EXPECT_EQ(kinds().first, (std::set{Sharding::zero2}));
  EXPECT_EQ(kinds().second, (std::set{ContextKind::ring}));
}

// A scenario without hsdp has no size of its groups to hold: of a search for what is sharded they
// are tried too, and said.
TEST(Space, TriesGroupsOfHsdpWhereTheShardingIsVaried) {
  using workload::Sharding;
  auto s = sample_scenario();
  s.cluster.nodes = 4;
  s.search.vary = {SearchAxis::sharding};
  const auto groups = [&] {
    std::set<int> sizes;
    const Space space(s);
    for_each_layout(space, [&](const Shape&, const ParallelismSpec& p) {
      if (p.sharding == Sharding::hsdp) {
        sizes.insert(p.shard_group_size);
      }
    });
    return sizes;
  };
  const auto said = [&] {
    const auto varied = searched(s, {}).varied;
    return std::any_of(varied.begin(), varied.end(), [](const SearchedField& field) {
      return field.key == "parallelism.shard_group_size";
    });
  };
  EXPECT_EQ(groups(), (std::set{8, 16}));
  EXPECT_TRUE(said());
  s.parallelism.shard_group_size = 4;  // one to hold
  EXPECT_EQ(groups(), (std::set{4}));
  EXPECT_FALSE(said());
  s.parallelism.shard_group_size = 0;
  s.search.vary.clear();
  s.search.hold = {SearchAxis::shard_group_size};
  EXPECT_EQ(groups(), std::set<int>{});
  EXPECT_FALSE(said());
}

TEST(Space, TriesTheRecomputeOfTheFramework) {
  using workload::Recompute, workload::RecomputeLayers, workload::RecomputePart;
  auto s = sample_scenario();
  ASSERT_FALSE(s.model.moe);
  auto& can = s.training.framework.recomputes;
  const auto tried = [&] {
    std::set<RecomputePart> parts;
    std::set<std::pair<int, int>> layers;  // so many of a period
    const Space space(s);
    for_each_layout(space, [&](const Shape&, const ParallelismSpec& p) {
      parts.insert(p.recompute_parts.begin(), p.recompute_parts.end());
      if (p.recompute == Recompute::selective && p.recompute_parts.empty()) {
        parts.insert(RecomputePart::core_attention);
      }
      if (p.recompute == Recompute::full) {
        layers.emplace(p.recompute_layers, p.recompute_period);
      }
    });
    return std::pair(parts, layers);
  };
  can.parts = {RecomputePart::core_attention, RecomputePart::norms, RecomputePart::mlp};
  can.parts_with_experts = {RecomputePart::norms};
  can.layers = RecomputeLayers::nth;
  const auto [parts, layers] = tried();
  EXPECT_EQ(parts, (std::set{RecomputePart::core_attention, RecomputePart::mlp}));
  EXPECT_EQ(layers, (std::set<std::pair<int, int>>{{1, 1}, {1, 2}, {1, 4}}));
  can.parts = {RecomputePart::mlp};
  can.layers = RecomputeLayers::all;
  EXPECT_EQ(tried().first, std::set{RecomputePart::mlp});
  EXPECT_EQ(tried().second, (std::set<std::pair<int, int>>{{1, 1}}));
  // The scenario's own is tried whatever the software has.
  s.parallelism.recompute = Recompute::selective;
  s.parallelism.recompute_parts = {RecomputePart::norms};
  EXPECT_EQ(tried().first, (std::set{RecomputePart::norms, RecomputePart::mlp}));
}

// 126 layers over 16 stages: 14 stages of 8 leave 14, so both ends hold 7; the published layout of
// a 405B model, with chunks of one layer too, where the embedding and the head stand for a layer
// each.
TEST(Space, UnevenLayersShortenTheEnds) {
  auto s = sample_scenario();
  s.model.layers = 126;
  s.cluster.nodes = 16;
  std::set<std::pair<int, int>> ends;
  bool interleaved = false;
  const Space space(s);
  for (const Shape& shape : space.shapes()) {
    const auto& p = shape.layout;
    if (p.pipeline == 16 && p.virtual_stages == 1) {
      ends.emplace(p.first_stage_layers, p.last_stage_layers);
    }
    interleaved = interleaved || (p.tensor == 8 && p.pipeline == 16 && p.virtual_stages == 8 &&
                                  p.first_stage_layers == 7 && p.last_stage_layers == 7);
  }
  EXPECT_EQ(ends, (std::set<std::pair<int, int>>{{7, 7}, {0, 6}, {6, 0}}));
  EXPECT_TRUE(interleaved);
}

// The output's lists: every field of `parallelism` is in one of them.
TEST(Searched, NamesEveryFieldOnce) {
  auto s = sample_scenario();
  const auto keys_of = [](const Searched& searched) {
    std::map<std::string, int> keys;
    for (const auto& list : {searched.varied, searched.held}) {
      for (const SearchedField& field : list) {
        ++keys[field.key];
      }
    }
    return keys;
  };
  const auto all = keys_of(searched(s, {}));
  for (const auto& [key, count] : all) {
    EXPECT_EQ(count, 1) << key;
  }
  for (const char* key :
       {"parallelism.tensor", "parallelism.offload_layers", "parallelism.expert",
        "parallelism.reshard", "training.global_batch", "training.precision", "cluster.nodes"}) {
    EXPECT_TRUE(all.contains(key)) << key;
  }
  s.search.hold = {SearchAxis::recompute};
  s.search.global_batch = {64, 128};
  const auto some = searched(s, {});
  const auto has = [](const std::vector<SearchedField>& list, const SearchedField& field) {
    return std::find(list.begin(), list.end(), field) != list.end();
  };
  EXPECT_TRUE(has(some.held, {"parallelism.recompute", "none"}));
  EXPECT_TRUE(has(some.varied, {"training.global_batch", "64, 128"}));
  EXPECT_EQ(keys_of(some), all);
}

std::string values_of(const std::vector<SearchedField>& list, const std::string& key) {
  for (const SearchedField& field : list) {
    if (field.key == key) {
      return field.values;
    }
  }
  return "not there";
}

TEST(Searched, SaysWhoseSchedulesAreTried) {
  auto s = sample_scenario();
  s.training.framework.name = "Trainer";
  s.training.framework.schedules = {workload::ScheduleKind::gpipe};
  EXPECT_EQ(values_of(searched(s, {}).varied, "parallelism.schedule"), "gpipe (those of Trainer)");
  EXPECT_EQ(values_of(searched(s, {}).held, "training.framework"),
            "Trainer, with its schedules: 'search.schedule' lists others");
  s.search.schedule = {workload::ScheduleKind::dual_pipe};
  EXPECT_EQ(values_of(searched(s, {}).varied, "parallelism.schedule"), "dualpipe");
  EXPECT_EQ(values_of(searched(s, {}).held, "training.framework"), "Trainer");
}

// A list of kinds varies what goes with them, whatever `vary` names.
TEST(Searched, NamesWhatGoesWithTheRecomputeThatIsListed) {
  auto s = sample_scenario();
  s.search.vary = {SearchAxis::tensor};
  s.search.recompute = {workload::Recompute::full};
  const auto out = searched(s, {});
  EXPECT_EQ(values_of(out.varied, "parallelism.recompute_parts"), "none");
  EXPECT_EQ(values_of(out.varied, "parallelism.recompute_period"), "1, 2, 4");
  for (const char* key : {"recompute_parts", "recompute_period", "recompute_layers"}) {
    EXPECT_EQ(values_of(out.held, std::string("parallelism.") + key), "not there") << key;
  }
}

// 16 GPUs, 32 heads, a domain of 8: 3 divides nothing; of a pipeline of 5 stages nothing is left.
TEST(Searched, NamesValuesThatNoLayoutHas) {
  auto s = sample_scenario();
  s.search.tensor = {2, 3, 4};
  s.search.hold = {SearchAxis::pipeline};
  s.search.virtual_stages = {2, 100};
  s.search.sharding = {workload::Sharding::zero1};
  s.search.shard_group_size = {8};
  s.parallelism.pipeline = 2;
  EXPECT_EQ(
      unused_values(s, Space(s)),
      (std::vector<SearchedField>{
          {"search.tensor", "3"}, {"search.virtual", "100"}, {"search.shard_group_size", "8"}}));
  s.search = {};
  s.search.hold = {SearchAxis::pipeline};
  s.parallelism.pipeline = 5;
  EXPECT_EQ(unused_values(s, Space(s)),
            (std::vector<SearchedField>{{"parallelism.pipeline", "5"}}));
}

}  // namespace
}  // namespace headway::plan
