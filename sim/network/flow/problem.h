// A problem for the flow engine: actors that compute and meet, groups that move bytes over links.
//
// An actor runs a program: compute for some ticks, arrive at a transfer, wait for it. A transfer
// (one instance of a group's operation) launches when all `need` actors have arrived, waits
// `delay`, then all its flows run; it is complete when the last has ended. Instances of one group
// are launched in order. The same engine runs a problem and its folded quotient (fold/fold.h), and
// both give the same ticks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/core/activity.h"
#include "sim/core/tick.h"
#include "sim/core/units.h"

namespace headway::network {

enum class StepCode : std::uint8_t {
  compute,  ///< busy for `ticks` (scaled by the actor's slowdown)
  arrive,   ///< join the next instance of the group in `slot`; does not block
  wait,     ///< block until the oldest instance of `slot` it has not waited for is complete
  loop,     ///< repeat up to the matching end_loop `ticks` times
  end_loop,
};

/// One instruction of a program.
struct ProgramStep {
  StepCode code = StepCode::compute;
  core::Activity activity = core::Activity::compute;  ///< what this time is booked to
  std::uint16_t name = 0;                             ///< index into Problem::names, for timelines
  std::uint32_t slot = 0;                             ///< arrive, wait: index into Actor::groups
  std::int64_t ticks = 0;                             ///< compute: duration; loop: count

  bool operator==(const ProgramStep&) const = default;
};

using Program = std::vector<ProgramStep>;

/// A rank (or anything else that computes and waits).
struct Actor {
  std::uint32_t program = 0;
  std::uint32_t colour = 0;           ///< actors of different colour are never folded together
  std::int64_t slowdown_ppm = 0;      ///< compute takes (1 + ppm / 1e6) times as long, to the tick
  std::vector<std::uint32_t> groups;  ///< slot -> index into Problem::groups
  std::uint32_t multiplicity = 1;     ///< real actors this one stands for (a folded problem)
};

/// A set of actors that run the same transfer again and again.
struct TransferGroup {
  /// Arrivals that launch an instance: the number of (actor, slot) pairs that arrive here.
  std::uint32_t need = 1;
  core::Tick delay = 0;  ///< launch to first byte (or to completion, if there are no flows)
  std::uint32_t first_flow = 0, flows = 0;  ///< range in Problem::flows
  core::Activity activity = core::Activity::other;
  std::uint16_t name = 0;
  std::uint32_t multiplicity = 1;  ///< real groups this one stands for
  /// Its members are of several pipeline stages, so that waiting for the last one is a bubble, as
  /// it is for a message between two stages (pipeline_p2p).
  bool across_stages = false;

