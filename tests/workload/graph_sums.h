// Sums over the operations of a step graph.
#pragma once

#include <string_view>

#include "sim/workload/step_graph.h"

namespace headway::workload::tests {

/// Calls `visit(stage, operation, times)` for every operation of a step.
template <class F>
void for_each_operation(const StepGraph& graph, F visit) {
  for (std::size_t stage = 0; stage < graph.stages.size(); ++stage) {
    for (const Call& call : graph.stages[stage].calls) {
      for (const Operation& operation :
           graph.blocks[static_cast<std::size_t>(call.block)].operations) {
        visit(static_cast<int>(stage), operation, call.repeat);
      }
    }
  }
}

/// Floating-point operations of all kernels, one rank a stage.
inline double matrix_work(const StepGraph& graph) {
  double work = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    for (const core::Kernel& kernel : operation.kernels) {
      work += kernel.work.si() * static_cast<double>(kernel.count) * times;
    }
  });
  return work;
}

/// Bytes that all kernels of one name move, one rank a stage.
inline double kernel_traffic(const StepGraph& graph, std::string_view name) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    for (const core::Kernel& kernel : operation.kernels) {
      const bool meant = kernel.name == name;
      bytes += meant ? kernel.traffic.si() * static_cast<double>(kernel.count) * times : 0;
    }
  });
  return bytes;
}

/// Bytes of all collectives of one name, one rank a stage.
inline double bytes_of(const StepGraph& graph, std::string_view name) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    const bool meant = operation.kind == OperationKind::collective && operation.name == name;
    bytes += meant ? operation.bytes.si() * times : 0;
  });
  return bytes;
}

/// Bytes of all collectives of one kind in one kind of group, one rank a stage.
inline double collective_bytes(const StepGraph& graph, Group group, core::CollectiveKind kind) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    if (operation.kind == OperationKind::collective && operation.group == group &&
        operation.collective == kind) {
      bytes += operation.bytes.si() * times;
    }
  });
  return bytes;
}

/// Bytes that kernels bound by memory move in a step of one rank of each stage.
inline double memory_traffic(const StepGraph& graph) {
  double bytes = 0;
  for_each_operation(graph, [&](int, const Operation& operation, int times) {
    for (const core::Kernel& kernel : operation.kernels) {
      if (kernel.kind == core::KernelKind::memory_bound) {
        bytes += kernel.traffic.si() * static_cast<double>(kernel.count) * times;
      }
    }
  });
  return bytes;
}

}  // namespace headway::workload::tests
