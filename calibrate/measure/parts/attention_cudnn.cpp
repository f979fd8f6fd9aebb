// Attention through cuDNN's C++ front end; the only file that includes it, for it is heavy.
#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include <cudnn_frontend.h>
#include <dlfcn.h>
#include <unordered_map>

#include "calibrate/measure/cuda/device_memory.h"
#include "calibrate/measure/parts/attention.h"

// The front end finds every function of cuDNN through this handle.
namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;
}

namespace headway::measure {

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// Names of the arrays inside a graph.
enum Uid : std::int64_t {
  kQ = 1,
  kK,
  kV,
  kOut,
  kStatistics,
  kOutGradient,
  kQGradient,
  kKGradient,
  kVGradient
};

void check(fe::error_t error, const char* what) {
  if (error.is_bad()) {
    throw std::runtime_error(std::string("cuDNN: ") + what + ": " + error.get_message());
  }
}

using Vector = std::vector<std::int64_t>;

/// cuDNN names dimensions batch, heads, sequence, head_dim; memory has heads inside the sequence.
struct Place {
  Vector dimensions, strides;
};
Place place(const AttentionShape& s, std::int64_t heads) {
  return {{s.batch, heads, s.sequence, s.head_dim},
          {s.sequence * heads * s.head_dim, s.head_dim, heads * s.head_dim, 1}};
}

Tensor input(fe::graph::Graph& graph, const char* name, const Place& where, std::int64_t uid) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_name(name)
                          .set_dim(where.dimensions)
                          .set_stride(where.strides)
                          .set_uid(uid));
}
void output(const Tensor& tensor, const Place& where, std::int64_t uid) {
  tensor->set_output(true).set_dim(where.dimensions).set_stride(where.strides).set_uid(uid);
}
Place statistics_place(const AttentionShape& s) {
  return {{s.batch, s.query_heads, s.sequence, 1}, {s.query_heads * s.sequence, s.sequence, 1, 1}};
}

void describe_forward(fe::graph::Graph& graph, const AttentionShape& s) {
  const Place query = place(s, s.query_heads), key = place(s, s.key_value_heads);
  const Tensor q = input(graph, "q", query, kQ), k = input(graph, "k", key, kK),
               v = input(graph, "v", key, kV);
  auto options = fe::graph::SDPA_attributes()
                     .set_name("attention")
                     .set_generate_stats(true)
                     .set_attn_scale(static_cast<float>(s.scale()));
  if (s.causal) {
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
        .set_diagonal_band_right_bound(0);
  }
  const auto [out, statistics] = graph.sdpa(q, k, v, options);
  output(out, query, kOut);
  output(statistics, statistics_place(s), kStatistics);
  statistics->set_data_type(fe::DataType_t::FLOAT);
}

void describe_backward(fe::graph::Graph& graph, const AttentionShape& s) {
  const Place query = place(s, s.query_heads), key = place(s, s.key_value_heads);
  const Tensor q = input(graph, "q", query, kQ), k = input(graph, "k", key, kK),
               v = input(graph, "v", key, kV), out = input(graph, "out", query, kOut),
               gradient = input(graph, "out_gradient", query, kOutGradient),
               statistics = input(graph, "statistics", statistics_place(s), kStatistics);
  statistics->set_data_type(fe::DataType_t::FLOAT);
  auto options = fe::graph::SDPA_backward_attributes()
                     .set_name("attention_backward")
                     .set_attn_scale(static_cast<float>(s.scale()));
  if (s.causal) {
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
        .set_diagonal_band_right_bound(0);
  }
  const auto [dq, dk, dv] = graph.sdpa_backward(q, k, v, out, gradient, statistics, options);
  output(dq, query, kQGradient);
  output(dk, key, kKGradient);
  output(dv, key, kVGradient);
}

class CudnnCall final : public AttentionCall {
 public:
  CudnnCall(cudnnHandle_t handle, const AttentionShape& shape, bool backward) : handle_(handle) {
    graph_.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    backward ? describe_backward(graph_, shape) : describe_forward(graph_, shape);
    check(graph_.build(handle, {fe::HeurMode_t::A}), "no kernel for this shape");
    std::int64_t bytes = 0;
    check(graph_.get_workspace_size(bytes), "workspace");
    workspace_ = device_buffer(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
    backward_ = backward;
  }

  void launch(const AttentionArrays& a) override {
    std::unordered_map<std::int64_t, void*> arrays{
        {kQ, a.q}, {kK, a.k}, {kV, a.v}, {kOut, a.out}, {kStatistics, a.statistics}};
    if (backward_) {
      arrays.insert({{kOutGradient, a.out_gradient},
                     {kQGradient, a.q_gradient},
                     {kKGradient, a.k_gradient},
                     {kVGradient, a.v_gradient}});
    }
    check(graph_.execute(handle_, arrays, workspace_.get()), "launch");
  }

 private:
  cudnnHandle_t handle_;
  fe::graph::Graph graph_;
  DeviceBuffer workspace_;
  bool backward_ = false;
};

class CudnnAttention final : public AttentionLibrary {
 public:
  explicit CudnnAttention(cudaStream_t stream) {
    if (fe::cudnn_dlhandle == nullptr) {
      fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_GLOBAL);
    }
    if (fe::cudnn_dlhandle == nullptr) {
      throw std::runtime_error(dlerror());
    }
    check_status(fe::detail::create_handle(&handle_), "cudnnCreate");
    check_status(fe::detail::set_stream(handle_, stream), "cudnnSetStream");
  }
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;
  ~CudnnAttention() override { static_cast<void>(fe::detail::destroy_handle(handle_)); }

  std::unique_ptr<AttentionCall> prepare(const AttentionShape& shape, bool backward) override {
    return std::make_unique<CudnnCall>(handle_, shape, backward);
  }
  [[nodiscard]] std::string version() const override {
    const std::size_t number =
        fe::detail::get_backend_version();  // major x 10000 + minor x 100 + patch
    return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
  }

 private:
  static void check_status(cudnnStatus_t status, const char* call) {
    if (status != CUDNN_STATUS_SUCCESS) {
      throw std::runtime_error(std::string(call) + ": cuDNN status " + std::to_string(status));
    }
  }
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<AttentionLibrary> open_cudnn_attention(cudaStream_t stream) {
  return std::make_unique<CudnnAttention>(stream);
}

void measure_attention(const GpuBench& gpu) {
  std::unique_ptr<AttentionLibrary> library;
  try {
    library = open_cudnn_attention(gpu.stream);
  } catch (const std::runtime_error& error) {
    gpu.bench.left_out("attention", error.what());
    return;
  }
  measure_attention_with(gpu, *library);
}

}  // namespace headway::measure
