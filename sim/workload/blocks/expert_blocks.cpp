#include "sim/workload/blocks/expert_blocks.h"

#include <algorithm>

#include "sim/workload/blocks/kernels.h"
#include "sim/workload/elementwise/elementwise.h"
#include "sim/workload/elementwise/expert_bytes.h"
#include "sim/workload/trained/adapter_blocks.h"

namespace headway::workload {

namespace {

using core::Activity;
using core::Bytes;
using core::CollectiveKind;
using core::Kernel;

/// Elements of rows as experts read and write them.
double elements_of(const ExpertShape& shape, double rows) {
  return rows * static_cast<double>(shape.width);
}

/// Softmax, top-k, counts and maps are small kernels of their own.
Kernel routing(const ExpertShape& shape, const FrameworkSpec& framework) {
  const std::int64_t launches = framework.fuses_elementwise() ? 4 : 12;
  const double scores = static_cast<double>(shape.tokens) * static_cast<double>(shape.scored);
  Kernel kernel = memory_kernel("routing", kRoutingBytes * scores / static_cast<double>(launches));
  kernel.count = launches;
  return kernel;
}

/// Bytes of what an element of e bytes becomes when a probability weights it.
double weighted_element(const BlockInput& input) {
  const double e = input.shape.element;
  return input.training.framework.has_wide_probabilities() ? std::max(e, 4.0) : e;
}

/// Each expert's rows have `kernels` of their own; one more joins them and one rounds.
void write_bias(BlockWriter& writer, const BlockInput& input, double bytes, int kernels) {
  if (!expert_biases(input.model) || input.training.framework.fused_expert_bias) {
    return;
  }
  const ExpertShape& shape = *input.experts;
  const std::int64_t launches = kernels * shape.local_experts + 2;
  const double elements = elements_of(shape, shape.rows());
  Kernel kernel = memory_kernel("expert bias", bytes * elements / static_cast<double>(launches));
  kernel.count = launches;
  kernel.issued = kBiasIssue;
  writer.compute(kernel);
}

/// Reads some rows of the experts' width and writes others.
Kernel move_rows(const BlockInput& input, const char* name, double read, double written) {
  return memory_kernel(name, input.shape.element * elements_of(*input.experts, read + written));
}

/// Rows of experts are copied to aligned groups before narrow products and back after them; groups
/// that are filled up to their capacity are aligned.
/// Source: Megatron-LM, TEGroupedMLP.quantization_padding without
/// moe_router_padding_for_quantization, 2026.
void write_padding(BlockWriter& writer, const BlockInput& input) {
  if (narrow(input.shape.linear) && input.training.framework.padded_expert_rows &&
      !input.model.moe->padded) {
    const double rows = input.experts->rows();
    writer.compute(move_rows(input, "pad rows", rows, rows));
  }
}

/// Outputs of experts that ran one after the other, or gradients of their inputs, become one array.
/// Source: Megatron-LM, megatron/core/transformer/moe/experts.py, SequentialMLP: split and cat.
void write_joining(BlockWriter& writer, const BlockInput& input) {
  const ExpertShape& shape = *input.experts;
  if (input.training.framework.joined_experts && shape.local_experts > 1) {
    writer.compute(move_rows(input, "join experts", shape.rows(), shape.rows()));
  }
}

/// Tokens (or gradients of their experts' outputs) travel to the experts, or come home.
enum class Way { there, home };

CollectiveKind exchange_kind(const ExpertShape& shape, Way way) {
  if (shape.dispatch != ExpertDispatch::all_gather) {
    return CollectiveKind::all_to_all;
  }
  return way == Way::there ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
}

/// An exchange between the ranks of an expert group.
struct Exchange {
  Way way = Way::there;
  double element = 2;     ///< bytes of a number on the wire
  const char* name = "";  ///< null: it runs beside, and others write it
};

/// @returns the transfers in flight
std::vector<int> start_exchange(BlockWriter& writer,
                                const BlockInput& input,
                                const Exchange& exchange) {
  const ExpertShape& shape = *input.experts;
  if (shape.expert_parallel == 1) {
    return {};
  }
  const DispatchBytes bytes = dispatch_bytes(shape, exchange.element);
  const auto start = [&](Group group, Bytes size) {
    return writer.start(exchange_kind(shape, exchange.way), group, Activity::expert, size,
                        exchange.name);
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
void write_exchange(BlockWriter& writer, const BlockInput& input, const Exchange& exchange) {
  const ExpertShape& shape = *input.experts;
  const DispatchBytes bytes = dispatch_bytes(shape, exchange.element);
  if (shape.expert_parallel > 1 && bytes.rail == Bytes(0)) {
    writer.collective(exchange_kind(shape, exchange.way), Group::expert, Activity::expert,
                      bytes.group, exchange.name);
    return;
  }
  join_all(writer, start_exchange(writer, input, exchange));
}

/// What ranks that share these experts' matrices have of each other, as a whole array: the rows of
/// all, or with an all-gather the tokens of all, whose rows each picks for itself.
Bytes shared_rows(const RankShape& rank, const ExpertShape& shape) {
  const bool tokens = shape.dispatch == ExpertDispatch::all_gather;
  const double rows = tokens ? shape.sent() * shape.expert_tensor : shape.rows();
  return Bytes(rank.element * elements_of(shape, rows));
}

/// Between arrays of tokens and of rows in the order of experts: on the sender's side where a copy
/// travels for each expert, else on that of the experts.
struct Permutation {
  double tokens = 0, rows = 0;
};
Permutation permutation(const ExpertShape& shape) {
  if (shape.sorted_by_sender()) {
    return {static_cast<double>(shape.tokens), shape.copies()};
  }
  return {shape.arrived() * shape.expert_tensor, shape.rows()};
}

void write_permutation(BlockWriter& writer,
                       const BlockInput& input,
                       const char* name,
                       const MovedBytes& unfused) {
  const double e = input.shape.element;
  const bool fused = input.training.framework.fused_permute;
  const MovedBytes moved = fused ? MovedBytes{e, e, 1} : unfused;
  const Permutation p = permutation(*input.experts);
  const ExpertShape& shape = *input.experts;
  const double bytes = elements_of(shape, moved.a_row * p.rows + moved.a_token * p.tokens);
  const double scattered = elements_of(shape, moved.scattered * p.rows);
  const bool sums = scattered > 0;  // one of the kernels
  const int plain = moved.kernels - (sums ? 1 : 0);
  Kernel kernel = memory_kernel(name, (bytes - scattered) / plain);
  kernel.count = plain;
  writer.compute(kernel);
  if (sums) {
    Kernel sum = memory_kernel(name, scattered);
    sum.issued = kScatteredIssue;
    writer.compute(sum);
  }
}

bool sorts_arrivals(const ExpertShape& shape) {
  return shape.sorted_by_sender() && shape.local_experts > 1 && shape.expert_parallel > 1;
}

/// Tokens (or gradients of outputs) of this rank go to their experts, sorted by expert at the end.
/// @param unfused  of the permutation: of a copy of rows e and e, or the gradient of unpermute
void scatter(BlockWriter& writer,
             const BlockInput& input,
             const Exchange& exchange,
             const MovedBytes& unfused) {
  const ExpertShape& shape = *input.experts;
  if (shape.sorted_by_sender()) {
    write_permutation(writer, input, "permute", unfused);
  }
  if (exchange.name != nullptr) {
    write_exchange(writer, input, exchange);
  }
  if (shape.expert_tensor > 1) {
    writer.collective(CollectiveKind::all_gather, Group::expert_tensor, Activity::expert,
                      shared_rows(input.shape, shape), "expert gather");
  }
  if (!shape.sorted_by_sender()) {
    write_permutation(writer, input, "permute", unfused);
  } else if (sorts_arrivals(shape)) {
    writer.compute(move_rows(input, "sort by expert", shape.rows(), shape.rows()));
  }
}

/// Outputs of experts (or gradients of inputs) go back to the ranks of their tokens and are added
/// up.
/// @param unfused  of unpermute, or of the gradient of permute
void gather(BlockWriter& writer,
            const BlockInput& input,
            const Exchange& exchange,
            const MovedBytes& unfused) {
  const ExpertShape& shape = *input.experts;
  if (!shape.sorted_by_sender()) {
    write_permutation(writer, input, "unpermute", unfused);
  } else if (sorts_arrivals(shape)) {
    writer.compute(move_rows(input, "sort by rank", shape.rows(), shape.rows()));
  }
  if (shape.expert_tensor > 1) {
    writer.collective(CollectiveKind::reduce_scatter, Group::expert_tensor, Activity::expert,
                      shared_rows(input.shape, shape), "expert reduce");
  }
  if (exchange.name != nullptr) {
    write_exchange(writer, input, exchange);
  }
  if (shape.sorted_by_sender()) {
    write_permutation(writer, input, "unpermute", unfused);
  } else if (shape.dispatch == ExpertDispatch::deduplicated) {
    const auto tokens = static_cast<double>(shape.tokens);
    writer.compute(move_rows(input, "add copies", shape.sent(), tokens));
  }
}

/// Experts that do nothing add the token itself to the sum over its experts, times what the router
/// gave them. Forward token and sum are read and the sum written; backward the gradient and the
/// token for the router's, and the token's own gradient is read and written.
void write_nulls(BlockWriter& writer, const BlockInput& input, double rows) {
  if (input.experts->nulls > 0) {
    const auto tokens = static_cast<double>(input.experts->tokens);
    writer.compute(move_rows(input, "null experts", (rows - 1) * tokens, tokens));
  }
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
  write_adapters_forward(writer, input, AdapterPlace::shared_in);
  writer.compute(activation_forward(input.model, shared_output(input), framework));
  region.forward_rows(linears.shared_out);
  write_adapters_forward(writer, input, AdapterPlace::shared_out);
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
  write_adapters_backward(writer, input, AdapterPlace::shared_out, mode);
  if (mode.passes()) {
    writer.compute(activation_backward(input.model, shared_output(input), framework));
  }
  write_adapters_backward(writer, input, AdapterPlace::shared_in, mode);
  region.backward_columns(linears.shared_in, mode);
}

}  // namespace

ExpertLinears expert_linears(const ModelSpec& model,
                             const RankShape& rank,
                             const ExpertShape& shape,
                             const FrameworkSpec& framework) {
  const std::int64_t gates = model.gated_mlp ? 2 : 1;
  const std::int64_t launches = framework.grouped_launch ? 1 : shape.local_experts;
  ExpertLinears linears;
  linears.router = {"router", shape.tokens, shape.scored, rank.hidden, rank.wide};
  linears.down = {"latent down", shape.tokens, shape.latent, rank.hidden, rank.linear};
  linears.up = {"latent up", shape.tokens, rank.hidden, shape.latent, rank.linear};
  linears.in = {"experts in", shape.rows_each, gates * shape.ffn,
                shape.width,  rank.linear,     shape.local_experts,
                true,         launches};
  linears.out = {"experts out", shape.rows_each,     shape.width, shape.ffn,
                 rank.linear,   shape.local_experts, true,        launches};
  linears.shared_in = {"shared experts in", rank.tokens, gates * shape.shared_ffn, rank.hidden,
                       rank.linear};
  linears.shared_out = {"shared experts out", rank.tokens, rank.hidden, shape.shared_ffn,
                        rank.linear};
  for (Linear* linear : {&linears.in, &linears.out, &linears.shared_in, &linears.shared_out,
                         &linears.down, &linears.up}) {
    set_scaling(rank, *linear);
  }
  return linears;
}

std::vector<Kernel> expert_activation(const BlockInput& input, double output, bool backward) {
  const FrameworkSpec& framework = input.training.framework;
  const ElementwiseOperator limits = limits_operator(input.model, framework);
  const ElementwisePass& pass = backward ? limits.backward : limits.forward;
  std::vector<Kernel> kernels = backward ? activation_backward(input.model, output, framework)
                                         : activation_forward(input.model, output, framework);
  if (pass.launches > 0) {
    const double e = input.shape.element;
    kernels.insert(backward ? kernels.end() : kernels.begin(),
                   elementwise_kernel("limits", pass, e, output / e));
  }
  return kernels;
}

std::vector<int> start_dispatch(BlockWriter& writer, const BlockInput& input) {
  const FrameworkSpec& framework = input.training.framework;
  if (!framework.expert_overlap) {
    return {};
  }
  return start_exchange(writer, input, {Way::there, framework.dispatch_bytes, "dispatch"});
}

void write_experts_forward(BlockWriter& writer,
                           const BlockInput& input,
                           const std::vector<int>& dispatch) {
  const ExpertShape& shape = *input.experts;
  const FrameworkSpec& framework = input.training.framework;
  const ExpertLinears linears = expert_linears(input.model, input.shape, shape, framework);
  const double e = input.shape.element;
  writer.compute(forward_product(linears.router));
  writer.compute(routing(shape, framework));
  writer.replay(false);
  if (!framework.cuda_graphs && !input.model.moe->padded) {
    writer.wait(framework.host.token_counts, Activity::launch, "token counts");
  }
  write_shared_forward(writer, input, linears);
  if (framework.expert_overlap) {
    join_all(writer, dispatch);
    start_exchange(writer, input, {Way::home, e, "combine"});
  }
  const bool beside = framework.expert_overlap;
  if (shape.latent > 0) {
    writer.compute(forward_product(linears.down));
  }
  scatter(writer, input, {Way::there, framework.dispatch_bytes, beside ? nullptr : "dispatch"},
          {e, e, 1});
  write_padding(writer, input);
  writer.compute(forward_product(linears.in));
  write_adapters_forward(writer, input, AdapterPlace::experts_in);
  writer.compute(expert_activation(input, experts_output(input), false));
  writer.compute(forward_product(linears.out));
  write_adapters_forward(writer, input, AdapterPlace::experts_out);
  write_joining(writer, input);
  write_bias(writer, input, bias_forward(e, weighted_element(input)), 2);
  write_padding(writer, input);
  gather(writer, input, {Way::home, e, beside ? nullptr : "combine"},
         unpermute_bytes(e, weighted_element(input)));
  write_nulls(writer, input, 3);
  if (shape.latent > 0) {
    writer.compute(forward_product(linears.up));
  }
}

void write_experts_backward(BlockWriter& writer,
                            const BlockInput& input,
                            const BackwardMode& mode) {
  const ExpertShape& shape = *input.experts;
  const FrameworkSpec& framework = input.training.framework;
  const ExpertLinears linears = expert_linears(input.model, input.shape, shape, framework);
  const double e = input.shape.element;
  const bool chain = mode.passes();
  const bool beside = framework.expert_overlap;
  std::vector<int> combine;
  if (shape.latent > 0) {
    write_product_backward(writer, linears.up, mode);
  }
  if (chain) {
    write_nulls(writer, input, 4);
    if (beside) {
      combine = start_exchange(writer, input, {Way::there, e, "combine gradient"});
    }
    scatter(writer, input, {Way::there, e, beside ? nullptr : "combine gradient"},
            unpermute_gradient_bytes(e, weighted_element(input)));
    write_padding(writer, input);
    write_bias(writer, input, bias_backward(e, weighted_element(input)), 5);
  }
  write_product_backward(writer, linears.out, mode);
  write_adapters_backward(writer, input, AdapterPlace::experts_out, mode);
  if (chain) {
    writer.compute(expert_activation(input, experts_output(input), true));
  }
  write_product_backward(writer, linears.in, mode);
  write_adapters_backward(writer, input, AdapterPlace::experts_in, mode);
  if (chain) {
    if (beside) {
      join_all(writer, combine);
      start_exchange(writer, input, {Way::home, e, "dispatch gradient"});
    }
    write_joining(writer, input);
    write_padding(writer, input);
    gather(writer, input, {Way::home, e, beside ? nullptr : "dispatch gradient"},
           permute_gradient_bytes(e));
  }
  if (shape.latent > 0) {
    write_product_backward(writer, linears.down, mode);
  }
  write_shared_backward(writer, input, linears, mode);
  writer.replay(framework.attention_graphs);
  if (chain) {
    writer.compute(routing(shape, framework));
  }
  write_product_backward(writer, linears.router, mode);
}

}  // namespace headway::workload