  [[nodiscard]] bool between_stages() const {
    return across_stages || activity == core::Activity::pipeline_p2p;
  }
};

/// One link that a flow uses, and how many times its rate it takes there.
struct FlowOnLink {
  std::uint32_t link = 0;
  std::uint32_t coefficient = 1;  ///< in units of 1 / Problem::coefficient_unit
};

/// Bytes that move when an instance of the group launches.
struct Flow {
  std::uint32_t group = 0;
  core::Bytes size;
  core::Tick latency = 0;
  core::BytesPerSecond bound{0};          ///< private rate limit; 0: none
  std::uint32_t weight = 1;               ///< fairness weight
  std::uint32_t first_use = 0, uses = 0;  ///< range in Problem::uses
  std::uint32_t multiplicity = 1;         ///< real flows this one stands for
};

/// One direction of a cable, or a pool of equal ones.
struct ProblemLink {
  core::BytesPerSecond capacity;
};

/// A link that gets another capacity in mid-run: a fault (0: down), a repair, a worn cable.
struct LinkChange {
  core::Tick at = 0;
  std::uint32_t link = 0;
  core::BytesPerSecond capacity;
};

/// The whole problem; plain tables, indices instead of pointers.
struct Problem {
  std::vector<Program> programs;
  std::vector<Actor> actors;
  std::vector<TransferGroup> groups;
  std::vector<Flow> flows;
  std::vector<FlowOnLink> uses;
  std::vector<ProblemLink> links;
  std::vector<LinkChange> link_changes;  ///< in any order
  std::vector<std::string> names{""};
  std::uint32_t coefficient_unit = 1;
};

/// (1 + ppm / 1e6) x ticks, to the nearest tick: a compute of an actor that is slowed.
core::Tick slowed(core::Tick ticks, std::int64_t ppm);

/// When an instruction of an actor (folded: a class) ran: a compute, or a wait that blocked. Or
/// when several in a row did that concerned nobody else: computes, and transfers without flows in
/// which it is alone, each after the one before.
struct TraceEntry {
  std::uint32_t actor = 0;
  std::uint32_t step = 0;  ///< index into the program
  core::Tick begin = 0, end = 0;
  core::Tick launched = 0;         ///< wait: when the instance had all its arrivals
  std::uint32_t last_arriver = 0;  ///< wait: who arrived last (of equals the first by number)
  std::uint32_t steps = 1;         ///< instructions in a row that it covers
};

/// The chain of causes behind an actor (folded: a class): what it computed since it last waited,
/// the transfer that it waited for, and what the last actor to arrive there had behind it.
struct alignas(64) ActorPath {
  core::ByActivity<core::Tick> times;  ///< sums to the end of the last that took it time
  std::uint64_t order = 0;             ///< of these ends, in the order in which they became known
};

/// An actor's (folded: a class's) part in one instance of a transfer.
struct TransferEntry {
  std::uint32_t actor = 0;
  std::uint32_t step = 0;  ///< index into the program, of its arrival
  core::Tick arrived = 0, completed = 0;
};

/// What each flow of a class moves a second, until the next entry of the class.
struct RateEntry {
  core::Tick at = 0;
  std::uint32_t flow = 0;  ///< class: RunResult::class_of_flow
  core::BytesPerSecond rate;
};

/// What a run gives. Folded, actor figures are of class representatives, weighed by `multiplicity`.
struct RunResult {
  core::Tick end = 0;
  std::vector<core::Tick> actor_end;  ///< per actor class
  /// Per actor class; sums to its end. What follows an actor's end is not counted.
  std::vector<core::ByActivity<core::Tick>> actor_activity;
  std::vector<std::uint32_t> multiplicity;    ///< actors in each class
  std::vector<std::uint32_t> class_of_actor;  ///< original actor -> class
  std::vector<double> link_bytes;             ///< per original link
  std::vector<TraceEntry> trace;              ///< empty unless asked for
  std::vector<TransferEntry> transfers;       ///< of each actor in order; empty unless asked for
  std::vector<RateEntry> rates;               ///< in order of time; empty unless asked for
  std::vector<std::uint32_t> class_of_flow;   ///< original flow -> class, with `rates`
  std::vector<ActorPath> paths;               ///< per actor class; empty unless asked for
  std::uint64_t event_digest = 0;
  std::uint64_t result_digest = 0;
  std::uint64_t events = 0;          ///< simulated one by one
  std::uint64_t skipped_events = 0;  ///< jumped over as exact repetitions
  std::size_t classes = 0, actors = 0;
};

struct RunOptions {
  bool fold = true;
  bool trace = false;      ///< fills RunResult::trace
  bool transfers = false;  ///< fills RunResult::transfers
  bool skip_repeats =
      true;            ///< jump over iterations that repeat tick for tick; off while recording
  bool rates = false;  ///< fills RunResult::rates
  bool paths = false;  ///< fills RunResult::paths
  /// With `paths`, per program and step: the part of a computation that they book to `launch`.
  const std::vector<std::vector<core::Tick>>* launch = nullptr;
  /// Told now and then which share of the actors' programs has run; may be empty.
  std::function<void(double share)> progress{};
};

/// For RunOptions::progress: tells `count` of a thousand parts. Empty if `count` is.
std::function<void(double share)> in_parts(
    std::function<void(std::size_t done, std::size_t total)> count);

/// What a run that does not end within the clock is refused with.
inline constexpr const char* kPastTheClock =
    "all together would take more than 106 days (2^63 ticks of 1 ps)";

/// Runs the problem to its end.
/// @throws core::InternalError if an actor never ends (a receive nobody sends) or a transfer stays
///         pending; names actor, program step and group
/// @throws core::Infeasible if the end, or one transfer, is beyond 2^63 ticks
RunResult run(const Problem& problem, const RunOptions& options);

}  // namespace headway::network
