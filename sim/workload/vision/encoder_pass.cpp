#include "sim/workload/vision/encoder_pass.h"

namespace headway::workload {

EncoderPass::EncoderPass(const BlockInput& language, GraphDetail detail, BlockTable& blocks)
    : model_(language.model), parts_(encoder_runs(language.model, language.parallelism)) {
  const EncoderBlocks made(language);
  const auto intern = [&](Block block, std::string name) {
    block.name = std::move(name);
    block.encoder = true;
    return blocks.intern(std::move(block));
  };
  const bool whole = detail != GraphDetail::traffic;
  for (const EncoderRun& run : parts_) {
    const auto [place, fresh] = blocks_.try_emplace({run.part, run.kind});
    if (!fresh) {
      continue;
    }
    const std::string name = part_name(run);
    place->second.forward = intern(whole ? made.forward(run) : Block{}, name + " forward");
    if (trains(model_, run)) {
      place->second.backward = intern(whole ? made.backward(run) : Block{}, name + " backward");
    }
  }
}

void EncoderPass::forward(Stage& stage,
                          const std::vector<EncoderRun>& parts,
                          const Call& like) const {
  for (const EncoderRun& run : parts) {
    const int block = blocks_.at({run.part, run.kind}).forward;
    stage.calls.push_back({block, like.kind, like.micro_batch, like.chunk, run.count});
  }
}

void EncoderPass::backward(Stage& stage,
                           const std::vector<EncoderRun>& parts,
                           const Call& like) const {
  for (auto run = parts.rbegin(); run != parts.rend(); ++run) {
    const int block = blocks_.at({run->part, run->kind}).backward;
    if (block >= 0) {
      stage.calls.push_back({block, like.kind, like.micro_batch, like.chunk, run->count});
    }
  }
}

}  // namespace headway::workload
