// A published run as parts of a scenario: what its columns say and, where they are silent, what is
// usual. Every field that had to be taken is named in `assumed`. What cannot be modelled is refused
// by name with core::Error.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/core/error.h"
#include "sim/validation/names/instance_names.h"
#include "sim/validation/run_row.h"
#include "sim/validation/training_runs.h"

namespace headway::validation {

/// Names of the fields that a source does not state.
using Assumed = std::vector<std::string>;

/// Notes a field once.
void assume(Assumed& assumed, const std::string& field);

/// Catalogue entry of a GPU as tables call it: "H100-80G-SXM", "JUWELS Booster (A100 40 GB)". The
/// catalogue's model is looked for among all words of the name; of several boards or memories that
/// a name leaves open, the SXM board with the most memory is taken (`gpu` is then assumed).
/// @throws core::Error if no entry is of this GPU, or none on the stated board, or two are named
std::string gpu_entry(const std::string& name, const Catalogue& catalogue, Assumed& assumed);

/// Memory, its bandwidth and the board's power as the words of a name have them ("96G", "HBM2e",
/// "2.4 TB/s", "500W") in place of the entry's. Whether any differs; `name` then says which.
bool apply_variant(const std::string& name, const Catalogue& catalogue, gpu::GpuSpec& gpu);

/// The cloud's instance that stands in a GPU's cell and has that GPU: "p5.48xlarge", "A100 (AWS
/// p4d)". Without a node: none does.
InstanceName instance_in_gpu(const std::string& name, const Catalogue& catalogue);

/// Words of a GPU's name that say nothing that is known: "juwels booster"; empty: none.
std::string unknown_gpu_words(const std::string& name, const Catalogue& catalogue);

/// Whether two entries are of one GPU on the same kind of board, whatever their memory.
bool same_board(const std::string& entry, const std::string& other);

/// Whether a driver's name of a GPU ("NVIDIA A100-SXM4-80GB") is of another one than this: another
/// model, board or memory. What either name leaves open, or has in words that are not known, is no
/// difference.
bool is_other_gpu(const std::string& name, const gpu::GpuSpec& gpu);

/// Whether a row says that the board's power was limited, and not to what.
bool limited_power(const RunRow& row);
/// Of the board's power, what is taken for such a limit, and the least that it may be: boards are
/// sold down to about two fifths of their highest limit (H100 PCIe 310 to 350 W beside 700 W; B200
/// slots of 400 to 600 W beside 1,000 W).
inline constexpr double kLimitedPower = 0.65;
inline constexpr double kLeastPower = 0.4;

/// Format of the operands and of the optimizer's states, of a scenario that has its machine and
/// software: as stated, else as usual. Mixed precision of a format that is not said is fp16 where a
/// GPU has no bf16.
/// @throws core::Error if no format is named
void set_formats(const RunRow& row, training::Scenario& scenario, Assumed& assumed);

/// The node that a GPU's entry comes in: of several, NVIDIA's own (DGX). A GPU without one takes
/// that of the same board with another memory, else a server with slots (`node` is then assumed).
training::NodeSpec node_of_gpu(const std::string& gpu_entry,
                               const Catalogue& catalogue,
                               Assumed& assumed);

/// GPUs of an NVLink domain that a job fills: as many whole nodes as divide the job evenly, so that
/// 256 GPUs use 64 of each rack's 72.
int filled_domain(int most, int node_gpus, int gpus);

/// The machine: node of the GPU's catalogue entry with what the row states in place of its figures.
/// @throws core::Error if GPUs and nodes do not fit
training::ClusterSpec row_cluster(const RunRow& row,
                                  const std::string& gpu_entry,
                                  const Catalogue& catalogue,
                                  Assumed& assumed);

/// What a source's words for its network say of it beside its cards: "Omni-Path", "EFA". Properties
/// of the fabric are those of the catalogue's.
void apply_network_words(const std::string& words,
                         const Catalogue& catalogue,
                         network::FabricSpec& fabric,
                         network::NicSpec& nic);

/// Columns that are stated and are not those of this model; empty: all are.
std::string disagreement(const RunRow& row, const workload::ModelSpec& model);

/// The row with the architecture of the catalogue's model that its name means, where it states no
/// layers or no width (`model` is then assumed).
/// @throws core::Error if the name means one whose columns or parameters are not the row's
RunRow with_named_model(RunRow row, const Catalogue& catalogue, Assumed& assumed);

/// "; did you mean 'llama-3.1-8b'?" of a name that is near an entry's; empty: none is.
std::string nearest_model(const std::string& name, const Catalogue& catalogue);

/// Refuses what a row trains and cannot be modelled, whatever its shape.
/// @throws core::Error by name
void check_kind(const RunRow& row, const Catalogue& catalogue);

/// The row with the profile whose entry or printed name its era is.
RunRow with_named_software(RunRow row, const Catalogue& catalogue);

/// The model. Blank columns are those of the catalogue's model of the same shape, where there is
/// one.
/// @throws core::Error if its architecture or attention is not modelled, or its shape is not stated
workload::ModelSpec row_model(const RunRow& row, const Catalogue& catalogue, Assumed& assumed);

/// Tensor and pipeline degrees where a row states none and none follows from the others.
struct Degrees {
  int tensor = 1, pipeline = 1;
};

/// Micro-batches of a pipeline for each of its stages, where a row does not say.
inline constexpr int kMicroBatchesAStage = 4;

/// One of the columns tp, pp and cp.
using Degree = std::optional<int> RunRow::*;

/// Whether a degree is neither stated nor follows from the GPUs, the replicas
/// and the other degrees.
bool degree_open(const RunRow& row, Degree degree);

/// The layout with these degrees where the row leaves them open.
/// @throws core::Error if a word for sharding or recomputation is not known
workload::ParallelismSpec row_parallelism(const RunRow& row,
                                          const workload::FrameworkSpec& framework,
                                          const workload::ModelSpec& model,
                                          Degrees open,
                                          Assumed& assumed);

/// Rows of the embedding as trained: padded to a multiple on each tensor rank
/// (Megatron's make_vocab_size_divisible_by).
int padded_vocabulary(int stated, const workload::UsualRunSpec& usual, int tensor);

/// What the free texts of a row say that this program neither acts on nor knows to be without
/// effect: "not understood in recompute_detail: ..."; these columns are then assumed.
std::vector<std::string> not_understood(const RunRow& row,
                                        const Catalogue& catalogue,
                                        Assumed& assumed);

/// First line of a message, without the place in the table.
std::string plain_message(const core::Error& error, const import::CsvTable& table);

/// The column under which a row's software is read a second time; neither reading is likelier, so
/// that the middle of their step times is what is predicted.
inline constexpr const char* kSoftwareReading = "era";

/// Other readings of a row, and columns that it leaves open but that have no other: all they could
/// be needs more memory than there is, so what is taken is what ran.
struct OtherReadings {
  std::vector<OtherReading> readings;
  Assumed settled;
};

/// The other readings of what the row leaves open and a simulation can tell: overlap of tensor
/// transfers, sequence parallelism, recomputation, tokens of a micro-batch, virtual stages,
/// compilation, overlap of the exchange of experts, the prediction modules of a shortened model.
/// @param scenario  the reading that is taken
OtherReadings other_readings(const RunRow& row,
                             const training::Scenario& scenario,
                             const Assumed& assumed);

/// Time of a step.
using TimeOf = std::function<core::Seconds(const training::Scenario&)>;
/// Half the distance in log time between the readings of each column and the one that is taken.
/// @param time_of  readings for which it throws core::Error are left out
std::map<std::string, double> half_distances(const std::vector<OtherReading>& readings,
                                             core::Seconds taken,
                                             const TimeOf& time_of);

/// A row as a scenario, which it has then.
/// @throws core::Error where it cannot be one
RowScenario scenario_of_row(const RunRow& row, const Catalogue& catalogue);

/// Memory that a plan needs / what its GPU has; nothing where the plan is impossible.
std::optional<double> memory_need(const training::Scenario& scenario);

/// The same without the gaps that the allocator holds: it gives them back before it gives up, so a
/// run that was measured had room for this much.
std::optional<double> least_memory_need(const training::Scenario& scenario);

/// What leaving these fields open costs, relative, in quadrature: what blanks of them showed, else
/// a judged figure.
double assumed_error(const Assumed& assumed, bool mixture, const std::vector<OpenField>& known);

/// A row that contradicts itself or another of its table.
struct Contradiction {
  std::string why;  ///< empty: it does not
  bool unless_full =
      false;  ///< a memory that is full explains it: states over fewer ranks take more
};
std::vector<Contradiction> contradictions(const import::CsvTable& table);

/// TFLOP/s that a row states of a GPU; 0: none.
double stated_tflops(const RunRow& row);
/// Whether tokens a second follow from what a row says of FLOPs: TFLOP/s, or a share of the peak.
bool figure_by_flops(const RunRow& row);
/// How a figure of TFLOP/s is counted.
struct CountedFlops {
  double of_token = 0;  ///< FLOPs of a token by which tokens a second follow
  double half = 0;      ///< half the distance in log time of what its words leave open
  bool open = true;     ///< the convention is not said: by the model's FLOPs, attention in full
  std::string told;     ///< what is told of it
};
/// By the words of notes, derivation and the figure's own cell: hardware FLOPs hold the forwards
/// that the layout recomputes. Of an MFU and an HFU that both are stated the one that the figure
/// is.
CountedFlops flops_of_figure(const RunRow& row, const training::Scenario& scenario);
/// Tokens/s/GPU that the row's TFLOP/s make of a scenario's model.
double tokens_of_tflops(const RunRow& row, const training::Scenario& scenario);

/// A figure that another of its row denies.
struct FigureDoubt {
  std::string why;  ///< empty: none does
  double half = 0;  ///< half their distance in log time
};
/// Measured tokens a second against the MFU or HFU that the row's notes state.
FigureDoubt against_mfu(const RunRow& row, const training::Scenario& scenario);

/// Why a measured figure is none of this scenario: more than its GPUs can multiply, or next to
/// nothing; empty: it may be.
std::string impossible_figure(double measured, const training::Scenario& scenario);
/// Stated TFLOP/s that no convention of counting makes of the measured tokens/s; empty: one does.
/// Rows that state the FLOPs of a token are compared with these by `contradictions`.
std::string against_flops(const RunRow& row, const training::Scenario& scenario);

}  // namespace headway::validation
