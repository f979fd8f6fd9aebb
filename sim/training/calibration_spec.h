// A calibration profile: what was measured on a machine, with its errors, composed of the parts
// that the rooms below know how to use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/fields.h"
#include "sim/core/ranges.h"
#include "sim/gpu/spec.h"
#include "sim/network/spec.h"
#include "sim/workload/framework/framework_spec.h"

namespace headway::training {

/// Storage as one node sees it, measured by direct I/O.
struct MeasuredStorage {
  std::optional<core::BytesPerSecond> client_write_bandwidth;
  std::optional<core::BytesPerSecond> client_read_bandwidth;
  std::optional<core::Seconds> latency;
  template <class V>
  void fields(V& v) {
    v.optional("client_write_bandwidth", client_write_bandwidth,
               "What one node wrote, best number of streams.", core::positive);
    v.optional("client_read_bandwidth", client_read_bandwidth,
               "What one node read, best number of streams.", core::positive);
    v.optional("latency", latency, "Open, metadata and commit of one file.", core::non_negative);
  }
  bool operator==(const MeasuredStorage&) const = default;
};

/// How a GPU's clock falls under a lasting load, and what power it draws:
///     clock(t) = sustained + (burst - sustained) exp(-t / settling)
///     power(clock) = static + dynamic (clock / burst)^exponent
struct MeasuredPower {
  double burst_clock = 0;
  double sustained_clock = 0;
  core::Seconds settling;
  core::Watts static_power;
  core::Watts dynamic_power;
  double exponent = 1;
  template <class V>
  void fields(V& v) {
    v.required("burst_clock", burst_clock, "SM clock when the load begins [Hz].", core::positive);
    v.required("sustained_clock", sustained_clock, "SM clock that a lasting load settles at [Hz].",
               core::positive);
    v.required("settling", settling, "Time constant from burst to sustained.", core::non_negative);
    v.optional("static_power", static_power, "Board power that does not depend on the clock.",
               core::non_negative);
    v.optional("dynamic_power", dynamic_power,
               "Board power at the burst clock beyond the static part.", core::non_negative);
    v.optional("exponent", exponent,
               "Of power against clock; between 1 (fixed voltage) and 3 (voltage follows).",
               core::positive);
  }
  bool operator==(const MeasuredPower&) const = default;
};

/// One figure of a profile with what is known of its error.
struct FittedFigure {
  std::string name;
  double value = 0;
  std::string unit;
  double standard_error = 0;
  double leave_one_out = 0;
  int samples = 0;
  int flagged = 0;
  template <class V>
  void fields(V& v) {
    v.required("name", name, "Which figure: the profile's own words, as kernels.gemm_16bit.");
    v.required("value", value, "The fitted value in SI units.");
    v.optional("unit", unit, "Unit of value and standard error; empty: a ratio.");
    v.optional("standard_error", standard_error, "Of the value; 0: not known.", core::non_negative);
    v.optional(
        "leave_one_out", leave_one_out,
        "Root mean square of (predicted / measured - 1) of samples that the fit did not see.",
        core::non_negative);
    v.optional("samples", samples, "Samples the fit used.", core::non_negative);
    v.optional("flagged", flagged, "Samples left out as throttled, unstable, outlying or wrong.",
               core::non_negative);
  }
  bool operator==(const FittedFigure&) const = default;
};

/// What two runs of one configuration and the model of a machine differ by: standard deviation of
/// log time of software that was compared with runs of several sources. Source: 245 such rows of 11
/// sources, of which 0.046 holds 90 %, and 0.049 where their source is left out; rounded.
inline constexpr double kUsualError = 0.05;

/// Measured figures that replace catalogue values.
struct CalibrationSpec {
  static constexpr const char* kCatalogue = "calibrations";
  std::string name = "catalogue";
  std::optional<gpu::SustainedShares> kernels;
  std::vector<network::CollectiveCurve> collectives;
  std::optional<core::Seconds> kernel_launch;
  std::optional<core::Seconds> eager_launch;
  std::optional<core::Seconds> compiled_layer;
  std::optional<core::BytesPerSecond> host_bandwidth;
  std::optional<MeasuredStorage> storage;
  std::optional<MeasuredPower> power;
  std::optional<double> data_interference;
  std::vector<FittedFigure> figures;
  std::vector<std::string> circumstances;
  /// Without a measurement of the machine; what is less well known is wider
  /// (sim/validation/compared, docs/validation.md).
  double relative_error = kUsualError;
  template <class V>
  void fields(V& v) {
    v.optional("name", name, "Name printed in reports.");
    v.optional("kernels", kernels, "Measured shares of the peaks.");
    v.optional("collectives", collectives, "Measured collective curves.");
    v.optional("kernel_launch", kernel_launch,
               "Measured gap between dependent kernels; replaces the GPU's.", core::launch_time);
    v.optional("eager_launch", eager_launch,
               "Measured CPU time a kernel of training by PyTorch's operators one by one; replaces "
               "the framework's host.launch where elementwise is eager.",
               core::launch_time);
    v.optional(
        "compiled_layer", compiled_layer,
        "Measured CPU time of one pass through a compiled layer beside the launches of its "
        "kernels: guards, autograd, the call of the compiled graph; replaces the framework's "
        "host.layer where elementwise is compiled.",
        core::launch_time);
    v.optional("host_bandwidth", host_bandwidth,
               "Measured copies GPU to host, pinned; replaces the GPU's.", core::link_rate);
    v.optional("storage", storage,
               "Measured storage as one node sees it; replaces the cluster's client figures.");
    v.optional(
        "power", power,
        "Clock and power under lasting load; its effect on rates is in the kernels' figures.");
    v.optional("data_interference", data_interference,
               "Compute time lost a second of collective that runs beside it, measured as 1 - "
               "alone / beside; replaces the framework's.",
               core::probability);
    v.optional("figures", figures, "Every fitted figure with its error.");
    v.optional("circumstances", circumstances, "Device, driver, versions, date, as recorded.");
    v.optional(
        "relative_error", relative_error,
        "Standard error of a predicted step, relative; widens the interval. A prediction that "
        "may be wrong by more than a factor of e says nothing.",
        core::fraction);
  }
  bool operator==(const CalibrationSpec&) const = default;
};

/// The cluster as measured: launch gap and host copies of its GPU, client figures of its storage.
struct ClusterSpec;
void apply(const CalibrationSpec& calibration, ClusterSpec& cluster);

/// CPU time to launch one kernel, and of a pass through a layer beside that: as measured of this
/// kind of software, else the framework's.
core::Seconds host_launch(const CalibrationSpec& calibration,
                          const workload::FrameworkSpec& framework);
core::Seconds host_layer(const CalibrationSpec& calibration,
                         const workload::FrameworkSpec& framework);

}  // namespace headway::training
