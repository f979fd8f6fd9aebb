#include "sim/workload/blocks/expert_blocks.h"

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/constants.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;
using core::Kernel;

/// Bytes a score of choosing experts: fp32 scores are read and written by softmax, read by top-k
/// and by the balance loss, and leave probabilities and a map.
constexpr double kRoutingBytes = 24;

double times_hidden(const RankShape& rank, double rows) {
  return rows * static_cast<double>(rank.hidden);
}

/// Softmax, top-k, counts and maps are small kernels of their own.
Kernel routing(const ExpertShape& shape, const FrameworkSpec& framework) {
  const std::int64_t launches = framework.fuses_elementwise() ? 4 : 12;
  const double scores = static_cast<double>(shape.tokens) * static_cast<double>(shape.experts);
  Kernel kernel = memory_kernel("routing", kRoutingBytes * scores / static_cast<double>(launches));
  kernel.count = launches;
  return kernel;
}

/// Bytes an element of the experts' outputs that their biases cost. The product adds biases of
/// columns on its way, but the rows' are weighted by each token's fp32 probability p, in kernels of
/// their own: b p (4), x + b p (2 + 4 + 4), all experts joined (4 + 4), rounded to 16 bits (4 + 2);
/// backward: the gradient g in fp32 (2 + 4), that of x rounded (4 + 2) and joined (2 + 2), g p and
/// its sum for b (4 + 4 + 4), g b and its sum for p (4 + 4 + 4).
/// Source: Megatron-LM, megatron/core/transformer/moe/experts.py, TEGroupedMLP._apply_bias, 2026.
constexpr double kBiasForward = 28;
constexpr double kBiasBackward = 40;

/// Each expert's rows have `kernels` of their own; one more joins them and one rounds.
void write_bias(BlockWriter& writer, const BlockInput& input, double bytes, int kernels) {
  if (!expert_biases(input.model) || input.training.framework.fused_expert_bias) {
    return;
  }
  const ExpertShape& shape = *input.experts;
  const std::int64_t launches = kernels * shape.local_experts + 2;
  const double elements = times_hidden(input.shape, shape.rows());
  Kernel kernel = memory_kernel("expert bias", bytes * elements / static_cast<double>(launches));
  kernel.count = launches;
  writer.compute(kernel);
}

/// Reads some rows of the residual stream's width and writes others.
Kernel move_rows(const RankShape& rank, const char* name, double read, double written) {
  return memory_kernel(name, rank.element * times_hidden(rank, read + written));
}

/// Rows of experts are copied to aligned groups before narrow products and back after them; groups
/// that are filled up to their capacity are aligned.
/// Source: Megatron-LM, TEGroupedMLP.quantization_padding without
/// moe_router_padding_for_quantization, 2026.
void write_padding(BlockWriter& writer, const BlockInput& input) {
  if (narrow(input.shape.linear) && input.training.framework.padded_expert_rows &&
      !input.model.moe->padded) {
    const double rows = input.experts->rows();
    writer.compute(move_rows(input.shape, "pad rows", rows, rows));
  }
}

/// @returns the transfers in flight
std::vector<int> start_exchange(BlockWriter& writer,
                                const RankShape& rank,
                                const ExpertShape& shape,
                                double element,
                                const char* name) {
  if (shape.expert_parallel == 1) {
    return {};
  }
  const DispatchBytes bytes = dispatch_bytes(shape, rank.hidden, element);
  const auto start = [&](Group group, Bytes size) {
    return writer.start(CollectiveKind::all_to_all, group, Activity::expert, size, name);
  };
  if (bytes.rail == Bytes(0)) {
    return {start(Group::expert, bytes.group)};
  }
  return {start(Group::expert_rail, bytes.rail), start(Group::expert_domain, bytes.domain)};
}

void join_all(BlockWriter& writer, const std::vector<int>& transfers) {
  for (const int transfer : transfers) {
    writer.join(transfer);
  }
}

/// An exchange that what follows waits for.
void exchange(BlockWriter& writer,
              const RankShape& rank,
              const ExpertShape& shape,
              double element,
              const char* name) {
  const DispatchBytes bytes = dispatch_bytes(shape, rank.hidden, element);
  if (shape.expert_parallel > 1 && bytes.rail == Bytes(0)) {
    writer.collective(CollectiveKind::all_to_all, Group::expert, Activity::expert, bytes.group,
                      name);
    return;
  }
  join_all(writer, start_exchange(writer, rank, shape, element, name));
}

