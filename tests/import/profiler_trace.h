// A trace of our own as torch.profiler exports it: operations of the CPU with their shapes, what
// they launch, copies, flows, threads' names.
#pragma once

#include <fmt/format.h>
#include <string>

namespace headway::import {

/// In each layer of each step: a projection of 2 x 2,048 tokens (1,024 to 3,072), a product of 32
/// heads in two kernels, an activation, and a reduction over 16 ranks that lasts longer every step.
inline std::string profiler_trace(int steps, int layers) {
  std::string events;
  int id = 0;
  const auto add = [&](const std::string& event) {
    events += (events.empty() ? "" : ",\n") + event;
  };
  const auto operation = [&](const char* name, const char* dims, const char* types) {
    ++id;
    add(fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":7,"tid":7,"ts":{}.25,"dur":9.5,)"
                    R"("args":{{"External id":{},"Record function id":0,"Input Dims":{},)"
                    R"("Input type":{},"Concrete Inputs":["","",""],"Ev Idx":{}}}}})",
                    name, 10 * id, id, dims, types, id));
  };
  const auto kernel = [&](const char* name, double microseconds, const std::string& more = "") {
    add(fmt::format(
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":{0},)"
        R"("dur":4,"args":{{"External id":{1},"cbid":211,"correlation":{1}}}}})",
        10 * id + 1, id));
    add(fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":7,"ts":{}.5,"dur":{:.3f},)"
        R"("args":{{"External id":{},"queued":0,"device":0,"context":1,"stream":7,)"
        R"("correlation":{},"registers per thread":168,"grid":[132,1,1],)"
        R"("block":[384,1,1],"est. achieved occupancy %":18{}}}}})",
        name, 10 * id + 5, microseconds, id, id, more));
  };
  add(R"({"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python"}})");
  for (int step = 0; step < steps; ++step) {
    add(fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":7,"tid":7,)"
        R"("ts":{},"dur":900,"args":{{"External id":0}}}})",
        step, 10 * id));
    for (int layer = 0; layer < layers; ++layer) {
      operation("aten::linear", "[[2,2048,1024],[3072,1024],[]]",
                R"(["c10::BFloat16","c10::BFloat16",""])");
      kernel("nvjet_tst_128x256_64x4_2x1_v_bz_TNT", 40 + layer);
      operation("aten::bmm", "[[32,2048,64],[32,64,2048]]", R"(["c10::BFloat16","c10::BFloat16"])");
      kernel("cutlass_80_wmma_tensorop_bf16", 10);
      kernel("splitKreduce_kernel", 4);
      operation("aten::gelu", "[[2,2048,3072]]", R"(["c10::BFloat16"])");
      kernel("vectorized_elementwise_kernel", 6);
      add(fmt::format(
          R"({{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoD","pid":0,"tid":7,"ts":{},)"
          R"("dur":2,"args":{{"External id":{},"bytes":12582912}}}})",
          10 * id + 8, id));
      ++id;
      kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 200 + step,
             R"(,"Collective name":"allreduce","In msg nelems":3145728,"Out msg nelems":3145728,)"
             R"("Group size":16,"dtype":"BFloat16","Process Group Name":"0")");
      add(fmt::format(
          R"({{"ph":"s","id":{0},"pid":7,"tid":7,"ts":{1},"cat":"ac2g","name":"ac2g"}})", id,
          10 * id));
    }
  }
  return R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3",)"
         R"("totalGlobalMem":85028175872,"computeMajor":9,"computeMinor":0,"numSms":132}],)"
         R"("distributedInfo":{"backend":"nccl","rank":0,"world_size":16},"record_shapes":1,)"
         R"("traceEvents":[)"
         "\n" +
         events + "\n],\"traceName\":\"step.json\"}\n";
}

}  // namespace headway::import
