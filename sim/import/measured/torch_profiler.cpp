#include "sim/import/measured/torch_profiler.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "sim/core/text.h"
#include "sim/import/json_text.h"
#include "sim/import/measured/kernel_names.h"
#include "sim/import/text_mark.h"

namespace headway::import {

namespace {

using nlohmann::json;

/// Operands of a matrix product by the position of their shapes in "Input Dims".
struct GemmOperation {
  std::string_view name;
  std::size_t left, right;
  bool right_transposed;  ///< aten::linear takes weights n x k
};
constexpr std::array<GemmOperation, 5> kGemms{{{"aten::mm", 0, 1, false},
                                               {"aten::addmm", 1, 2, false},
                                               {"aten::bmm", 0, 1, false},
                                               {"aten::baddbmm", 1, 2, false},
                                               {"aten::linear", 0, 1, true}}};

const GemmOperation* gemm_operation(const std::string& name) {
  for (const auto& operation : kGemms) {
    if (operation.name == name) {
      return &operation;
    }
  }
  return nullptr;
}

std::vector<std::int64_t> shape_at(const json& dims, std::size_t position) {
  std::vector<std::int64_t> shape;
  if (position < dims.size() && dims[position].is_array()) {
    for (const auto& extent : dims[position]) {
      if (!extent.is_number_integer() || extent.get<std::int64_t>() <= 0) {
        return {};
      }
      shape.push_back(extent.get<std::int64_t>());
    }
  }
  return shape;
}

/// m, n, k and batch of operands; nothing if they do not fit together.
bool read_shape(const GemmOperation& operation, const json& dims, ProfiledGemm& gemm) {
  const auto left = shape_at(dims, operation.left);
  const auto right = shape_at(dims, operation.right);
  if (left.size() < 2 || right.size() < 2) {
    return false;
  }
  const auto right_k = operation.right_transposed ? right.back() : right[right.size() - 2];
  gemm.k = left.back();
  gemm.n = operation.right_transposed ? right[right.size() - 2] : right.back();
  gemm.m = left[left.size() - 2];
  std::int64_t outer = 1;
  for (std::size_t d = 0; d + 2 < left.size(); ++d) {
    outer *= left[d];
  }
  // Tokens of several dimensions are one dimension to a matrix of weights; batches are products.
  if (right.size() == 2) {
    gemm.m *= outer;
  } else {
    gemm.batch = outer;
  }
  return right_k == gemm.k;
}

/// The integer id at a key of "args"; -1 if there is none.
std::int64_t id_at(const json& args, const char* key) {
  const auto found = args.find(key);
  return found != args.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

class ProfileReader {
 public:
  ProfileReader(std::string_view text, const std::string& file_name)
      : file_name_(file_name),
        top_(parse_json_object(text, file_name, "a trace of torch.profiler")) {}

  TorchProfile read() {
    const auto events = top_.find("traceEvents");
    if (events == top_.end() || !events->is_array()) {
      throw core::Error(mark_of_file(file_name_),
                        "there is no list 'traceEvents'; export with prof.export_chrome_trace");
    }
    for (const auto& event : *events) {
      read_operation(event);
      read_time(event);
    }
    for (const auto& event : *events) {
      read_kernel(event);
      read_launch(event);
    }
    if (out_.kernels == 0) {
      throw core::Error(mark_of_file(file_name_),
                        "no GPU kernel in the trace; profile with ProfilerActivity.CUDA");
    }
    read_device();
    read_rank();
    add_gemms();
    for (auto& [key, gemm] : gemms_) {
      out_.gemms.push_back(std::move(gemm));
    }
    for (auto& [key, collective] : collectives_) {
      out_.collectives.push_back(std::move(collective));
    }
    return std::move(out_);
  }

 private:
  using GemmKey =
      std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  using CollectiveKey = std::tuple<std::string, std::string, int, double, double>;

  /// Remembers the shapes of a matrix product under its id.
  void read_operation(const json& event) {
    if (!event.is_object() || text_at(event, "cat") != "cpu_op" || !event.contains("args")) {
      return;
    }
    const auto* operation = gemm_operation(text_at(event, "name"));
    const json& args = event.at("args");
    if (operation == nullptr || !args.is_object()) {
      return;
    }
    ProfiledGemm gemm;
    gemm.operation = operation->name;
    const auto types = args.find("Input type");
    if (types != args.end() && types->is_array() && operation->left < types->size() &&
        (*types)[operation->left].is_string()) {
      gemm.type = (*types)[operation->left].get<std::string>();
    }
    const bool shaped =
        args.contains("Input Dims") && read_shape(*operation, args.at("Input Dims"), gemm);
    // aten::linear calls aten::addmm, which has the kernel's id: both are remembered.
    operations_[id_at(args, "External id")] = shaped ? gemm : ProfiledGemm{};
  }

  /// Remembers the first time of the trace, when the CPU launched what, and the marks of steps.
  void read_time(const json& event) {
    const auto at = event.is_object() ? number_at(event, "ts") : std::nullopt;
    if (!at || text_at(event, "ph") != "X") {
      return;
    }
    first_ = std::min(first_, *at);
    const std::string category = text_at(event, "cat");
    if (category == "cuda_runtime" || category == "cuda_driver") {
      const std::int64_t id = event.contains("args") && event.at("args").is_object()
                                  ? id_at(event.at("args"), "correlation")
                                  : -1;
      if (id >= 0) {
        launched_at_[id] = *at;
      }
    } else if (category == "user_annotation" || category == "cpu_op") {
      read_mark(text_at(event, "name"), *at, number_at(event, "dur"));
    }
  }

  void read_mark(std::string_view name, double at, std::optional<double> microseconds) {
    constexpr std::string_view kMark = "ProfilerStep#";
    if (!name.starts_with(kMark) || !microseconds || *microseconds <= 0) {
      return;
    }
    name.remove_prefix(kMark.size());
    if (const auto number = core::whole_text_as<decltype(Mark::number)>(name)) {
      marks_.push_back({*number, at, at + *microseconds});
    }
  }

  /// A kernel, a copy or a fill, when all times are known.
  void read_launch(const json& event) {
    const std::string category = event.is_object() ? text_at(event, "cat") : "";
    const bool copies = category == "gpu_memcpy" || category == "gpu_memset";
    if ((category != "kernel" && !copies) || text_at(event, "ph") != "X") {
      return;
    }
    const auto at = number_at(event, "ts");
    const auto microseconds = number_at(event, "dur");
    if (!at || !microseconds || *microseconds <= 0) {
      return;
    }
    const auto args = event.find("args");
    const bool told = args != event.end() && args->is_object();
    const auto launched = launched_at_.find(told ? id_at(*args, "correlation") : -1);
    ProfiledLaunch launch;
    launch.span.begin = since_first(*at);
    launch.span.end = since_first(*at + *microseconds);
    launch.span.work =
        copies ? core::GpuWork::memory
               : work_of_kernel(text_at(event, "name"),
                                told ? text_at(*args, "Collective name") : std::string());
    launch.launched =
        launched == launched_at_.end() ? launch.span.begin : since_first(launched->second);
    out_.launches.push_back(launch);
  }

  [[nodiscard]] core::Seconds since_first(double microseconds) const {
    return core::Seconds((microseconds - first_) * 1e-6);
  }

  void read_rank() {
    for (const auto& [number, begin, end] : marks_) {
      out_.marks.push_back({number, since_first(begin), since_first(end)});
    }
    const auto info = top_.find("distributedInfo");
    if (info == top_.end() || !info->is_object()) {
      return;
    }
    const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
      const std::int64_t number = id_at(*info, key);
      return number >= 0 ? std::optional(number) : std::nullopt;
    };
    out_.rank = whole("rank");
    out_.world_size = whole("world_size");
  }

  void read_kernel(const json& event) {
    if (!event.is_object() || text_at(event, "cat") != "kernel" || !event.contains("args")) {
      return;
    }
    const auto microseconds = number_at(event, "dur");
    if (!microseconds || *microseconds <= 0) {
      return;
    }
    ++out_.kernels;
    const json& args = event.at("args");
    if (args.contains("Collective name")) {
      add_collective(args, *microseconds * 1e-6);
      return;
    }
    const std::int64_t id = id_at(args, "External id");
    if (operations_.count(id) > 0) {
      busy_[id] += *microseconds * 1e-6;  // a product may be several kernels (split k)
    }
  }

  void add_gemms() {
    for (const auto& [id, seconds] : busy_) {
      const ProfiledGemm& gemm = operations_.at(id);
      if (gemm.m == 0) {
        ++out_.gemms_without_shape;
        continue;
      }
      auto& all = gemms_[{gemm.operation, gemm.type, gemm.m, gemm.n, gemm.k, gemm.batch}];
      if (all.m == 0) {
        all = gemm;
      }
      all.seconds.push_back(seconds);
    }
  }

  void add_collective(const json& args, double seconds) {
    ProfiledCollective one;
    one.name = text_at(args, "Collective name");
    one.type = text_at(args, "dtype");
    one.elements_in = number_at(args, "In msg nelems").value_or(0);
    one.elements_out = number_at(args, "Out msg nelems").value_or(0);
    one.ranks = static_cast<int>(number_at(args, "Group size").value_or(0));
    auto& all = collectives_[{one.name, one.type, one.ranks, one.elements_in, one.elements_out}];
    if (all.seconds.empty()) {
      all = std::move(one);
    }
    all.seconds.push_back(seconds);
  }

  void read_device() {
    const auto devices = top_.find("deviceProperties");
    if (devices != top_.end() && devices->is_array() && !devices->empty() &&
        devices->front().is_object()) {
      out_.device = text_at(devices->front(), "name");
    }
  }

  const std::string& file_name_;
  json top_;
  std::unordered_map<std::int64_t, ProfiledGemm> operations_;  ///< looked up only, never iterated
  std::map<std::int64_t, double> busy_;                        ///< seconds of each product
  /// When the CPU launched what [us]; looked up only, never iterated.
  std::unordered_map<std::int64_t, double> launched_at_;
  struct Mark {
    std::int64_t number = 0;
    double begin = 0, end = 0;  ///< [us]
  };
  std::vector<Mark> marks_;
  double first_ = std::numeric_limits<double>::infinity();  ///< time of the first event [us]
  std::map<GemmKey, ProfiledGemm> gemms_;
  std::map<CollectiveKey, ProfiledCollective> collectives_;
  TorchProfile out_;
};

}  // namespace

TorchProfile read_torch_profile(std::string_view text, const std::string& file_name) {
  return ProfileReader(text, file_name).read();
}

}  // namespace headway::import