/// Rows of all ranks that share these experts' matrices, as a whole array.
Bytes shared_rows(const RankShape& rank, const ExpertShape& shape) {
  return Bytes(rank.element * times_hidden(rank, shape.rows()));
}

/// Tokens (or gradients of outputs) of this rank go to their experts, sorted by expert at the end.
/// @param name  of the exchange; null: it runs beside, and others write it
void scatter(BlockWriter& writer,
             const RankShape& rank,
             const ExpertShape& shape,
             double element,
             const char* name) {
  const auto tokens = static_cast<double>(shape.tokens);
  const double own_rows = shape.rows() / shape.expert_tensor;
  if (!shape.deduplicated) {
    writer.compute(move_rows(rank, "permute", tokens, shape.copies()));
  }
  if (name != nullptr) {
    exchange(writer, rank, shape, element, name);
  }
  if (shape.expert_tensor > 1) {
    writer.collective(CollectiveKind::all_gather, Group::expert_tensor, Activity::expert,
                      shared_rows(rank, shape), "expert gather");
  }
  if (shape.deduplicated) {
    writer.compute(move_rows(rank, "permute", shape.arrived() * shape.expert_tensor, shape.rows()));
  } else if (shape.local_experts > 1 && shape.expert_parallel > 1) {
    writer.compute(move_rows(rank, "sort by expert", own_rows * shape.expert_tensor, shape.rows()));
  }
}

/// Outputs of experts (or gradients of inputs) go back to the ranks of their tokens and are added
/// up.
void gather(BlockWriter& writer,
            const RankShape& rank,
            const ExpertShape& shape,
            const char* name) {
  const auto tokens = static_cast<double>(shape.tokens);
  if (shape.deduplicated) {
    writer.compute(
        move_rows(rank, "unpermute", shape.rows(), shape.arrived() * shape.expert_tensor));
  } else if (shape.local_experts > 1 && shape.expert_parallel > 1) {
    writer.compute(move_rows(rank, "sort by rank", shape.rows(), shape.rows()));
  }
  if (shape.expert_tensor > 1) {
    writer.collective(CollectiveKind::reduce_scatter, Group::expert_tensor, Activity::expert,
                      shared_rows(rank, shape), "expert reduce");
  }
  if (name != nullptr) {
    exchange(writer, rank, shape, rank.element, name);
  }
  writer.compute(move_rows(rank, "unpermute", shape.sent(), tokens));
}

/// Bytes of the output of the activation in the shared experts, and in this rank's others.
double shared_output(const BlockInput& input) {
  return input.shape.element * static_cast<double>(input.shape.tokens * input.experts->shared_ffn);
}
double experts_output(const BlockInput& input) {
  return input.shape.element * input.experts->rows() * static_cast<double>(input.experts->ffn);
}

void write_shared_forward(BlockWriter& writer,
                          const BlockInput& input,
                          const ExpertLinears& linears) {
  if (input.experts->shared_ffn == 0) {
    return;
  }
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region(writer, input.shape, framework.tensor_overlap);
  region.forward_columns(linears.shared_in);
  writer.compute(activation_forward(input.model, shared_output(input), framework));
  region.forward_rows(linears.shared_out);
}

void write_shared_backward(BlockWriter& writer,
                           const BlockInput& input,
                           const ExpertLinears& linears,
                           const BackwardMode& mode) {
  if (input.experts->shared_ffn == 0) {
    return;
  }
  const FrameworkSpec& framework = input.training.framework;
  TensorRegion region(writer, input.shape, framework.tensor_overlap);
  region.backward_rows(linears.shared_out, mode);
  if (mode.part != BackwardPart::weight_gradient) {
    writer.compute(activation_backward(input.model, shared_output(input), framework));
  }
  region.backward_columns(linears.shared_in, mode);
}

void write_product_backward(BlockWriter& writer, const Linear& linear, const BackwardMode& mode) {
  if (mode.part != BackwardPart::weight_gradient) {
    writer.compute(input_gradient(linear));
  }
  if (mode.part != BackwardPart::input_gradient) {
    writer.compute(weight_gradient(linear, mode.gradients));
  }
}

}  // namespace

