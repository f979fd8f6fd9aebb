#include "sim/workload/teacher/teacher_pass.h"

#include "sim/workload/blocks/data_parallel_blocks.h"
#include "sim/workload/blocks/layer_blocks.h"
#include "sim/workload/teacher/teacher.h"

namespace headway::workload {

TeacherPass::TeacherPass(const BlockInput& student,
                         int expert_domains,
                         DataRanks ranks,
                         GraphDetail detail,
                         BlockTable& blocks)
    : model_(teacher_model(student.training)),
      training_(teacher_training(student.training)),
      parallelism_(teacher_layout(student.training, student.parallelism)),
      input_(block_input(model_, training_, parallelism_, expert_domains)),
      layout_(model_, parallelism_),
      ranks_(ranks),
      detail_(detail),
      sharded_(ranks.several() && shards_weights(student.parallelism.sharding) &&
               !gathers_once(student.training.framework, student.parallelism)),
      blocks_(blocks) {
  for (int stage = 0; stage < layout_.stages(); ++stage) {
    stages_.push_back(parts_of(layout_.at(stage, 0)));
  }
}

template <class Write>
int TeacherPass::intern(const std::string& name, Write write) {
  Block block = detail_ != GraphDetail::traffic ? write() : Block{};
  block.name = "teacher " + name;
  block.teacher = true;
  return blocks_.intern(std::move(block));
}

int TeacherPass::layer(const LayerKind& kind) {
  const auto [place, fresh] = layers_.try_emplace(kind, -1);
  if (fresh) {
    place->second = intern(kind_name(kind), [&] { return layer_forward(input_, kind); });
  }
  return place->second;
}

void TeacherPass::add_run(const LayerRun& run, Part& part) {
  part.blocks.emplace_back(layer(run.kind), run.layers);
}

std::vector<TeacherPass::Part> TeacherPass::parts_of(const ChunkLayout& chunk) {
  const auto embedding = [&] {
    return std::pair(intern("embedding", [&] { return embedding_forward(input_); }), 1);
  };
  const auto head = [&] {
    return std::pair(intern("head", [&] { return head_product(input_); }), 1);
  };
  if (!sharded_) {
    Part all;
    if (chunk.embedding) {
      all.blocks.push_back(embedding());
    }
    for (const LayerRun& run : layer_runs(model_, parallelism_, chunk.first_layer, chunk.layers)) {
      add_run(run, all);
    }
    if (chunk.head) {
      all.blocks.push_back(head());
    }
    return {all};
  }
  std::vector<Part> parts;
  const auto buckets = chunk_buckets(model_, training_, parallelism_, chunk, ranks_.shared);
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    Part& part = parts.emplace_back();
    part.gather = blocks_.intern(gather_weights(input_, *bucket));
    if (bucket->embedding) {
      part.blocks.push_back(embedding());
    }
    for (const LayerRun& run : bucket->runs) {
      add_run(run, part);
    }
    if (bucket->head) {
      part.blocks.push_back(head());
    }
  }
  return parts;
}

void TeacherPass::forward(Stage& stage, int index, const Call& like, int await, int after) const {
  const std::vector<Part>& parts = stages_[static_cast<std::size_t>(index)];
  const auto call = [&](int block, int repeat) {
    if (block >= 0) {
      stage.calls.push_back({block, like.kind, like.micro_batch, like.chunk, repeat});
    }
  };
  call(parts.front().gather, 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    call(parts[i].gather >= 0 ? await : -1, 1);
    call(i + 1 < parts.size() ? parts[i + 1].gather : after, 1);
    for (const auto& [block, repeat] : parts[i].blocks) {
      call(block, repeat);
    }
  }
}

}  // namespace headway::workload
