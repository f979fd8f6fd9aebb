// The other parts on the pretended GPU: what they ask for, what they record, what they check.
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "calibrate/measure/host/number_formats.h"
#include "calibrate/measure/parts/attention.h"
#include "tests/measure_gpu/rig.h"

namespace headway::measure {
namespace {

TEST(MeasureMemory, TimesEveryKernelByTheBytesItMoves) {
  Rig rig;
  measure_memory(rig.gpu);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  std::map<std::string, double> bytes;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_EQ(sample.kind, fit::SampleKind::memory);
    EXPECT_GT(sample.seconds, 0);
    bytes[sample.op] = sample.bytes;
  }
  // 65536 elements each: copy 2 + 2 B, triad 3 x 4 B, AdamW 4 x 4 B in and 3 x 4 + 2 B out.
  EXPECT_EQ(bytes["copy"], 4 * 65536);
  EXPECT_EQ(bytes["triad"], 12 * 65536);
  EXPECT_EQ(bytes["adam"], 30 * 65536);
  EXPECT_EQ(bytes.size(), 7U);
}

TEST(MeasureLaunch, SeparatesTheCpuFromTheGpu) {
  Rig rig;
  measure_launch(rig.gpu);
  std::set<std::string> seen;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_EQ(sample.streams, 500);
    EXPECT_GT(sample.seconds, 0);
    seen.insert(sample.op);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"kernel", "kernel_call", "graph", "graph_call"}));
}

TEST(MeasureCopies, GoBothWaysPinnedAndPageable) {
  Rig rig;
  measure_copies(rig.gpu);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  std::set<std::string> seen;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    seen.insert(sample.op + " " + sample.variant);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"host_to_device pinned", "device_to_host pinned",
                                         "host_to_device pageable", "device_to_host pageable",
                                         "both_ways pinned"}));
}

TEST(MeasurePeer, CoversEveryOrderedPair) {
  fake::set_device_count(3);
  Rig rig;
  measure_peer(rig.gpu);
  fake::set_device_count(1);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  std::set<std::string> pairs;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    pairs.insert(sample.variant);
  }
  EXPECT_EQ(pairs.size(), 6U);
}

TEST(MeasurePeer, OneGpuHasNoPeer) {
  Rig rig;
  measure_peer(rig.gpu);
  EXPECT_EQ(rig.bench.measured.fact("not measured, peer copies"), "one GPU");
}

TEST(MeasureInterference, RecordsBothSidesOfEachPair) {
  Rig rig;
  measure_interference(rig.gpu);
  std::multiset<std::string> seen;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_GT(sample.seconds, 0);
    seen.insert(sample.op + " beside " + sample.beside);
  }
  EXPECT_EQ(seen, (std::multiset<std::string>{
                      "forward beside device_to_host", "device_to_host beside gemm",
                      "forward beside host_to_device", "host_to_device beside gemm",
                      "forward beside copy", "copy beside gemm"}));
}

TEST(MeasureSustained, GivesACurveOverTime) {
  Rig rig;
  measure_sustained(rig.gpu);
  double before = 0;
  std::string op;
  for (const fit::Sample& sample : rig.bench.measured.samples) {
    EXPECT_EQ(sample.variant, "sustained");
    EXPECT_EQ(sample.clock_hz, 1.4e9);
    EXPECT_EQ(sample.power_w, 650);
    EXPECT_TRUE(sample.has(fit::SampleFlag::throttled));
    const std::string series = sample.op + std::string(core::to_word(sample.precision));
    EXPECT_TRUE(series != op || sample.elapsed_s > before);
    op = series;
    before = sample.elapsed_s;
  }
  EXPECT_GT(rig.bench.measured.samples.size(), 3U);
}

/// Attention computed by the definition, on the pretended GPU's arrays.
class DefinitionCall final : public AttentionCall {
 public:
  DefinitionCall(const AttentionShape& shape, bool backward, double factor)
      : shape_(shape), backward_(backward), factor_(factor) {}
  void launch(const AttentionArrays& a) override {
    const AttentionTensors in{read(a.q, shape_.query_elements()), read(a.k, shape_.key_elements()),
                              read(a.v, shape_.key_elements())};
    if (!backward_) {
      write(a.out, attention_forward(shape_, in));
      return;
    }
    const auto gradient =
        attention_backward(shape_, in, read(a.out_gradient, shape_.query_elements()));
    write(a.q_gradient, gradient.q);
    write(a.k_gradient, gradient.k);
    write(a.v_gradient, gradient.v);
  }

 private:
  static std::vector<double> read(const void* array, std::int64_t count) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) {
      out.push_back(static_cast<double>(load(Format::bf16, array, static_cast<std::uint64_t>(i))));
    }
    return out;
  }
  void write(void* array, const std::vector<double>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      store(Format::bf16, array, i, static_cast<float>(values[i] * factor_));
    }
  }
  AttentionShape shape_;
  bool backward_;
  double factor_;
};

class DefinitionLibrary final : public AttentionLibrary {
 public:
  explicit DefinitionLibrary(double backward_factor) : factor_(backward_factor) {}
  std::unique_ptr<AttentionCall> prepare(const AttentionShape& shape, bool backward) override {
    return std::make_unique<DefinitionCall>(shape, backward, backward ? factor_ : 1.0);
  }
  [[nodiscard]] std::string version() const override { return "definition"; }

 private:
  double factor_;
};

TEST(MeasureAttention, ChecksBothPasses) {
  Rig rig;
  DefinitionLibrary right(1.0);
  measure_attention_with(rig.gpu, right);
  EXPECT_EQ(rig.bench.wrong_results, 0);
  ASSERT_EQ(rig.bench.measured.samples.size(), 2U);
  EXPECT_EQ(rig.bench.measured.samples[0].op, "forward");
  EXPECT_EQ(rig.bench.measured.samples[1].op, "backward");
  EXPECT_EQ(rig.bench.measured.fact("cudnn"), "definition");
}

TEST(MeasureAttention, SeesAWrongBackward) {
  Rig rig;
  DefinitionLibrary wrong(1.05);  // 5 % off
  measure_attention_with(rig.gpu, wrong);
  EXPECT_EQ(rig.bench.wrong_results, 1);
  EXPECT_TRUE(rig.bench.measured.samples[1].has(fit::SampleFlag::wrong));
}

}  // namespace
}  // namespace headway::measure
