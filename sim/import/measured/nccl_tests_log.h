// Reads what the programs of nccl-tests (all_reduce_perf, ...) print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::import {

/// The largest message that is read [B]: a petabyte, a thousand times the memory of the largest
/// node.
inline constexpr double kLargestMessage = 1e15;

/// One timing: out of place or in place.
struct NcclTiming {
  double microseconds = 0;
  double algorithm_gb_per_s = 0, bus_gb_per_s = 0;  ///< 1e9 bytes a second, as printed
  bool wrong = false;  ///< the program found wrong elements, of this size or of some it does not
                       ///< name
};

/// One size.
struct NcclTestsRow {
  int line = 0;                                      ///< of the file, from 1
  std::uint64_t bytes = 0;                           ///< as the program counts: the whole array
  std::uint64_t count = 0;                           ///< elements
  std::string type;                                  ///< "float", "bfloat16", ...
  std::string reduction;                             ///< "sum", ...; empty: none, or not said
  std::optional<NcclTiming> out_of_place, in_place;  ///< absent: not measured (N/A, or no column)

  /// Out of place where that was measured.
  [[nodiscard]] const std::optional<NcclTiming>& timing() const {
    return out_of_place ? out_of_place : in_place;
  }
};

struct NcclTestsLog {
  std::vector<NcclTestsRow> rows;              ///< in the order of the file
  std::vector<int> ranks_listed;               ///< the ranks under "Using devices", sorted
  std::vector<std::string> hosts;              ///< they stand on, sorted
  int ranks_per_node = 0;                      ///< the most of them on one host; 0: none listed
  std::string device;                          ///< "NVIDIA H100 80GB HBM3"; empty: none listed
  int device_line = 0;                         ///< of the file, from 1; 0: it is no list of lines
  std::string program;                         ///< "all_reduce_perf", where the log says so
  std::optional<double> average_bus_gb_per_s;  ///< "# Avg bus bandwidth"
  double out_of_bounds = 0;  ///< "# Out of bounds values : 18 FAILED", of all sizes together
  int runs_begun = 0;        ///< lines "# nThread 1 nGpus 8 minBytes ..."
  int runs_ended = 0;        ///< lines "# Avg bus bandwidth"
  int failure_line = 0;      ///< of the file, from 1: the first that says that the test failed; 0:
                             ///< none does
  std::string failure;       ///< that line
  int cut_line = 0;  ///< of the file, from 1: a last row that does not end, which is left out
};

/// What the program found wrong of the data that it moved: "2 of 9 sizes have wrong values, 18 out
/// of bounds"; empty: nothing, or it was told not to look.
std::string wrong_data_of(const NcclTestsLog& log);

/// How a test came to no end: "n01: Test NCCL failure ..." or no "# Avg bus bandwidth" of a run
/// that has its "# nThread" or a last row that is cut off, with the size it came to; empty: it
/// came to one, or whole rows alone are there.
std::string unfinished_of(const NcclTestsLog& log);

/// Where the program counts wrong values and no size says that they are its own (the older column
/// `error`), those of every size are wrong.
void flag_wrong_data(NcclTestsLog& log);

/// Columns are taken from the heading, so layouts with and without `redop`, `root`, in-place
/// columns and with `error` or `#wrong` all fit; without a heading, from the number of cells.
/// Prefixes of mpirun ("[1,0]<stdout>:") and of schedulers ("0: ") and lines of other programs
/// between are passed over.
/// @param file_name  for messages
/// @throws core::Error naming the line: a row that has a cell that is no number or does not fit
/// the heading (but the last one of a text that ends within it, which is left out), times of the
/// CPU (-C 1); or no row at all. A size may come several times
NcclTestsLog read_nccl_tests_log(std::string_view text, const std::string& file_name);

}  // namespace headway::import