ExpertLinears expert_linears(const ModelSpec& model,
                             const RankShape& rank,
                             const ExpertShape& shape,
                             const FrameworkSpec& framework) {
  const std::int64_t gates = model.gated_mlp ? 2 : 1;
  const std::int64_t launches = framework.grouped_launch ? 1 : shape.local_experts;
  ExpertLinears linears;
  linears.router = {"router", shape.tokens, shape.experts, rank.hidden, rank.wide};
  linears.in = {"experts in", shape.rows_each, gates * shape.ffn,
                rank.hidden,  rank.linear,     shape.local_experts,
                true,         launches};
  linears.out = {"experts out", shape.rows_each,     rank.hidden, shape.ffn,
                 rank.linear,   shape.local_experts, true,        launches};
  linears.shared_in = {"shared experts in", rank.tokens, gates * shape.shared_ffn, rank.hidden,
                       rank.linear};
  linears.shared_out = {"shared experts out", rank.tokens, rank.hidden, shape.shared_ffn,
                        rank.linear};
  for (Linear* linear : {&linears.in, &linears.out, &linears.shared_in, &linears.shared_out}) {
    set_scaling(rank, *linear);
  }
  return linears;
}

std::vector<int> start_dispatch(BlockWriter& writer, const BlockInput& input) {
  const FrameworkSpec& framework = input.training.framework;
  if (!framework.expert_overlap) {
    return {};
  }
  return start_exchange(writer, input.shape, *input.experts, framework.dispatch_bytes, "dispatch");
}

void write_experts_forward(BlockWriter& writer,
                           const BlockInput& input,
                           const std::vector<int>& dispatch) {
  const ExpertShape& shape = *input.experts;
  const FrameworkSpec& framework = input.training.framework;
  const ExpertLinears linears = expert_linears(input.model, input.shape, shape, framework);
  writer.compute(forward_product(linears.router));
  writer.compute(routing(shape, framework));
  writer.replay(false);
  if (!framework.cuda_graphs) {
    writer.wait(framework.host.token_counts, Activity::launch, "token counts");
  }
  write_shared_forward(writer, input, linears);
  if (framework.expert_overlap) {
    join_all(writer, dispatch);
    start_exchange(writer, input.shape, shape, input.shape.element, "combine");
  }
  scatter(writer, input.shape, shape, framework.dispatch_bytes,
          framework.expert_overlap ? nullptr : "dispatch");
  write_padding(writer, input);
  writer.compute(forward_product(linears.in));
  writer.compute(activation_forward(input.model, experts_output(input), framework));
  writer.compute(forward_product(linears.out));
  write_bias(writer, input, kBiasForward, 2);
  write_padding(writer, input);
  gather(writer, input.shape, shape, framework.expert_overlap ? nullptr : "combine");
}

void write_experts_backward(BlockWriter& writer,
                            const BlockInput& input,
                            const BackwardMode& mode) {
  const ExpertShape& shape = *input.experts;
  const FrameworkSpec& framework = input.training.framework;
  const ExpertLinears linears = expert_linears(input.model, input.shape, shape, framework);
  const bool chain = mode.part != BackwardPart::weight_gradient;
  const bool beside = framework.expert_overlap;
  std::vector<int> combine;
  if (chain) {
    if (beside) {
      combine = start_exchange(writer, input.shape, shape, input.shape.element, "combine gradient");
    }
    scatter(writer, input.shape, shape, input.shape.element, beside ? nullptr : "combine gradient");
    write_padding(writer, input);
    write_bias(writer, input, kBiasBackward, 5);
  }
  write_product_backward(writer, linears.out, mode);
  if (chain) {
    writer.compute(activation_backward(input.model, experts_output(input), framework));
  }
  write_product_backward(writer, linears.in, mode);
  if (chain) {
    if (beside) {
      join_all(writer, combine);
      start_exchange(writer, input.shape, shape, input.shape.element, "dispatch gradient");
    }
    write_padding(writer, input);
    gather(writer, input.shape, shape, beside ? nullptr : "dispatch gradient");
  }
  write_shared_backward(writer, input, linears, mode);
  writer.replay(framework.attention_graphs);
  if (chain) {
    writer.compute(routing(shape, framework));
  }
  write_product_backward(writer, linears.router, mode);
}

std::vector<core::ModelConstant> expert_constants() {
  constexpr const char* kBias =
      "passes counted in Megatron-LM, megatron/core/transformer/moe/experts.py, "
      "TEGroupedMLP._apply_bias, 2026";
  return {{"workload.routing_bytes", kRoutingBytes, "B", 0,
           "passes over a score: fp32 scores read and written by softmax, read by top-k and by the "
           "balance loss, probabilities and a map written; counted"},
          {"workload.expert_bias_forward", kBiasForward, "B", 0, kBias},
          {"workload.expert_bias_backward", kBiasBackward, "B", 0, kBias}};
}

}  // namespace headway::workload
