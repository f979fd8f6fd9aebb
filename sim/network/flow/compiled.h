// Programs flattened for execution, and the checks that make a Problem runnable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/network/flow/fair_share.h"
#include "sim/network/flow/integer.h"
#include "sim/network/flow/problem.h"

namespace headway::network {

/// A program step with its loop resolved.
struct Instruction {
  StepCode code = StepCode::compute;
  core::Activity activity = core::Activity::compute;
  std::uint16_t depth = 0;  ///< loop, end_loop: how many loops are around it
  std::uint32_t slot = 0;
  std::int64_t ticks = 0;
  std::uint32_t target =
      0;                  ///< loop: just past its end_loop; end_loop: its first inner instruction
  std::uint64_t key = 0;  ///< digest key: the program and the step, no rank
};

/// All programs in one table; instruction i of program p is step i - first[p] of it.
struct CompiledPrograms {
  std::vector<Instruction> code;
  std::vector<std::uint32_t> first{0};      ///< per program, and one past the end
  std::vector<std::uint32_t> depth;         ///< per program: deepest nesting of loops
  std::vector<std::uint32_t> slots;         ///< per program: 1 + largest slot used
  std::vector<std::vector<bool>> arriving;  ///< per program and slot: some step arrives there
  [[nodiscard]] std::span<const Instruction> of(std::uint32_t program) const {
    return {code.data() + first[program], code.data() + first[program + 1]};
  }
};

/// @throws core::InternalError if loops do not match, or a count or duration is negative; names
/// program and step
CompiledPrograms compile_programs(const Problem& problem);

/// @throws core::InternalError if an index is out of range, a group's `need` is not the number of
/// its arrivers,
///         or a flow has neither a link nor a bound
void check_problem(const Problem& problem, const CompiledPrograms& programs);

/// The unit that suits all capacities and bounds.
RateUnit rate_unit(const Problem& problem);

/// The problem as the solver wants it: repeated uses of a link by one flow become one, and links
/// that can never decide a rate have no users (needless_links.h).
FairShareTables fair_share_tables(const Problem& problem, const RateUnit& unit);

}  // namespace headway::network
